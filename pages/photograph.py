"""On a photograph: drop one in, and see where a trained machine finds faces."""

import streamlit as st

from data import DataError
from pages.ui.detect import others, photo
from pages.ui.detect.view import plural
from pages.ui.kit import parameters, state, viewer, words
from pages.ui.kit.gallery import data_uri
from pages.ui.recipe import config
from pages.ui.run import polling
from svmcore.lab.recipes import RECIPES
from svmcore.lab.store import runs

DEMO = "faces-lfw"
PERIOD = 0.3  # seconds between two looks at a search
MAX_THRESHOLD = 5.0


def no_machine() -> None:
    """Nothing is trained yet that looks at whole photographs: offer the small demo, or follow its training."""
    working = [run.id for run in others.detection_runs() if run.state in runs.ACTIVE]
    if working:
        st.info("A detection run is asked for; this page fills when it is done.", icon=":material/hourglass_top:")
        polling.poll(working[0], lambda status: st.caption(words.plain(status.message)))
        return
    with st.container(border=True):
        st.markdown(
            "**No machine yet that looks at photographs.** The small demo learns from 100 patches with a face and 100 "
            "without, in about half a minute; better ones are trained on *Detect*."
        )
        st.button("Train the small demo", type="primary", icon=":material/play_arrow:", key="photo_train",
                  on_click=config.start, args=(RECIPES[DEMO],),
                  help="Runs in the background; the page may be left meanwhile.")  # fmt: skip
        st.page_link("pages/detect.py", label="Other machines", icon=":material/my_location:")


def chosen_run(known):
    """The run that searches: the one shown on every page if it can, else one of those that can."""
    shown = state.current_run()
    there = {run.id: run for run in known}
    if shown is not None and shown.id in there:
        return shown
    if len(known) > 1:
        picked = st.selectbox("Machine", list(there), format_func=lambda run_id: there[run_id].title, key="photo_run",
                              help="The run shown on every page finds nothing in photographs.")  # fmt: skip
        return there[picked]
    return known[0]


def chosen_photograph(run):
    """What the reader dropped, or one of the samples; None, and the reason on screen, for what cannot be used."""
    file = st.file_uploader("A photograph", ["png", "jpg", "jpeg"], max_upload_size=20, key="photo_file",
                            help=f"{photo.ACCEPTED}. It stays on this machine.")  # fmt: skip
    if file is not None:
        try:
            return photo.upload(file.name, file.getvalue(), run.recipe.option("chip"))
        except DataError as error:
            st.error(words.plain(error), title="This cannot be used", icon=":material/block:")
            return None
    names = photo.samples()
    name = parameters.choice("photo", "or one of scikit-image's", names, widget="selectbox",
                             help="The last ones show no face: whatever is found there is a false alarm.")  # fmt: skip
    return photo.Photograph(name, name, None)


def honest(run) -> str:
    """What can be expected of a machine, in its own figures."""
    result, n = run.result, f"{run.result['n_train']:,} windows"
    offset = result["offset"]
    test = (
        f"On its own {result['pictures']:,} test pictures it found {offset['found']:,} of {result['n_test']:,} "
        f"{plural('face')} with {offset['alarms']:,} false alarms at f = 0."
    )
    if run.recipe.dataset != photo.SMALL:
        return f"It was trained on {n}. {test}"
    return (
        f"This is a small demo: it has seen 100 faces and, with what it mistook for faces, {n} in all. Expect it to "
        f"miss faces and to see some where there are none. {test}"
    )


@state.fragment
def boxes(found: photo.Searched, name: str, floor: float) -> None:
    """The photograph with boxes at a threshold, which redraws nothing else."""
    threshold = parameters.number("at", "Threshold", floor, MAX_THRESHOLD, 0.0, 0.05, widget="slider",
                          help="Boxes of windows that score at least this; the machine was trained for 0.")  # fmt: skip
    above = found.f >= threshold
    shown = [
        viewer.Mark(viewer.FOUND, tuple(box), 2, note=f"{f:.2f}") for box, f in zip(found.boxes[above], found.f[above])
    ]
    n = f"{len(shown)} window{'s' if len(shown) != 1 else ''}"
    viewer.viewer(
        data_uri(found.image),
        found.image.shape,
        shown,
        name=name,
        shape="box",
        key="photograph",
        alt=f"The photograph with {n} taken for a face",
    )
    st.caption(f"{n} taken for a face, each with its score f. {words.plain(viewer.HOW)}")
    h, w = found.image.shape
    full = "" if found.full == (h, w) else f", reduced from {found.full[1]:,} x {found.full[0]:,}"
    quick = f", {found.discarded / max(found.looked, 1):.0%} of them settled by a quick look" if found.discarded else ""
    st.caption(
        f"{found.looked:,} windows of {w} x {h} pixels{full}, looked at in {words.duration(found.seconds)}{quick}. "
        f"{len(found.f):,} of them kept down to f = {floor:g}, of overlapping ones the surest."
    )


def look(run, photograph) -> None:
    """Search, and draw what was found; while the search is under way other clicks are free."""
    search = photo.search(run, photograph)
    if not search.done():

        @state.fragment(run_every=PERIOD)
        def wait():
            if search.done():
                st.rerun()
            st.skeleton(height=420)
            st.caption(
                "Looking at every window at every scale. The first search after an installation compiles the scan."
            )

        wait()
        return
    try:
        boxes(search.result(), photograph.key, run.recipe.option("floor"))
    except (DataError, ValueError) as error:
        st.error(words.plain(error), title="It was not searched", icon=":material/block:")
        again = {"on_click": photo.forget, "args": (run, photograph)}
        st.button("Try again", key="photo_again", icon=":material/replay:", **again)


st.title("On a photograph")
known = photo.scanners()
if not known:
    no_machine()
else:
    sides = st.grid(3, min_column_width=300)
    with sides.cell(), st.container(border=True):
        run = chosen_run(known)
        photograph = chosen_photograph(run)
        st.caption(f"Searched by *{words.plain(run.title)}*. {honest(run)}")
    with sides.cell(column_span=2):
        if photograph is not None:
            look(run, photograph)
