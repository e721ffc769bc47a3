"""Galleries: many examples drawn from one montage image, each a button that opens its own view.

    pictures  (n, h, w) grey or (n, h, w, 3) colour, uint8, ink dark on light
    montage   (rows h, columns w[, 3]) uint8, the one image that a gallery sends
    Tile      what stands around one picture: text above and below, ring, class colour

The browser cuts the tiles out of the montage and magnifies them by a whole number, so that pixels stay square and
sharp at any screen density, and lets them flow into the width there is.  Encoding (one everywhere): blue = class +1,
orange = class -1; solid ring = free SV, double ring = bound SV, dotted ring = virtual SV, both = a virtual one at C,
cross = error.  In a dark theme what is ink on white lies on grey.  The layout of text around a digit follows
Figure 5 of DeCoste and Schölkopf (2002): index at the lower left, labels at the upper right.
"""

import base64
import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st
from PIL import Image

from pages.ui.kit.component import component, heard
from pages.ui.kit.palette import BLUE_RGB, CLASS_COLOURS, GREY, ORANGE_RGB
from pages.ui.kit.present import TYPE, presenting

DIGIT = "digit"  # the URL parameter that holds the reference of the open example
REFERENCE_ROWS = 500  # rows that fix the grey scale or the feature scale of a dataset
PLANE = 28  # side, in pixels, of the picture of a point in the plane
PALE, AXIS = 0.45, 190  # of the points behind it the share of their colour, and the grey of its axes
ONE_SIZE = 64  # pixels of a side at most, of pictures of several sizes beside each other
LONGEST = 1 << 20  # bytes of a PNG; Chromium draws none from an address of more than 2 MB
QUALITY = 88  # of a JPEG
LARGEST = 128  # larger pictures are thinned before they are sent
TALLEST = 320  # pixels of the screen: a photograph twice as high as wide leaves room for what is said of it
WHITE, GROUND = 250, 0.3  # from this share of pixels this light on, pictures are ink on white
LIGHT = 200  # or from this mean on
DIMMED = 0.71  # their white in a dark theme, as pictures.css has it
RINGS = "Single ring: free; double ring: bounded (alpha = C)"
VIRTUAL_RINGS = f"{RINGS}; dotted: virtual; dotted and solid: virtual and bounded"
SIDES = "blue: the machine's class, orange: the others"


class Tile(NamedTuple):
    """One cell of a gallery. `ref` (see `reference`) is what a click opens; an empty one makes the cell inert.

    A tile without a label is an empty cell.
    """

    ref: str
    label: str  # read out by a screen reader, shown on hover
    upper: str = ""
    lower: str = ""
    ring: str = ""  # "", "free", "bound", "virtual", "virtual-bound"
    sign: int = 0  # +1 blue, -1 orange, 0 grey
    cross: bool = False
    linked: bool = False  # joined to the tile before it by a line
    note: str = ""  # of one that is ticked, what for: in the place of the cross, and the picture is pale


def reference(dataset: str, split: str, index: int) -> str:
    """The text that names one example, in a tile and in the URL: `mnist-5k/test/247`."""
    return f"{dataset}/{split}/{int(index)}"


def open_digit(ref: str) -> None:
    """Name the example whose view lies over the page from the next rerun on; `why.dialog` draws it."""
    st.query_params[DIGIT] = ref


def gallery(
    pictures: np.ndarray,
    tiles: Sequence[Tile],
    *,
    key: str,
    alt: str,
    size: int = 56,
    rows: Sequence[str] = (),
    on_pick: Callable[[str], None] = open_digit,
    whole_page: bool = True,
    legend: str = "",
) -> None:
    """Draw `pictures` (n, h, w[, 3]) uint8 with their `tiles`; a click calls `on_pick(tile.ref)`.

    legend: what the marks of a tile mean, said above the first of them; before a class below the last one.

    `size` is the wished height of a picture in screen pixels; the nearest whole magnification is used.  With `rows`,
    the tiles are dealt evenly, in order, to rows with these labels.  A click draws the whole page anew, or, without
    `whole_page`, the fragment alone that the gallery stands in.
    """
    if len(pictures) != len(tiles):
        raise ValueError(f"{len(pictures)} pictures but {len(tiles)} tiles: each picture needs one tile")
    if legend and not presenting():
        st.caption(legend)
    _component(
        data=sheet(pictures, size * (TYPE if presenting() else 1))
        | {"alt": alt, "file": key.replace("_", "-"), "rows": list(rows), "tiles": [tile._asdict() for tile in tiles]},
        key=key,
        on_picked_change=heard(key, "picked", partial(_picked, on_pick, whole_page)),
    )
    if legend and presenting():
        st.caption(legend)


def on_white(pictures: np.ndarray) -> bool:
    """Whether pictures (n, h, w[, 3]) uint8 are ink, or colours, on white: no photographs, which stay as they are."""
    return bool(len(pictures)) and (float(np.mean(pictures >= WHITE)) > GROUND or float(np.mean(pictures)) > LIGHT)


def pictures(
    X: np.ndarray, like: np.ndarray, image_shape: tuple[int, ...] | None, ink: bool = False, y: np.ndarray | None = None
) -> np.ndarray:
    """Examples X (n, ...) as uint8 pictures, on the grey or feature scale of the dataset `like` (m, ...), whose labels
    are y (m,).

    `ink` says that large values are strokes on a dark ground, drawn dark on light; photographs stay as they are.
    Features without an image become a square of blue and orange cells, two of them a point in the plane, with the
    others by class behind it.
    """
    like = np.asarray(like[:REFERENCE_ROWS])
    X = np.asarray(X)
    if image_shape is None:
        X, like = X.reshape(len(X), -1), like.reshape(len(like), -1)
        if like.shape[1] == 2:
            return _plane_pictures(X, like, np.zeros(len(like)) if y is None else np.asarray(y[: len(like)]))
        return _feature_pictures(X, like)
    whole = like.dtype == np.uint8 and not ink  # a photograph; strokes may end below 255, as those of 8x8 digits at 16
    if whole and X.dtype == np.uint8:
        return X.reshape(len(X), *image_shape)
    low, high = (0.0, 255.0) if whole else (float(like.min()), float(like.max()))
    grey = np.clip((X.reshape(len(X), *image_shape) - low) / max(high - low, 1e-12), 0, 1)
    if ink:
        grey = 1 - grey
    return np.rint(255 * grey).astype(np.uint8)


def one_size(*several: np.ndarray) -> list[np.ndarray]:
    """Pictures (n, h, w[, 3]) of several sizes, made smaller or larger by whole numbers and framed in white to one."""
    if len({pictures.shape[1:] for pictures in several}) == 1:
        return list(several)
    several = [_smaller(pictures, -(-max(pictures.shape[1:3]) // ONE_SIZE)) for pictures in several]
    largest = max(max(pictures.shape[1:3]) for pictures in several)
    colour = any(pictures.ndim == 4 for pictures in several)
    made = []
    for pictures in several:
        pictures = np.repeat(pictures[..., None], 3, axis=3) if colour and pictures.ndim == 3 else pictures
        times = max(1, largest // max(pictures.shape[1:3]))
        pictures = pictures.repeat(times, axis=1).repeat(times, axis=2)
        spare = [(largest - side) // 2 for side in pictures.shape[1:3]]
        out = np.full((len(pictures), largest, largest, *pictures.shape[3:]), 255, np.uint8)
        out[:, spare[0] : spare[0] + pictures.shape[1], spare[1] : spare[1] + pictures.shape[2]] = pictures
        made.append(out)
    return made


def _smaller(pictures: np.ndarray, times: int) -> np.ndarray:
    """The means of times x times pixels; what is left over at the right and below is cut off."""
    n, h, w, *colours = pictures.shape
    h, w = h // times, w // times
    blocks = pictures[:, : h * times, : w * times].reshape(n, h, times, w, times, *colours)
    return blocks.mean(axis=(2, 4)).round().astype(np.uint8) if times > 1 else pictures


def sheet(pictures: np.ndarray, size: float) -> dict:
    """What pictures.js draws pictures (n, h, w[, 3]) from: their montage, each about `size` screen pixels high."""
    pictures = thin(pictures)
    height, width = pictures.shape[1:3]
    columns = max(1, int(np.ceil(np.sqrt(len(pictures)))))
    return {
        "ink": on_white(pictures),
        "sheet": data_uri(montage(pictures, columns)) if len(pictures) else "",
        "columns": columns,
        "height": height,
        "width": width,
        "scale": max(1, round(size / max(height, width))),
    }


def montage(pictures: np.ndarray, columns: int) -> np.ndarray:
    """Pictures (n, h, w[, 3]) side by side, `columns` a row, white where the last row ends early."""
    n, height, width, *colours = pictures.shape
    rows = -(-n // columns)
    cells = np.full((rows * columns, height, width, *colours), 255, np.uint8)
    cells[:n] = pictures
    cells = cells.reshape(rows, columns, height, width, *colours)
    return cells.swapaxes(1, 2).reshape(rows * height, columns * width, *colours)


def thin(pictures: np.ndarray, largest: int = LARGEST) -> np.ndarray:
    """Pictures no larger than `largest` a side: every k-th pixel of larger ones."""
    step = -(-max(pictures.shape[1:3]) // largest)
    return pictures[:, ::step, ::step]


def data_uri(image: np.ndarray, forms: Sequence[str] = ("png", "jpeg")) -> str:
    """A uint8 image (h, w[, 3]) as a PNG that fits in a page, or as a JPEG where that would be too long."""
    for form in forms:
        buffer = io.BytesIO()
        Image.fromarray(image).save(buffer, form, **({"quality": QUALITY} if form == "jpeg" else {}))
        if len(buffer.getvalue()) <= LONGEST:
            break
    return f"data:image/{form};base64," + base64.b64encode(buffer.getvalue()).decode()


def in_theme(picture: np.ndarray) -> np.ndarray:
    """A picture (h, w[, 3]) as `st.image` is to show it: ink on white is dimmed in a dark theme."""
    if st.context.theme.type == "dark" and on_white(picture[None]):
        return np.rint(DIMMED * picture).astype(np.uint8)
    return picture


def magnified(picture: np.ndarray, size: int) -> np.ndarray:
    """One picture (h, w[, 3]) with each pixel repeated a whole number of times, about `size` pixels high."""
    scale = max(1, round(size / max(picture.shape[:2])))
    return picture.repeat(scale, axis=0).repeat(scale, axis=1)


def large(picture: np.ndarray, size: int, alt: str) -> None:
    """Show one picture (h, w[, 3]), `magnified`, as wide as there is room, but at most TALLEST pixels high: what is
    said of it stays on the screen. Its button *Fullscreen* shows all pixels of it."""
    shown = magnified(in_theme(picture), size)
    h, w = shown.shape[:2]
    width = "content" if h <= TALLEST else max(1, w * TALLEST // h)
    st.image(shown, width=width, output_format="PNG", alt=alt)


def _picked(on_pick: Callable[[str], None], whole_page: bool, ref: str) -> None:
    on_pick(ref)
    if whole_page:
        st.rerun()  # also when the gallery stands in a fragment


def _plane_pictures(X: np.ndarray, like: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Points X (n, 2) as (n, PLANE, PLANE, 3), the points `like` of classes y behind them, pale, between two axes."""
    low, high = like.min(axis=0), like.max(axis=0)

    def pixels(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at = np.clip((points - low) / np.maximum(high - low, 1e-12), 0, 1) * (PLANE - 6) + 3
        across, up = np.rint(at).astype(int).T
        return PLANE - 1 - up, across

    ground = np.full((PLANE, PLANE, 3), 255.0)
    names, colours = np.unique(y).tolist(), CLASS_COLOURS if len(np.unique(y)) > 1 else (GREY,)
    for c, name in enumerate(names):
        colour = [int(colours[c % len(colours)][i : i + 2], 16) for i in (1, 3, 5)]
        ground[pixels(like[y == name])] = PALE * np.array(colour) + (1 - PALE) * 255
    ground[-1], ground[:, 0] = AXIS, AXIS
    rows, columns = pixels(X)
    down, across = np.mgrid[:PLANE, :PLANE]
    near = np.hypot(across - columns[:, None, None], down - rows[:, None, None]) < 2.5
    return np.where(near[..., None], 20, ground).astype(np.uint8)


def _feature_pictures(X: np.ndarray, like: np.ndarray) -> np.ndarray:
    z = np.clip((X - like.mean(axis=0, dtype=float)) / np.maximum(like.std(axis=0, dtype=float), 1e-12) / 2.5, -1, 1)
    side = int(np.ceil(np.sqrt(X.shape[1])))
    cells = np.zeros((len(X), side * side))
    cells[:, : X.shape[1]] = z
    return diverging(cells.reshape(len(X), side, side))


def diverging(values: np.ndarray) -> np.ndarray:
    """Signed values in [-1, 1] as uint8 colours (..., 3): orange below, white at 0, blue above."""
    values = np.asarray(values)[..., None]
    end = np.where(values > 0, BLUE_RGB, ORANGE_RGB)
    return np.rint(255 + np.abs(values) * (end - 255.0)).astype(np.uint8)


SCRIPTS = ("pictures", "roving", "saving", "painting")
_component = component(__file__, "gallery", '<div class="gallery" role="group">\n</div>', first=SCRIPTS)
