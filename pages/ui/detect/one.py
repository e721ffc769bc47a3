"""One window looked at: how it was prepared, what the machine said, which support vectors said it, what is like it.

f(x) = b + sum_i coef[i] K(x_i, x)      x the prepared chip, x_i a support vector: a training chip, or made from one
"""

import numpy as np
import streamlit as st

from pages.ui.detect import marked
from pages.ui.detect.view import View
from pages.ui.detect.windows import WINDOW
from pages.ui.example import evidence
from pages.ui.kit import state, words
from pages.ui.kit.gallery import Tile, gallery, magnified, pictures
from pages.ui.kit.text import with_sign
from svmcore.model import Machine

STRONGEST, NEAREST = 24, 8
MOST_COMPARED = 20_000  # training chips among which the nearest are looked for


def show_requested(view: View | None) -> None:
    """Draw the view of the detection that the address names, if any; an address that names none is said aloud."""
    ref = st.query_params.get(WINDOW)
    if ref is None or view is None:
        return
    part, _, row = ref.partition(".")
    at = []
    if part.isdecimal() and row.isdecimal() and max(len(part), len(row)) < 12:
        at = np.flatnonzero((view.judged.part == int(part)) & (view.judged.row == int(row)))
    if not len(at):
        said = f"{WINDOW}={words.plain(words.short(ref))} in the address names no window of this run. "
        st.warning(said + "Write a part and a number, both from 0: 0.17.", icon=":material/link_off:")
        return
    name = view.pictures.pictures[view.judged.picture[at[0]]].name
    state.dialog(f"Window {ref} · {words.plain(name)}", _view, on_dismiss=_close)(view, int(at[0]))


def _close() -> None:
    st.query_params.pop(WINDOW, None)


def _view(view: View, detection: int) -> None:
    judged = view.judged
    chip = judged.chips[detection]
    left, right = st.columns([2, 3], gap="large")
    with left:
        around = marked.surroundings(view, detection)
        st.image(
            [magnified(marked.stretched(view, chip[None])[0], 150), around],
            output_format="PNG",
            width=150,
            alt=["The window", "Its surroundings"],
        )
        st.markdown(_verdict(view, detection))
        st.dataframe(
            {"scored by": list(judged.names), "score": judged.scores[detection], "rank": _ranks(view, detection)},
            hide_index=True,
            column_config={"score": st.column_config.NumberColumn(format="%.3f")},
            alt="The score of each machine for this window, and its rank among all windows",
        )
    try:
        part = int(judged.part[detection])
        machine, kept = view.run.machine(part), view.run.test(part)
    except FileNotFoundError:
        right.info("The machine of this part is not kept yet.", icon=":material/model_training:")
        return
    with left:
        _stages(view, machine, chip)
    x = _prepared(machine, chip[None])
    with right:
        if x is None:
            st.info("How this machine prepares a window is not kept, so its reasons cannot be shown.")
            return
        _reasons(view, machine, kept, x[0])
        if votes := float(kept.votes[judged.row[detection]]):
            st.caption(f"Windows on the same place add {with_sign(votes, 3)} to f, which makes the score.")
        _nearest(machine, kept, x[0], view, part)


def _verdict(view: View, detection: int) -> str:
    judged, o = view.judged, int(view.judged.hit[detection])
    if o < 0:
        return f"Covers **no labelled {view.noun}**: above the threshold it counts as a false alarm."
    category = int(judged.object_category[o])
    named = view.pictures.entry.categories.get(category, "")
    return f"Covers a **{view.noun}**{f', *{words.plain(named)}* (category {category})' if named else ''}."


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
            with st.container(width=100):
                gallery(cell, [tile], key=f"window_stage_{at}", alt=f"The window, {name}", size=76)
    st.caption("From the window as it was cut to what the machine compares, each on its own grey scale.")


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


def _reasons(view: View, machine: Machine, kept, x: np.ndarray) -> None:
    """The support vectors that contribute most."""
    parts = machine.coef[0] * machine.kernel.block(x[None], machine.support_vectors)[0]
    pro, contra = parts[parts > 0], parts[parts < 0]
    total = machine.bias[0] + parts.sum()
    st.markdown(
        f"f = {with_sign(machine.bias[0], 3)} bias :blue[{with_sign(pro.sum(), 3)}] from {len(pro):,} for "
        f":orange[{with_sign(contra.sum(), 3)}] from {len(contra):,} against = **{with_sign(total, 3)}**"
    )
    strongest = np.argsort(-np.abs(parts), kind="stable")[:STRONGEST]
    rows = (machine.support if machine.parent is None else machine.parent)[strongest]
    jitters = evidence.jitter_names(machine)
    virtual = np.zeros(len(rows), bool) if machine.jitter is None else machine.jitter[strongest] > 0
    tiles = []
    for i, row, is_virtual in zip(strongest, rows, virtual):
        ring = evidence.ring(is_virtual, machine.bound[0, i])
        kind, alpha = evidence.ring_word(ring), abs(machine.coef[0, i])
        made = f", made by {jitters[machine.jitter[i]]}" if is_virtual and jitters else ""
        said = f"Training chip {row}{made}, {kind} support vector, alpha {alpha:.3g}"
        tiles.append(
            Tile(
                "",
                f"Reduced set vector {i}, weight {alpha:.3g}" if row < 0 else said,
                lower=with_sign(parts[i]),
                ring="" if row < 0 else ring,
                sign=int(np.sign(machine.coef[0, i])),
            )
        )
    drawn = marked.stretched(view, kept.train_chips[np.maximum(rows, 0)])
    if evidence.constructed(machine):
        drawn = _seen(machine, machine.support_vectors[strongest], kept.train_chips.shape[1:])
    gallery(
        drawn,
        tiles,
        key="window_reasons",
        alt="The support vectors that contribute most, strongest first",
        size=48,
    )
    made = " A dotted ring is virtual: the picture is the chip that it was made from." if virtual.any() else ""
    st.caption(
        f"The {len(rows)} support vectors that weigh most; below each its contribution to f. Blue: objects, orange: "
        f"background; a double ring is at C.{made}"
    )


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
    cut = "" if len(known) == len(kept.train_y) else f" Looked for among the first {len(known):,}."
    st.caption(f"Nearest training chips, with their distance after preparation.{cut}")


@st.cache_resource(max_entries=2, show_spinner=False)
def _training(_machine: Machine, _kept, run_id: str, part: int) -> np.ndarray:
    return _prepared(_machine, _kept.train_chips[:MOST_COMPARED])
