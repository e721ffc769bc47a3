"""What the Playground alone shows."""
