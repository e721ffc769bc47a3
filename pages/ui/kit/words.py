"""Numbers and recipes in the words of the lab, the same on every page."""

from collections import Counter
from contextlib import suppress
from datetime import datetime

import numpy as np

from data import DataError, catalogue, pictures
from pages.ui.kit.text import in_figure, plain, short  # noqa: F401  (words as well, to whoever imports this)
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.registry.tasks import TASKS


def error_rate(result: dict) -> str:
    """`12 of 1,000 wrong, 1.2 % (0.7–2.1)`: what came out of a run, in the words of its task."""
    return TASKS[result.get("task", "classify")].headline(result)


def outcome(result: dict) -> str:
    """Support vectors, time and memory of a finished run, in a line."""
    machines, bound = len(result["n_sv"]), np.sum(result["n_bound"])
    shared = f" shared by {machines} machines, {np.sum(result['n_sv']):,} alphas above 0" if machines > 1 else ""
    ranked = [f"area under the ROC curve {result['roc_area']:.4f}"] if "roc_area" in result else []
    parts = [
        *ranked,
        f"{result['n_union']:,} support vectors{shared}, {bound:,} at C",
        f"trained in {duration(result['fit_seconds'])}",
        f"peak memory {megabytes(result['peak_rss_mb'])}",
    ]
    return " · ".join(parts)


def count(number: float) -> str:
    """`950`, `12 k`, `3.4 M`, `1.2 G`."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.0f}"


def data_set(name: str) -> str:
    """What a data set is called wherever it is shown: its title; its id where it is not here any more."""
    for known in (catalogue, pictures):
        with suppress(DataError):
            return known.entry(name).title
    return name


def title(recipe: Recipe) -> str:
    """What to call a run that was put together by hand: `USPS zip-code digits · 8 against the rest · poly 9 · C 2`."""
    own = [str(c) for c in recipe.classes]
    classes = f"{own[0]} against the rest" if len(own) == 1 else f"classes {', '.join(own)}" if own else ""
    size = "" if recipe.n_train is None else f"{recipe.n_train:,}"
    method = METHODS[recipe.method].brief(recipe)
    parts = (short(data_set(recipe.dataset), 40), classes, recipe.kernel.brief, f"C {recipe.C:g}", method, size)
    return " · ".join(filter(None, parts))[:120]


def summary(recipe: Recipe) -> str:
    """One line of Markdown that says what was asked."""
    size = "all" if recipe.n_train is None else f"{recipe.n_train:,}"
    steps = ", ".join(recipe.preprocess) or "raw values"
    method = METHODS[recipe.method].summary(recipe)
    name = plain(short(data_set(recipe.dataset), 60))
    parts = [name, f"{size} examples", steps, f"${recipe.kernel.formula}$", f"C = {recipe.C:g}", method]
    return " · ".join(filter(None, parts))


def duration(seconds: float) -> str:
    """`23 ms`, `0.4 s`, `12 s`, `3 min 20 s`, `1 h 05 min`."""
    if seconds < 0.1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def megabytes(amount: float) -> str:
    """`120 MB`, `5.5 GB`."""
    return f"{amount:,.0f} MB" if amount < 1000 else f"{amount / 1000:.1f} GB"


def when(created: str) -> str:
    """An ISO time as `21 Nov 01:08`, in the machine's time zone."""
    local = datetime.fromisoformat(created).astimezone()
    return f"{local.day} {local:%b %H:%M}"


def run_labels(store) -> dict[str, str]:
    """Run id -> `title · time` for the runs of a list, newest first; equal ones are numbered, as a choice needs."""
    named, seen = {}, Counter()
    for run in reversed(store):
        label = f"{run.title} · {when(run.created)}"
        seen[label] += 1
        named[run.id] = label if seen[label] == 1 else f"{label} ({seen[label]})"
    return dict(reversed(named.items()))
