"""What a run is taken away as: a script that repeats it, and says at its head what it needs; its machine in ONNX."""

import platform
from pathlib import Path
from textwrap import fill

from data import catalogue, revisions
from svmcore.exchange import lacking, obstacle, to_onnx
from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import DEFAULT, FIELDS, Recipe
from svmcore.lab.store.made_with import versions
from svmcore.lab.tasks import task_of
from svmcore.model import Machine

CHECKED = 1000  # test examples that an ONNX file is checked on
SPELLED = ("dataset", "kernel", "C")  # said even where it is the default
SCRIPT = Path(__file__).with_suffix(".txt").read_text("utf-8")  # with fields of `str.format`


def script(recipe: Recipe, result: dict | None = None) -> str:
    """A Python script that repeats a run: what differs from a plain recipe, and what came out here."""
    asked = {name: getattr(recipe, name) for name in FIELDS if name not in ("title", "slow_motion")}
    told = {name: value for name, value in asked.items() if name in SPELLED or value != getattr(DEFAULT, name)}
    found = ""
    if result:
        said = f"Result in the lab: {task_of(recipe).headline(result)}; support vectors {result['n_sv']}."
        found = _comment(said) + "\n"
    return SCRIPT.format(
        title=(recipe.title or recipe.name).replace("\\", "").replace('"', "'"),
        needs=_needs(recipe, result or {}),
        found=found,
        module=type(recipe.kernel).__module__,
        kernel=type(recipe.kernel).__name__,
        fields="\n".join(f"    {name}={value!r}," for name, value in told.items()),
    )


def onnx(recipe: Recipe, machine: Machine) -> bytes:
    """The machine of a run as ONNX, checked on its test examples. ValueError, ImportError or DataError, saying why,
    where that is impossible."""
    if why := onnx_obstacle(recipe):
        raise ValueError(why)
    return to_onnx(machine, task_of(recipe).examples(recipe).X_test[:CHECKED])


def onnx_obstacle(recipe: Recipe) -> str:
    """Why the machine of a recipe cannot be had in ONNX here and now; empty where it can."""
    if lacks := lacking():
        return lacks
    if not task_of(recipe).answers:
        return "it detects objects in pictures, which ONNX cannot do; allowed: runs that classify"
    if METHODS[recipe.origin.method].repeats:
        return (
            f"the kernel of method {recipe.origin.method} shifts or whitens examples; allowed: methods with a plain "
            "kernel"
        )
    return obstacle(recipe.kernel, recipe.preprocess) or task_of(recipe).out_of_reach(recipe)


def _needs(recipe: Recipe, result: dict) -> str:
    """Packages with their versions, the folder of the library, and where the dataset is found."""
    kept = result.get("made_with") or {"Python": platform.python_version()} | versions()
    packages = ", ".join(f"{name} {kept[name]}" for name in ("Python", *versions()) if name in kept)
    lines = [
        f"Made with {packages}; `pip install -r requirements.txt` installs what is needed.",
        "This script runs from any folder if Python finds svmcore and data, both in the folder of the app:",
        "    PYTHONPATH=FOLDER_OF_THE_APP python THIS_FILE.py",
    ]
    if recipe.dataset.startswith(catalogue.OWN_PREFIX) or revisions.parse_name(recipe.dataset):
        revised = revisions.parse_name(recipe.dataset)
        what = ". Your revision of the labels is" if revised else ", which you added. It is"
        lines.append(
            f"Dataset: {recipe.dataset}{what} read from the folder in which the app stores your data: SVMLAB_HOME, "
            "or a default folder if that variable is not set."
        )
    else:
        lines.append(
            f"Dataset: {recipe.dataset}. It is read from the folders of SVMLAB_DATA, then from SVMLAB_HOME. If it does "
            "not come with a package, download it on the page Datasets or by `python -m data fetch`."
        )
    if result.get("data_hash"):
        lines.append(f"Its content had the hash {result['data_hash']}.")
    return "\n".join(map(_comment, lines))


def _comment(text: str) -> str:
    if text.startswith("    "):
        return f"#{text}"
    return fill(" ".join(text.split()), 110, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
