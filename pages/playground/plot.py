"""The Playground around its plane: widgets beside it, results and links to other pages below it."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from pages.playground import controls
from pages.ui.kit import present, state, ways
from pages.ui.kit.text import many, rounded, with_sign
from pages.ui.play import opening
from pages.ui.play.picture import drawn, plane
from pages.ui.play.setting import MAX_STEP, Setting, points
from pages.ui.play.solved import described, first

KEY = "play_plane"
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
    picture, trouble = _picture(now)
    with left:
        (place,) = present.parts(["The plane"], [st.container()])
        with place:
            frames, now = _frames(now, picture)
            layer, given = _layer(now, picture), points(now)
            with top:
                controls.FORM.warn(apart=True)
            more = {"tape": frames, "layer": dict(layer.shapes) if layer else {}, **controls.hand(now)}
            plane(
                data=drawn(now, given, picture, **more),
                key=KEY,
                on_points_change=partial(_hand_on, controls.edited, "points"),
                on_tape_change=partial(_hand_on, controls.scrubbed, "tape"),
            )
            if picture and (frames is None or now.tape == frames["trained"]):  # of the trained machine
                _figures(now, picture)
                _sentences(now, given, picture, layer)
            if trouble:
                st.info(trouble, icon=":material/info:")
    if not st.session_state.get(controls.HELD):  # else the browser's history would keep every step of the way
        controls.FORM.write(now)
    state.tell()


def _picture(now: Setting):
    """The picture, and what is to be said where there is none."""
    if not opening.ready():
        picture = first(now)
        return picture, "" if picture else "The solver is still loading. The line for these points appears after that."
    from pages.ui.play import solve

    try:
        return solve.picture(now.still), ""
    except ValueError:
        return None, "A machine needs points of two colours. Choose a colour and click in the plane."


def _layer(now: Setting, picture):
    """What is drawn over the machine; None where nothing is asked for, or can be."""
    if picture is None or now.layer == "none" or not opening.ready():
        return None
    from pages.playground import layers

    return layers.layer(now, picture)


SENT = {  # by the browser: name -> type of each part
    "points": {"text": str, "seq": int, "held": bool, "sample": str, "clean": bool},
    "tape": {"step": int, "along": str, "of": str},
}


def _hand_on(then: Callable, name: str) -> None:
    """Hand on what the browser sent, where it has the right form."""
    sent = st.session_state[KEY].get(name)
    if isinstance(sent, dict) and {part: type(value) for part, value in sent.items()} == SENT[name]:
        then(**sent)


def _sentences(now: Setting, given, picture, layer) -> None:
    """Sentences below the plane: of the picture, unless a lesson asks what it shows, and of what is drawn over it."""
    with st.container(key="play_told", gap="small"):
        if not st.session_state.get("lesson_at"):
            st.caption(described(now, given, picture))
        lowest = min(one.lowest or 0.0 for one in picture.machines)
        if lowest < -1e-6:
            st.caption(
                f"The kernel matrix of these points has negative eigenvalues; the smallest is {rounded(lowest)}. "
                "So no feature space has such inner products: the road has no width, and the solver may end at a "
                "machine that is not the best one."
            )
        if layer:
            st.caption(layer.says)
        if layer and layer.rows:
            columns = dict.fromkeys(("Force", "Torque"), st.column_config.NumberColumn(format="%.3f"))
            how = {"height": "content" if len(layer.rows) < 9 else 300, "width": 420, "key": "play_forces"}
            st.dataframe(layer.rows, column_config=columns, hide_index=True, **how)


def _frames(now: Setting, picture) -> tuple[dict | None, Setting]:
    """The tape that the address or the reader asks for, and the setting with a step that it has. A path stays open
    while the machine changes, but for the time that a point is being dragged."""
    if picture is None or len(picture.machines) > 1 or not opening.ready():
        return None, now
    if now.along == "C" and not st.session_state.get(controls.HELD):
        now = replace(now, tape=now.trained if now.tape is None else now.tape)
    if now.tape is None:
        return None, now
    from pages.ui.play import solve

    frames = solve.frames(now)
    last = len(frames["step"]) - 1
    if last < now.tape < MAX_STEP:  # MAX_STEP: the browser asks for the last one before it knows which that is
        controls.FORM.add_wrong("tape", str(now.tape), slice(0, last))
    now = replace(now, tape=min(now.tape, last))
    controls.FORM.keep(now)
    return frames, now


def _figures(now: Setting, picture) -> None:
    """Counts of the trained machines, each with its change since the last setting."""
    counts = [one.n_sv for one in picture.machines]
    n_virtual, n_wrong = sum(one.n_virtual for one in picture.machines), len(picture.wrong)
    figures = {"Support vectors": sum(counts), "Wrong": n_wrong, "Fresh": picture.fresh_wrong}
    values, key = st.session_state, repr(now.still)
    if values.get(NOW, ("",))[0] != key:
        values[BEFORE], values[NOW] = values.get(NOW), (key, figures, (now.problem, now.sides))
    last = values.get(BEFORE)
    before = last[1] if last and last[2] == (now.problem, now.sides) else {}  # else other points: no change of these
    cells = st.container(horizontal=True, gap="medium", key="play_figures")
    virtual = f", {n_virtual} virtual" if now.virtual else ""
    text = f"{' + '.join(map(str, counts))}{virtual}"
    _metric(cells, "Support vectors", text, sum(counts), before.get("Support vectors"), "off")
    own = f"Errors on {many(len(points(now).y), 'point')}"
    _metric(cells, own, f"{n_wrong}", n_wrong, before.get("Wrong"), "inverse")
    if (fresh := picture.fresh_wrong) is not None:
        _metric(cells, "Errors on 400 new points", f"{fresh}", fresh, before.get("Fresh"), "inverse")
    if picture.question:
        side, f = picture.question
        cells.metric(
            "Class of ?", side, f"f = {with_sign(f)}", delta_color="off", delta_arrow="off", width="content",
            help="Predicted class of a point that has no colour of its own. f is not a probability: it is 0 on the "
            "line and 1 or -1 at the edges of the margin.",
        )  # fmt: skip
    if picture.ending:
        st.caption(f":material/timer_off: Stopped early: {picture.ending.split(';')[0]}.")


HELP = {
    "Support vectors": "Points with alpha above 0: only these define the machine.",
    "Errors on 400 new points": "Errors on 400 new points from the whole region of the problem, not only where the "
    "sample was drawn.",
    "Errors on": "Training points on the wrong side of the line.",
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
