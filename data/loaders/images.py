"""Images in one folder a class: the folder's name is the label; a folder `test` above the classes is the test part.

cats/1.png  dogs/1.png          or          train/cats/1.png  test/cats/7.png
"""

import io
from collections import Counter
from pathlib import PurePosixPath

import numpy as np
from PIL import Image

from data.dataset import Arrays, DataError, mixed_order
from data.loaders.bundle import MAX_BYTES, SIZE_ACCEPTED, Member

ACCEPTED = "images (png, jpg, bmp, gif, tif, webp, pgm, ppm) of one size, in one folder a class"
SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm", ".pnm"}
MAX_SIDE = 1024
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
_DEEP = ("I", "I;16", "I;16B", "I;16L")  # 16 bits a pixel
_TEST_FOLDERS = {"test", "testing"}


def is_image(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in SUFFIXES


def read(members: list[Member]) -> Arrays:
    """The images of all members; grey unless one of them has colours. Raises DataError naming the first bad file."""
    for member in members:
        if not is_image(member.name):
            raise DataError(f"{member.name} is not an image", ACCEPTED)
        if len(PurePosixPath(member.name).parts) < 2:
            raise DataError(f"{member.name} is in no folder, so its label is missing", ACCEPTED)
    images, total = [], 0
    for member in members:
        images.append(decode(member.name, member.read()))
        total += images[-1].nbytes
        if total > MAX_BYTES:
            raise DataError(f"The images take more than {MAX_BYTES >> 20} MB as pixels", SIZE_ACCEPTED)
    paths = [PurePosixPath(member.name).parts for member in members]
    X, y = _stacked(images), np.array([path[-2] for path in paths])
    test = np.array([bool(_TEST_FOLDERS & {part.lower() for part in path[:-2]}) for path in paths])
    if test.all():
        test[:] = False
    train_order, test_order = (np.flatnonzero(part)[mixed_order(y[part])] for part in (~test, test))
    return Arrays(X[train_order], y[train_order], X[test_order], y[test_order])


def decode(name: str, content: bytes, most: int = MAX_SIDE) -> np.ndarray:
    """One image, `most` pixels a side, as (h, w) or (h, w, 3) uint8; see-through parts are laid on white."""
    try:
        with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
            if max(image.size) > most:
                width, height = image.size
                raise DataError(f"{name} has {width} x {height} pixels", f"images up to {most} x {most}")
            image.load()
            return _pixels(image)
    except DataError:
        raise
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise DataError(f"{name} cannot be read as an image ({error})", ACCEPTED) from error


def grey(image: np.ndarray) -> np.ndarray:
    """(h, w) uint8: an image (h, w) as it is, the brightness that an eye sees in (h, w, 3)."""
    if image.ndim == 2:
        return image
    return np.rint(image @ [0.2125, 0.7154, 0.0721]).astype(np.uint8)


def _pixels(image: Image.Image) -> np.ndarray:
    """(h, w) if every pixel is grey, else (h, w, 3)."""
    if image.mode in _DEEP:
        return (np.asarray(image).clip(0, 65535) >> 8).astype(np.uint8)
    if image.mode == "L" and not image.has_transparency_data:
        return np.asarray(image)
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    colours = np.asarray(image.convert("RGB"))
    return colours[..., 0] if (colours == colours[..., :1]).all() else colours


def _stacked(images: list[np.ndarray]) -> np.ndarray:
    sizes = Counter(image.shape[:2] for image in images)
    if len(sizes) > 1:
        common = ", ".join(f"{w} x {h} ({n} images)" for (h, w), n in sizes.most_common(3))
        raise DataError(f"The images have {len(sizes)} different sizes: {common}", ACCEPTED)
    if any(image.ndim == 3 for image in images):
        images = [image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2) for image in images]
    return np.stack(images)
