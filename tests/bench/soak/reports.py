"""Reports and scripts made from hostile names, labels and notes: no tag or attribute of theirs, strings as they were.

A report is parsed: its tags are those that reports have, no attribute begins with "on", nothing is loaded from outside.
A script compiles, does at its top what scripts do and nothing else, and its strings evaluate to the recipe's values.
"""

from __future__ import annotations

import ast
from contextlib import suppress

import numpy as np

import pages.ui.views  # noqa: F401  (makes them known)
from data import DataError, catalogue
from data.dataset import Arrays
from pages.ui.run import exports
from svmcore.kernels import RBF
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store import export, runs
from tests import damage
from tests.bench.soak import Budget, draw, fell, forks, row, temporary_home
from tests.bench.soak.names import MARKUP
from tests.bench.soak.texts import characters, text
from tests.test_report import Checked

BREAKING = [
    '"""\nimport os\n"""', "\\", '\\"""', "'''", "'); import os; ('", "\N{LINE SEPARATOR}import os", "\rimport os",
    "<svg onload=alert(1)>", '" onmouseover="x', "</title><script>x</script>", "</style>", "]]>", "<!--", "&#60;b&#62;",
]  # fmt: skip
TOP = (ast.Expr, ast.ImportFrom, ast.Assign)
CALLED = {"Recipe", "execute", "print", "save", "task_of", "headline", "RBF"}


def reports(budget: Budget, seed: int) -> list[dict]:
    """One run of hostile names a try, its report and its script."""
    failures, done, refused = [], 0, 0
    for number, said in forks.shared(lambda number: attempt(seed, number), budget.numbers()):
        done += 1
        refused += said == "refused"
        if said not in ("", "refused"):
            failures.append(fell("reports", seed, number, said))
    return [row("reports and scripts of hostile names", done, failures, refused=refused)]


def attempt(seed: int, number: int) -> str:
    """What fell; "refused" where no such run can be."""
    rng = draw(seed, number)
    with temporary_home():
        try:
            recipe = _recipe(rng)
        except (DataError, RecipeError):
            return "refused"
        run = damage.finished(recipe, "One")
        for give in (lambda: run.rename(_text(rng)), lambda: run.tag([_text(rng)[:40], "kept"])):
            with suppress(RecipeError):
                give()
        if number % 5 == 0:  # as a run that failed of what its message says
            (run.path / "result.json").unlink()
            run.set_state("failed", _text(rng))
        return _of_report(run) or _of_script(run) or _of_script_of(run.recipe)


def _text(rng) -> str:
    one = characters(rng) if rng.random() < 0.2 else text(rng)
    kind = rng.random()
    return one if kind < 0.4 else (MARKUP + BREAKING)[rng.integers(len(MARKUP + BREAKING))] + one[: rng.integers(20)]


def _recipe(rng) -> Recipe:
    names = np.array([_text(rng) or "a", _text(rng) + "'"])
    X, y = rng.integers(0, 256, (60, 6, 6), dtype=np.uint8), names[np.arange(60) % 2]
    if rng.random() < 0.5:
        entry = catalogue.keep(_text(rng) + "1", Arrays(X, y, X[:20], y[:20]))
    else:
        flat = X.reshape(60, 36).astype(np.float32)
        entry = catalogue.keep(
            _text(rng) + "1", Arrays(flat, y, flat[:20], y[:20]), [f"{_text(rng)} {j}" for j in range(36)]
        )
    title = " ".join(_text(rng).split())[:120]
    named = {"title": title} if title.isprintable() else {}
    classes = entry.classes if rng.random() < 0.5 else ()
    return Recipe(
        dataset=entry.name, kernel=RBF(0.1), preprocess=("unit-norm",), n_train=30, n_test=15, classes=classes, **named
    )


def _of_report(run: runs.Run) -> str:
    """What is wrong with the report of a run."""
    page = exports.report(run)
    try:
        found = Checked(page)
    except AssertionError as error:
        return f"the report has an attribute, or a tag left open: {error!r:.100}"
    if strange := set(found.tags) & {
        "script",
        "link",
        "iframe",
        "object",
        "embed",
        "form",
        "input",
        "base",
        "b",
        "i",
        "a",
    }:
        return f"the report has the tags {strange}"
    return ""


def _of_script(run: runs.Run) -> str:
    """What is wrong with the script of a run."""
    return _read(run.export_snippet(), run.recipe, run.title)


def _of_script_of(recipe: Recipe) -> str:
    return _read(export.script(recipe), recipe, recipe.title or recipe.name)


def _read(script: str, recipe: Recipe, title: str) -> str:
    try:
        tree = ast.parse(script)
    except (SyntaxError, ValueError) as error:
        return f"the script of {title!r:.60} does not compile: {error}"
    if strange := [type(line).__name__ for line in tree.body if not isinstance(line, TOP)]:
        return f"the script of {title!r:.60} has {strange}"
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called = {getattr(node.func, "id", getattr(node.func, "attr", "")) for node in calls}
    if called - CALLED:
        return f"the script of {title!r:.60} calls {called - CALLED}"
    (asked,) = [node for node in calls if getattr(node.func, "id", "") == "Recipe"]
    for keyword in asked.keywords:
        if keyword.arg != "kernel" and ast.literal_eval(keyword.value) != getattr(recipe, keyword.arg):
            return f"the script says {keyword.arg} = {ast.unparse(keyword.value):.60}"
    return ""
