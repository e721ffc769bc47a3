"""One window looked at: how it was prepared, what the machine said, which support vectors said it, what is like it.

f(x) = b + sum_i coef[i] K(x_i, x)      x the prepared chip, x_i a support vector: a training chip, or made from one
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from pages.detect import marked
from pages.detect.view import View
from pages.detect.windows import WINDOW, open_window
from pages.ui.example import evidence
from pages.ui.kit import numbers, parameters, state, walk, words
from pages.ui.kit.gallery import Tile, gallery, magnified, pictures
from pages.ui.kit.text import with_sign
from pages.ui.kit.ways import button
from svmcore.model import Machine

STRONGEST, NEAREST = 24, 8
OFF = "window_off"  # of the session: run and part, and the rows of its support vectors that are switched off
MOST_COMPARED = 20_000  # training chips among which the nearest are looked for


def show_requested(view: View | None, below: Callable[[View, int], None] | None = None) -> None:
    """Draw the detection that the address names, or say that there is none. below: what is drawn below its pictures."""
    ref = st.query_params.get(WINDOW)
    if ref is None or view is None:
        return
    parameters.judge(WINDOW)
    if _row(view, ref) is None:
        said = f"{WINDOW}={words.plain(words.short(ref))} in the address does not name a window of this run. "
        st.warning(said + "Write a split and a window, both numbered from 0, such as 0.17.", icon=":material/link_off:")
        return
    state.dialog("Why this window?", _view, on_dismiss=partial(st.query_params.pop, WINDOW, None))(
        view, below or (lambda *of: st.markdown(_verdict(*of)))
    )


def check(text: str) -> None:
    """Of an address: ValueError for what names no window."""
    part, dot, row = text.partition(".")
    if not (dot and part.isdecimal() and row.isdecimal() and max(len(part), len(row)) < 12):
        raise ValueError("write a split and a window, both numbered from 0, such as 0.17")


def _row(view: View, ref: str) -> int | None:
    """Which detection a reference names."""
    try:
        check(ref)
    except ValueError:
        return None
    part, _, row = ref.partition(".")
    at = np.flatnonzero((view.judged.part == int(part)) & (view.judged.row == int(row)))
    return int(at[0]) if len(at) else None


def _view(view: View, below: Callable[[View, int], None]) -> None:
    """Everything within the view; drawn anew, without the page behind it, for each window that is walked to."""
    detection = _row(view, st.query_params.get(WINDOW, ""))
    if detection is None:  # the address was changed meanwhile
        return
    judged = view.judged
    _heading(view, detection)
    chip = judged.chips[detection]
    left, right = st.columns([2, 3], gap="large")
    with left:
        around = marked.surroundings(view, detection)
        st.image(
            [magnified(marked.stretched(view, chip[None])[0], 150), around],
            output_format="PNG",
            width=150,
            alt=["The window", "The surroundings of the window"],
        )
        if turns := view.run.recipe.option("turns"):
            st.caption(
                f"The search covered turned or mirrored pictures ({words.plain(turns)}). {_turn(view, detection)}"
            )
        below(view, detection)
        scores = {"scored by": list(judged.names), "score": judged.scores[detection], "rank": _ranks(view, detection)}
        alt = "The score of each machine for this window, and its rank among all windows"
        numbers.table(scores, alt, columns={"score": numbers.number(3)})
    try:
        part = int(judged.part[detection])
        machine, kept = view.run.machine(part), view.run.test(part)
    except FileNotFoundError:
        right.info("The machine of this split is not saved yet.", icon=":material/model_training:")
        return
    with left:
        _stages(view, machine, chip)
    x = _prepared(machine, chip[None])
    with right:
        if x is None:
            st.info("The preprocessing of this machine is not saved, so its prediction cannot be explained.")
            return
        _reasons(view, machine, kept, x[0], part)
        if votes := float(judged.votes[detection]):
            st.caption(f"Overlapping windows add {with_sign(votes, 3)} to f; the sum is the score.")
        _nearest(machine, kept, x[0], view, part)


def _heading(view: View, detection: int) -> None:
    """What the window is at the page's threshold, its picture, score and rank, and the ways to its neighbours."""
    judged, at = view.judged, walk.place(marked.reference(view, detection))
    name, f = words.plain(view.pictures.pictures[judged.picture[detection]].name), judged.scores[detection, 0]
    what = {"hits": "Hit", "missed": "Miss", "false alarms": "False alarm"}.get(at.title if at else "", "Window")
    where = f" · **{at.number:,} of {at.of:,}** {at.title}" if at else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        if at:
            walk.steps(at, open_window, "window")
        with st.container(width="stretch", gap=None):
            st.markdown(f"#### {what} in {name}")
            st.caption(f"score {with_sign(f, 3)} · rank {_ranks(view, detection)[0]}{where}")


def _turn(view: View, detection: int) -> str:
    """In which turn of its picture a window was found, in a sentence or two."""
    if view.judged.turn[detection] == 0:
        return "Detected without transforming the picture."
    by = marked.turn(view, detection)
    found = f"Detected after **{words.plain(by)}** of the picture (plus: anticlockwise). " if by else ""
    return f"{found}The window is shown as the search saw it, its surroundings as in the original picture."


def _verdict(view: View, detection: int) -> str:
    judged, o = view.judged, int(view.judged.hit[detection])
    if o < 0:
        return f"The window covers **no labelled {view.noun}**. Above the threshold it counts as a false alarm."
    category = int(judged.object_category[o])
    named = view.pictures.entry.categories.get(category, "")
    return f"The window covers a **{view.noun}**{f', *{words.plain(named)}* (category {category})' if named else ''}."


def _ranks(view: View, detection: int) -> list[str]:
    scores = view.judged.scores
    return [f"{int(np.sum(column > column[detection])) + 1:,} of {len(column):,}" for column in scores.T]


def _stages(view: View, machine: Machine, chip: np.ndarray) -> None:
    """The window as it was cut out and after each step of preparation."""
    if not hasattr(machine.prepare, "stages"):
        return
    drawn = [("as cut", chip[None]), *machine.prepare.stages(chip[None])]
    with st.container(horizontal=True):
        for at, (name, images) in enumerate(drawn):
            cell = marked.stretched(view, images) if images.dtype == np.uint8 else _grey(images[0])[None]
            tile = Tile("", f"The window, {name}", lower=words.short(name, 16))
            with st.container(width=max(100, cell.shape[2] + 10)):  # a drawing of features is larger
                gallery(cell, [tile], key=f"window_stage_{at}", alt=f"The window, {name}", size=76)
    st.caption("Steps from the window as cut to the input of the machine. Each step has its own grey scale.")


def _grey(values: np.ndarray) -> np.ndarray:
    """One stage as a picture; a row of values that are no image as a square of signed cells."""
    shape = values.shape if values.ndim == 2 and min(values.shape) > 1 else None
    low, high = float(values.min()), float(values.max())
    if shape is None:
        flat = values.reshape(1, -1)
        return pictures(flat, np.concatenate([flat, -flat]), None)[0]
    return np.rint(255 * (values - low) / max(high - low, 1e-12)).astype(np.uint8)


def _prepared(machine: Machine, chips: np.ndarray) -> np.ndarray | None:
    """(n, d) float32 as the kernel takes them; None where only the name of the preparation is kept."""
    if machine.prepare is None:
        return chips.reshape(len(chips), -1).astype(np.float32)
    if not hasattr(machine.prepare, "transform"):
        return None
    return machine.prepare.transform(chips)


def _reasons(view: View, machine: Machine, kept, x: np.ndarray, part: int) -> None:
    parts = machine.coef[0] * machine.kernel.block(x[None], machine.support_vectors)[0]
    pro, contra = parts[parts > 0], parts[parts < 0]
    total = machine.bias[0] + parts.sum()
    of = f"{view.run.id}.{part}"
    off = st.session_state.get(OFF, ("", frozenset()))
    off = off[1] if off[0] == of else frozenset()
    st.markdown(
        f"f = {with_sign(machine.bias[0], 3)} (bias) :blue[{with_sign(pro.sum(), 3)}] ({len(pro):,} support vectors "
        f"for a {view.noun}) :orange[{with_sign(contra.sum(), 3)}] ({len(contra):,} against) = "
        f"**{with_sign(total, 3)}**"
    )
    if off:
        left = total - parts[sorted(off)].sum()
        one = "one support vector" if len(off) == 1 else f"{len(off)} support vectors"
        st.markdown(f"With {one} switched off, **f = {with_sign(left, 3)}**.")
        help = "Uses every support vector again."
        button("Switch all support vectors on", "", "window_on", _switch, of, frozenset(), help=help)
    strongest = np.argsort(-np.abs(parts), kind="stable")[:STRONGEST]
    rows = machine.origin[strongest]
    jitters = evidence.jitter_names(machine)
    virtual = np.zeros(len(rows), bool) if machine.jitter is None else machine.jitter[strongest] > 0
    tiles = []
    for i, row, is_virtual in zip(strongest, rows, virtual):
        ring = evidence.ring(is_virtual, machine.bound[0, i])
        kind, alpha = evidence.ring_word(ring), abs(machine.coef[0, i])
        made = f", made by {jitters[machine.jitter[i]]}" if is_virtual and jitters else ""
        said = f"Training chip {row}{made}: {kind}, alpha {words.small(alpha, 3)}"
        tiles.append(
            Tile(
                str(i),
                f"Reduced set vector {i}, weight {words.small(alpha, 3)}" if row < 0 else said,
                lower=with_sign(parts[i]),
                ring="" if row < 0 else ring,
                sign=int(np.sign(machine.coef[0, i])),
                cross=int(i) in off,
            )
        )
    drawn = marked.stretched(view, kept.train_chips[np.maximum(rows, 0)])
    if evidence.constructed(machine):
        drawn = _seen(machine, machine.support_vectors[strongest], kept.train_chips.shape[1:])
    gallery(
        drawn, tiles, key="window_reasons", alt="The support vectors that contribute most, strongest first", size=48,
        on_pick=lambda i: _switch(of, off ^ {int(i)}), whole_page=False,
    )  # fmt: skip
    made = " Dotted ring: virtual; the picture is its parent chip." if virtual.any() else ""
    st.caption(
        f"The {len(rows)} support vectors that contribute most. Below each: its contribution to f. Blue: object; "
        f"orange: background; double ring: bounded (alpha = C).{made} Click a support vector to switch it off or on; "
        "it stays off for other windows of this split."
    )


def _switch(of: str, off: frozenset[int]) -> None:
    """Callback: these vectors of a part's machine do not count."""
    st.session_state[OFF] = of, off


def _seen(machine: Machine, vectors: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Vectors (n, d) as the kernel takes them, as pictures, each on its own grey scale."""
    images = machine.prepare.pictures(vectors, shape) if hasattr(machine.prepare, "pictures") else vectors
    return np.concatenate([_grey(image)[None] for image in np.asarray(images)])


def _nearest(machine: Machine, kept, x: np.ndarray, view: View, part: int) -> None:
    """The training chips nearest to the window, as the machine sees both, of either class."""
    known = _training(machine, kept, view.run.id, part)
    distance = np.sqrt(np.maximum(((known - x) ** 2).sum(axis=1), 0))
    for sign, word in ((1, view.noun), (-1, "background")):
        own = np.flatnonzero(kept.train_y[: len(known)] == sign)
        near = own[np.argsort(distance[own], kind="stable")[:NEAREST]]
        if not len(near):
            continue
        gallery(
            marked.stretched(view, kept.train_chips[near]),
            [
                Tile(
                    "", f"Training chip {i}, {word}, distance {distance[i]:.3g}", lower=f"{distance[i]:.2g}", sign=sign
                )
                for i in near
            ],
            key=f"window_near_{sign}",
            alt=f"The {len(near)} nearest training chips, {word}",
            rows=[f"nearest {word}"],
            size=40,
        )
    cut = "" if len(known) == len(kept.train_y) else f" Only the first {len(known):,} chips were searched."
    st.caption(f"Nearest training chips, with their distance after preprocessing.{cut}")


@st.cache_resource(max_entries=2, show_spinner=False)
def _training(_machine: Machine, _kept, run_id: str, part: int) -> np.ndarray:
    return _prepared(_machine, _kept.train_chips[:MOST_COMPARED])
