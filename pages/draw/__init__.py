"""What Draw a digit alone shows."""
