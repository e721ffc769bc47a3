"""What a run knows of single examples: the numbers behind a picture.

    f_c(x) = b_c + sum_i coef[c, i] K(x_i, x)     c one machine, i a support vector; coef = y alpha
    margin of a training example = y f(x)

Support vectors are traced back to the dataset: row `dataset_rows(run, machine)[i]` of X_train is x_i, or the example
that a virtual x_i was made from.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st

from data import DataError, Dataset, load
from pages.ui.figures import maps
from pages.ui.kit import parameters
from pages.ui.kit.gallery import LARGEST, REFERENCE_ROWS, Tile, gallery, pictures, reference, thin
from pages.ui.kit.words import distinct, minus, short, small, test_example
from svmcore import metrics
from svmcore.jitter import JitterSet
from svmcore.lab import split
from svmcore.lab.analyses import reasons
from svmcore.lab.method import steps_before_machine
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run
from svmcore.model import Machine
from svmcore.preprocess import Preprocessor, parse_step


class Supports(NamedTuple):
    """The support vectors of one machine, largest alpha first; each array (m,)."""

    position: np.ndarray  # in the Machine's arrays
    row: np.ndarray  # in the dataset's X_train
    alpha: np.ndarray
    sign: np.ndarray  # +1 or -1, the side it stands for
    kind: np.ndarray  # "free", "bound", "virtual" or "virtual-bound": its ring; "" for a constructed one
    label: np.ndarray  # class as training saw it; of a constructed one, the class that it speaks for most
    given: np.ndarray  # class in the dataset where label noise swapped it, else ""

    @property
    def virtual(self) -> np.ndarray:
        """(m,) bool: which were made from another one."""
        return np.char.startswith(self.kind, "virtual")


class Labels(NamedTuple):
    """Of every example of a dataset's X_train, each array (n,)."""

    seen: np.ndarray  # class as the training of a run saw it: with the recipe's label noise
    given: np.ndarray  # class in the dataset where that is another one, else ""

    def said(self, row: int) -> str:
        """`3`, or with noise `3 (8 in the dataset, swapped by noise)`."""
        return label_text(self.seen[row], self.given[row])


PHOTOGRAPH = 512  # pixels a side up to which a photograph is shown as it is
TINY = 0.005  # a number that two digits after the point would make 0
RING_WORDS = {
    "": "not a support vector",
    "free": "free support vector",
    "bound": "bounded support vector",
    "virtual": "virtual support vector",
    "virtual-bound": "bounded virtual support vector",
}
SWAPPED = "In brackets: the class in the dataset, where label noise swapped the class"


def labels(run: Run) -> Labels:
    """The labels of the training examples of a run; those of all others as the dataset has them."""
    dataset, recipe = load(run.recipe.dataset), run.recipe
    y = dataset.y_train
    seen, given = y, np.zeros(len(y), "U1")
    if share := recipe.options.get("noise", 0.0):
        noisy, true = (split.whole(recipe.replace(folds=None), dataset, s) for s in (share, 0.0))
        which, swapped = noisy.y_train != true.y_train, noisy.y_train
        if len(recipe.classes) == 1:
            seen, swapped = y.astype(str), np.where(swapped > 0, str(recipe.classes[0]), "rest")
        seen = seen.astype(np.result_type(seen, swapped))
        seen[noisy.train[which]] = swapped[which]
        given = np.where(np.isin(np.arange(len(y)), noisy.train[which]), y.astype(str), "")
    return Labels(seen, given)


def label_text(label, given: str) -> str:
    """A class read out, with that of the dataset where noise swapped it."""
    return f"{label} ({given} in the dataset, swapped by noise)" if given else str(label)


def brief(dataset: Dataset, label) -> str:
    """A class as a tile has room for it: by its number too where the classes of the set would be cut alike."""
    return dict(zip(dataset.classes.tolist(), distinct(dataset.classes, 9))).get(label) or short(label, 9)


def examples(dataset: Dataset, split: str) -> tuple[np.ndarray, np.ndarray]:
    """X and y of the split "train" or "test"."""
    return (dataset.X_train, dataset.y_train) if split == "train" else (dataset.X_test, dataset.y_test)


def all_of(dataset: Dataset, split: str) -> np.ndarray:
    """X of a split, the examples without a label last."""
    return dataset.rows if split == "train" else dataset.X_test


def rows_of(dataset: Dataset, split: str, rows: np.ndarray) -> np.ndarray:
    """X of some rows of a split, those without a label among them. DataError where it has fewer."""
    X = all_of(dataset, split)
    _require_there(rows, len(X))
    return X[rows]


def data_of(run: Run) -> Dataset:
    """The examples of a run. DataError when they cannot be had, or are not those that it was trained on any more."""
    dataset, kept = load(run.recipe.dataset), (run.result or {}).get("data_hash")
    if kept and kept != dataset.content_hash:
        own = run.recipe.dataset.startswith("own:")
        why = (
            "it has been replaced since"
            if own
            else "the recipe of the run belongs to another run, or another version of the lab made the dataset"
        )
        raise DataError(f"{dataset.entry.title} is not the dataset that this run was trained on: {why}")
    return dataset


def example_pictures(dataset: Dataset, split: str, rows: np.ndarray) -> np.ndarray:
    """Pictures (n, h, w[, 3]) of some rows of a split. DataError where it has fewer."""
    X = rows_of(dataset, split, rows)
    if dataset.album is not None:
        return dataset.album.squares(dataset.in_album(split, rows), LARGEST)
    return pictures(X, dataset.X_train, dataset.image_shape, dataset.entry.ink, dataset.y_train)


def large_picture(dataset: Dataset, split: str, row: int) -> np.ndarray:
    """The picture (h, w[, 3]) of one example, as large as it is stored. DataError where the split has fewer."""
    if dataset.album is not None:
        _require_there(np.array([row]), len(all_of(dataset, split)))
        return dataset.album.picture(int(dataset.in_album(split, row)))
    return thin(example_pictures(dataset, split, np.array([row])), PHOTOGRAPH)[0]


def example_gallery(
    dataset: Dataset, split: str, rows: np.ndarray, labels: Iterable[str], *, upper: Iterable[str] | None = None,
    lower: Iterable[str] | None = None, cross: Iterable[bool] | None = None, key: str, alt: str, inert: bool = False,
    row_labels: Sequence[str] = (), **how,
) -> None:  # fmt: skip
    """Examples `rows` (m,) of a split as a gallery; a click opens one, unless they are inert. DataError where the split
    has fewer.

    labels (m,) are read out; upper, lower and cross (m,) as of a `gallery.Tile`; row_labels and how: as of a gallery.
    """
    given = {"upper": upper, "lower": lower, "cross": cross}
    columns = {name: list(values) for name, values in given.items() if values is not None}
    refs = ["" if inert else reference(dataset.entry.name, split, row) for row in rows]
    tiles = [
        Tile(ref, label, **{name: values[i] for name, values in columns.items()})
        for i, (ref, label) in enumerate(zip(refs, labels, strict=True))
    ]
    gallery(example_pictures(dataset, split, rows), tiles, key=key, alt=alt, rows=row_labels, **how)


def answer_gallery(
    run: Run, machine: Machine, rows: np.ndarray, said: Mapping[str, np.ndarray], *, key: str, alt: str,
    lower: Sequence[str] = (), sure: bool = False, legend: str = "",
) -> None:  # fmt: skip
    """Examples `rows` (m,) of a run's test, with a cross where the last class said is not the true one.

    said: "true", then what each prediction is called -> places (n,) among the machine's classes; the last two stand
    above the picture. lower (m,): below it, else the number in the set; sure: these are probabilities of the last."""
    test, names = run.test(), class_names(run, machine)
    index, cut = test.index[rows], distinct(names, 9)
    places = np.array(list(said.values()))[:, rows].T
    labels = [
        f"{test_example(test.split, i)}, " + ", ".join(f"{what} {names[c]}" for what, c in zip(said, of, strict=True))
        for i, of in zip(index, places, strict=True)
    ]
    if sure:
        labels = [f"{label} with probability {p}" for label, p in zip(labels, lower, strict=True)]
    upper = [" → ".join(cut[c] for c in of[-2:]) for of in places]
    marks = {"upper": upper, "lower": lower or map(str, index), "cross": (places[:, -1] != places[:, 0]).tolist()}
    example_gallery(load(run.recipe.dataset), test.split, index, labels, **marks, key=key, alt=alt, legend=legend)


def plane_axes(dataset: Dataset) -> tuple[str, str]:
    """What the axes of a set of points in the plane are called: its columns' names, if they have any."""
    across, up = dataset.entry.features or maps.PLANE
    return short(across, 30), short(up, 30)


def _require_there(rows: np.ndarray, n: int) -> None:
    """DataError where a run names examples that its dataset does not have."""
    if len(rows) and np.max(rows) >= n:
        raise DataError(
            f"The run refers to example {np.max(rows):,}, but its dataset has only {n:,}. The dataset has been "
            "replaced, or a file of the run is damaged"
        )


def class_names(run: Run, machine: Machine) -> list[str]:
    """What to call the classes that the machine tells apart, in its order."""
    if len(run.recipe.classes) == 1:
        return ["rest", str(run.recipe.classes[0])]
    return [str(c) for c in machine.classes]


def machine_names(run: Run, machine: Machine) -> list[str]:
    """What to call each of the k machines."""
    names = class_names(run, machine)
    if len(machine.bias) == 1:
        return [f"{names[1]} against {'the rest' if names[0] == 'rest' else names[0]}"]
    return [f"{name} against the rest" for name in names]


def choose_machine(names: Sequence[str], help: str, **how) -> int:
    """The choice of one of a run's machines, `machine` in the address: its number."""
    how = {"widget": "selectbox", "width": 200, "help": help} | how
    return names.index(parameters.choice("example.machine", names, **how))


def class_of(run: Run, machine: Machine, label) -> str | None:
    """The name of the class, among those told apart, that an example of this label belongs to; None when to none."""
    names = class_names(run, machine)
    return str(label) if str(label) in names else names[0] if names[0] == "rest" else None


def dataset_rows(run: Run, machine: Machine) -> np.ndarray:
    """(m,) rows of X_train that the support vectors are, or were made from; -1 for one that was constructed."""
    return np.where(machine.origin < 0, -1, run.train_index()[machine.origin])


def constructed(machine: Machine) -> bool:
    """Whether some of a machine's vectors are no examples, but were made to stand for several."""
    return bool(np.any(machine.constructed))


def supports(run: Run, machine: Machine, c: int) -> Supports:
    """The support vectors of machine c, largest alpha first, ties in the order of the training set."""
    position = np.flatnonzero(machine.coef[c])
    return supports_at(run, machine, c, position[np.argsort(-np.abs(machine.coef[c, position]), kind="stable")])


def supports_at(run: Run, machine: Machine, c: int, position: np.ndarray) -> Supports:
    """The support vectors at these positions of the Machine's arrays, in this order, as machine c has them."""
    row = dataset_rows(run, machine)[position]
    made = np.zeros(len(position), bool) if machine.jitter is None else machine.jitter[position] > 0
    kind = np.array([ring(*one) for one in zip(made, machine.bound[c, position])], str)
    coef = machine.coef[c, position]
    known = labels(run)
    _require_there(row, len(known.seen))
    label, given = known.seen[row], np.where(row < 0, "", known.given[row])
    if (made := row < 0).any():
        pulls, names = machine.coef[:, position], np.array(class_names(run, machine))
        most = names[(pulls[0] > 0).astype(int) if len(pulls) == 1 else pulls.argmax(axis=0)]  # what it speaks for
        kind, label = np.where(made, "", kind), np.where(made, most, label.astype(str))
    return Supports(position, row, np.abs(coef), np.sign(coef).astype(int), kind, label, given)


def support_pictures(run: Run, machine: Machine, chosen: Supports) -> np.ndarray:
    """Pictures of support vectors: the originals, or `form_pictures` if some are virtual or constructed."""
    if constructed(machine):
        return seen_pictures(run, machine.support_vectors[chosen.position])
    if machine.jitter is None:
        return example_pictures(data_of(run), "train", chosen.row)
    return form_pictures(run, chosen.row, jitters(machine), machine.jitter[chosen.position])


def support_tiles(dataset: str, chosen: Supports, numbers: np.ndarray) -> list[Tile]:
    """Tiles of support vectors with a number (m,) below each: an alpha or a contribution; tiny ones to one digit."""
    sign = "" if numbers is chosen.alpha else "+"
    of = load(dataset)
    return [
        Tile(
            "" if row < 0 else reference(dataset, "train", row),
            named(position, row, label_text(label, given), kind, alpha),
            upper=brief(of, label) + (f" ({brief(of, given)})" if given else ""),
            lower=minus(f"{number:{sign}{'.1g' if 0 < abs(number) < TINY else '.2f'}}"),
            ring=str(kind),
            sign=int(side),
        )
        for position, row, label, given, kind, alpha, side, number in zip(
            chosen.position,
            chosen.row,
            chosen.label.tolist(),
            chosen.given,
            chosen.kind,
            chosen.alpha,
            chosen.sign,
            numbers,
        )
    ]


def named(position: int, row: int, label, kind: str, alpha: float) -> str:
    """A support vector read out: `Training example 12, class 3: free support vector, alpha 0.5`."""
    if row < 0:
        return f"Reduced set vector {position}, mainly for class {label}, weight {small(alpha, 3)}"
    made = "Made from training" if str(kind).startswith("virtual") else "Training"
    return f"{made} example {row}, class {label}: {ring_word(kind)}, alpha {small(alpha, 3)}"


def ring(virtual: bool, bound: bool) -> str:
    """The ring (`gallery.Tile`) of a support vector."""
    return ("virtual-bound" if bound else "virtual") if virtual else "bound" if bound else "free"


def ring_word(ring: str) -> str:
    """A ring read out: `bounded virtual support vector`; of none, `not a support vector`."""
    return RING_WORDS[str(ring)]


def jitter_names(machine: Machine) -> list[str]:
    """The names of the jitters that a machine's virtual support vectors count in; empty for one that has none."""
    if machine.jitter is None:
        return []
    return list(jitters(machine).names)


def jitters(machine: Machine) -> JitterSet:
    """The jitter set that a machine's virtual support vectors count in."""
    return JitterSet.parse(machine.meta["jitters"], tuple(machine.meta["image_shape"]))


def take(chosen: Supports, which: np.ndarray) -> Supports:
    """Some of the support vectors, by mask or order."""
    return Supports(*(field[which] for field in chosen))


def one_bound(run: Run, machine: Machine) -> float | None:
    """The C that bounds every alpha; infinite if slack costs its square; None if it is not one for all."""
    if "loss" in machine.meta:
        return np.inf
    apart = "nu" in machine.meta and len(machine.bias) > 1  # each machine has a C of its own
    return machine.C if run.recipe.class_weight is None and not apart else None


def prepared(run: Run, X: np.ndarray) -> np.ndarray:
    """Examples of the run's dataset as its machine takes them: (n, d) float32."""
    return _pipeline(run.id).transform(X)


def form_pictures(
    run: Run, rows: np.ndarray, jitters: JitterSet | None = None, which: np.ndarray | None = None
) -> np.ndarray:
    """Pictures of training examples `rows` (m,): without jitters those of the album, if there is one. Otherwise each in
    the form `which` (m,) of a jitter set, as the machine sees it, or before the steps that make features of it."""
    dataset = data_of(run)
    if jitters is None and dataset.album is not None:
        return example_pictures(dataset, "train", rows)
    first, last = _pipeline(run.id).split()
    _require_there(rows, len(dataset.X_train))
    images = first.transform(dataset.X_train[rows])
    if jitters is not None:
        images = jitters.pick(images, which)
    if last.makes_features and dataset.image_shape is not None:
        return _on_own_scale(first.pictures(images, dataset.image_shape), dataset)
    return seen_pictures(run, last.transform(images))


def drawing(run: Run) -> str:
    """How features are drawn by `seen_pictures`, a sentence; empty where the machine takes pictures."""
    steps = map(parse_step, steps_before_machine(run.recipe))
    said = [step.drawing for _, step, _ in steps if step.features and data_of(run).image_shape is not None]
    return said[0] if said else ""


def seen_pictures(run: Run, X: np.ndarray) -> np.ndarray:
    """Examples X (n, d) as the run's machine takes them, as pictures; features of pictures as a step draws them."""
    dataset = data_of(run)
    if dataset.image_shape is None:
        return pictures(X, prepared(run, dataset.X_train[:REFERENCE_ROWS]), None)
    return _on_own_scale(_pipeline(run.id).pictures(X, dataset.image_shape), dataset)


def _on_own_scale(seen: np.ndarray, dataset: Dataset) -> np.ndarray:
    """Images (n, h, w[, c]) as pictures, each on its own scale: normalised ones differ."""
    seen = seen.astype(np.float32)
    flat = seen.reshape(len(seen), -1)
    flat = flat - flat.min(axis=1, keepdims=True)
    flat /= np.maximum(flat.max(axis=1, keepdims=True), 1e-12)
    return pictures(flat, np.array([0.0, 1.0]), seen.shape[1:], dataset.entry.ink)


@st.cache_resource(max_entries=8, show_spinner=False)
def _pipeline(run_id: str) -> Preprocessor:
    """The run's preprocessing with what its steps learned from the training examples."""
    run = runs.get(run_id)
    return reasons.steps(run, data_of(run))


def by_class(machine: Machine, test: NamedTuple) -> list[dict[str, int]]:
    """A row a class, in the order of the machine's: its test examples (tested), errors of the whole classifier, misses
    and false alarms of the class's own machine (fn, fp), that machine's support vectors and those at C (svs, bound).

    test: what the run said of its test examples. Of two classes both rows tell of the one machine.
    """
    decision = test.decision[:, 0] if len(machine.bias) == 1 else test.decision
    table = metrics.per_class_table(decision, test.y_true, test.y_pred, machine.classes)
    tested = np.bincount(metrics.class_positions(test.y_true, machine.classes), minlength=len(table))
    n_sv, n_bound = (np.broadcast_to(n, len(table)) for n in (machine.n_sv, machine.bound.sum(axis=1)))
    return [
        row | {"tested": int(tested[c]), "svs": int(n_sv[c]), "bound": int(n_bound[c])} for c, row in enumerate(table)
    ]


def lead(decision: np.ndarray, true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """By how much the predicted class beats the true one: (n,), from decision values (n, k) and class positions."""
    if decision.shape[1] == 1:
        return np.abs(decision[:, 0])
    rows = np.arange(len(decision))
    return decision[rows, predicted] - decision[rows, true]
