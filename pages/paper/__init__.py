"""What the Paper page alone shows: its tables and figures."""
