"""Small files as a reader might upload them, made in memory for the tests."""

import io
import struct
import zipfile
import zlib

import numpy as np
from PIL import Image

from data.loaders.upload import opened

RNG = np.random.default_rng(0)
GREY = RNG.integers(0, 256, (12, 6, 9), dtype=np.uint8)
COLOUR = RNG.integers(0, 256, (12, 6, 9, 3), dtype=np.uint8)
ROWS = RNG.random((12, 3))
PAIR = np.arange(12) % 2


def read_upload(name, source, companions=(), **how):
    """The Preview of a reader's own data: opened, and read as `how` says."""
    return opened(name, source, companions).read(**how)


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def idx(array):
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.astype(np.uint8).tobytes()


def image(array, form="PNG", **how):
    file = io.BytesIO()
    (array if isinstance(array, Image.Image) else Image.fromarray(array)).save(file, form, **how)
    return file.getvalue()


def png_of_16_bits(colours):
    """A PNG of (h, w, 3) uint16, which Pillow cannot write."""
    h, w = colours.shape[:2]
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in colours)
    parts = (b"IHDR", struct.pack(">2I5B", w, h, 16, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    packed = (struct.pack(">I", len(c)) + t + c + struct.pack(">I", zlib.crc32(t + c)) for t, c in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def exif(orientation=6):
    """The camera's notes in a picture, with how it was held."""
    notes = Image.Exif()
    notes[0x010E], notes[0x0112], notes[0x8769] = "a description", orientation, {0x9003: "2020"}
    return notes.tobytes()


def photograph(array, notes, form="PNG", **how):
    file = io.BytesIO()
    Image.fromarray(array).save(file, form, exif=notes, **how)
    return file.getvalue()


# a text for a number, among more tags than there are; a header that none knows; cut off in the header; in a tag
BROKEN_EXIF = (
    exif().replace(b"\x08\0\3\1\x0e", b"\x08\xda\3\1\2"),
    exif().replace(b"MM", b"M\x9b"),
    exif()[:12],
    exif()[:30],
)


def archive(files, compression=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as out:
        for name, content in files.items():
            out.writestr(name, content)
    return file.getvalue()


def tree(images, labels, suffix="png", form="PNG"):
    return {
        f"set/{label}/{k:03}.{suffix}": image(picture, form) for k, (picture, label) in enumerate(zip(images, labels))
    }


def csv(X, y, header="", mark=","):
    rows = [mark.join([str(label), *map(str, row)]) for label, row in zip(y, X.tolist())]
    return "\n".join([header, *rows] if header else rows).encode()


STREETS = RNG.integers(0, 256, (3, 40, 60), dtype=np.uint8)
BOXES = "image,xmin,ymin,xmax,ymax,category\na.png,1,2,21,12,1\nb.png,-5,3.5,10,20,2\nb.png,30,10,70,30,1\n"


def street_files(table=BOXES, **more):
    """Pictures with a table of boxes as (name, content); one given as None is left out, `x__png` stands for x.png."""
    named = {f"{name}.png": image(pixels) for name, pixels in zip("abc", STREETS)} | {"boxes.csv": table}
    named |= {name.replace("__", "."): content for name, content in more.items()}
    return [
        (name, content.encode() if isinstance(content, str) else content)
        for name, content in named.items()
        if content is not None
    ]
