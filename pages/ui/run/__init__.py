"""A run watched, compared, exported, picked."""
