"""What Labels alone shows."""
