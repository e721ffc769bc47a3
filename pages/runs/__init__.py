"""What Runs alone shows."""
