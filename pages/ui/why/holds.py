"""Maps of f for several runs side by side: over shifts of one example by up to four pixels, and where it is hidden.

A support vector machine knows the example where it stands: a spike. Virtual support vectors and a jittered kernel widen
it to a plateau. One colour scale for all maps; a cross where the answer is another one.
"""

from collections.abc import Callable

import numpy as np
import streamlit as st

from pages.ui.example import evidence
from pages.ui.figures.frame import show
from pages.ui.figures.maps import hidden_map, shift_map
from pages.ui.kit import parameters, state
from pages.ui.kit.words import distinct, plain, short
from pages.ui.recipe import data_set
from pages.ui.why.answer import Answer, Shown, answer, deciding, form_pictures, is_image, machine_of, value
from svmcore.explain import moved
from svmcore.explain.hidden import FILLS, Hidden, least_side, occlusion
from svmcore.lab.methods import METHODS
from svmcore.lab.store import runs, titles
from svmcore.lab.store.runs import Run
from svmcore.lab.tasks import task_of
from svmcore.model import Machine, answers

BESIDE, CLASS = "beside", "map_class"  # in the address: the runs, the class
SIDE, FILL = "hide", "hide_by"  # in the address: pixels of a square's side, what it becomes
PARAMS = {BESIDE: state.check_run, CLASS: data_set.check_class}
OF_HIDDEN = PARAMS | {SIDE: slice(1, None), FILL: FILLS}
MAX_MAPS = 4  # side by side
USUAL = 3
SHARE = 6  # the shorter side of the picture is about six squares long


def panel(run: Run, machine: Machine, shown: Shown) -> None:
    """Draw the maps with the choice of runs, `beside` in the address, and of the class, `map_class`."""
    if not is_image(shown):
        return
    now = answer(run, machine, shown)

    def draw(other: Run, f: np.ndarray, c: int, largest: float, key: str) -> None:
        said = answers(f)
        holds = said == now.own
        called = [[now.names[s] for s in row] for row in said]
        show(shift_map(value(f, c), largest, holds, called, other.title), key)
        st.markdown(_plateau(moved.plateau(holds), now))

    missed = f"not {plain(short(now.names[now.own]))}" if now.true is None else "wrong"
    maps(
        run, machine, now, "map",
        lambda made, other: moved.surface(made, deciding(other), shown.X, shown.dataset.image_shape), lambda f: f, draw,
        lambda whose, scale: f"f of {whose}: blue above 0, orange below 0, {scale}. Cross: the prediction is {missed}. "
        "Frame: no shift. A wide patch of one colour means that the machine is invariant to shifts.",
    )  # fmt: skip


def hidden(run: Run, machine: Machine, shown: Shown) -> None:
    """How f changes when a square of the picture is hidden, with the choice of its size and of what hides it: blue
    parts speak for the class, orange ones against it."""
    if not is_image(shown):
        return
    shape = shown.dataset.image_shape
    least, most = least_side(*shape[:2]), min(shape[:2])
    picture = form_pictures(shown, shown.X.reshape(1, -1))[0]
    picture = picture if picture.ndim == 2 else picture.mean(axis=2).astype(picture.dtype)

    def square() -> tuple[int, str]:
        side = parameters.number(f"why.{SIDE}", least, most, max(least, round(most / SHARE)), 1, key="why_hide")
        fill = parameters.choice(f"why.{FILL}", FILLS, key="why_hide_by", format_func=FILLS.get)
        return side, fill

    def draw(other: Run, made: Hidden, c: int, largest: float, key: str) -> None:
        flips = made.middle[answers(made.each) != answers(made.f)]
        show(hidden_map(value(made.change, c), largest, picture, flips, other.title), key)

    maps(
        run, machine, answer(run, machine, shown), "hidden",
        lambda made, other, *asked: occlusion(made, deciding(other), shown.X, shape, *asked),
        lambda made: made.change, draw,
        lambda whose, scale: f"How much f of {whose} falls when a square is hidden: for each pixel, the mean over "
        f"the squares that cover it. Blue parts speak for the class, orange parts against it, {scale}. Cross: hiding "
        "the square around it changes the prediction.",
        square,
    )  # fmt: skip


def maps(
    run: Run, machine: Machine, now: Answer, key: str, make: Callable, numbers: Callable, draw: Callable, see: Callable,
    more: Callable = lambda: (),
) -> None:  # fmt: skip
    """A map for each of several runs, with the choice of the runs and of the class, and what `more()` asks.

    make(machine, run, *more) is what is drawn of a run, numbers(it) its values (..., k) of the machines, by the largest
    of which all are coloured: draw(run, it, class, largest, key). see(machine, scale): what is seen.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = runs_beside(run, now.names)
        c = 1
        if len(machine.bias) > 1:
            labels = distinct(now.names, 24)
            c = labels.index(parameters.choice(f"why.{CLASS}", labels, labels[now.own], key=f"{CLASS}_{now.own}"))
        asked = more()
    machines = [(other, its) for other in chosen if (its := machine_for(other, now.names)) is not None]
    if not machines:
        return
    made = {other: make(its, other, *asked) for other, its in machines}
    largest = max(float(np.abs(value(numbers(one), c)).max()) for one in made.values()) or 1.0
    with st.grid(len(made), min_column_width=190):
        for number, (other, one) in enumerate(made.items()):
            with st.container():
                method, steps = METHODS[other.recipe.method], ", ".join(other.recipe.preprocess) or "raw values"
                how = plain(method.summary(other.recipe) or method.short or method.name)
                st.markdown(f"**{plain(short(other.title, 60))}**  \n{how} · {steps}")
                draw(other, one, c, largest, f"{key}_{number}")
    st.caption(see(machine_of(now.names, c), f"with one scale for all maps, up to ±{largest:.2f}"))


def _plateau(found: moved.Plateau, now: Answer) -> str:
    own, judged = plain(short(now.names[now.own])), now.true is not None
    share = f"{found.held} of {found.of} shifts"
    if found.radius < 0:
        if judged:
            return f"The prediction is **wrong** without a shift; it is right at {share}."
        return f"Without a shift the prediction is not {own}; it is {own} at {share}."
    wanted = "right" if judged else own
    if found.radius == 0:
        return (
            f"The prediction is {wanted} without a shift, but not at every shift by 1 pixel. It is {wanted} at {share}."
        )
    pixels = "1 pixel" if found.radius == 1 else f"{found.radius} pixels"
    return f"The prediction is {wanted} within **{pixels}** in all directions, and at {share} in total."


def runs_beside(run: Run, names: list[str]) -> list[Run]:
    """The runs whose maps are drawn: those of the address, or this one and the newest of other methods."""
    able = {other.id: other for other in runs.newest_first() if _comparable(run, other, names)}
    able.setdefault(run.id, run)
    chosen = parameters.several(
        f"why.{BESIDE}",
        able,
        _usual(run, able),
        least=[run.id],
        format_func=titles.of_runs(list(able.values())).get,
        max_selections=MAX_MAPS,
    )
    return [able[run_id] for run_id in chosen]


def _comparable(run: Run, other: Run, names: list[str]) -> bool:
    mine, own = run.recipe, other.recipe
    if other.state != "done" or own.dataset != mine.dataset or not task_of(own).answers:
        return False
    if not runs.is_current(other):  # of what the set was before
        return False
    return set(map(str, own.classes)) == set(map(str, mine.classes))


def _usual(run: Run, able: dict[str, Run]) -> list[str]:
    """This run, and of other methods the newest run each that is most alike in size."""
    size = lambda other: other.result["n_train"] if other.result else 0  # noqa: E731
    by_method = {}
    for other in able.values():
        method = other.recipe.method
        if not "".join(other.recipe.preprocess[:1]).startswith("scramble"):
            best = by_method.get(method)
            if best is None or abs(size(other) - size(run)) < abs(size(best) - size(run)):
                by_method[method] = other
    by_method.pop(run.recipe.method, None)
    order = list(METHODS)
    others = sorted(by_method.values(), key=lambda other: order.index(other.recipe.method))
    return [other.id for other in sorted([run, *others[: USUAL - 1]], key=lambda o: order.index(o.recipe.method))]


def machine_for(run: Run, names: list[str]) -> Machine | None:
    """The machine of a run that tells these classes apart; None, and why on screen, where there is none."""
    try:
        if run.at_hand():
            machine = run.machine()
        else:
            with st.spinner(f"Loading the machine of {plain(short(run.title))}", show_time=True):
                machine = run.machine()
        if evidence.class_names(run, machine) != names:
            raise ValueError("its classes differ from those of this run")
    except (FileNotFoundError, ValueError) as error:  # Damaged among them
        st.warning(f"No map of {plain(short(run.title))}: {plain(error)}", icon=":material/broken_image:")
        return None
    return machine
