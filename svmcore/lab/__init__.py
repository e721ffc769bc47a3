"""The laboratory: experiments by name, the store of their runs, and runs in the background.

registry: what can be run; recipes: what to run; store: what was run; jobs: what is running; experiment: the path from
one to the other.
"""

try:
    import data.catalogue  # any folder that is called data would be taken for the package
except ImportError as error:
    raise ImportError(
        "svmcore.lab needs the package data, the lab's catalogue of datasets, and what requirements.txt of the lab "
        f"lists; `pip install` installs the library alone. Run it in the folder of the lab, or with that folder in "
        f"PYTHONPATH ({error})"
    ) from None

from svmcore.lab.experiment.train import Outcome, execute, fit, judge, prepare
from svmcore.lab.recipe.recipe import Recipe, RecipeError
from svmcore.lab.recipes import RECIPES
from svmcore.lab.registry.problem import Problem

__all__ = ["RECIPES", "Outcome", "Problem", "Recipe", "RecipeError", "execute", "fit", "judge", "prepare"]
