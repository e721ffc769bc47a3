"""A Python script that repeats a run."""

from __future__ import annotations

from svmcore.lab.recipe.recipe import DEFAULT, FIELDS, Recipe
from svmcore.lab.registry.tasks import task_of

SPELLED = ("dataset", "kernel", "C")  # said even where it is the default
SCRIPT = '''"""{title}"""
# Run it in the folder that holds svmcore and data.{found}

from {module} import {kernel}
from svmcore.lab import Recipe, execute
from svmcore.lab.registry.tasks import task_of
from svmcore.model import save

recipe = Recipe(
{fields}
)
outcome = execute(recipe)
print(task_of(recipe).headline(outcome.result))
save(outcome.machine, "machine.npz")
'''


def script(recipe: Recipe, result: dict | None = None) -> str:
    """A Python script that repeats a run: what differs from a plain recipe, and what came out here."""
    asked = {name: getattr(recipe, name) for name in FIELDS if name not in ("title", "slow_motion")}
    told = {name: value for name, value in asked.items() if name in SPELLED or value != getattr(DEFAULT, name)}
    found = ""
    if result:
        found = f"\n# Here: {task_of(recipe).headline(result)}, with support vectors {result['n_sv']}."
    return SCRIPT.format(
        title=(recipe.title or recipe.name).replace("\\", "").replace('"', "'"),
        found=found,
        module=type(recipe.kernel).__module__,
        kernel=type(recipe.kernel).__name__,
        fields="\n".join(f"    {name}={value!r}," for name, value in told.items()),
    )
