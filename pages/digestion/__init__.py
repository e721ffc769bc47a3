"""What Digestion alone shows: both solvers on one tape."""
