"""Solvers of the dual: working pairs, working sets, and the paper's digestion."""
