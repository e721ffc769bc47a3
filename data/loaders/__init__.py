"""File formats: the readers of the catalogue's own files, and `read_upload` for whatever a reader brings."""

from data.loaders.upload import ACCEPTED, Preview, read_upload

__all__ = ["ACCEPTED", "Preview", "read_upload"]
