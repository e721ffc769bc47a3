"""What the page Scramble the pixels alone uses."""
