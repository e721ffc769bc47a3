"""The Playground's parts below and beside the plane: what came out, the tape, three ways on.

The plane of the Playground: a picture of points and a machine that answers clicks, brush, keys, and plays the tape.

Drawn in the browser from a few numbers: the points, the machine's alphas and bias, its kernel. f on the grid, the lines
f = -1, 0, 1, the tints and every frame of the tape are computed there (plane.js), so that moving the tape's slider asks
no server. The browser sends back the text of the edited points, and the frame at which the reader stopped.

Encoding as everywhere: blue +1, orange -1; ring = free SV, double ring = bound SV, both larger with alpha; dotted ring
= virtual SV with a line to its parent; cross = error.
"""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from data.plane import PROBLEMS
from pages.playground import controls, opening
from pages.ui.kit import present, state, ways
from pages.ui.kit.component import component
from pages.ui.kit.text import many, rounded, with_sign
from pages.ui.play.setting import MAX_STEP, Points, Setting, points
from pages.ui.play.solved import described, first

KEY = "play_plane"


def draw(
    setting: Setting,
    given: Points,
    solved,
    frames: dict | None,
    mode: str,
    seq: int,
    on_points: Callable[[str, int, bool], None],
    on_tape: Callable[[int, str], None],
    shapes: dict,
) -> None:
    """The plane with the points and, once there is one, the machine `solved` (solved.Solved).

    frames: of the open tape, see solve.frames. mode: what a click does. seq: the number of the browser's last edit that
    is in `given`; on_points(text, seq, held) and on_tape(frame, along) are callbacks. held: a point is at the
    reader's hand. shapes: of the layer over the trained machine, see layers.Layer.
    """
    own = PROBLEMS[setting.problem]
    still = repr((setting.closed, solved is not None))
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
            "kernel": {name: getattr(setting, name) for name in ("kernel", "degree", "gamma", "coef0")},
            "law": [list(place) for place in own.law],
            "question": setting.question,
            "layer": shapes,
            "mode": mode,
            "tape": frames,
            "step": setting.tape,
            "along": setting.along,
            "alt": alt(setting, given, solved),
        },
        key=KEY,
        on_points_change=partial(_hand_on, on_points, "points", ("text", "seq", "held")),
        on_tape_change=partial(_hand_on, on_tape, "tape", ("step", "along")),
    )


def alt(setting: Setting, given: Points, solved) -> str:
    """What the picture shows, in words and counts."""
    if solved is None:
        blue = int((given.y > 0).sum())
        text = f"{many(len(given.y), 'point')} in the plane, {blue} blue and {len(given.y) - blue} orange."
    else:
        text = (
            f"{described(setting, given, solved)} Support vectors are ringed, bounded ones twice; errors are crossed."
        )
        if solved.question is not None:
            text += f" The point marked ? is predicted {'blue' if solved.question > 0 else 'orange'}."
    return text + " Arrow keys move a cursor, Enter adds or removes a point, N goes from point to point."


def _rounded(X) -> list[list[float]]:
    return [[float(a), float(b)] for a, b in X]


def _examples(of) -> list[list]:
    if isinstance(of, Points):
        return [[*x, s, i, 0] for i, (x, s) in enumerate(zip(_rounded(of.X), of.y.tolist(), strict=True))]
    rows = zip(_rounded(of.X), of.sign.tolist(), of.parent.tolist(), of.copy.tolist(), strict=True)
    return [[*x, s, p, int(c)] for x, s, p, c in rows]


def _hand_on(then: Callable, name: str, fields: tuple[str, ...]) -> None:
    """Hand on what the browser sent, where it has the right form."""
    sent = st.session_state[KEY].get(name)
    if not isinstance(sent, dict) or set(sent) != set(fields):
        return
    kinds = {"text": str, "seq": int, "step": int, "held": bool, "along": str}
    if all(type(sent[field]) is kinds[field] for field in fields):
        then(*(sent[field] for field in fields))


_component = component(__file__, "plane", '<div class="plane">\n</div>', first=("saving", "svg", "tape", "path"))


PURPOSE = (
    "**See what a support vector machine learns, where it fails, and what prior knowledge changes:** here on points, "
    "on the other pages on handwritten digits."
)
SENTENCE = (
    "A support vector machine keeps only the ringed points. Drag a point, move C, switch on virtual copies, and watch "
    "the line turn."
)
BEFORE, NOW = "play_before", "play_now"  # in the session: the figures of the last setting, and of this one


@st.fragment
def playground() -> None:
    """Plane, widgets and figures; a change of a widget draws only these anew."""
    now = controls.FORM.base
    top = st.container()
    if present.presenting():  # the plane has the whole width
        right, left = st.container(), st.container()
    else:
        grid = st.grid(2, min_column_width=380, gap="large")  # one below the other where the plane would be too small
        left, right = grid.cell(), grid.cell()
    with right, present.form():
        now = controls.draw(now)
    solved, trouble = _solved(now)
    with left:
        (place,) = present.parts(["The plane"], [st.container()])
        with place:
            frames, now = _frames(now, solved)
            layer, given = _layer(now, solved), points(now)
            with top:
                controls.FORM.warn(apart=True)
            draw(
                now,
                given,
                solved,
                frames,
                controls.mode(),
                st.session_state.get(controls.SEQ, 0),
                controls.edited,
                controls.scrubbed,
                dict(layer.shapes) if layer else {},
            )
            if solved is not None and (frames is None or now.tape == frames["trained"]):  # of the trained machine
                _figures(now, solved)
                _told(now, given, solved, layer)
            if trouble:
                st.info(trouble, icon=":material/info:")
    if not st.session_state.get(controls.HELD):  # else the browser's history would keep every step of the way
        controls.FORM.write(now)
    state.tell()


def _solved(now: Setting):
    """The machine, and what is to be said where there is none."""
    if not opening.ready():
        return first(now), ""
    from pages.ui.play import solve

    try:
        return solve.solve(now.still), ""
    except ValueError:
        return None, "A machine needs points of both colours. Add some of the other one."


def _layer(now: Setting, solved):
    """What is drawn over the machine; None where nothing is asked for, or can be."""
    if solved is None or now.layer == "none" or not opening.ready():
        return None
    from pages.playground import layers

    return layers.layer(now, solved)


def _told(now: Setting, given: Points, solved, layer) -> None:
    """Sentences below the plane: of the picture, unless a lesson asks what it shows, and of what is drawn over it."""
    with st.container(key="play_told", gap="small"):
        if not st.session_state.get("lesson_at"):
            st.caption(described(now, given, solved))
        if solved.lowest is not None and solved.lowest < -1e-6:
            st.caption(
                f"The kernel matrix of these points has negative eigenvalues, the least {rounded(solved.lowest)}. So "
                "no feature space has such inner products: there is no road with a width, and the solver may end at a "
                "machine that is not the best one."
            )
        if layer:
            st.caption(layer.says)
        if layer and layer.rows:
            columns = dict.fromkeys(("Force", "Torque"), st.column_config.NumberColumn(format="%.3f"))
            how = {"height": "content" if len(layer.rows) < 9 else 300, "width": 420, "key": "play_forces"}
            st.dataframe(layer.rows, column_config=columns, hide_index=True, **how)


def _frames(now: Setting, solved) -> tuple[dict | None, Setting]:
    """The tape that the address or the reader asks for, and the setting with a step that it has. A path stays open
    while the machine changes, but for the time that a point is being dragged."""
    if now.along == "C" and not st.session_state.get(controls.HELD):
        now = replace(now, tape=now.trained if now.tape is None else now.tape)
    if now.tape is None or solved is None or not opening.ready():
        return None, now
    from pages.ui.play import solve

    frames = solve.frames(now)
    last = len(frames["step"]) - 1
    if last < now.tape < MAX_STEP:  # MAX_STEP: the browser asks for the last one before it knows which that is
        controls.FORM.add_wrong("tape", str(now.tape), slice(0, last))
    now = replace(now, tape=min(now.tape, last))
    controls.FORM.keep(now)
    return frames, now


def _figures(now: Setting, solved) -> None:
    """Counts of the trained machine, each with its change since the last setting."""
    figures = {
        "Support vectors": solved.n_sv,
        "Virtual": solved.n_virtual,
        "Wrong": len(solved.wrong),
        "Fresh": solved.fresh_wrong,
        "question": solved.question,
    }
    values, key = st.session_state, repr(now.still)
    if values.get(NOW, ("",))[0] != key:
        values[BEFORE], values[NOW] = values.get(NOW), (key, figures, now.problem)
    last = values.get(BEFORE)
    before = last[1] if last and last[2] == now.problem else {}  # another problem has other points: no change of it
    cells = st.container(horizontal=True, gap="medium", key="play_figures")
    virtual = f", {solved.n_virtual} virtual" if now.virtual else ""
    _metric(cells, "Support vectors", f"{solved.n_sv}{virtual}", solved.n_sv, before.get("Support vectors"), "off")
    n = len(points(now).y)
    _metric(cells, f"Errors on these {n}", f"{len(solved.wrong)}", len(solved.wrong), before.get("Wrong"), "inverse")
    if solved.fresh_wrong is not None:
        shown, old = solved.fresh_wrong, before.get("Fresh")
        _metric(cells, "Errors on 400 new", f"{shown}", shown, old, "inverse")
    if solved.question is not None:
        side = "blue" if solved.question > 0 else "orange"
        cells.metric(
            "Class of ?", side, f"f = {with_sign(solved.question)}", delta_color="off", delta_arrow="off",
            width="content",
            help="Predicted class of a point that has no colour of its own.",
        )  # fmt: skip
    if solved.ending:
        st.caption(f":material/timer_off: Stopped early: {solved.ending.split(';')[0]}.")


HELP = {
    "Support vectors": "Points with alpha above 0: only these define the machine.",
    "Errors on these": "Training points on the wrong side of the line.",
    "Errors on 400": "Errors on 400 new points from the whole region of the problem, not only where the sample was "
    "drawn.",
}


def _metric(cell, label: str, text: str, value: int, before: int | None, colour: str) -> None:
    change = None if before is None or before == value else value - before
    words = next(says for start, says in HELP.items() if label.startswith(start))
    cell.metric(label, text, change, delta_color=colour, help=words, width="content")


def ways_on() -> None:
    """Three ways on, and what trains behind the page."""
    with st.container(horizontal=True, gap="medium"):
        query = {}
        if opening.ready():
            from pages.playground import behind

            run_id = behind.newest_done()
            query = {"run": run_id} if run_id else {}
        help = "Digits that a trained machine misclassifies, each with the support vectors responsible."
        ways.to("errors", "See why real digits fail", "close", query, help=help)
        help = "Choose data, kernel and C, and watch the machines converge."
        ways.to("train", "Train your own", "play_circle", help=help)
        help = "A short lesson on these pages: predict first, then check."
        ways.to("lessons", "Lesson 1: what an SVM keeps (5 min)", "school", help=help)
    if opening.ready():
        from pages.playground import behind

        state.guarded(behind.line)
