"""Cross-training and editing: in the plane, in a run, as noise and examples grow."""
