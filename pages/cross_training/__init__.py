"""What Cross-training alone shows: examples discarded in the plane, in a run, and as noise and examples grow."""
