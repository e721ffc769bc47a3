"""A reader's own data of either kind: upload files or name a folder, look at what was understood, name it, keep it."""

import re
from collections.abc import Hashable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import numpy as np
import streamlit as st

from data import DataError, catalogue, pictures
from data.loaders.bundle import MAX_MEMBERS, files_below
from data.loaders.columns import FILL, REFUSE, TELL
from data.loaders.depth import on_one_scale
from data.loaders.fitted import WAYS, Fit, of_text
from data.loaders.images import MAX_SIDE, Survey, decode, grey, stacked
from data.loaders.pictures import ACCEPTED as PICTURES_ACCEPTED
from data.loaders.pictures import MAX_PICTURES, Upload, are_pictures, read_pictures
from data.loaders.table import Labels
from data.loaders.upload import ACCEPTED, Opened, Preview, Several, opened
from data.own import MAX_NAMES
from data.pictures import drawing
from pages.datasets import keeping, picture_sets
from pages.ui.example.views import facts, labelled
from pages.ui.kit.gallery import Tile, gallery
from pages.ui.kit.ways import button
from pages.ui.kit.words import plain

SHOWN = 60  # examples in the preview
MOST_PICTURES = 24  # of them in the preview
SIDE = 128  # of each, pixels
WAYS_SHOWN = 6  # images that are shown under each way of bringing them to one size
MAX_KINDS = 100  # kinds of objects to choose from
MAX_CHOICES = 2000  # columns among which the labels can be chosen
HOW = (
    "Images: a zip or folder with one folder per class, or with a csv of file names and classes, or with a file that "
    "lists the objects in the images. Table: one example per row, and a column of labels. If a label is unknown, leave "
    "its cell empty, or put the image into a folder `unlabelled`. MATLAB: the variables X and y. Upload two idx files "
    "together, and images together with their annotations."
)
EMPTY = {  # what may become of empty cells: how it is said
    REFUSE: "list their rows, which you can then exclude",
    FILL: "fill in the median or the most frequent category of the column",
    TELL: "fill them in, and add a column that marks them",
}
EXAMPLE = """image,xmin,ymin,xmax,ymax,category
street.png,112,40,168,96,1
square/night.jpg,20,8,61,52,2
"""
CIRCLES = """image,x,y,radius
moon.png,293.5,410,22
moon.png,88,105,7.5
"""


def upload_panel() -> None:
    """Everything from choosing files to keeping the set; what is in the files says which kind of set it is."""
    st.subheader("Add your own data")
    about = st.container()
    files = st.file_uploader("Files", accept_multiple_files=True, key="own_files", help=HOW)
    path = st.text_input("Or a file or folder on this computer", key="own_path", placeholder="~/letters", help=HOW)
    if files:
        sources = [(file.name, file.getvalue()) for file in files]
        _read(tuple((file.name, file.file_id) for file in files), sources)
    elif path := path.strip():
        _read(((path, _changed(path)),), [(path, path)])
    else:
        examples, objects = about.columns(2)
        examples.markdown(f"**Examples in classes**: {ACCEPTED}; 2 to 100 classes, images grey or RGB, any size.")
        objects.markdown(f"**Pictures with objects**: {PICTURES_ACCEPTED}.")
        _examples_of_tables()


def _changed(path: str) -> str:
    """When a file, or the newest one of a folder, was last changed; empty where that cannot be known."""
    try:
        files = list(islice(files_below(there := Path(path).expanduser()), MAX_MEMBERS))
        return str(max(place.lstat().st_mtime_ns for place in {there, *files, *(file.parent for file in files)}))
    except (OSError, RuntimeError, ValueError):
        return ""


def _read(known: tuple, sources: list) -> None:
    """What was understood of the files (name, content or path), and how to store it. known: their names and ids."""
    if _are_pictures(known, sources):
        _read_pictures(known, sources)
        return
    known = (*known, _which_table(known, sources))
    if upload := keeping.reading(lambda _: _opened(known, sources), known):
        if upload.format == "images":
            _read_images(known, upload)
            return
        how = _how_to_read(upload.labels)

        def read(skip: bool) -> Preview | None:
            chosen = how | {"skip": skip, "image_shape": _image_shape(how["image_shape"])}
            if upload.pictures:
                return keeping.behind((known, *chosen.values()), lambda report: upload.read(**chosen, report=report))
            return _preview(known, chosen, upload)

        if preview := keeping.reading(read, (known, how["empty"])):
            _keep(preview)


def _read_images(known: tuple, upload: Opened) -> None:
    """Images, whose headers and then whose pixels are read in the background, and the form that keeps them."""
    group = None
    if upload.classes and 1 < len(upload.classes.columns) <= MAX_CHOICES:
        with st.container(horizontal=True):
            label = _label(list(upload.classes.columns), upload.classes.column, known)
            known, upload = (*known, label), upload.by(label)
            group = _group(list(upload.classes.others), f"own_group_{hash(known)}")
    surveyed = keeping.reading(lambda _: keeping.behind(("survey", known), upload.survey), ("survey", known))
    if surveyed is None:
        return
    told = st.container()  # how far it is, and what cannot be read: above the choices, which fill a phone's screen
    try:
        fit = _fit(known, surveyed) if surveyed.images else None
    except DataError as error:
        st.error(plain(error), icon=":material/block:")
        return

    def read(skip: bool) -> Preview | None:
        how = {"skip": skip, "fit": fit, "group": group}
        return keeping.behind((known, *how.values()), lambda report: upload.read(**how, report=report))

    with told:
        preview = keeping.reading(read, ("images", known))
    if preview:
        _keep(preview)


def _fit(known: tuple, surveyed: Survey) -> Fit:
    """The common size of the images, chosen by the reader from examples. DataError for an impossible size."""
    usual, images = surveyed.fit, surveyed.images
    several = any(image.size != images[0].size for image in images)
    with st.expander("Common size of the pictures", expanded=several):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            size = st.text_input(
                "Height x width", key=f"own_size_{hash(known)}", placeholder=f"{usual.height}x{usual.width}", width=160,
                help="The size of the pictures that the machine is trained on. Proposed: the median of the sides, "
                "reduced until training takes seconds. Galleries show the original pictures.",
            ).strip()  # fmt: skip
            how = st.selectbox(
                "Resizing", list(WAYS), format_func=WAYS.get, key="own_fit", width=200,
                help="How each picture is brought to this size. The option *fit and pad* shows the whole picture; the "
                "area around it gets the median of the picture's border.",
            )  # fmt: skip
            colour = usual.colour and st.checkbox(
                "Colours",
                value=True,
                key="own_colour",
                help="Keeps red, green and blue. Off: grey values, a third of the numbers.",
            )
        height, width = of_text(size) if size else usual[:2]
        fit = Fit(height, width, how, bool(colour)).checked()
        if several or fit[:2] != images[0].size:
            names, drawn = _ways(known, fit, surveyed)
            tiles = [Tile("", f"{name}: {way}") for way in WAYS.values() for name in names]
            if names:
                alt = "Some of the pictures, resized in each way"
                gallery(drawn, tiles, key="own_ways", alt=alt, rows=list(WAYS.values()))
    return fit


def _some(images: list) -> list:
    """A few images, evenly spaced by folder and name."""
    images = sorted(images, key=lambda image: image.path)
    return [images[k] for k in np.unique(np.linspace(0, len(images) - 1, WAYS_SHOWN).astype(int))]


@st.cache_data(max_entries=8, show_spinner=False)
def _ways(known: tuple, fit: Fit, _surveyed: Survey) -> tuple[list[str], np.ndarray]:
    """The names of some images that can be read, and these images, brought to a size in each way."""
    found = {}
    for member in (image.member for image in _some(_surveyed.images)):
        with suppress(DataError):  # the others show what the ways are
            found[member.name] = decode(member.name, member.read())
    try:
        whole, _ = on_one_scale(list(found.values()), list(found))
    except DataError:
        found.clear()
    if not found:
        return [], np.zeros((0, *fit[:2]), np.uint8)
    whole = [picture if fit.colour else grey(picture) for picture in whole]
    return list(found), stacked([fit._replace(how=way).applied(picture) for way in WAYS for picture in whole])


def _which_table(known: tuple, sources: list) -> str | None:
    """Of several tables in one upload the one that is read, by the reader's choice; None where there is one."""
    try:
        _opened((*known, None), sources)
    except Several as several:
        n, guess = len(several.names), several.names[0]
        st.info(
            f"The upload has {n} tables. The largest, *{plain(guess)}*, is read unless you choose another one.",
            icon=":material/help:",
        )
        return st.selectbox(
            "Table",
            several.names,
            key=f"own_table_{hash(known)}",
            help="The table to read. You can read the tables one after the other and save each as a dataset.",
        )
    except DataError:
        pass  # said where it is read
    return None


def _how_to_read(labels: Labels | None) -> dict[str, str | None]:
    """What the reader decides: the columns of labels and groups, the shape of rows, the treatment of empty cells."""
    label, group, empty = None, None, REFUSE
    if labels and not labels.clear:
        st.warning(
            f"It is not clear which column has the labels; *{plain(labels.names[labels.at])}* is a guess. Choose "
            "another column if this is wrong.",
            icon=":material/help:",
        )
    if labels and len(labels.names) > MAX_CHOICES:
        labels = None
    with st.expander("Reading options", expanded=bool(labels)), st.container(horizontal=True):
        if labels:
            label = _label(labels.names, labels.names[labels.at], labels)
            group = _group(labels.names, f"own_group_{hash(labels)}")
            empty = st.selectbox(
                "Empty cells", list(EMPTY), format_func=EMPTY.get, key="own_empty", width=330,
                help="What to do with empty cells, and with NA, ?, - and other markers of missing values. Medians are "
                "taken over the whole table.",
            )  # fmt: skip
        shape = st.text_input(
            "Read rows as images of size", key="own_shape", placeholder="guessed from the values", width=200,
            help="Height x width, such as 28x28, or 28x28x3 for RGB. Write `rows` to keep the rows as plain features.",
        )  # fmt: skip
    return {"label": label, "group": group, "image_shape": shape.strip(), "empty": empty}


def _label(names: Sequence[str], guess: str, of: Hashable) -> str:
    """The column of the classes, by the reader's choice."""
    return st.selectbox(
        "Column of labels", names, index=names.index(guess), key=f"own_label_{hash(of)}", width=200,
        help="The column with the class of each example; guessed from its name and values.",
    )  # fmt: skip


def _group(names: Sequence[str], key: str) -> str | None:
    """The column that says which examples belong together, by the reader's choice."""
    return st.selectbox(
        "Group rows by", [None, "", *names], key=key, width=200,
        format_func=lambda name: name or ("a column named group" if name is None else "nothing"),
        help="A column that has the same value in all rows of one picture or person. The rows of a group stay together "
        "in the training set or in the test set, and can be virtual examples of each other.",
    )  # fmt: skip


def _image_shape(text: str) -> tuple[int, ...] | None:
    """What the reader wrote for the shape of an image: None when nothing, () for plain rows."""
    if not text or text == "rows":
        return () if text else None
    if not re.fullmatch(r"\d{1,4}\s*[x×,]\s*\d{1,4}(\s*[x×,]\s*3)?", text):
        raise DataError(f"The image shape {text!r} cannot be read", "height x width such as 28x28, 28x28x3, or rows")
    return tuple(int(number) for number in re.findall(r"\d+", text))


@st.cache_resource(max_entries=2, show_spinner="Reading…")
def _are_pictures(known: tuple, _sources: list) -> bool:
    return are_pictures(_sources)


@st.cache_resource(max_entries=2, show_spinner="Reading…")
def _opened(known: tuple, _sources: list) -> Opened:
    """known: the files, and which table of several."""
    first, *more = _sources
    upload = opened(*first, more, known[-1])
    _ = upload.labels  # what is wrong with all rows is said here
    return upload


@st.cache_resource(max_entries=2, show_spinner="Reading…")
def _preview(known: tuple, how: dict, _upload: Opened) -> Preview:
    return _upload.read(**how)


def _keep(preview: Preview) -> None:
    with st.form("own_keep", border=True):
        st.markdown(f"Read as **{preview.format}**. " + " ".join(f"{plain(note)}." for note in preview.notes))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            title = keeping.name(preview.title, "own")
            replace, kept = keeping.replace_and_keep("own")
    try:
        dataset = catalogue.draft(title or "unnamed", preview.arrays, preview.features)
        if kept:
            keeping.show(catalogue.keep(title, preview.arrays, preview.features, replace=replace))
    except DataError as error:
        st.error(plain(error), icon=":material/block:")
        return
    st.caption(facts(dataset.entry))
    if preview.features and not dataset.entry.features:
        st.caption(f"The column names take more than {MAX_NAMES:,} bytes in UTF-8, so x1, x2 and so on are shown.")
    rows = np.arange(min(SHOWN, len(dataset.X_train)))
    labelled(dataset, "train", rows, key="own_preview", clickable=False)


def _examples_of_tables() -> None:
    with st.expander("Format of a table of objects"):
        with st.container(horizontal=True):
            for title, example in (("Boxes", EXAMPLE), ("Circles", CIRCLES)):
                with st.container(width=330):
                    st.markdown(f"**{title}**")
                    st.code(example, language=None)
        st.caption(
            f"2 to {MAX_PICTURES} pictures, up to {MAX_SIDE} pixels a side. Coordinates are pixels from the upper left "
            "corner of the picture as it is shown, x to the right and y down. Values between 0 and 1 are shares of "
            "width and height. The category is optional: 1 for the most certain objects, larger numbers for less "
            "certain ones, or the name of the object."
        )


def _read_pictures(known: tuple, sources: list) -> None:
    """What was understood of the files (name, content or path), and the form that stores them. known: their key."""
    key = f"kinds_{hash(known)}"
    kinds = tuple(st.session_state.get(key, ()))
    upload = keeping.reading(lambda skip: _pictures(known, skip, kinds, sources), (known, kinds))
    if upload is None and kinds:
        button(
            "All kinds of objects", "", "all_kinds", st.session_state.update, {key: []}, help="Reads the files again."
        )
    if upload:
        if len(upload.kinds) > 1:
            st.multiselect(
                "Kind of objects", upload.kinds[:MAX_KINDS], key=key, placeholder="all of them, as one kind",
                help="The machine detects one kind of object. Leave this empty to treat all objects as one kind.",
            )  # fmt: skip
        _keep_pictures(upload)


@st.cache_resource(max_entries=2, show_spinner="Reading…")
def _pictures(known: tuple, skip: bool, kinds: tuple, _sources: list) -> Upload:
    return read_pictures(_sources, skip, kinds)


def _keep_pictures(upload: Upload) -> None:
    with st.form("pictures_keep", border=True):
        kind = "circles" if upload.shape == "circle" else "boxes"
        st.markdown(f"Read as **pictures with {kind}**. " + " ".join(f"{plain(note)}." for note in upload.notes))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            title = keeping.name(upload.title, "pictures")
            word = st.text_input(
                "Name of an object (singular)", value=upload.kinds[0][:30] if len(upload.kinds) == 1 else "object",
                max_chars=30, key="pictures_object", help="What the lab calls one object, such as ship or face.",
            )  # fmt: skip
            replace, kept = keeping.replace_and_keep("pictures")
    try:
        drafted = pictures.draft(title or "unnamed", upload, word)
        if kept:
            keeping.show(pictures.keep(title, upload, word, replace=replace))
    except DataError as error:
        st.error(plain(error), icon=":material/block:")
        return
    st.caption(picture_sets.facts(drafted.entry))
    shown = sorted(drafted.pictures, key=lambda picture: not len(picture.boxes))[:MOST_PICTURES]
    small, tiles = drawing.squares(shown, drafted.entry.shape, SIDE), list(map(picture_sets.tile, shown))
    gallery(small, tiles, key="pictures_preview", alt="Your pictures with their objects outlined", size=SIDE)
    more = len(drafted.pictures) - len(shown)
    rest = f" {more} more pictures are not shown." if more else ""
    st.caption(f"Above each picture: its number of objects; below: its name.{rest}")
