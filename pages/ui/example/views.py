"""The views of one dataset: its examples, samples by class, and what each preprocessing step does to them."""

import numpy as np
import streamlit as st

from data import Dataset, Entry
from data.pictures import PictureFacts
from data.revisions import Revision
from pages.ui.example import evidence
from pages.ui.figures import maps
from pages.ui.figures.frame import show
from pages.ui.kit import numbers, parameters, walk
from pages.ui.kit.gallery import Tile, gallery, open_digit, pictures, reference
from pages.ui.kit.text import rounded
from pages.ui.kit.walk import paged
from pages.ui.kit.ways import button
from pages.ui.kit.words import distinct, file_size, plain, short
from pages.ui.recipe import steps
from svmcore.preprocess import STEPS, Preprocessor, parse_step, usage

HUNDRED = 100
ROWS = 4000  # examples that ranges are taken over and that are drawn, at most
PARTS = ("train", "test")
CHOSEN = ("across", "up")  # what an address says of the columns of one set
OFFERED = 200  # columns to choose from, the most telling
EACH = 12  # examples of a class, the least number that passes through the preprocessing
STAGED = 1_000_000  # numbers (pixels of all examples) that pass through the preprocessing, about
STEPS_SHOWN = ("smooth:0.75", "deslant", "gradients:7")
TABLE_ROWS = 100
TOLD, NAMED = 6, 12  # features that a tile, and a caption, name


def facts(entry: Entry) -> str:
    """`60,000 + 10,000 examples · 28 × 28 · 10 classes · 12 MB`."""
    sizes = f"{entry.n_train:,} + {entry.n_test:,}" if entry.n_test else f"{entry.n_train:,}"
    more = f" · {entry.unlabelled:,} of {entry.unlabelled + entry.n_train:,} have no label yet" * bool(entry.unlabelled)
    shape = "\u00a0×\u00a0".join(map(str, entry.shape)) if len(entry.shape) > 1 else f"{entry.shape[0]} features"
    size = f" · {file_size(entry.size_mb)}" if entry.size_mb else ""
    if isinstance(entry, Revision):
        size = f" · {sum(entry.judged.values()):,} reviewed"
    sizes += f" examples in {entry.groups:,} groups" if entry.groups else " examples"
    return f"{sizes} · {shape} · {entry.n_classes} classes{size}{more}"


def about(entry: Entry | PictureFacts) -> None:
    """Names, licence, citation and sources of a set of examples, or of pictures with objects."""
    if isinstance(entry, Entry):
        own = {"classes": ", ".join(map(short, entry.classes[:20])) + (", …" if entry.n_classes > 20 else "")}
    else:
        own = {"objects": f"{entry.object_name}, given as a {entry.shape}"}
        own |= {"categories": ", ".join(f"{number} {name}" for number, name in entry.categories.items())}
    told = {"id in addresses and snippets": entry.name, **own, "licence": entry.licence}
    told |= {"citation": entry.citation or "–", "source": ", ".join(entry.sources), "note": entry.note or "–"}
    st.table({name: plain(text) for name, text in told.items()}, alt=f"Licence, citation and sources of {entry.title}")


def labelled(dataset: Dataset, split: str, rows: np.ndarray, key: str, clickable: bool = True) -> None:
    """A gallery of some rows of a split, the class above each picture and its index below."""
    labels = [dataset.label(split, row) for row in rows.tolist()]
    y = ["no label" if label is None else str(label) for label in labels]
    name, classes = dataset.entry.name, dataset.classes.tolist()
    cut = dict(zip(map(str, classes), distinct(classes, 9)))
    if clickable:
        walk.over((reference(name, split, row) for row in rows), dataset.entry.title)
    labels = [
        f"Example {row}, class {label}{_features(dataset, split, row)}" for row, label in zip(rows, y, strict=True)
    ]
    alt = f"{len(rows)} examples of {dataset.entry.title} with their classes"
    marks = {"upper": [cut.get(label, label) for label in y], "lower": map(str, rows)}
    evidence.example_gallery(dataset, split, rows, labels, **marks, key=key, alt=alt, inert=not clickable)


def hundred(dataset: Dataset) -> None:
    """The first hundred examples of a split, and every further hundred."""
    with st.container(horizontal=True, vertical_alignment="center"):
        split = "train"
        if len(dataset.y_test):
            split = parameters.choice("example.part", PARTS)
        n = len(evidence.all_of(dataset, split))
        shown = paged(n, HUNDRED, key="hundred_page", of=(dataset.entry.name, split))
    rows = np.arange(n)[shown]
    if dataset.X_train.shape[1:] == (2,):
        plane(dataset, split)
    labelled(dataset, split, rows, key="hundred")
    st.caption(f"Examples {rows[0]:,} to {rows[-1]:,} of {n:,}. Class above, index below. Click an example to open it.")
    if dataset.image_shape is None:
        _table(dataset, split, rows)


def _features(dataset: Dataset, split: str, row: int) -> str:
    """`: petal length 1.4, petal width 0.2, …` of an example of a table; empty for images."""
    if dataset.image_shape is not None:
        return ""
    x = evidence.all_of(dataset, split)[row]
    told = [f"{short(name)} {rounded(value)}" for name, value in zip(dataset.feature_names[:TOLD], x)]
    return f": {', '.join(told)}{', …' if len(x) > TOLD else ''}"


def _table(dataset: Dataset, split: str, rows: np.ndarray) -> None:
    """What the squares of a table's examples show, and its numbers; long names are cut, and told whole above."""
    X, labels = evidence.all_of(dataset, split), [dataset.label(split, row) for row in rows.tolist()]
    names = dataset.feature_names[:TABLE_ROWS]
    if dataset.album is not None:
        copies = "Virtual SVs are the other rows of each group" if dataset.entry.groups else "Virtual SVs need pixels"
        st.caption("Galleries show the pictures; a machine is trained on the features in the table. "
                   f"{copies}; jittered kernels need pixels, so they are not available here.")  # fmt: skip
    elif X.shape[1] > 2:
        told = ", ".join(plain(short(name)) for name in names[:NAMED]) + (", …" if X.shape[1] > NAMED else "")
        squares = f"Each square shows the features of one example, from left to right and down: {told}."
        st.caption(f"{squares} Blue: above the mean.")
    label = "class" if "class" not in names else "class (label)"
    told = ["" if c is None else short(c, 24) for c in labels]
    table = {label: told} | {name: X[rows, j] for j, name in enumerate(names)}
    cut = {name: st.column_config.Column(short(name, 20), help=plain(name)) for name in names if len(name) > 20}
    st.dataframe(table, hide_index=True, column_config=cut, alt=f"Features of examples {rows[0]} to {rows[-1]}")


def by_class(dataset: Dataset) -> None:
    """Some training examples of each class, in rows; another draw on request."""
    draw = st.session_state.setdefault("draw", 0)
    rng = np.random.default_rng(draw)
    known = dataset.labelled
    y = dataset.y_train[known]
    classes, counts = np.unique(y, return_counts=True)
    drawn = [np.sort(rng.permutation(known[y == c])[: min(EACH, counts.min())]) for c in classes]
    rows = np.concatenate(drawn)
    walk.over((reference(dataset.entry.name, "train", row) for row in rows), dataset.entry.title)
    help, again = "Draws other random examples of each class.", {"draw": draw + 1}
    button("Draw others", "casino", "draw_others", st.session_state.update, again, help=help)
    labels = [f"Example {row}, class {dataset.y_train[row]}" for row in rows]
    alt = f"Training examples of {dataset.entry.title}, one row for each of its {len(classes)} classes"
    of_class = [f"{c} ({n:,})" for c, n in zip(classes, counts)]
    evidence.example_gallery(dataset, "train", rows, labels, key="by_class", alt=alt, row_labels=of_class)
    st.caption("A random draw of each class. In brackets: the number of its training examples.")


def preprocessing(dataset: Dataset) -> None:
    """The same examples before preprocessing and after each step, in the order chosen."""
    image = dataset.image_shape is not None
    key = f"steps_{'image' if image else 'features'}"
    options = [usage(name) for name, step in STEPS.items() if image or not step.images_only]
    chosen = st.multiselect(
        "Steps, applied from left to right", options,
        default=[step for step in STEPS_SHOWN if step in options] if image else ["zscore"], accept_new_options=True,
        key=key, help="A number after the colon can be changed: type smooth:1.5 and press Enter.",
    )  # fmt: skip
    steps.fields(key, chosen)
    try:
        pipeline = Preprocessor(*chosen, image_shape=dataset.image_shape)
        few = max(EACH, STAGED // dataset.X_train[0].size, pipeline.examples_needed)
        first = dataset.X_train[: min(HUNDRED, few)]
        pipeline.fit(first)
        stages = [("as it is", first), *pipeline.stages(first)]
    except ValueError as error:
        st.error(plain(error), icon=":material/block:")
        return
    for at, (name, images) in enumerate(stages):
        shape = images.shape[1:] if image else None
        large = image and shape[:2] != first.shape[1:3]  # a drawing, of which fewer have room
        drawn = pictures(images[: EACH // 2 if large else EACH], images, shape, dataset.entry.ink)
        tiles = [
            Tile(reference(dataset.entry.name, "train", row), f"Example {row}, {name}") for row in range(len(drawn))
        ]
        gallery(drawn, tiles, key=f"stage_{at}", alt=f"The first training examples, {name}", rows=[name])
    helps = [f"**{step.title}**: {step.help} {step.drawing}" for _, step, _ in map(parse_step, chosen)]
    st.caption("  \n".join(helps) or "No step: the machine gets the raw values.")


def columns(dataset: Dataset) -> None:
    """A table's columns on the training examples: ranges, how well each separates the classes, and two as a plot."""
    rows = dataset.labelled
    X, y = dataset.X_train[rows[:ROWS]], dataset.y_train[rows[:ROWS]]
    names, told = dataset.feature_names, eta_squared(X, y)
    order = np.argsort(-told, kind="stable")[:OFFERED]
    left, right = st.columns(2)
    with left:
        _ranges(X, names, told, order)
    offered = [names[j] for j in order]
    with right:
        with st.container(horizontal=True):
            across = parameters.choice("example.across", offered)
            up = parameters.choice("example.up", offered, offered[min(1, len(offered) - 1)])
        plane(dataset, "train", (across, up))
    n = len(rows)
    st.caption(
        f"Computed on the {'first ' if len(X) < n else ''}{len(X):,} training examples. *Separation* is eta squared: "
        "the share of a column's variance that lies between the classes. It is 1 if all examples of a class have the "
        "same value. Columns that separate nothing alone may separate the classes together."
    )


def _ranges(X: np.ndarray, names: tuple[str, ...], apart: np.ndarray, order: np.ndarray) -> None:
    told = {
        "column": [short(names[j], 40) for j in order],
        "separation": apart[order],
        "minimum": X[:, order].min(axis=0),
        "median": np.median(X[:, order], axis=0),
        "maximum": X[:, order].max(axis=0),
        "values": [len(np.unique(X[:, j])) for j in order],
    }
    number = st.column_config.NumberColumn
    config = {name: number(name, format="%.4g") for name in ("minimum", "median", "maximum")} | {
        "separation": st.column_config.ProgressColumn("separation", min_value=0, max_value=1, format="%.2f"),
        "values": number("values", help="Number of different values."),
    }
    numbers.table(told, "Columns, the most discriminative first", columns=config, height="auto")
    if more := len(names) - len(order):
        st.caption(f"The {len(order)} most discriminative columns; {more:,} more are not shown.")


def plane(dataset: Dataset, split: str, axes: tuple[str, str] | None = None) -> None:
    """Two columns against each other by class, each point leading to its own view."""
    X, y = (dataset.X_train, dataset.y_train) if split == "train" else (dataset.X_test, dataset.y_test)
    which = [dataset.feature_names.index(name) for name in axes] if axes else [0, 1]
    rows = (dataset.labelled if split == "train" else np.arange(len(X)))[:ROWS]
    X, y = X[np.ix_(rows, which)], y[rows]
    refs = [reference(dataset.entry.name, split, row) for row in rows.tolist()]
    axes = tuple(map(short, axes)) if axes else evidence.plane_axes(dataset)
    figure = maps.toy_plane(X, y, dataset.classes, refs=refs, axes=axes)
    show(figure, "dataset_plane", on_click=open_digit)


def eta_squared(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(d,) the share of each column's variance that lies between the classes; 0 for a column of one value."""
    X = X.astype(np.float64)
    whole = ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    within = sum(((X[y == c] - X[y == c].mean(axis=0)) ** 2).sum(axis=0) for c in np.unique(y))
    return np.where(whole > 0, 1 - within / np.where(whole > 0, whole, 1), 0).clip(0, 1)
