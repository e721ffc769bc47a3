"""What the page of reduced sets is made of."""
