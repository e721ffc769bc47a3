"""One example looked at."""
