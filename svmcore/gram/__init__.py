"""Gram matrices: who gives a solver its rows."""
