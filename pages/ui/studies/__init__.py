"""Studies that the Paper page shows, too."""
