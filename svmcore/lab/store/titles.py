"""What to call runs in a list, so that no two are called alike: by their titles, and by what tells them apart.

Runs of one recipe are numbered, the oldest first.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from data import DataError, catalogue, pictures
from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import FIELDS, Recipe, RecipeError
from svmcore.lab.store.reading import Damaged, Group
from svmcore.lab.store.run import Run
from svmcore.lab.tasks import task_of

# Fields in the order in which they are said: what a reader turns first stands first.
ORDER = ("dataset", "classes", "method", "kernel", "C", "jitters", "n_train", "preprocess", "seed", "folds")
SPELLED = {  # field -> how a value is said; others by their names
    "dataset": "{}", "kernel": "{}", "method": "{}", "jitters": "{}", "preprocess": "{}", "n_train": "n {}",
    "classes": "classes {}", "class_weight": "weights {}", "slow_motion": "slow motion",
}  # fmt: skip
UNSAID = ("name", "title", "task", "cache_mb")
MAX_FIELDS = 4  # fields that a title says
MAX_TEXT = 60  # characters of one


class ListEntry(NamedTuple):
    """One line of a folded list: runs that were started together, newest first, or a single one."""

    key: str  # the id of a single run, or the key of the group
    runs: tuple[Run, ...]
    group: Group | None = None


def data_set(name: str) -> str:
    """What a dataset is called wherever it is shown: its title; its id where it is not here any more."""
    for known in (catalogue, pictures):
        with suppress(DataError):
            return known.entry(name).title
    return name


def of_recipe(recipe: Recipe) -> str:
    """What to call a run that was put together by hand: `USPS zip-code digits · 8 against the rest · poly 9 · C 2`."""
    own = [str(c) for c in recipe.classes]
    classes = f"{own[0]} against the rest" if len(own) == 1 else f"classes {', '.join(own)}" if own else ""
    size = "" if recipe.n_train is None else f"{trained_on(recipe):,}"
    method = METHODS[recipe.method].brief(recipe)
    cost = f"C {recipe.C:.6g}".replace("-", "\u2212")
    parts = (
        _short(data_set(recipe.dataset), 40), classes, recipe.kernel.brief, cost, method, size,
        noise(recipe),
    )  # fmt: skip
    return " · ".join(filter(None, parts))[:120]


def noise(recipe: Recipe) -> str:
    """`15 % of the labels swapped`; empty without label noise."""
    share = recipe.options.get("noise", 0.0)
    return f"{100 * share:g} % of the labels swapped" if share else ""


def trained_on(recipe: Recipe) -> int:
    """How many examples train of a recipe that asks for so many: no more than its test leaves."""
    with suppress(DataError, RecipeError):
        return min(recipe.n_train, task_of(recipe).size(recipe).n_train)
    return recipe.n_train


def of_runs(found: Sequence[Run]) -> dict[str, str]:
    """Run id -> what to call it among these runs, in their order; no two alike."""
    alike = defaultdict(list)
    for run in found:
        alike[run.title].append(run)
    named = {}
    for title, those in alike.items():
        said = _differences(those) if len(those) > 1 else {}
        named |= {run.id: " · ".join(filter(None, (title, said.get(run.id)))) for run in those}
    return distinct({run.id: named[run.id] for run in found})


def of_members(found: Sequence[Run]) -> dict[str, str]:
    """Run id -> what tells it from the others, in their order; its title where nothing does. No two are alike."""
    said = _differences(found)
    return distinct({run.id: said.get(run.id) or run.title for run in found})


def folded(found: Iterable[Run]) -> list[ListEntry]:
    """The runs of a list as its entries; of a group of which one run is left, that one stands for itself."""
    together: dict[str, list[Run]] = {}
    for run in found:
        together.setdefault(run.group.key if run.group else run.id, []).append(run)
    return [
        ListEntry(key, tuple(those), those[0].group) if len(those) > 1 else ListEntry(those[0].id, (those[0],))
        for key, those in together.items()
    ]


def of_entries(entries: Sequence[ListEntry]) -> dict[str, str]:
    """Key of an entry -> what to call it; no two alike."""
    single = of_runs([entry.runs[0] for entry in entries if entry.group is None])
    named = {entry.key: single.get(entry.key) or f"{entry.group.title} · {len(entry.runs)} runs" for entry in entries}
    return distinct(named)


def distinct(named: dict[str, str]) -> dict[str, str]:
    """The same names, of which equal ones are numbered from the last, the oldest, to the first."""
    seen, taken, found = Counter(), set(named.values()), {}
    for key, name in reversed(named.items()):
        seen[name] += 1
        told = name
        while seen[name] > 1 and (told := f"{name} ({seen[name]})") in taken:
            seen[name] += 1
        taken.add(told)
        found[key] = told
    return dict(reversed(found.items()))


def _differences(found: Sequence[Run]) -> dict[str, str]:
    """Run id -> the values of the fields that are not the same in all of these runs; none of those damaged."""
    recipes = {run.id: recipe for run in found if (recipe := _recipe(run)) is not None}
    texts = {run_id: _texts(recipe) for run_id, recipe in recipes.items()}
    values = defaultdict(set)
    for of_run in texts.values():
        for name, text in of_run.items():
            values[name].add(text)
    said = set(FIELDS).union(*(recipe.options for recipe in recipes.values()))  # no option that all leave as it comes
    lacked = {name for name in said if any(name not in of_run for of_run in texts.values())}
    differ = {name for name, those in values.items() if len(those) > 1 or name in lacked}
    names = [name for name in ORDER if name in differ] + sorted(differ - set(ORDER))
    briefs = {recipe.kernel.brief for recipe in recipes.values()}
    brief = len(briefs) == len(values["kernel"])
    return {
        run_id: " · ".join(_said(name, recipes[run_id].kernel.brief if name == "kernel" and brief else of_run[name])
                           for name in [name for name in names if of_run.get(name)][:MAX_FIELDS])
        for run_id, of_run in texts.items()
    }  # fmt: skip


def _said(name: str, text: str) -> str:
    text = SPELLED.get(name, name.replace("_", " ") + " {}").format(text)
    return _short(text, MAX_TEXT)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _recipe(run: Run) -> Recipe | None:
    try:
        return run.recipe
    except Damaged:
        return None


@lru_cache(maxsize=4096)
def _texts(recipe: Recipe) -> dict[str, str]:
    texts = {name: text for name, text in recipe.texts().items() if name not in UNSAID and text != ""}
    return texts | ({"slow_motion": ""} if texts.get("slow_motion") == "false" else {})
