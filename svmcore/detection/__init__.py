"""Finding things in pictures, one stage a file."""
