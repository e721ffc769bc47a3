"""A home with every kind of thing in it: runs of every method, task and ending, sets and pictures of the reader's own,
a downloaded set with what is remembered of it, the trash. It is made once and copied by links, so that a copy costs
milliseconds; what is to be changed in a copy is made a file of its own first (`own_file`).
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from data import catalogue, fetch, pictures
from data.dataset import Arrays
from data.loaders.pictures import read_pictures
from svmcore.kernels import RBF
from svmcore.lab import jobs
from svmcore.lab.methods.reduced import reduction_of
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from tests.bench.soak import temporary_home
from tests.uploads import street_files

DIGITS = Recipe(dataset="digits-8x8", n_train=120, n_test=60, C=1.0, kernel=RBF(1.0), title="Digits")
PLANE = Recipe(dataset="toy-gaussians", n_train=150, n_test=60, preprocess=(), kernel=RBF(0.5), C=1.0, title="Plane")
SMALL = {  # a recipe of each method and task that takes a second or less
    "sv": DIGITS,
    "one against the rest": DIGITS.replace(classes=(8,)),
    "vsv": DIGITS.replace(method="vsv", jitters="plus:1"),
    "jsv": DIGITS.replace(method="jsv", jitters="plus:1", classes=(3, 8)),
    "query-jitter": DIGITS.replace(method="query-jitter", jitters="plus:1"),
    "tangent": DIGITS.replace(method="tangent", classes=(3, 8)),
    "nu-sv": PLANE.replace(method="nu-sv", nu=0.4),
    "cross-training": PLANE.replace(method="cross-training"),
    "editing": PLANE.replace(method="editing"),
    "folds": PLANE.replace(folds=3),
    "reduced": reduction_of(DIGITS, n_vectors=12, sizes=2, reduction="rho"),
    "detect": RECIPES["volcano-synthetic"].replace(n_train=None),
}
KINDS = {name: recipe for name, recipe in SMALL.items() if name != "detect"}  # which takes seconds
PATIENCE = 300


def fill() -> None:
    """Put one of everything into the home that SVMLAB_HOME names. Starts threads: in a process of its own."""
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 5), np.float32), np.arange(60) % 2
    catalogue.keep("Mine", Arrays(X, y, X[:20], y[:20]), [f"column {j}" for j in range(5)])
    images = rng.integers(0, 256, (60, 8, 8), dtype=np.uint8)
    catalogue.keep(
        "My images", Arrays(images, np.array(["no", "yes"])[y], images[:20], np.array(["no", "yes"])[y[:20]])
    )
    pictures.keep("My town", read_pictures(street_files()), "house")
    downloads(runs.home())
    own = DIGITS.replace(dataset="own:mine", n_train=None, n_test=None, preprocess=(), title="Own")
    group = runs.Group.of("sweep", "A sweep of C")
    for recipe in (*SMALL.values(), own):
        trained(recipe)
    for C in (0.1, 10.0):
        trained(PLANE.replace(C=C), group=group)
    trained(PLANE.replace(C=3.0)).delete()
    stopped = jobs.submit(RECIPES["mnist-5k-sv"].replace(slow_motion=True))
    while not jobs.status(stopped).progress:
        jobs.wait(stopped, 0.05)
    jobs.cancel(stopped)
    jobs.wait(stopped, PATIENCE)
    for run in runs.everything()[:3]:
        run.rename(f"Named {run.id[-3:]}")
        run.tag(["kept", "of mine"])


def trained(recipe: Recipe, **options) -> runs.Run:
    """A run of the recipe, done. RuntimeError where it ends otherwise."""
    run_id = jobs.submit(recipe, looks=False, **options)
    if (status := jobs.wait(run_id, PATIENCE)).state != "done":
        raise RuntimeError(f"{recipe.method} {recipe.task}: {status.state}, {status.message}")
    return runs.get(run_id)


def downloads(home: Path) -> None:
    """USPS as it would be fetched, made up but with the published numbers of each class, and verified once."""
    folder = home / "downloads" / "usps"
    folder.mkdir(parents=True)
    for file in fetch.SETS["usps"].files:
        labels = np.repeat(np.arange(10), file.counts)
        content = "".join(f"{label} {'0.5 ' * 256}\n" for label in labels).encode()
        (folder / f"{file.name}.gz").write_bytes(gzip.compress(content, 1))
    mirrors = os.environ.pop("SVMLAB_DATA", None)
    fetch.find("usps")
    if mirrors is not None:
        os.environ["SVMLAB_DATA"] = mirrors


@contextmanager
def copied(template: Path) -> Iterator[Path]:
    """A home with the content of another, which SVMLAB_HOME names."""
    with temporary_home() as home:
        shutil.copytree(template, home, copy_function=os.link, dirs_exist_ok=True, symlinks=True)
        yield home


def own_file(path: Path) -> Path:
    """Make a file of a copy independent of the one that it is a link to."""
    copy = path.with_name(f".own-{path.name}")
    shutil.copy2(path, copy)
    os.replace(copy, path)
    return path


def digest(folder: Path) -> str:
    """What a folder's files hold, the lock file left out."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "owner.json":
            found.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()
