"""The Playground's parts below and beside the plane: what came out, the tape, three ways on."""

from dataclasses import replace

import streamlit as st

from pages.ui.kit import present, state, ways
from pages.ui.kit.text import with_sign
from pages.ui.play import controls, edits, opening, plane
from pages.ui.play.setting import MAX_STEP, Setting, points
from pages.ui.play.solved import first

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
            with top:
                controls.FORM.warn(apart=True)
            plane.draw(
                now,
                points(now),
                solved,
                frames,
                controls.mode(),
                st.session_state.get(edits.SEQ, 0),
                edits.edited,
                controls.scrubbed,
            )
            if solved is not None and (frames is None or now.tape == len(frames["step"]) - 1):  # of the trained machine
                _figures(now, solved)
            if trouble:
                st.info(trouble, icon=":material/info:")
    if not st.session_state.get(edits.HELD):  # else the browser's history would keep every step of the way
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


def _frames(now: Setting, solved) -> tuple[dict | None, Setting]:
    """The tape that the address or the reader asks for, and the setting with a step that it has."""
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
    cells = st.container(horizontal=True, gap="medium")
    virtual = f", {solved.n_virtual} virtual" if now.virtual else ""
    _metric(cells, "Support vectors", f"{solved.n_sv}{virtual}", solved.n_sv, before.get("Support vectors"), "off")
    n = len(points(now).y)
    _metric(cells, f"Wrong of these {n}", f"{len(solved.wrong)}", len(solved.wrong), before.get("Wrong"), "inverse")
    if solved.fresh_wrong is not None:
        shown, old = solved.fresh_wrong, before.get("Fresh")
        _metric(cells, "Wrong of 400 fresh", f"{shown}", shown, old, "inverse")
    else:
        side = "blue" if solved.question > 0 else "orange"
        cells.metric(
            "The ? comes out", side, f"f = {with_sign(solved.question)}", delta_color="off", delta_arrow="off",
            width="content",
            help="The machine's answer at a point that has no colour of its own.",
        )  # fmt: skip
    if solved.ending:
        st.caption(f":material/timer_off: Stopped early: {solved.ending.split(';')[0]}.")


HELP = {
    "Support vectors": "The points that the machine keeps: those with alpha above 0.",
    "Wrong of these": "Training points on the wrong side of the line.",
    "Wrong of 400": "Other points, from wherever the law of the problem holds, not only where the sample was taken.",
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
            from pages.ui.play import behind

            run_id = behind.newest_done()
            query = {"run": run_id} if run_id else {}
        help = "The digits that a trained machine gets wrong, each with the support vectors that pulled."
        ways.to("errors", "See why real digits fail", "close", query, help=help)
        help = "Choose data, kernel and C, and watch the machines converge."
        ways.to("train", "Train your own", "play_circle", help=help)
        help = "A short walk through the pages: predict first, then look."
        ways.to("lessons", "Lesson 1: what an SVM keeps (5 min)", "school", help=help)
    if opening.ready():
        from pages.ui.play import behind

        state.guarded(behind.line)
