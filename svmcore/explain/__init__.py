"""Explanations of a trained machine and its decisions, one question per file."""
