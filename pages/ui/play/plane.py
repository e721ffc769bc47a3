"""The plane of the Playground: a picture of points and a machine that answers clicks, brush, keys, and plays the tape.

Drawn in the browser from a few numbers: the points, the machine's alphas and bias, its kernel. f on the grid, the lines
f = -1, 0, 1, the tints and every frame of the tape are computed there (plane.js), so that moving the tape's slider asks
no server. The browser sends back the text of the edited points, and the frame at which the reader stopped.

Encoding as everywhere: blue +1, orange -1; ring = free SV, double ring = bound SV, both larger with alpha; dotted ring
= virtual SV with a line to its parent; cross = error.
"""

import hashlib
from collections.abc import Callable
from functools import partial

import streamlit as st

from data.plane import PROBLEMS
from pages.ui.kit.component import component
from pages.ui.kit.text import many
from pages.ui.play.setting import Points, Setting

KEY = "play_plane"


def draw(
    setting: Setting,
    given: Points,
    solved,
    frames: dict | None,
    mode: str,
    seq: int,
    on_points: Callable[[str, int, bool], None],
    on_tape: Callable[[int], None],
) -> None:
    """The plane with the points and, once there is one, the machine `solved` (solved.Solved).

    frames: of the open tape, see solve.frames. mode: what a click does. seq: the number of the browser's last edit that
    is in `given`; on_points(text, seq, held) and on_tape(frame) are callbacks. held: a point is at the reader's hand.
    """
    own = PROBLEMS[setting.problem]
    still = repr((setting.still, solved is not None))
    _component(
        data={
            "version": hashlib.sha256(still.encode()).hexdigest()[:12],
            "points": [[*x, s, t] for x, s, t in zip(_rounded(given.X), given.y.tolist(), given.token, strict=True)],
            "points_text": setting.points,
            "seq": seq,
            "examples": _examples(given) if solved is None else _examples(solved),
            "alpha": None if solved is None else solved.alpha.tolist(),
            "bias": 0.0 if solved is None else solved.bias,
            "C": setting.C,
            "kernel": {"name": setting.kernel, "degree": setting.degree, "gamma": setting.gamma},
            "law": [list(place) for place in own.law],
            "question": own.question,
            "mode": mode,
            "tape": frames,
            "step": setting.tape,
            "alt": alt(given, solved),
        },
        key=KEY,
        on_points_change=partial(_told, on_points, "points", ("text", "seq", "held")),
        on_tape_change=partial(_told, on_tape, "tape", ("step",)),
    )


def alt(given: Points, solved) -> str:
    """What the picture shows, in words and counts."""
    blue = int((given.y > 0).sum())
    text = f"{len(given.y)} synthetic points in the plane, {blue} blue and {len(given.y) - blue} orange."
    if solved is not None:
        virtual = f", {solved.n_virtual} of them virtual" if solved.copy.any() else ""
        text += f" {solved.n_sv} support vectors are ringed{virtual}, {int(solved.bound.sum())} of them at C with a "
        text += f"double ring; {many(len(solved.wrong), 'point')} on the wrong side, crossed."
        if solved.question is not None:
            text += f" The point marked ? comes out {'blue' if solved.question > 0 else 'orange'}."
    return text + " Arrow keys move a cursor, Enter adds or removes a point, N goes from point to point."


def _rounded(X) -> list[list[float]]:
    return [[float(a), float(b)] for a, b in X]


def _examples(of) -> list[list]:
    if isinstance(of, Points):
        return [[*x, s, i, 0] for i, (x, s) in enumerate(zip(_rounded(of.X), of.y.tolist(), strict=True))]
    rows = zip(_rounded(of.X), of.sign.tolist(), of.parent.tolist(), of.copy.tolist(), strict=True)
    return [[*x, s, p, int(c)] for x, s, p, c in rows]


def _told(then: Callable, name: str, fields: tuple[str, ...]) -> None:
    """Hand on what the browser sent, where it has the right form."""
    sent = st.session_state[KEY].get(name)
    if not isinstance(sent, dict) or set(sent) != set(fields):
        return
    kinds = {"text": str, "seq": int, "step": int, "held": bool}
    if all(type(sent[field]) is kinds[field] for field in fields):
        then(*(sent[field] for field in fields))


_component = component(__file__, "plane", '<div class="plane">\n</div>', first=("saving", "svg", "tape"))
