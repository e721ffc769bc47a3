"""A reader's own pictures with objects: what was understood of an upload, and the form that keeps it."""

import streamlit as st

from data import DataError, pictures
from data.loaders.pictures import MAX_PICTURES, MAX_SIDE, Upload, read_pictures
from data.pictures import PictureSet, drawing
from pages.datasets import keeping
from pages.datasets.picture_sets import facts
from pages.ui.kit.buttons import button
from pages.ui.kit.gallery import Tile, gallery
from pages.ui.kit.words import plain, short

SHOWN = 24  # pictures in the preview
SIDE = 128  # of each, pixels
MAX_KINDS = 100  # kinds of objects to choose from
EXAMPLE = """image,xmin,ymin,xmax,ymax,category
street.png,112,40,168,96,1
square/night.jpg,20,8,61,52,2
"""
CIRCLES = """image,x,y,radius
moon.png,293.5,410,22
moon.png,88,105,7.5
"""


def examples_of_tables() -> None:
    """What a table of objects may look like."""
    with st.expander("What a table of objects looks like"):
        with st.container(horizontal=True):
            for title, example in (("Boxes", EXAMPLE), ("Circles", CIRCLES)):
                with st.container(width=330):
                    st.markdown(f"**{title}**")
                    st.code(example, language=None)
        st.caption(
            f"2 to {MAX_PICTURES} pictures, up to {MAX_SIDE} pixels a side. Pixels from the upper left corner of the "
            "picture as it is shown, x to the right and y down; values between 0 and 1 are shares of width and height. "
            "A category is optional: 1 for the most certain objects, larger for less certain ones, or the name of the "
            "object."
        )


def read_and_keep(known: tuple, sources: list) -> None:
    """What was understood of (name, content or path) of each file, and the form that keeps it. known: what tells them
    from others."""
    key = f"kinds_{hash(known)}"
    kinds = tuple(st.session_state.get(key, ()))
    upload = keeping.reading(lambda skip: _read(known, skip, kinds, sources), (known, kinds))
    if upload is None and kinds:
        button("All kinds of objects", "", "all_kinds", _all_kinds, key, help="Reads the files again.")
    if upload:
        if len(upload.kinds) > 1:
            st.multiselect(
                "Objects called", upload.kinds[:MAX_KINDS], key=key, placeholder="all of them, as one kind",
                help="The machine detects one kind of object: choose it, or leave this empty for all.",
            )  # fmt: skip
        _keep(upload)


def _all_kinds(key: str) -> None:
    st.session_state[key] = []


@st.cache_resource(max_entries=2, show_spinner="Reading…")
def _read(known: tuple, skip: bool, kinds: tuple, _sources: list) -> Upload:
    return read_pictures(_sources, skip, kinds)


def _keep(upload: Upload) -> None:
    """What was understood, and the form that keeps it."""
    with st.form("pictures_keep", border=True):
        kind = "circles" if upload.shape == "circle" else "boxes"
        st.markdown(f"Read as **pictures with {kind}**. " + " ".join(f"{plain(note)}." for note in upload.notes))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            title = keeping.name(upload.title, "pictures")
            word = st.text_input(
                "An object is called",
                value=upload.kinds[0][:30] if len(upload.kinds) == 1 else "object",
                max_chars=30,
                key="pictures_object",
                help="Such as ship or face.",
            )
            replace, kept = keeping.replace_and_keep("pictures")
    try:
        drafted = pictures.draft(title or "unnamed", upload, word)
        if kept:
            keeping.show(pictures.keep(title, upload, word, replace=replace))
    except DataError as error:
        st.error(plain(error), icon=":material/block:")
        return
    _preview(drafted)


def _preview(drafted: PictureSet) -> None:
    st.caption(facts(drafted.entry))
    shown = sorted(drafted.pictures, key=lambda picture: not len(picture.boxes))[:SHOWN]
    tiles = [
        Tile("", picture.name, upper=str(len(picture.boxes)), lower=short(picture.name.rpartition("/")[2], 14))
        for picture in shown
    ]
    small = drawing.squares(shown, drafted.entry.shape, SIDE)
    gallery(small, tiles, key="pictures_preview", alt="Your pictures with their objects outlined", size=SIDE)
    more = len(drafted.pictures) - len(shown)
    st.caption("Objects above, name below." + (f" {more} more pictures are not shown." if more else ""))
