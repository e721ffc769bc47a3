"""Upload and fetching of data sets."""
