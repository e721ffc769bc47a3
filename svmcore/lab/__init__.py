"""The laboratory: experiments by name, the store of their runs, and runs in the background.

recipe: what to run, by one of the methods, as one of the tasks; presets: recipes with names; train: from a recipe to a
trained and tested machine; forecast: what that will cost; store: what was run; jobs: what is running; analyses: what is
found out about a run; papers: published figures beside ours.
"""

try:
    import data.catalogue  # any folder that is called data would be taken for the package
except ImportError as error:
    raise ImportError(
        "svmcore.lab needs the package `data` (the lab's catalogue of datasets) and the packages in requirements.txt "
        "of the lab. `pip install` installs the library alone. Run Python in the folder of the lab, or put that folder "
        f"into PYTHONPATH ({error})"
    ) from None

from svmcore.lab.presets import RECIPES
from svmcore.lab.problem import Problem
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.train import Outcome, execute, fit, judge, prepare

__all__ = ["RECIPES", "Outcome", "Problem", "Recipe", "RecipeError", "execute", "fit", "judge", "prepare"]
