"""What Errors alone shows."""
