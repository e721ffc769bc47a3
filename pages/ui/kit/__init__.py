"""What every page is made of: galleries, colours, words, the address."""
