"""The papers' ideas on top of the plain machine, one a file."""
