"""The Playground."""
