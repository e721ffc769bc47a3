"""What can be asked: the fields of a recipe, and the recipe."""
