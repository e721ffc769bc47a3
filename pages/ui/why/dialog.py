"""The view of one example: the picture, what the run's machines say of it, and why, one panel at a time.

The address names the example (`?digit=mnist-5k/test/247`) and the panel (`why=bill`); any gallery may ask for it
(`gallery.open_digit`), and `show_requested`, called once at the end of app.py, draws it over the page. The arrow keys
lead through the examples of the page behind it (`kit.walk`). All of it is a fragment: a click here does not draw the
page behind it again.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import streamlit as st

from data import Dataset, catalogue, load, revisions
from pages.ui.example import evidence
from pages.ui.figures import decisions
from pages.ui.figures.frame import show
from pages.ui.kit import parameters, short_links, state, walk, ways, words
from pages.ui.kit.gallery import DIGIT, open_digit, reference
from pages.ui.kit.text import many, with_sign
from pages.ui.kit.ways import button
from pages.ui.kit.words import plain, short
from pages.ui.recipe import jitter_set
from pages.ui.why import contributions, family, holds, orbit, remedy, table, without
from pages.ui.why.answer import Answer, Shown, answer
from svmcore.lab.store.runs import Run
from svmcore.lab.tasks import task_of
from svmcore.model import Machine

HELP = (
    "f(x) = sum of alpha y K(x_i, x) over the support vectors, plus the bias. If f is above 0, the machine "
    "predicts its class. If there are several machines, the largest f decides. f is not a probability; *Abstain* on "
    "the Errors page turns f into probabilities."
)
MAX_BARS = 12  # machines drawn at a glance


def draw_sums(run: Run, machine: Machine, said: Answer, held: np.ndarray | bool) -> None:
    """The machines looked at with their f, every machine's f, and whether the example holds machines up.

    held: (m,) bool, the support vectors that are this example or were made from it; False for none.
    """
    names = evidence.machine_names(run, machine)
    sides = said.sides(st.query_params.get("rival"))
    places = st.columns(len(sides) + (len(names) > 2))
    for place, c in zip(places, sides):
        role = said.role(c)
        # In few letters: in half of a narrow view the name of its machine would be cut.
        label = f"{plain(short(said.names[c], 24))} ({role})" if role else plain(_name(said, c))
        place.metric(label, f"f = {with_sign(said.f[c], 3)}", help=HELP)
    if len(names) > 2:
        with places[-1].popover(f"All {len(names)} machines", icon=":material/bar_chart:"):
            _all(said)
    if np.any(held):
        holding = np.sum(np.any(machine.coef[:, held] != 0, axis=1))
        itself = machine.jitter is None or (machine.jitter[held] == 0).any()
        copies = machine.jitter is not None and (machine.jitter[held] > 0).any()
        what = {
            (True, False): "This example is a support vector",
            (False, True): "Virtual copies of this example are support vectors",
            (True, True): "This example or a virtual copy of it is a support vector",
        }[bool(itself), bool(copies)]
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{what} of {holding} of {many(len(names), 'machine')}.", width="content")
            help = "Shows the example with its virtual copies, and which of them are support vectors."
            how = {"help": help, "type": "tertiary"}
            button("See the family of this example", "", "why_family", parameters.say, "why", "family", **how)


def _name(said: Answer, c: int) -> str:
    """`5 against the rest`, of two classes both, each in few letters."""
    own, other = (said.names[1], said.names[0]) if len(said.f) == 1 else (said.names[c], "rest")
    return f"{short(own, 24)} against {'the rest' if other == 'rest' else short(other, 24)}"


def _all(said: Answer) -> None:
    order = np.sort(np.argsort(-said.f, kind="stable")[:MAX_BARS])
    figure = decisions.decision_bars(
        said.f[order],
        [said.names[c] for c in order],
        None if said.true is None else said.names[said.true],
        said.names[said.called],
    )
    show(figure, "digit_decision", width=420)


SPLITS = ("train", "test")
WHY = "why"  # the URL parameter that holds the name of the panel
BEFORE = "why_before"  # of the session: the latest example of a page's list, to come back to from a tile's


class Panel(NamedTuple):
    """One answer to the question why.

    params: its own parameters of the address, as in `parameters.own`, which go when the view is closed. offered(run,
    machine, shown): whether it has anything to say of this example by this machine.
    """

    label: str
    draw: Callable[[Run, Machine, Shown], None]
    help: str
    params: Mapping[str, object] = {}
    offered: Callable[[Run, Machine, Shown], bool] = lambda run, machine, shown: True
    elsewhere: str = "is for images only: these examples cannot be shifted or turned."


def _image(run: Run, machine: Machine, shown: Shown) -> bool:
    return shown.dataset.image_shape is not None


PANELS = {
    "bill": Panel(
        "Contributions", contributions.panel,
        "Contributions of the support vectors for and against the prediction (waterfall).", contributions.PARAMS,
    ),
    "orbit": Panel(
        "Small changes", orbit.panel, "The example under every jitter of a set, and where the prediction changes.",
        {"orbit": jitter_set.check}, _image,
    ),
    "map": Panel("Shift map", holds.panel, "f over shifts, for several runs side by side.", holds.PARAMS, _image),
    "hidden": Panel(
        "Hidden parts", holds.hidden,
        "How f changes when a square of the picture is hidden, for several runs side by side.",
        holds.OF_HIDDEN, _image, "is for images only: these examples have no parts to hide.",
    ),
    "remedy": Panel(
        "What would fix it", remedy.panel,
        "The smallest changes that correct a wrong prediction, and the errors they would add.", {}, _image,
    ),
    "without": Panel(
        "Exclude or relabel", without.panel,
        "How the predictions change when the run is retrained without this example, or with another class for it.",
        without.PARAMS,
        without.offered, "is for training examples only, of machines that can be retrained without one.",
    ),
    "family": Panel(
        "Family", family.panel, "A support vector and its virtual copies, and which copies became support vectors.",
        family.PARAMS,
    ),
}  # fmt: skip
PARAMS = {WHY: PANELS}  # what goes when the view is closed
for one in PANELS.values():
    PARAMS |= one.params


def show_requested() -> None:
    """Draw the view of the example that the address names, if any; an address that names none is said aloud."""
    parameters.own(DIGIT, **PARAMS)
    parameters.judge(DIGIT)
    if DIGIT not in st.query_params:
        return
    try:
        _parse(st.query_params[DIGIT])
    except ValueError as error:
        ref = plain(short(st.query_params[DIGIT], 80))
        st.warning(f"{DIGIT}={ref} in the address does not name an example. {plain(error)}", icon=":material/link_off:")
        return
    state.dialog("Why this prediction?", _view, on_dismiss=_close)()


def panels(run: Run, machine: Machine, shown: Shown) -> None:
    """The choice of a panel, and the panel chosen."""
    PANELS[choose(run, machine, shown)].draw(run, machine, shown)


def choose(run: Run, machine: Machine, shown: Shown) -> str:
    """The choice of a panel among those that have something to say; the name of the one chosen."""
    offered = {name: panel for name, panel in PANELS.items() if panel.offered(run, machine, shown)}
    asked = st.query_params.get(WHY)
    if asked in PANELS and asked not in offered:
        st.caption(f"*{PANELS[asked].label}* {PANELS[asked].elsewhere}")
    chosen = parameters.choice(
        f"why.{WHY}",
        offered,
        known=PANELS,
        key="why_panel",
        format_func=lambda name: PANELS[name].label,
        help="  \n".join(f"**{panel.label}**: {panel.help}" for panel in offered.values()),
    )
    st.caption(offered[chosen].help)
    return chosen


def _parse(ref: str) -> tuple[Dataset, str, int]:
    parts = ref.rsplit("/", 2)
    if len(parts) != 3 or parts[1] not in SPLITS or not parts[2].isdecimal():
        raise ValueError("Write a dataset, train or test, and a number: mnist-5k/train/247.")
    name, split, number = parts
    dataset = load(catalogue.entry(name).name)
    n = len(evidence.all_of(dataset, split))
    if len(number) > 12 or int(number) >= n:
        raise ValueError(f"{dataset.entry.title} has {n:,} examples in its {split} set, numbered from 0.")
    return dataset, split, int(number)


def _close() -> None:
    st.session_state.pop(BEFORE, None)
    for name in (DIGIT, *PARAMS):
        st.query_params.pop(name, None)


def _view() -> None:
    """Everything within the view; drawn anew, without the page behind it, for each example that is walked to."""
    ref = st.query_params.get(DIGIT, "")
    try:
        dataset, split, index = _parse(ref)
    except ValueError as error:  # the address was changed meanwhile
        st.warning(plain(error), icon=":material/link_off:")
        return
    X, label = evidence.rows_of(dataset, split, [index]), dataset.label(split, index)
    shown = Shown(dataset, X, label, reference(dataset.entry.name, split, index))
    run = state.current_run()
    run = run if run and task_of(run.recipe).answers else None
    machine = _machine(run, dataset)
    said = None if machine is None else answer(run, machine, shown)
    _heading(run, said, shown, split, index)
    picture = dataset.image_shape is not None  # a table or a plane is taller: its panel stands beside it
    st.html(Path(__file__).with_suffix(".css"))
    with st.container(key="why_top" if picture else None):
        left, right = st.columns([1, 4] if picture else [2, 3], gap="medium")
    with left:
        table.top(run, machine, shown)
    with right:
        if said is None:
            why = "The run shown has no machine yet" if run and _on(run, dataset) else "No run is shown"
            st.info(f"{why} that could explain this example.", icon=":material/model_training:")
            ways.to("train", f"Train on {plain(dataset.entry.title)}", "play_circle", {"dataset": dataset.entry.name})
            return
        with st.container(key="why_sums"):
            draw_sums(run, machine, said, split == "train" and evidence.dataset_rows(run, machine) == index)
        chosen = choose(run, machine, shown)
    with st.container() if picture else right:
        PANELS[chosen].draw(run, machine, shown)


def _heading(run: Run | None, said: Answer | None, shown: Shown, split: str, index: int) -> None:
    """What the example is and was called, where it stands in the page's list, and the ways to its neighbours."""
    place = walk.place(shown.ref)
    if place:
        st.session_state[BEFORE] = shown.ref
    with st.container(horizontal=True, vertical_alignment="center", key="why_heading"):
        if place:
            walk.steps(place, open_digit)
        else:
            _back()
        with st.container(width="stretch", gap=None):
            st.markdown(f"#### {_named(None if said is None else run, split, index)}: {_answer(said, shown)}")
            where = f" · **{place.number:,} of {place.of:,}** {plain(short(place.title)) or 'here'}" if place else ""
            file = shown.dataset.file(split, index)
            file = f" · {plain(short(file))}" if file else ""
            st.caption(
                f"{plain(shown.dataset.entry.title)}{file}{'' if said is None else _role(run, split, index)}{where}"
            )
        short_links.share_view()


def _back() -> None:
    """From an example that a tile led to, the way back to the page's list."""
    before = st.session_state.get(BEFORE)
    if before and walk.place(before):
        help = "Returns to the example that you opened first. The browser's Back goes one step back."
        button("Back", "undo", "why_back", open_digit, before, help=help)


def _named(run: Run | None, split: str, index: int) -> str:
    """`Test example 65`: what the example was to a run that answers about its set, or else its part of that set."""
    test = run.test() if run is not None and run.result else None
    tested = test is not None and split == test.split and index in test.index
    return plain(words.test_example(split, index)) if tested or split == "test" else f"Training example {index}"


def _role(run: Run, split: str, index: int) -> str:
    """What the run has seen of the example."""
    if split == "train" and index in run.train_index():
        known = evidence.labels(run)
        label = f" with the label {plain(short(known.seen[index]))}, swapped by label noise"
        return f" · trained on{label if known.given[index] else ''}"
    test = run.test()
    tested = split == test.split and index in test.index
    return "" if tested else " · not seen by this run"


def _answer(said: Answer | None, shown: Shown) -> str:
    """`true 5 → predicted 1`."""
    if shown.label is None:
        return "no label yet" + (f" → predicted {plain(short(said.names[said.called]))}" if said else "")
    if said is None:
        return f"class {plain(short(shown.label))}"
    called = plain(short(said.names[said.called]))
    if said.true is None:
        return f"class {plain(short(shown.label))}, which this run does not know → predicted {called}"
    mark = ":material/check:" if said.true == said.called else ":material/close:"
    return f"true {plain(short(said.names[said.true]))} → predicted {called} {mark}"


def _machine(run: Run | None, dataset: Dataset) -> Machine | None:
    if run is None or not _on(run, dataset):
        return None
    try:
        with st.spinner("Loading the machine", show_time=True):
            return run.machine()
    except FileNotFoundError:
        return None


def _on(run: Run, dataset: Dataset) -> bool:
    """Whether a run knows these examples, by labels of its own perhaps, in a revision."""
    return revisions.base_of(run.recipe.dataset) == revisions.base_of(dataset.entry.name)
