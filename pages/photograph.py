"""On a photograph: drop one in, and see where a trained machine finds what it looks for."""

from functools import partial

import numpy as np
import streamlit as st

from data import DataError, pictures
from pages.detect import one, others, photo, viewer, windows
from pages.detect.view import View
from pages.ui.kit import parameters, state, walk, ways, words
from pages.ui.kit.gallery import data_uri
from pages.ui.kit.ways import button
from pages.ui.recipe import starting
from pages.ui.run import polling
from svmcore.lab.forecast import estimate
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import runs

DEMO = "faces-lfw"
PERIOD = 0.3  # seconds between two looks at a search
MAX_THRESHOLD = 5.0
MISSED = "missed"  # in the reference of a box that the reader drew


def no_machine() -> None:
    """Nothing is trained yet that looks at whole photographs: offer the small demo, or follow its training."""
    working = [run.id for run in others.detection_runs() if run.state in runs.ACTIVE]
    if working:
        said = "You can search photographs here when a detection run that looks at every window has finished."
        st.info(said, icon=":material/hourglass_top:")
        polling.poll(working[0], lambda status: st.caption(words.plain(status.message)))
        ways.to("detect", "Watch, pause or cancel the run", "my_location", {"run": working[0]})
        return
    need = estimate(RECIPES[DEMO])
    more = f" ({words.FIRST_TIME})" if need.first else ""
    with st.container(border=True):
        st.markdown(
            "**No machine for photographs yet.** The small demo learns from 100 patches with a face and 100 "
            f"without, in about {words.duration(need.seconds)} on an idle computer{more}. Better machines can be "
            "trained on *Detect*."
        )
        how = {"help": "Runs in the background; you can leave the page meanwhile.", "type": "primary"}
        button("Train the small demo", "play_arrow", "photo_train", starting.start, RECIPES[DEMO], **how)
        ways.to("detect", "Other machines", "my_location")


def chosen_run(known):
    """The run that searches: the one shown on every page if it can, else one of those that can."""
    shown = state.current_run()
    there = {run.id: run for run in known}
    if shown is not None and shown.id in there:
        return shown
    if len(known) > 1:
        help = "The machine that searches the photograph." + (" The run shown cannot." if shown is not None else "")
        picked = st.selectbox("Machine", list(there), format_func=lambda run_id: there[run_id].title, key="photo_run",
                              help=help)  # fmt: skip
        return there[picked]
    return known[0]


def chosen_photograph(run):
    """What the reader dropped, or one of the samples; None, and the reason on screen, for what cannot be used."""
    file = st.file_uploader("A photograph", ["png", "jpg", "jpeg"], max_upload_size=20, key="photo_file",
                            help=f"Upload {photo.ACCEPTED}. The photograph stays on this computer.")  # fmt: skip
    if file is not None:
        try:
            return photo.upload(file.name, file.getvalue(), run.recipe.option("chip"))
        except DataError as error:
            st.error(words.plain(error), title="This photograph cannot be used", icon=":material/block:")
            return None
    names = photo.samples()
    name = parameters.choice("photograph.photo", names)
    return photo.Photograph(name, name, None)


def noun_of(run) -> str:
    """What the run's machine looks for, in a word: face, volcano."""
    return pictures.load(run.recipe.dataset).entry.object_name


def honest(run) -> str:
    """What can be expected of a machine, in its own figures."""
    result, n = run.result, f"{run.result['n_train']:,} windows"
    offset = result["offset"]
    parts, noun = run.parts(), noun_of(run)
    whose = "it" if parts == 1 else f"the machines of its {parts} splits (here the first one is used)"
    test = (
        f"On {result['pictures']:,} test pictures {whose} detected {offset['found']:,} of {result['n_test']:,} "
        f"{words.plural(noun)} with {offset['alarms']:,} false alarms at f = 0."
    )
    if run.recipe.dataset != photo.SMALL:
        return f"It was trained on {n}. {test}"
    return f"This is a small demo. It was trained on {n}. Expect it to miss faces and to give false alarms. {test}"


@state.fragment
def boxes(run, found: photo.Searched, name: str, marks: dict[int, int], missed: list[photo.Box]) -> None:
    """The photograph with boxes at a threshold, which redraws nothing else."""
    floor, noun = run.recipe.option("floor"), noun_of(run)
    threshold = parameters.number("photograph.at", floor, MAX_THRESHOLD, 0.0, 0.05)
    above = found.f >= threshold
    rows = [int(i) for i in np.flatnonzero(above)]
    walk.over((f"0.{i}" for i in rows), "windows with a detection")
    shown = [
        viewer.Mark(
            viewer.ALARM if marks.get(i) == -1 else viewer.FOUND, tuple(found.boxes[i]), 1 if i in marks else 2,
            f"0.{i}", note=f"{found.f[i]:.2f}",
        )
        for i in rows
    ]  # fmt: skip
    n = words.many(len(shown), "window")
    shown += [
        viewer.Mark(viewer.MISSED, box, 1, f"{MISSED}.{box}", "Marked by you as missed: click to remove the mark")
        for box in missed
    ]
    viewer.viewer(
        data_uri(found.image), found.image.shape, shown, name=name, shape="box", key="photograph",
        alt=f"The photograph with {n} classified as a {noun}", on_pick=partial(pick, missed),
        on_square=missed.append, draws=f"Mark a {noun} that was missed",
    )  # fmt: skip
    st.caption(
        f"{n} classified as a {noun}, each with its score f. Click a window to see why, and to label it. "
        f"To mark a missed {noun}, press *Mark a {noun} that was missed* and drag a box as close around it as the "
        "other boxes are. "
        + (f"{words.many(len(missed), noun)} marked as missed, with a dashed box. " if missed else "")
        + words.plain(viewer.HOW)
    )
    h, w = found.image.shape
    full = "" if found.full == (h, w) else f", reduced from {found.full[1]:,} × {found.full[0]:,}"
    skipped = words.percent(found.discarded / max(found.looked, 1))
    quick = f"; {skipped} of them were skipped at once" if found.discarded else ""
    st.caption(
        f"The photograph has {w} × {h} pixels{full}. {found.looked:,} windows were searched in "
        f"{words.duration(found.seconds)}{quick}. {len(found.f):,} windows with f of at least "
        f"{words.minus(format(floor, 'g'))} remain; of overlapping windows, only the best one remains."
        + "".join(f" {note}." for note in found.notes)
    )


def show_search(run, photograph) -> None:
    """Search, and draw what was found; while the search is under way other clicks are free."""
    search, now = photo.search(run, photograph)
    if not search.done():
        state.watch(False, search.done, partial(searching, now), PERIOD)
        return
    try:
        found = search.result()
    except (DataError, ValueError) as error:
        st.error(words.plain(error), title="The photograph was not searched", icon=":material/block:")
        button("Try again", "replay", "photo_again", photo.search.clear, run, photograph, help="Searches again.")
        return
    marks = st.session_state.setdefault("photo_marks", {}).setdefault((run.id, photograph.key), {})
    missed = st.session_state.setdefault("photo_missed", {}).setdefault((run.id, photograph.key), [])
    boxes(run, found, photograph.key, marks, missed)
    n = len(marks) + len(missed)
    if n and (why := photo.obstacle(run, photograph, found)):
        st.caption(words.plain(why))
    elif n:
        again = f"Train again with the {n} marked windows" if n > 1 else "Train again with the marked window"
        help = "Trains the same recipe on the original and the marked windows, as a dataset of your own."
        button(again, "play_arrow", "photo_retrain", train_again, run, found, marks, missed, help=help)
    one.show_requested(photo.view_of_photograph(run, photograph, found), partial(what_it_is, marks))


def searching(now: photo.Looking) -> None:
    """How far a search is, and the way to end it."""
    left, pace = now.left(), "no estimate yet; the first search after an installation takes longer"
    if left is not None:
        pace = f"{now.looked:,} of {now.of:,}, about {words.duration(left)} left"
    st.progress(now.looked / max(now.of, 1), f"Searching every window at every scale: {pace}.")
    help = "Ends the search of this photograph."
    button("Cancel", "stop", "photo_cancel", setattr, now, "stopped", True, help=help)
    st.skeleton(height=420)


def what_it_is(marks: dict[int, int], view: View, at: int) -> None:
    """The reader's word on a window, in its view."""
    offered = {1: f"a {view.noun} here", -1: f"no {view.noun}"}
    key = f"photo_mark_{at}"

    def keep():
        said = st.session_state[key]
        marks.pop(at, None) if said is None else marks.update({at: said})

    st.pills("Label of this window", list(offered), format_func=offered.get, default=marks.get(at), key=key,
             on_change=keep, help="Marked windows can join the next training.")  # fmt: skip


@state.callback
def train_again(run, found: photo.Searched, marks: dict[int, int], missed: list[photo.Box]) -> None:
    """Callback: the run's recipe once more, with the marked windows among those that train."""
    starting.start(photo.with_marked(run, found, marks, missed), run.id)


def pick(missed: list[photo.Box], ref: str) -> None:
    """A click on a box: one that the reader drew is taken away, of another the view opens."""
    kind, _, which = ref.partition(".")
    if kind != MISSED:
        windows.open_window(ref)
    missed[:] = [box for box in missed if str(box) != which]


parameters.own(photo=photo.samples(), at=slice(-10.0, MAX_THRESHOLD), window=one.check)
known = photo.scanners()
if not known:
    no_machine()
else:
    sides = st.grid(3, min_column_width=270)
    with sides.cell(), st.container(border=True):
        run = chosen_run(known)
        photograph = chosen_photograph(run)
        st.caption(f"Searched by *{words.plain(run.title)}*. {honest(run)}")
    with sides.cell(column_span=2):
        if photograph is not None:
            show_search(run, photograph)
