"""Plotly figures, one family a file."""
