"""Hostile names for runs, tags, groups, sets, columns, classes and pictures: kept faithfully or refused, shown escaped.

Faithfully: what is read back is what was given, but for white space at its ends or in a row. One in ten is looked at on
the pages that show names; tests/test_pages_hostile.py knows what a browser would make more of than text.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from data import DataError, catalogue, pictures
from data.dataset import Arrays
from data.loaders.pictures import read_pictures
from svmcore.lab.recipe import RecipeError
from svmcore.lab.store import runs, titles
from tests import damage
from tests.bench.soak import Budget, draw, fell, forks, homes, row, temporary_home
from tests.bench.soak.paged import Visitor, broken
from tests.bench.soak.texts import characters, text
from tests.test_pages_hostile import live_texts
from tests.uploads import street_files

SHOWN = 10  # one in so many names is looked at on pages
MARKUP = [
    "![p](http://evil.example/1.png)",
    "<img src=http://evil.example/2.png>",
    "**x**",
    "[a](http://x)",
    "<script>",
]
RNG = np.random.default_rng(0)
X, Y = RNG.integers(0, 256, (40, 8, 8), dtype=np.uint8), np.arange(40) % 2


def names(budget: Budget, seed: int) -> list[dict]:
    """One name a try, given to everything that can have one."""
    failures, done, refused, shown = [], 0, 0, 0
    visitor = Visitor()
    for number, said in forks.shared(lambda number: attempt(visitor, seed, number), budget.numbers()):
        done += 1
        facts, _, reason = said.partition("|")
        if reason or facts.count(" ") != 1:
            failures.append(fell("names", seed, number, reason or said))
        else:
            refused, shown = refused + int(facts.split()[0]), shown + int(facts.split()[1])
    return [row("hostile names, each for seven things", done, failures, refused=refused, pages_drawn=shown)]


def attempt(visitor: Visitor, seed: int, number: int) -> str:
    """`how many refused it, how many pages were drawn|what fell` of one name."""
    rng = draw(seed, number)
    name = characters(rng) if rng.random() < 0.3 else text(rng)
    if rng.random() < 0.3:
        name = MARKUP[rng.integers(len(MARKUP))] + name
    with temporary_home():
        run = damage.finished(homes.DIGITS.replace(n_train=40, n_test=20), "One")
        wrong, refused = [], 0
        for what, give in GIVEN.items():
            try:
                back = give(run, name)
                if back is not None and _plain(back) != _plain(name):
                    wrong.append(f"{what} {name!r:.60} came back as {back!r:.60}")
            except (RecipeError, DataError) as error:
                refused += 1
                if not str(error).strip() or "Traceback" in str(error):
                    wrong.append(f"{what} refused {name!r:.60} without a word")
            except Exception as error:
                wrong.append(f"{what} {name!r:.60}: {type(error).__name__}: {error}")
        if titles.of_runs(runs.newest_first()).keys() != {run.id}:
            wrong.append(f"a run called {name!r:.60} is listed no more")
        pages = _look(visitor, run, wrong) if number % SHOWN == 0 else 0
    return f"{refused} {pages}|{'; '.join(wrong)}"


def _plain(name: str) -> str:
    return " ".join(str(name).split())


def _rename(run: runs.Run, name: str) -> str:
    run.rename(name)
    return run.title if name.strip() else name  # without a name of the reader's the recipe's stands


def _tag(run: runs.Run, name: str) -> str:
    run.tag([name])
    return run.tags[0]


def _recipe(run: runs.Run, name: str) -> str:
    again = runs.create(run.recipe.replace(title=name), group=runs.Group.of("sweep", _plain(name)[:120] or "x"))
    try:
        if again.damage or again.oddity:
            raise AssertionError(again.damage or again.oddity)
        return again.recipe.title
    finally:
        again.set_state("cancelled")
        again.release()
        again.delete()


def _set(run: runs.Run, name: str) -> str:
    return catalogue.keep(name, Arrays(X, Y, X[:10], Y[:10]), replace=True).title


def _classes(run: runs.Run, name: str) -> str | None:
    y = np.array(["other", name])[Y]
    if len(set(y.tolist())) < 2:
        return None  # an array of texts ends at its last letter that is not a zero
    entry = catalogue.keep("Classes", Arrays(X, y, X[:10], y[:10]), replace=True)
    catalogue.load(entry.name)
    back = next(label for label in entry.classes if label != "other")
    return back if "\0" not in name else None


def _columns(run: runs.Run, name: str) -> str:
    table = Arrays(X[:, 0].astype(np.float32), Y, X[:10, 0].astype(np.float32), Y[:10])
    entry = catalogue.keep("Columns", table, [name, *"abcdefg"], replace=True)
    catalogue.load(entry.name)
    return entry.features[0] if entry.features and len(_plain(name)) <= 200 else name


def _pictures(run: runs.Run, name: str) -> None:
    upload = read_pictures(street_files())
    kept = replace(upload, names=(f"{name}.png", *upload.names[1:]))
    pictures.keep(name, kept, name[:30], replace=True).load()


GIVEN = {
    "a run": _rename, "a tag": _tag, "a recipe": _recipe, "a set": _set, "a class": _classes, "a column": _columns,
    "pictures": _pictures,
}  # fmt: skip


def _look(visitor: Visitor, run: runs.Run, wrong: list[str]) -> int:
    """Draw the pages that show names; how many."""
    sets = [entry.name for entry in catalogue.entries() if entry.name.startswith("own:")]
    pages = [("runs", {"run": run.id}), ("train", {"run": run.id}), ("errors", {"run": run.id})]
    pages += [("datasets", {"set": name, "view": view}) for name in sets for view in ("First hundred", "About")]
    for page, query in pages:
        app = visitor.opened(page, **query)
        if fault := broken(app) or str(live_texts(app) or ""):
            wrong.append(f"{page}?{query}: {fault}")
    return len(pages)
