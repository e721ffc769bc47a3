"""Upload and fetching of data sets, and sets of pictures."""
