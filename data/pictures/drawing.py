"""Pictures with their objects outlined, and the thumbnail of a set.

An object is outlined in the colour of class +1 on white, which is visible on dark and light backgrounds. The more
certain its category, the wider the line.
"""

from itertools import islice

import numpy as np
from PIL import Image, ImageDraw

from data.pictures.kinds import Picture, PictureSet
from data.thumbnails import CELL, COLUMNS, GROUND, PLUS, ROWS

WIDEST, WIDEST_AT = 4, 700  # line width of category 1 in pixels, for a picture of WIDEST_AT pixels
EACH = ROWS * (COLUMNS - ROWS)  # windows in a thumbnail
CROP = 1.5  # side of a window around an object, as a multiple of its box


def outlined(picture: Picture, shape: str, longest: int) -> np.ndarray:
    """(h, w, 3) uint8: the picture with its longer side `longest`, its objects as outlines of "circle"s or "box"es."""
    image, scale = _scaled(picture.image, longest)
    image = image.convert("RGB")
    draw = ImageDraw.Draw(image)
    outline = draw.ellipse if shape == "circle" else draw.rectangle
    widths = np.maximum(1, np.rint((WIDEST + 1 - picture.category) * min(longest / WIDEST_AT, 1))).astype(int)
    for box, width in zip(np.clip(picture.boxes * scale, -2 * longest, 3 * longest), widths):
        grown = width // 2
        edge = (box[0] - grown, box[1] - grown, box[2] + grown, box[3] + grown)
        if longest > WIDEST_AT // 2:
            outline((edge[0] - 1, edge[1] - 1, edge[2] + 1, edge[3] + 1), outline=(255, 255, 255), width=int(width) + 2)
        outline(edge, outline=PLUS, width=int(width))
    return np.asarray(image)


def squares(pictures: list[Picture], shape: str, side: int) -> np.ndarray:
    """(n, side, side, 3) uint8: pictures with outlines, each centred on a light square."""
    sheet = np.full((len(pictures), side, side, 3), GROUND, np.uint8)
    for cell, picture in zip(sheet, pictures):
        small = outlined(picture, shape, side)
        y, x = (side - small.shape[0]) // 2, (side - small.shape[1]) // 2
        cell[y : y + small.shape[0], x : x + small.shape[1]] = small
    return sheet


def crops(picture: Picture, side: int, most: int) -> np.ndarray:
    """(k, side, side) uint8: windows around the `most` most certain objects, with full contrast, cut at the edges."""
    rows = np.argsort(picture.category, kind="stable")[:most]
    low, high = picture.boxes[rows, :2], picture.boxes[rows, 2:]
    centre, half = (low + high) / 2, CROP * (high - low).max(1, keepdims=True) / 2
    image, windows = Image.fromarray(picture.image), np.empty((len(rows), side, side), np.uint8)
    for window, (x, y), (r,) in zip(windows, centre, half):
        box = np.clip((x - r, y - r, x + r, y + r), 0, np.tile(picture.image.shape[::-1], 2))
        grey = np.asarray(image.resize((side, side), Image.Resampling.BILINEAR, tuple(box)), float)
        window[:] = 255 * (grey - grey.min()) / max(np.ptp(grey), 1)
    return windows


def thumbnail(pictures: PictureSet) -> np.ndarray:
    """A picture with its objects outlined, and windows around the most certain objects; (72, 180, 3) uint8."""
    sheet = np.full((ROWS * CELL, COLUMNS * CELL, 3), GROUND, np.uint8)
    fullest = sorted(pictures.pictures, key=lambda picture: -min(len(picture.boxes), EACH))
    left = ROWS * CELL
    sheet[:, :left] = squares(fullest[:1], pictures.entry.shape, left)[0]
    windows = (window for picture in fullest for window in crops(picture, CELL - 2, EACH))
    for k, window in enumerate(islice(windows, EACH)):
        y, x = (k // (COLUMNS - ROWS)) * CELL + 1, left + (k % (COLUMNS - ROWS)) * CELL + 1
        sheet[y : y + CELL - 2, x : x + CELL - 2] = window[..., None]
    return sheet


def _scaled(image: np.ndarray, longest: int) -> tuple[Image.Image, float]:
    scale = longest / max(image.shape)
    size = tuple(max(1, round(side * scale)) for side in image.shape[::-1])
    resampling = Image.Resampling.LANCZOS if scale < 1 else Image.Resampling.BILINEAR
    return Image.fromarray(image).resize(size, resampling), scale
