"""What the page Labels is made of."""
