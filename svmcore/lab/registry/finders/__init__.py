"""How candidates are found, one way a file, and what is kept of a search."""
