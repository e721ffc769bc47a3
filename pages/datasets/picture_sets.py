"""The views of a set of pictures with objects: the pictures, its experiments, windows to train on, what it is."""

from functools import partial

import numpy as np
import streamlit as st

from data.pictures import Picture, PictureEntry, PictureFacts, PictureSet, drawing
from pages.ui.example.views import about
from pages.ui.kit import parameters
from pages.ui.kit.gallery import Tile, gallery
from pages.ui.kit.known import KNOWN_BY
from pages.ui.kit.walk import paged
from pages.ui.kit.words import file_size, many, plain, plural, short

EACH_PAGE = 60  # pictures of one gallery
HEIGHT = 640  # of the gallery beside a picture, pixels
SIDE, LARGE = 96, 900  # pixels of a picture in the gallery, and of the one looked at
WINDOWS = 60  # of each kind
PICTURES, EXPERIMENTS, TRAIN, EMPTY, ABOUT = (
    "Pictures",
    "Experiments",
    "Windows to train on",
    "Without objects",
    "About",
)
LOOKS = (PICTURES, EXPERIMENTS, TRAIN, EMPTY, ABOUT)


def facts(entry: PictureFacts, published: PictureFacts | None = None) -> str:
    """`40 pictures · 169 faces · 15 MB`; of one here in part `42 of 134 pictures are available · 615 volcanoes`."""
    objects = f"{entry.n_objects:,} {plain(plural(entry.object_name, entry.n_objects))}"
    if published and published.n_pictures != entry.n_pictures:
        return f"{entry.n_pictures:,} of {published.n_pictures:,} pictures are available · {objects}"
    size = f" · {file_size(entry.size_mb)}" if entry.size_mb else ""
    return f"{entry.n_pictures:,} pictures · {objects}{size}"


def show_set(entry: PictureEntry, pictures: PictureSet) -> str:
    """The chosen view of a set that has been read; its name."""
    views = {PICTURES: _pictures, EXPERIMENTS: _experiments}
    if pictures.chips is not None:
        views[TRAIN] = _windows
    if pictures.empty:
        views[EMPTY] = _empty
    view = parameters.choice("datasets.look", [*views, ABOUT], known=(TRAIN, EMPTY))
    if view == ABOUT:
        about(pictures.entry)
    else:
        views[view](pictures)
    return view


def leave() -> None:
    """Forget the picture looked at, and a view that the next set may not have; for callbacks."""
    st.query_params.pop("picture", None)
    if st.session_state.get("look") in (TRAIN, EMPTY):
        st.session_state["look"] = PICTURES


def _pictures(pictures: PictureSet) -> None:
    numbers = range(1, len(pictures.pictures) + 1)
    number = parameters.read("picture", 1, slice(1, len(numbers)))
    large, small = st.columns([3, 2], gap="medium")
    with large:
        picture = pictures.pictures[number - 1]
        image = _outlined(pictures, number)
        word = plural(pictures.entry.object_name, len(picture.boxes))
        st.image(image, width="stretch", output_format="PNG", alt=f"Picture {number} with its objects outlined")
        area = f", usable area {picture.area:,.0f} km²" if pictures.entry.unit == "km²" else ""
        counted = f" ({picture.opportunities} of them count)" if picture.opportunities != len(picture.boxes) else ""
        h, w = picture.image.shape
        st.caption(f"**{plain(picture.name)}**, {w} × {h} pixels{area}: {len(picture.boxes)} {plain(word)}{counted}.")
        _key(pictures.entry, picture.category)
    with small:
        st.caption(
            f"Above each picture: the number of {plain(plural(pictures.entry.object_name))}; below: its name. Click a "
            "picture to enlarge it."
        )
        own = (number - 1) // EACH_PAGE + 1
        rows = range(len(numbers))[paged(len(numbers), EACH_PAGE, key="page_pictures", first=own)]
        with st.container(height=HEIGHT if len(rows) > 12 else "content", border=False):
            _squares(pictures, rows, number)


def tile(picture: Picture, noun: str = "object") -> Tile:
    """Its number of objects, called `noun`, above, its name below."""
    n = len(picture.boxes)
    return Tile("", f"{picture.name}: {many(n, noun)}", str(n), short(picture.name.rpartition("/")[2], 14))


def _squares(pictures: PictureSet, rows: range, number: int) -> None:
    tiles = [
        tile(pictures.pictures[row], pictures.entry.object_name)._replace(
            ref=str(row + 1), ring="free" if row + 1 == number else ""
        )
        for row in rows
    ]
    small = _thumbnails(pictures, rows)
    alt = f"Pictures {rows[0] + 1} to {rows[-1] + 1} of {pictures.entry.title} with their objects outlined"
    gallery(small, tiles, key="pictures", alt=alt, size=SIDE, on_pick=partial(parameters.say, "picture"))


@st.cache_data(max_entries=16, show_spinner=False, hash_funcs=KNOWN_BY)
def _thumbnails(pictures: PictureSet, rows: range) -> np.ndarray:
    return drawing.squares([pictures.pictures[row] for row in rows], pictures.entry.shape, SIDE)


@st.cache_data(max_entries=16, show_spinner=False, hash_funcs=KNOWN_BY)
def _outlined(pictures: PictureSet, number: int) -> np.ndarray:
    return drawing.outlined(pictures.pictures[number - 1], pictures.entry.shape, LARGE)


def _key(entry: PictureFacts, category: np.ndarray) -> None:
    """What the width of a line says, and how many there are of each in this picture."""
    if len(entry.categories) > 1:
        counts = [f"{plain(name)} {np.sum(category == number)}" for number, name in entry.categories.items()]
        st.caption(f"A wider line marks a more certain label: {', '.join(counts)}.")


def _experiments(pictures: PictureSet) -> None:
    unit, experiments = pictures.entry.unit, pictures.experiments.values()
    rows = [
        {
            "Experiment": plain(experiment.title),
            "Splits": str(len(experiment.parts)) if experiment.parts else "none complete",
            "Trained on": _span([len(part.train) for part in experiment.parts]),
            "Tested on": many(len(experiment.tested), "picture") if experiment.parts else "–",
            "Searched": f"{experiment.area:,.0f} {plural(unit, experiment.area) if unit == 'picture' else unit}",
            "Labelled objects": f"{sum(len(pictures.pictures[k].boxes) for k in experiment.tested):,}"
            if experiment.parts
            else "–",
            f"{plural(pictures.entry.object_name).capitalize()} that count": f"{experiment.opportunities:,}",
            "Missing pictures": str(len(experiment.missing)) if experiment.missing else "–",
        }
        for experiment in experiments
    ]
    st.table(
        {name: [plain(row[name]) if name != "Experiment" else row[name] for row in rows] for name in rows[0]},
        alt=f"Experiments of {pictures.entry.title}",
    )
    st.caption(
        "Each split trains on some pictures, or on given windows, and tests on other pictures; every test picture "
        "counts once. False alarms are divided by the area or the number of pictures searched, detections by the "
        "number of objects that count."
    )
    for experiment in experiments:
        if experiment.missing:
            lead = f"**{plain(experiment.title)}** lacks {many(len(experiment.missing), 'picture')}"
            st.markdown(f":material/folder_off: {lead}: {plain(_ranges(experiment.missing))}.")


def _span(counts: list[int]) -> str:
    if not counts:
        return "–"
    low, high = min(counts), max(counts)
    if high == 0:
        return "windows"
    return f"{low} pictures" if low == high else f"{low} to {high} pictures"


def _ranges(names: tuple[str, ...]) -> str:
    """`img43 to img51, img60`: names that end in consecutive numbers as runs."""
    runs: list[list[str]] = []
    for name in names:
        stem = name.rstrip("0123456789")
        follows = runs and name[len(stem) :] and runs[-1][-1] == f"{stem}{int(name[len(stem) :]) - 1}"
        if follows:
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


def _windows(pictures: PictureSet) -> None:
    X, y = pictures.chips
    side = pictures.entry.window
    share = f" The side of a window is {side:g} times that of the object's box." if side != 1 else ""
    for label, word in ((1, plural(pictures.entry.object_name)), (-1, "other windows")):
        rows = np.flatnonzero(y == label)
        shown = rows[:: max(1, len(rows) // WINDOWS)][:WINDOWS]
        tiles = [Tile("", f"Window {row}", sign=label) for row in shown]
        st.markdown(f"**{len(rows):,} {plain(word)}**, {X.shape[2]} × {X.shape[1]} pixels")
        gallery(X[shown], tiles, key=f"windows_{label}", alt=f"{len(shown)} of the {word}", size=38)
    st.caption(f"Each gallery shows an evenly spaced sample of its windows.{share}")


def _empty(pictures: PictureSet) -> None:
    n = len(pictures.empty)
    rows = range(n)[paged(n, EACH_PAGE, key="page_empty")]
    shown = [pictures.empty[row] for row in rows]
    small = drawing.squares(shown, pictures.entry.shape, SIDE)
    gallery(small, list(map(tile, shown)), key="empty", alt="Pictures without objects", size=SIDE)
    st.caption(f"{n} pictures without a {plain(pictures.entry.object_name)}: every detection in them is a false alarm.")
