"""Tested examples of a run as a gallery: what each is, and what was answered."""

from collections.abc import Sequence

import numpy as np

from data import load
from pages.ui.example import evidence
from pages.ui.kit import words
from pages.ui.kit.gallery import Tile, gallery, reference
from svmcore.lab.store.runs import Run


def gallery_of(
    run: Run, rows: np.ndarray, classes: Sequence[str], true: np.ndarray, said: np.ndarray, *, key: str,
    what: str = "predicted", sure: Sequence[str] = (), legend: str = "",
) -> None:  # fmt: skip
    """The examples `rows` of a run's test: true and said (n,) are places among the names of the classes.

    what : what the class said is called
    sure : (n,) the probability of it, shown in place of the example's number
    legend : as of a gallery
    """
    test, cut = run.test(), words.distinct(classes, 9)
    name, split = run.recipe.dataset, test.split
    tiles = []
    for i in rows:
        told = f"{words.test_example(split, test.index[i])}, true {classes[true[i]]}, {what} {classes[said[i]]}"
        tiles.append(
            Tile(
                reference(name, split, test.index[i]),
                f"{told} with probability {sure[i]}" if sure else told,
                upper=f"{cut[true[i]]} → {cut[said[i]]}",
                lower=sure[i] if sure else str(test.index[i]),
                cross=bool(true[i] != said[i]),
            )
        )
    pictures = evidence.example_pictures(load(name), split, test.index[rows])
    alt = f"{words.many(len(rows), 'test example')} with their true and {what} classes"
    gallery(pictures, tiles, key=key, alt=alt, legend=legend)
