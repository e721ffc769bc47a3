"""The six lessons, one a file, and where a reader is in them."""
