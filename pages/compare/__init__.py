"""What Compare alone shows."""
