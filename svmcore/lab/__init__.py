"""The laboratory: experiments by name, the store of their runs, and runs in the background.

recipes: what to run; runs: what was run; jobs: what is running; train: the path from one to the other.
"""

from svmcore.lab.experiment.problem import Problem, prepare
from svmcore.lab.experiment.train import Outcome, execute, fit, judge
from svmcore.lab.recipe.recipe import Recipe, RecipeError
from svmcore.lab.recipes import RECIPES

__all__ = ["RECIPES", "Outcome", "Problem", "Recipe", "RecipeError", "execute", "fit", "judge", "prepare"]
