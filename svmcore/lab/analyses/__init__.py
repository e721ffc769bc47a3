"""From a recipe to a trained and tested machine."""
