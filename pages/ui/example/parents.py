"""Virtual support vectors beside the examples that they were made from, a family a row.

    parent - virtual SV - virtual SV ...     joined by lines; below each its alpha

A parent without a ring is not a support vector itself; only its jittered forms are.
"""

import numpy as np

from pages.ui.example import evidence
from pages.ui.kit.gallery import Tile, gallery, reference
from pages.ui.kit.words import small
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

SEE = (
    "Each row starts with a training example. Its jittered forms that became support vectors follow, with dotted rings "
    "and alpha below. A first picture without a ring is not a support vector shown here. Click a picture to open "
    "it."
)
LONGEST = 10  # tiles of a row: the parent and its virtual support vectors with the largest alpha


def draw(run: Run, machine: Machine, chosen: evidence.Supports, most: int, key: str, legend: str = SEE) -> None:
    """Of support vectors of one machine, the families whose alphas add up to most, as the machine sees them."""
    dataset, known = evidence.data_of(run), evidence.labels(run)
    jitters = evidence.jitter_names(machine)
    heads, family = np.unique(chosen.row, return_inverse=True)
    weight = np.bincount(family, chosen.alpha)
    forms, tiles, labels = [], [], []
    for f in np.argsort(-weight, kind="stable")[:most]:
        own = np.flatnonzero((family == f) & (~chosen.virtual))
        made = np.flatnonzero((family == f) & (chosen.virtual))[: LONGEST - 1]
        row = heads[f]
        ref, label = reference(run.recipe.dataset, "train", row), known.seen[row]
        kind, alpha = (str(chosen.kind[own[0]]), chosen.alpha[own[0]]) if len(own) else ("", 0.0)
        first = Tile(
            ref,
            f"Training example {row}, class {known.said(row)}: {evidence.ring_word(kind)}",
            evidence.brief(dataset, label),
            f"{alpha:.2f}" if alpha else "",
            kind,
            int(chosen.sign[(own if len(own) else made)[0]]),
        )
        tiles += [first, *(_virtual(ref, jitters, machine, chosen, i) for i in made)]
        tiles += [Tile("", "")] * (LONGEST - 1 - len(made))
        forms += [[row, 0], *([row, j] for j in machine.jitter[chosen.position[made]])]
        forms += [[-1, 0]] * (LONGEST - 1 - len(made))
        labels.append(f"no. {row:,}")
    rows, which = np.array(forms, np.int64).reshape(-1, 2).T
    there = rows >= 0
    drawn = evidence.form_pictures(run, rows[there], evidence.jitters(machine), which[there])
    laid = np.full((len(rows), *drawn.shape[1:]), 255, np.uint8)
    laid[there] = drawn
    gallery(
        laid, tiles, key=key,
        alt=f"{len(labels)} training examples, each followed by the virtual support vectors made from it", size=48,
        rows=labels, legend=legend,
    )  # fmt: skip


def _virtual(ref: str, jitters: list[str], machine: Machine, chosen: evidence.Supports, i: int) -> Tile:
    name = jitters[machine.jitter[chosen.position[i]]]
    return Tile(
        ref,
        f"{name}: {evidence.ring_word(chosen.kind[i])}, alpha {small(chosen.alpha[i], 3)}",
        lower=f"{chosen.alpha[i]:.2f}",
        ring=str(chosen.kind[i]),
        sign=int(chosen.sign[i]),
        linked=True,
    )
