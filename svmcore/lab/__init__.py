"""The laboratory: experiments by name, the store of their runs, and runs in the background.

recipes: what to run; runs: what was run; jobs: what is running; train: the path from one to the other.
"""

from svmcore.lab.problem import Problem, prepare
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.recipes import RECIPES
from svmcore.lab.train import Outcome, execute, fit, judge

__all__ = ["RECIPES", "Outcome", "Problem", "Recipe", "RecipeError", "execute", "fit", "judge", "prepare"]
