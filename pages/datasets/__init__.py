"""What Datasets alone shows: uploads and downloads, and sets of pictures."""
