"""Runs laid side by side on the same test examples."""
