"""The view of one example: the picture large, what the run's machines say of it, and why.

The address names the example (`?digit=mnist-5k/test/247`), any gallery may ask for it (`gallery.open_digit`), and
`show_requested`, called once at the end of app.py, draws it over the page.  Its support vectors are tiles that lead to
views of their own.
"""

import numpy as np
import streamlit as st

from data import Dataset, catalogue, load
from pages.ui.example import evidence
from pages.ui.figures import decisions
from pages.ui.figures.frame import show
from pages.ui.kit import state
from pages.ui.kit.gallery import DIGIT, gallery, magnified, reference, thin
from pages.ui.kit.words import plain
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

SPLITS = ("train", "test")
NOUN = {"train": "Training", "test": "Test"}
LARGE = 280  # wished height of the large picture, in screen pixels
STRONGEST = 24  # support vectors shown


def show_requested() -> None:
    """Draw the view of the example that the address names, if any; an address that names none is said aloud."""
    ref = st.query_params.get(DIGIT)
    if ref is None:
        return
    try:
        dataset, split, index = _parse(ref)
    except ValueError as error:
        st.warning(f"{DIGIT}={plain(ref)} in the address names no example. {plain(error)}", icon=":material/link_off:")
        return
    title = f"{NOUN[split]} example {index:,} · {plain(dataset.entry.title)}"
    st.dialog(title, width="large", on_dismiss=_close)(_view)(dataset, split, index)


def _parse(ref: str) -> tuple[Dataset, str, int]:
    parts = ref.rsplit("/", 2)
    if len(parts) != 3 or parts[1] not in SPLITS or not parts[2].isdecimal():
        raise ValueError("Write a data set, train or test, and a number: mnist-5k/train/247.")
    name, split, number = parts
    dataset = load(catalogue.entry(name).name)
    n = len(evidence.examples(dataset, split)[0])
    if int(number) >= n:
        raise ValueError(f"{dataset.entry.title} has {n:,} examples in its {split} part, numbered from 0.")
    return dataset, split, int(number)


def _close() -> None:
    st.query_params.pop(DIGIT, None)


def _view(dataset: Dataset, split: str, index: int) -> None:
    X, y = evidence.examples(dataset, split)
    picture = thin(evidence.example_pictures(dataset, split, np.array([index])))[0]
    run = state.current_run()
    machine = _machine(run, dataset)
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.image(magnified(picture, LARGE), output_format="PNG", alt=f"Example {index}, class {y[index]}")
        st.markdown(f"Class **{plain(y[index])}**, number **{index:,}** of the {split} part.")
        if dataset.image_shape is None:
            st.dataframe(X[index][None], hide_index=True, alt="The features of this example")
    if machine is None:
        with right:
            _without_machine(run, dataset)
        return
    x = evidence.prepared(run, X[index][None])[0]
    values = machine.decision_values(x[None])[0]
    with left:
        _role(run, split, index)
        _as_support_vector(run, machine, split, index)
    with right:
        _decision(run, machine, values, y[index])
        _reasons(run, machine, x, values, reference(dataset.entry.name, split, index))


def _machine(run: Run | None, dataset: Dataset) -> Machine | None:
    if run is None or run.recipe.dataset != dataset.entry.name:
        return None
    try:
        return run.machine()
    except FileNotFoundError:
        return None


def _without_machine(run: Run | None, dataset: Dataset) -> None:
    why = "The run shown has no machine yet" if run and run.recipe.dataset == dataset.entry.name else "No run is shown"
    st.info(f"{why} that could say something about this example.", icon=":material/model_training:")
    st.page_link(
        "pages/train.py",
        label=f"Train on {plain(dataset.entry.title)}",
        icon=":material/play_circle:",
        query_params={"dataset": dataset.entry.name},
    )


def _role(run: Run, split: str, index: int) -> None:
    test = run.test()
    trained = split == "train" and index in run.train_index()
    tested = split == test.split and index in test.index
    role = "trained on it" if trained else "was tested on it" if tested else "has not seen it"
    st.caption(f"The run *{plain(run.title)}* {role}.")


def _decision(run: Run, machine: Machine, values: np.ndarray, label) -> None:
    names, true = evidence.class_names(run, machine), evidence.class_of(run, machine, label)
    predicted = names[int(values[0] > 0) if len(values) == 1 else int(np.argmax(values))]
    if true is None:
        verdict = f"though class {plain(label)} is none that this run tells apart"
    else:
        verdict = ":material/check: right" if predicted == true else f":material/close: wrong, it is {plain(true)}"
    st.markdown(f"Predicted **{plain(predicted)}** — {verdict}")
    if len(values) == 1:
        values = np.array([-values[0], values[0]])
    show(decisions.decision_bars(values, names, true, predicted), "digit_decision")


def _as_support_vector(run: Run, machine: Machine, split: str, index: int) -> None:
    """The machines that lean on this example, or on virtual ones made from it: alpha, margin, kind."""
    held = np.flatnonzero(evidence.dataset_rows(run, machine) == index) if split == "train" else ()
    if not len(held):
        return
    names, jitters = evidence.machine_names(run, machine), evidence.jitter_names(machine)
    margins = machine.decision_values(machine.support_vectors[held]) * np.sign(machine.coef[:, held].T)
    rows = [
        {
            "machine": names[c],
            "alpha": abs(machine.coef[c, i]),
            "margin y f(x)": margins[r, c],
            "kind": "bound" if machine.bound[c, i] else "free",
        }
        | ({"jitter": jitters[machine.jitter[i]]} if jitters else {})
        for r, i in enumerate(held)
        for c in np.flatnonzero(machine.coef[:, i])
    ]
    leaning = len({row["machine"] for row in rows})
    st.markdown(f"Support vector of **{leaning}** of {len(names)} machines")
    st.dataframe(
        rows,
        hide_index=True,
        column_config={name: st.column_config.NumberColumn(format="%.3f") for name in ("alpha", "margin y f(x)")},
        alt="Alpha and margin in each machine that this example supports",
    )
    if jitters:
        _family(run, machine, index, int(np.argmax(np.count_nonzero(machine.coef[:, held], axis=1))))


def _family(run: Run, machine: Machine, index: int, c: int) -> None:
    """This example and the virtual ones made from it that one machine keeps."""
    chosen = evidence.supports(run, machine, c)
    chosen = evidence.take(chosen, chosen.row == index)
    gallery(
        evidence.support_pictures(run, machine, chosen),
        evidence.support_tiles(run.recipe.dataset, chosen, chosen.alpha),
        key="digit_family",
        alt=f"Forms of example {index} that are support vectors, largest alpha first",
        size=48,
    )
    st.caption(
        f"Its forms that hold up *{plain(evidence.machine_names(run, machine)[c])}*, alpha below; a dotted ring is a "
        "virtual support vector, made from this example by a jitter."
    )


def _reasons(run: Run, machine: Machine, x: np.ndarray, values: np.ndarray, ref: str) -> None:
    """The support vectors that contribute most to one machine's decision."""
    names = evidence.machine_names(run, machine)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        c = st.selectbox(
            "Contributions to machine",
            range(len(names)),
            index=int(np.argmax(values)),
            format_func=names.__getitem__,
            key=f"digit_machine_{ref}",
            width=220,
            help="Each support vector adds alpha y K(x_i, x) to the decision value.",
        )
    chosen = evidence.supports(run, machine, c)
    parts = evidence.contributions(machine, c, x, chosen)
    pro, contra = parts[parts > 0], parts[parts < 0]
    st.markdown(
        f"f = {machine.bias[c]:+.3f} bias :blue[{pro.sum():+.3f}] from {len(pro):,} for "
        f":orange[{contra.sum():+.3f}] from {len(contra):,} against = **{values[c]:+.3f}**"
    )
    strongest = np.argsort(-np.abs(parts), kind="stable")[:STRONGEST]
    shown = evidence.take(chosen, strongest)
    gallery(
        evidence.support_pictures(run, machine, shown),
        evidence.support_tiles(run.recipe.dataset, shown, parts[strongest]),
        key="digit_reasons",
        alt=f"The {len(strongest)} support vectors that contribute most, strongest first",
        size=48,
    )
    st.caption(
        "The support vectors that weigh most, strongest first: number above = class, below = contribution to f. "
        "Blue ones speak for the machine's class, orange ones against; a double ring is at C. Click one to open it."
    )
