"""File formats: the readers of the catalogue's own files, and `upload` for whatever a reader brings."""
