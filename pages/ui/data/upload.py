"""The reader's own data: upload files or name a folder, look at what was understood, name it, keep it."""

import re

import numpy as np
import streamlit as st

from data import DataError, catalogue
from data.loaders.upload import ACCEPTED, Preview, read_upload
from data.own import MAX_NAMES
from pages.ui.data import keeping, refusal
from pages.ui.example.views import facts, labelled
from pages.ui.kit.words import plain

SHOWN = 60  # examples in the preview
HOW = "A zip or folder of images holds one folder for each class. A csv has one example a row and a column of labels."


def upload_panel() -> None:
    """Everything from choosing files to keeping the set."""
    st.subheader("Add your own data")
    st.markdown(f"{ACCEPTED[0].upper()}{ACCEPTED[1:]}; 2 to 100 classes, grey or RGB, any size.")
    files = st.file_uploader(
        "Files", accept_multiple_files=True, key="own_files", help=f"{HOW} A pair of idx files goes in together."
    )
    path = st.text_input("or a file or folder on this machine", key="own_path", placeholder="~/letters", help=HOW)
    if not files and not path.strip():
        return
    label, shape = _how_to_read()
    if files:
        sources, contents = tuple((file.name, file.file_id) for file in files), [file.getvalue() for file in files]

        def read(skip):
            return _read_files(sources, label, _image_shape(shape), skip, contents)
    else:
        sources = path.strip()

        def read(skip):
            return read_upload(sources, sources, label=label, image_shape=_image_shape(shape), skip=skip)

    if preview := refusal.reading(read, sources):
        _keep(preview)


def _how_to_read() -> tuple[str | None, str]:
    with st.expander("How to read it"), st.container(horizontal=True):
        label = st.text_input(
            "Label column of a csv", key="own_label", placeholder="found by its look", help="A name, first, or last."
        )
        shape = st.text_input(
            "Read rows as images of",
            key="own_shape",
            placeholder="found by their look",
            help="Height x width, such as 28x28, or 28x28x3 for RGB; `rows` leaves them plain features.",
        )
    return label.strip() or None, shape.strip()


def _image_shape(text: str) -> tuple[int, ...] | None:
    """What the reader wrote for the shape of an image: None when nothing, () for plain rows."""
    if not text or text == "rows":
        return () if text else None
    if not re.fullmatch(r"\d{1,4}\s*[x×,]\s*\d{1,4}(\s*[x×,]\s*3)?", text):
        raise DataError(f"The image shape {text!r} cannot be read", "height x width such as 28x28, 28x28x3, or rows")
    return tuple(int(number) for number in re.findall(r"\d+", text))


@st.cache_resource(max_entries=2, show_spinner="Reading…")
def _read_files(
    sources: tuple, label: str | None, image_shape: tuple | None, skip: bool, _contents: list[bytes]
) -> Preview:
    (name, content), *more = [(name, content) for (name, _), content in zip(sources, _contents)]
    return read_upload(name, content, more, label=label, image_shape=image_shape, skip=skip)


def _keep(preview: Preview) -> None:
    """What was understood, and the form that keeps it."""
    with st.form("own_keep", border=True):
        st.markdown(f"Read as **{preview.format}**. " + " ".join(f"{plain(note)}." for note in preview.notes))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            title = keeping.name(preview.title, "own")
            replace, kept = keeping.replace_and_keep("own")
    try:
        dataset = catalogue.draft(title or "unnamed", preview.arrays, preview.features)
        if kept:
            entry = catalogue.keep(title, preview.arrays, preview.features, replace=replace)
            st.query_params["set"] = entry.name
            st.toast(f"{plain(entry.title)} is kept as {plain(entry.name)}.", icon=":material/save:")
            st.rerun()
    except DataError as error:
        st.error(plain(error), icon=":material/block:")
        return
    st.caption(facts(dataset.entry))
    if preview.features and not dataset.entry.features:
        st.caption(f"The names of its columns take more than {MAX_NAMES:,} bytes in UTF-8: x1, x2 and so on are shown.")
    rows = np.arange(min(SHOWN, len(dataset.X_train)))
    labelled(dataset, "train", rows, key="own_preview", clickable=False)
