"""A run watched, listed, picked, exported."""
