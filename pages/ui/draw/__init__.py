"""A digit that the reader draws."""
