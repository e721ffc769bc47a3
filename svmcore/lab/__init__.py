"""The laboratory: experiments by name, the store of their runs, and runs in the background.

recipes: what to run; runs: what was run; jobs: what is running; train: the path from one to the other.
"""

from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.recipes import RECIPES
from svmcore.lab.train import Outcome, execute, fit, judge, prepare

__all__ = ["RECIPES", "Outcome", "Recipe", "RecipeError", "execute", "fit", "judge", "prepare"]
