"""What the page Cross-training is made of: examples thrown away in the plane, in a run, as noise and examples grow."""
