"""The reader's own pictures with objects: upload images and a table, look at what was understood, name it, keep it."""

import streamlit as st

from data import DataError, pictures
from data.loaders.pictures import ACCEPTED, MAX_PICTURES, MAX_SIDE, Upload, read_pictures
from data.pictures import PictureSet, drawing
from pages.ui.data import keeping, refusal
from pages.ui.data.picture_sets import facts
from pages.ui.kit.gallery import Tile, gallery
from pages.ui.kit.words import plain, short

SHOWN = 24  # pictures in the preview
SIDE = 128  # of each, pixels
EXAMPLE = """image,xmin,ymin,xmax,ymax,category
street.png,112,40,168,96,1
square/night.jpg,20,8,61,52,2
"""
CIRCLES = """image,x,y,radius
moon.png,293.5,410,22
moon.png,88,105,7.5
"""


def picture_panel() -> None:
    """Everything from choosing files to keeping the set."""
    st.subheader("Add your own pictures with objects")
    st.markdown(f"{ACCEPTED[0].upper()}{ACCEPTED[1:]}; 2 to {MAX_PICTURES} pictures, up to {MAX_SIDE} pixels a side.")
    files = st.file_uploader(
        "Images and their table",
        accept_multiple_files=True,
        key="own_pictures",
        help="A zip of everything, or the images and the csv chosen together.",
    )
    with st.expander("What the table looks like", expanded=not files):
        with st.container(horizontal=True):
            for title, example in (("Boxes", EXAMPLE), ("Circles", CIRCLES)):
                with st.container(width=330):
                    st.markdown(f"**{title}**")
                    st.code(example, language=None)
        st.caption(
            "Pixels from the upper left corner of the picture as it is shown, x to the right and y down. A category is "
            "optional: 1 for the surest objects, larger for doubtful ones. Semicolons or tabs do as well as commas."
        )
    if not files:
        return
    sources, contents = tuple((file.name, file.file_id) for file in files), [file.getvalue() for file in files]
    if upload := refusal.reading(lambda skip: _read(sources, skip, contents), sources):
        _keep(upload)


@st.cache_resource(max_entries=2, show_spinner="Reading…")
def _read(sources: tuple, skip: bool, _contents: list[bytes]) -> Upload:
    return read_pictures([(name, content) for (name, _), content in zip(sources, _contents)], skip)


def _keep(upload: Upload) -> None:
    """What was understood, and the form that keeps it."""
    with st.form("pictures_keep", border=True):
        kind = "circles" if upload.shape == "circle" else "boxes"
        st.markdown(f"Read as **pictures with {kind}**. " + " ".join(f"{plain(note)}." for note in upload.notes))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            title = keeping.name(upload.title, "pictures")
            word = st.text_input(
                "An object is called", value="object", max_chars=30, key="pictures_object", help="Such as ship or face."
            )
            replace, kept = keeping.replace_and_keep("pictures")
    try:
        drafted = pictures.draft(title or "unnamed", upload, word)
        if kept:
            entry = pictures.keep(title, upload, word, replace=replace)
            st.query_params["set"] = entry.name
            st.toast(f"{plain(entry.title)} is kept as {plain(entry.name)}.", icon=":material/save:")
            st.rerun()
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
