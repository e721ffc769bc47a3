"""The windows behind an operating point: hits, missed objects, false alarms, each a gallery sorted by score."""

import numpy as np
import streamlit as st

from pages.detect import judged as judging
from pages.detect import marked
from pages.detect.judged import Shown
from pages.detect.view import View
from pages.ui.kit import parameters, state, walk, words
from pages.ui.kit.gallery import Tile, gallery
from pages.ui.kit.text import with_sign
from pages.ui.kit.walk import paged
from svmcore.detection.curve import OperatingPoint

KINDS = ("Hits", "Missed", "False alarms")
PER_PAGE = 96
WINDOW = "window"  # the URL parameter that holds the reference of the open detection
GALLERY, ONCE = "gallery", "windows"  # the URL parameter of the gallery shown; as it was called once
SEE = {
    "Hits": "objects detected, each shown as its highest-scoring window, with the score in the lower left corner.",
    "Missed": "objects missed, the highest score first. Objects without a score are covered by no candidate window.",
    "False alarms": "windows that score above the threshold but cover no object, the highest first.",
}
SEE_ONE = {
    "Hits": "object detected, shown as its highest-scoring window, with the score in the lower left corner.",
    "Missed": "object missed. If it has no score, no candidate window covers it.",
    "False alarms": "window that scores above the threshold but covers no object.",
}


def open_window(ref: str) -> None:
    """Name the detection whose view lies over the page from the next rerun on."""
    st.query_params[WINDOW] = ref


def found_in_old_links() -> None:
    """Let the gallery of an address be called what it is called now: a field of recipes has the name of before."""
    if "task" not in st.query_params and (asked := st.query_params.pop(ONCE, None)):
        st.query_params[GALLERY] = asked
        if asked in KINDS:
            st.session_state[GALLERY] = asked


@state.fragment
def windows(view: View, column: int, point: OperatingPoint, now: Shown) -> None:
    """One of the three galleries, page by page; a fragment, so that another gallery is drawn without the picture."""
    best = judging.best_of_objects(view.judged, column)
    found = np.flatnonzero(now.found_by >= 0)
    missed = np.flatnonzero(now.found_by < 0)
    n = {"Hits": len(found), "Missed": len(missed), "False alarms": len(now.alarms)}
    kind = parameters.choice(f"detect.{GALLERY}", KINDS)
    score = np.append(view.judged.scores[:, column], -np.inf)
    of_kind = {"Hits": found, "Missed": missed}
    of_kind = {name: rows[np.argsort(-score[best[rows]], kind="stable")] for name, rows in of_kind.items()}
    windows_of = {name: best[rows] for name, rows in of_kind.items()} | {"False alarms": now.alarms}
    of_kind["False alarms"] = now.alarms
    for name, some in windows_of.items():
        walk.over((marked.reference(view, detection) for detection in some[some >= 0]), name.lower())
    shown, detections = of_kind[kind], windows_of[kind]
    rows = paged(n[kind], PER_PAGE, key="windows_page", of=kind)
    if not n[kind]:
        st.caption(f"{kind}: there are none at this threshold.")
        return
    draw(view, column, kind, shown[rows], detections[rows], key="detect_windows")
    st.caption(f"{n[kind]:,} {SEE[kind] if n[kind] > 1 else SEE_ONE[kind]} Click a window to see why.")


def draw(view: View, column: int, kind: str, shown: np.ndarray, detections: np.ndarray, key: str) -> None:
    """A gallery of windows. shown (n,): objects, or detections for false alarms; detections (n,), -1 where none."""
    judged, score = view.judged, view.judged.scores[:, column]
    chips, tiles = [], []
    for item, detection in zip(shown, detections):
        if detection < 0:
            picture = view.pictures.pictures[judged.object_picture[item]]
            chips.append(marked.cut(picture.image, judged.objects[item], judged.chips.shape[1:]))
            tiles.append(Tile("", f"{view.noun} in {picture.name} without a candidate", lower="–", sign=1))
            continue
        name = view.pictures.pictures[judged.picture[detection]].name
        chips.append(judged.chips[detection])
        word = "no object" if kind == "False alarms" else f"{view.noun} of category {judged.object_category[item]}"
        tiles.append(
            Tile(
                marked.reference(view, detection),
                f"{word}, in {name}, score {score[detection]:.3g}",
                lower=with_sign(score[detection]),
                cross=kind != "Hits",
                sign=-1 if kind == "False alarms" else 1,
            )
        )
    gallery(
        marked.stretched(view, np.stack(chips)), tiles, key=key,
        alt=f"{words.many(len(tiles), 'window')}: {kind.lower()}", on_pick=open_window,
    )  # fmt: skip
