"""A class: its two doors, the folder that keeps it, its questions and the picture of its answers."""
