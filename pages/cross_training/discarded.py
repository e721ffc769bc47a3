"""The run shown, where it is one that leaves training examples out; a way to start one, and to those there are."""

from typing import NamedTuple

import numpy as np
import streamlit as st

from data import DataError, Dataset
from pages.cross_training import compared, setting
from pages.ui.example import evidence
from pages.ui.figures import crossing, edited
from pages.ui.figures.frame import show
from pages.ui.kit import numbers, parameters, present, state, walk, ways, words
from pages.ui.kit.gallery import open_digit, reference
from pages.ui.kit.walk import paged
from pages.ui.kit.ways import button
from pages.ui.recipe import config, starting
from pages.ui.run import picker, stored, watch
from pages.ui.run.trained import to_labels
from svmcore.lab import jobs
from svmcore.lab.forecast import estimate
from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs, titles
from svmcore.lab.store.reading import Group
from svmcore.lab.store.runs import Run
from svmcore.methods.editing import RULES, roles

PER_PAGE = 96
COLUMNS = 8  # of a table's row that are shown
KINDS = {  # what a gallery is called -> roles, how its examples are ordered: the most certain first
    "Wrong side": ((roles.WRONG_SIDE,), lambda m, v: m + v),
    "Easy": ((roles.EASY,), lambda m, v: v - m),
    "Kept": ((roles.KEPT,), lambda m, v: np.abs(m)),
    "Put back": ((roles.REINSERTED,), lambda m, v: m - v),  # in the address
    "Validation": ((roles.VALIDATION,), lambda m, v: m),
}
SHOWN = {"Put back": "Reinserted"}  # in the address
PLAIN = ("sv", "nu-sv")  # methods of plain machines, by C and by nu
EXAMPLES = (  # fields of a recipe
    "task", "dataset", "n_train", "n_test", "split", "classes", "preprocess", "seed", "kernel"
)  # fmt: skip
THROWN = "thrown"  # the parameter of the address: the kind of examples that is shown


class Left(NamedTuple):
    """What is to be shown of a run's training examples, each array (n,)."""

    run: Run
    dataset: Dataset
    names: list[str]  # of -1 and +1
    index: np.ndarray  # positions in the dataset's X_train
    role: np.ndarray
    mean: np.ndarray  # (0,) where a rule has no margins
    variance: np.ndarray
    sign: np.ndarray  # +-1, as training saw them
    given: np.ndarray  # its class in the dataset where the run's noise gave it the other label, else ""

    def ref(self, row: int) -> str:
        """The example, as galleries and the address name it."""
        return reference(self.run.recipe.dataset, "train", self.index[row])

    def open(self, row: int) -> None:
        """Callback: the view of the example."""
        open_digit(self.ref(row))

    def label(self, row: int) -> str:
        """The class that training saw."""
        return self.names[int(self.sign[row] > 0)]


def left_of(run: Run) -> Left:
    """Of a run that is done. FileNotFoundError where its method leaves nothing out."""
    found, machine, dataset = run.edited(), run.machine(), evidence.data_of(run)
    names = evidence.class_names(run, machine)
    known = evidence.labels(run)
    sign = np.where(known.seen[found.index].astype(str) == names[1], 1, -1)
    if not np.isfinite(found.mean).all():
        found = found._replace(mean=found.mean[:0], variance=found.variance[:0])
    return Left(run, dataset, names, *found, sign, known.given[found.index])


def draw(run: Run) -> None:
    """Everything there is to see of a run that is done."""
    left = left_of(run)
    names = ["Discarded examples", "Cost", "Margins", "Training examples"]
    sides = st.grid(2, min_column_width=400)
    places = [sides.cell(), sides.cell(), st.container(), st.container()]
    thrown, cost, margins, examples = present.parts(names, places)
    with thrown:
        st.markdown("**What was discarded, and why?**")
        _thrown(left)
    with cost:
        st.markdown("**What did the editing cost?**")
        _cost(left)
    with margins:
        _margins(left)
    with examples:
        _examples(left)


def _thrown(left: Left) -> None:
    """How many have each role, and the reason."""
    n, crossed = len(left.role), bool(len(left.mean))
    counts = np.bincount(left.role, minlength=len(roles.TITLES))
    rows = [
        {"": roles.TITLES[code], "Examples": f"{counts[code]:,}", "Share": f"{100 * counts[code] / n:.1f}\u00a0%"}
        | ({"Why": roles.REASONS[code]} if crossed else {})
        for code in np.flatnonzero(counts)
    ]
    st.table(rows, alt="Number of training examples kept, discarded and reinserted, and why")
    st.caption(words.plain(_how(left)))
    if flipped := np.count_nonzero(left.given != ""):
        caught = np.count_nonzero((left.given != "") & (left.role == roles.WRONG_SIDE))
        st.caption(
            f"Examples with a flipped label: {flipped:,}, of which {caught:,} lay on the wrong side and were "
            "discarded. Examples discarded on the wrong side although their label was not flipped: "
            f"{counts[roles.WRONG_SIDE] - caught:,}."
        )


def _how(left: Left) -> str:
    recipe, result = left.run.recipe, left.run.result
    if not len(left.mean):
        rule = RULES[recipe.option("rule")]
        return f"{rule.title}: {rule.why}"
    machines, (first, *last) = recipe.option("n_subsets"), result["chosen"]
    last = f" for these machines and {last[0]:g} for the final one" if last and last[0] != first else ""
    name = "C" if recipe.option("nu") is None else "nu"
    each = f"{result['subset_size']:,}"
    return (
        f"{machines} machines, each trained on {each} examples, scored all {len(left.role):,} training examples. "
        f"{name} = {first:g}{last}."
    )


def _cost(left: Left) -> None:
    """Beside the plain machine of the same examples, which can be trained from here."""
    recipe = left.run.recipe
    bagged = "answer" in recipe.options and recipe.option("answer") == "bagged"
    own = compared.of_run(left.run, len(left.role) if bagged else len(edited.left(left.role)))
    plain = plain_of(left.run)
    compared.table(compared.of_run(plain, plain.result["n_train"]) if plain else None, own)
    if bagged:
        st.caption("This run predicts by the average of the first machines. Its final machine is not used.")
    with st.container(horizontal=True, vertical_alignment="center"):
        if not plain:
            _train_plain(left.run)
        query = {"run": left.run.id}
        ways.to("support_vectors", "Support vectors of this run", "arrow_forward", query)
        ways.to("errors", "Errors of this run", "arrow_forward", query)


def plain_of(run: Run) -> Run | None:
    """The newest finished run of a plain machine on the same examples with the same kernel, whatever its C."""
    asked = lambda recipe: [*(getattr(recipe, name) for name in EXAMPLES), recipe.option("noise")]  # noqa: E731
    done = (one for one in runs.newest_first() if one.state == "done" and METHODS[one.recipe.method].plain)
    alike = (one for one in done if asked(one.recipe) == asked(run.recipe))
    return next((one for one in alike if (one.result or {}).get("data_hash") == run.result["data_hash"]), None)


def _train_plain(run: Run) -> None:
    nu = run.recipe.options.get("nu")
    recipe = run.recipe.replace(method=PLAIN[nu is not None], name="custom", title="")
    recipe = recipe.replace(title=titles.of_recipe(recipe))
    found = runs.stored([recipe])
    help = f"Starts a run that discards no examples, with the same examples, kernel and {'C' if nu is None else 'nu'}."
    stored.buttons([recipe], found, "Train the plain machine too", help, "plain", group=run.group)
    if found == [None]:
        st.caption(f"About {words.duration(estimate(recipe).seconds)}.", width="content")


def _margins(left: Left) -> None:
    if not len(left.mean):
        return
    st.subheader("Margins given by the first-stage machines")
    figure = crossing.margins(left.mean, left.variance, left.role, left.sign, left.names)
    show(figure, "left_margins", on_click=left.open)
    st.caption("Click a point to see its example and the prediction of this run.")


def _examples(left: Left) -> None:
    """One kind of examples, the most certain first."""
    st.subheader("Training examples")
    kinds = {name: np.flatnonzero(np.isin(left.role, codes)) for name, (codes, _) in KINDS.items()}
    kinds = {name: rows for name, rows in kinds.items() if len(rows)}
    with present.form("Which examples"):
        kind = _kind(kinds)
    rows = kinds[kind]
    if len(left.mean):
        rows = rows[np.argsort(KINDS[kind][1](left.mean[rows], left.variance[rows]), kind="stable")]
    walk.over((left.ref(row) for row in rows), _kind_label(kind).lower())
    if left.dataset.X_train.shape[1:] == (2,):
        _plane(left, rows, kind)
        return
    shown = rows[paged(len(rows), PER_PAGE, key="left_page", of=(left.run.id, kind))]
    if left.dataset.image_shape is None and left.dataset.X_train.shape[1] > 2:
        _rows(left, shown)
    else:
        _pictures(left, shown, kind)


def _kind_label(kind: str) -> str:
    return SHOWN.get(kind, kind)


def _kind(kinds: dict[str, np.ndarray]) -> str:
    """Which of them is shown; the address says it without the counts that its label shows."""
    return parameters.choice(
        f"cross_training.{THROWN}",
        kinds,
        key="left_kind",
        format_func=lambda name: f"{_kind_label(name)} ({len(kinds[name]):,})",
    )


def _plane(left: Left, rows: np.ndarray, kind: str) -> None:
    names = [words.in_figure(name, 20) for name in left.names]
    points = edited.Points(left.dataset.X_train[left.index], left.sign, names)
    show(edited.one_kind(points, rows, _kind_label(kind).lower()), "left_plane", on_click=left.open)


def _pictures(left: Left, rows: np.ndarray, kind: str) -> None:
    cut, index, given = words.distinct(left.names, 9), left.index[rows], left.given[rows]
    labels = [
        f"Training example {left.index[row]}, labelled {evidence.label_text(left.label(row), left.given[row])}, "
        + roles.TITLES[left.role[row]]
        + (f", margin mean {left.mean[row]:.2f}, variance {left.variance[row]:.2f}" if len(left.mean) else "")
        for row in rows.tolist()
    ]
    marks = {
        "upper": [cut[int(s > 0)] + (f" ({words.short(g, 9)})" if g else "") for s, g in zip(left.sign[rows], given)]
    }
    marks |= {"lower": [words.minus(f"{mean:.2f}") for mean in left.mean[rows]]} if len(left.mean) else {}
    alt = f"{len(rows)} training examples: {_kind_label(kind).lower()}"
    evidence.example_gallery(
        left.dataset, "train", index, labels, **marks, cross=map(bool, given), key="left_gallery", alt=alt
    )
    flipped = f" Cross: its label was flipped. {evidence.SWAPPED}." if any(left.given) else ""
    means = "; lower left: the mean margin" if len(left.mean) else ""
    st.caption(f"Upper right: the label used in training{means}.{flipped} Click an example to see why.")


def _rows(left: Left, rows: np.ndarray) -> None:
    """Examples of a table, a row each; a click on one opens it."""
    names = [words.short(name, 24) for name in left.dataset.feature_names]
    X = left.dataset.X_train[left.index[rows]]
    columns = {"example": left.index[rows], "label": [words.short(left.label(row), 24) for row in rows]}
    if any(left.given):
        columns["in the dataset"] = [words.short(given, 24) for given in left.given[rows]]
    if len(left.mean):
        columns |= {"m": left.mean[rows].round(3), "v": left.variance[rows].round(3)}
    columns |= dict(zip(names[:COLUMNS], X[:, :COLUMNS].T))
    alt = f"{len(rows)} training examples by their columns"
    numbers.table(columns, alt, "left_rows", on_row=lambda at: left.open(rows[at]), height="auto")
    more = f" The first {COLUMNS} of {len(names)} columns are shown; *Why* shows all." if len(names) > COLUMNS else ""
    margins = "m and v: mean and variance of the margins of the example. " if len(left.mean) else ""
    st.caption(f"{margins}Select a row to see why.{more}")


LISTED = 6  # edited runs to choose from


def view() -> None:
    """A run, or why there is none to see."""
    run = state.current_run()
    edits_now = run is not None and edits(run)
    with present.form("Start a run"):
        if edits_now:
            with st.expander("Start another run", icon=":material/add:"):
                _box()
        else:
            _box()
    if not edits_now:
        _others(run)
        return
    if run.state != "done":
        watch.watch(run)
        return
    run.check()
    st.subheader(words.plain(run.title))
    st.caption(words.summary(run.recipe))
    to_labels(run, "train")
    try:
        evidence.data_of(run)
    except DataError as error:
        st.error(words.plain(error), title="There are no examples to show", icon=":material/broken_image:")
        return
    draw(run)


def edits(run: Run) -> bool:
    """Whether its method leaves training examples out."""
    return not run.damage and "roles" in METHODS[run.recipe.method].result_fields


def _others(run: Run | None) -> None:
    """Where the run shown has nothing to do with editing: those that have."""
    found = [one for one in runs.newest_first() if edits(one)][:LISTED]
    if run is not None:
        st.caption(f"The run shown, *{words.plain(words.short(run.title, 60))}*, discards no examples.")
    if not found:
        st.info(
            "Press *Start both*. The discarded examples appear here when both runs have finished.",
            title="No run has discarded examples yet", icon=":material/content_cut:",
        )  # fmt: skip
        return
    st.markdown("**Runs that discarded examples**")
    named = titles.of_runs(runs.newest_first())
    for one in found:
        with st.container(horizontal=True, vertical_alignment="center"):
            label, how = words.plain(named[one.id]), {"help": "Shows this run on every page.", "type": "tertiary"}
            button(label, "arrow_forward", f"see_{one.id}", state.show_run, one.id, **how)
            picker.badge(jobs.status(one.id).state)


def _box() -> None:
    try:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            base = setting.recipe_form()
            noise = setting.flipped_share()
        if base is None:
            return
        plain = setting.titled(base.replace(noise=noise))
        recipe = setting.titled(METHODS[setting.METHOD].usual(plain))
        needs = [estimate(one) for one in (plain, recipe)]
    except (DataError, ValueError) as error:
        st.error(words.plain(error), icon=":material/block:")
        return
    unfit = next((need.advice for need in needs if not need.fits), "")
    with st.container(horizontal=True, vertical_alignment="center"):
        help = "Trains a plain and a cross-trained machine on the same examples, one after the other."
        how = {"help": help, "type": "primary", "disabled": bool(unfit)}
        button("Start both", "play_arrow", "edit_start", _start, plain, recipe, **how)
        seconds = sum(need.seconds for need in needs)
        said = words.plain(unfit) if unfit else f"About {words.duration(seconds)} for both machines."
        st.caption(said, width="content")
        help = "Opens the Train page with this recipe filled in. There you can also set subsets, C and kernel."
        ways.to("train", "All settings", "tune", config.link(recipe), help=help)
        help = "Add your own table or images with two or more classes. Then choose the new dataset here."
        ways.to("datasets", "Add your own data", "upload", {"set": "new"}, help=help)


def _start(plain: Recipe, recipe: Recipe) -> None:
    """Callback: queue what is missing of both; the edited one is the run shown from now on."""
    group = Group.of("edit", f"Cross-training · {plain.title}", plain.digest())
    with starting.asking():
        ready = runs.stored([plain, recipe])
        if not runs.available(ready[0]):
            starting.submit(plain, looks=False, group=group)
        run_id = ready[1].id if runs.available(ready[1]) else starting.submit(recipe, group=group)
        state.show_run(run_id)
        starting.tell_started(run_id, "The edited machine")
