"""The form of a recipe, of a jitter set, of a sweep."""
