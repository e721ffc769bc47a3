"""Uploads of every kind that the app accepts, good ones, and ways to damage them; drawn from a generator each."""

from __future__ import annotations

import gzip
import io
import pickle
import struct
import warnings
import zipfile

import numpy as np
import pandas as pd
from PIL import Image

from tests.annotations import SAME, files_of

FORMS = {"PNG": "png", "BMP": "bmp", "GIF": "gif", "TIFF": "tif", "WEBP": "webp", "PPM": "ppm", "JPEG": "jpg"}
NUMBERS = (
    b"nan",
    b"inf",
    b"-inf",
    b"1e400",
    b"1e39",
    b"-0",
    b"1_0",
    b"0x1f",
    b"",
    b'""',
    b'"',
    b"9" * 400,
    b"\xd9\xa3",
    b"1,5",
    b"x" * 5000,
)
NAMES = (
    "../../etc/x.png",
    "/etc/x.png",
    "C:\\x\\y.png",
    "a/\0.png",
    "a/\u202e\u200b.png",
    "x" * 250 + "/" + "y" * 250 + ".png",
    "z" * 60_000 + "/1.png",
    "a//b.png",
    "./a/b.png",
    "a\\b.png",
    "\u6570/\U0001f600.png",
    "test/test/test.png",
    " / .png",
    "CON/nul.png",
    "__MACOSX/a.png",
    "a/b.png/c.png",
    "X.npy",
    "y.npy",
    "boxes.csv",
)


# ------------------------------------------------------------------------------------------------------ good uploads


def _table(rng):
    n, d = int(rng.integers(4, 40)), int(rng.integers(1, 9))
    X = rng.integers(0, 256, (n, d)) if rng.random() < 0.5 else rng.normal(size=(n, d)).round(3).astype(np.float32)
    return X, np.arange(n) % int(rng.integers(2, min(n // 2, 5) + 1))


def _greys(rng, n):
    h, w = rng.integers(1, 40, 2)
    return rng.integers(0, 256, (n, h, w, 3) if rng.random() < 0.3 else (n, h, w), dtype=np.uint8)


def _picture(rng, array, forms=tuple(FORMS)):
    form = str(rng.choice(forms))
    notes = Image.Exif()
    notes[0x0112], notes[0x010E] = int(rng.integers(0, 10)), "words"
    exif = (
        {"exif": damaged(rng, notes.tobytes())[:60_000]}
        if form in ("PNG", "JPEG", "WEBP") and rng.random() < 0.5
        else {}
    )
    out = io.BytesIO()
    Image.fromarray(array).save(out, form, **exif)
    return out.getvalue(), FORMS[form]


def _zip(rng, files):
    out = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(out, "w", int(rng.choice([0, 8]))) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return out.getvalue()


def npz(rng):
    X, y = _table(rng)
    out, labels = io.BytesIO(), rng.choice(["y", "objects", "texts"], p=[0.7, 0.1, 0.2])
    y = {"y": y, "objects": np.array([{}] * len(y), object), "texts": np.array([f"c{label}" for label in y])}[labels]
    np.savez(out, X=_greys(rng, len(y)) if rng.random() < 0.3 else X, y=y)
    return [("a.npz", out.getvalue())]


def idx(rng):
    X = _greys(rng, 12)[..., :1].reshape(12, -1) if rng.random() < 0.3 else rng.integers(0, 256, (12, 4, 5))
    files = []
    for name, array in (("images", X), ("labels", np.arange(12) % 3)):
        head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
        files.append((f"{name}-ubyte", head + array.astype(np.uint8).tobytes()))
    return files


def csv(rng):
    X, y = _table(rng)
    mark = str(rng.choice([",", ";", "\t", " "]))
    label = [f"c{k}" for k in y] if rng.random() < 0.3 else y
    rows = [mark.join(map(str, (k, *row))) for k, row in zip(label, X.tolist())]
    header = [mark.join(["label", *(f"x{j}" for j in range(X.shape[1]))])] if rng.random() < 0.5 else []
    return [("a.csv", "\n".join(header + rows).encode())]


def sheet(rng):
    """A table as people have it: with decimal commas, categories, dates and holes, as text, Excel or Parquet."""
    n = int(rng.integers(8, 60))
    frame = pd.DataFrame({
        "size": rng.normal(size=n).round(3), "colour": rng.choice(["red", "green", "blue"], n),
        "day": pd.date_range("2024-01-01", periods=n), "id": np.arange(n), "kind": rng.choice(["a", "b"], n),
    })  # fmt: skip
    frame = frame.mask(rng.random(frame.shape) < rng.choice([0, 0.05]))[list(rng.permutation(frame.columns))]
    out, way = io.BytesIO(), rng.integers(4)
    if way == 0:
        frame.astype({"size": float}).to_parquet(out)
        return [("a.parquet", out.getvalue())]
    if way == 1:
        frame.to_excel(out, index=False)
        return [("a.xlsx", out.getvalue())]
    decimal = str(rng.choice([",", "."]))
    said = frame.to_csv(sep=";", decimal=decimal, index=bool(rng.random() < 0.3))
    return [("a.csv", said.encode(str(rng.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252"]))))]


def annotated(rng):
    """Pictures and their objects as a tool exports them, the annotation damaged."""
    files = files_of(SAME[str(rng.choice(list(SAME)))])
    files = [(name, content if name.endswith(".png") or rng.random() < 0.6 else damaged(rng, content))
             for name, content in files]  # fmt: skip
    return files if rng.random() < 0.5 else [("a.zip", _zip(rng, _renamed(rng, files)))]


def libsvm(rng):
    X, y = _table(rng)
    X[0] = np.maximum(np.abs(X[0]), 1)
    rows = [" ".join([str(k), *(f"{j + 1}:{x}" for j, x in enumerate(row) if x)]) for k, row in zip(y, X.tolist())]
    return [("a.svm", "\n".join(rows).encode())]


def images(rng):
    files = []
    for k, array in enumerate(_greys(rng, 8)):
        content, suffix = _picture(rng, array)
        files.append((f"{'test/' * (k > 5)}{'ab'[k % 2]}/{k}.{suffix}", content))
    return files if rng.random() < 0.05 else [("a.zip", _zip(rng, _renamed(rng, files)))]


def objects(rng):
    size = rng.integers(16, 60, 2)
    files, rows = [], ["image,xmin,ymin,xmax,ymax,category"]
    for k in range(3):
        content, suffix = _picture(rng, rng.integers(0, 256, size, dtype=np.uint8))
        files.append((f"{k}.{suffix}", content))
        rows += [f"{k}.{suffix},{x},{x},{x + 8},{x + 9},{1 + x % 2}" for x in range(int(rng.integers(0, 4)))]
    table = "\n".join(rows).encode()
    files.append(("boxes.csv", damaged(rng, table) if rng.random() < 0.4 else table))
    return files if rng.random() < 0.5 else [("a.zip", _zip(rng, _renamed(rng, files)))]


def photograph(rng):
    size = rng.integers(1, 700, 2) if rng.random() < 0.8 else rng.permutation([int(rng.integers(1, 25)), 16_000])
    forms = ("PNG", "JPEG") if rng.random() < 0.9 else tuple(FORMS)
    content, suffix = _picture(rng, np.zeros(size, np.uint8) + rng.integers(0, 256, dtype=np.uint8), forms)
    return [(f"a.{suffix}", content)]


def usps(rng):
    return [(f"zip.{part}", "\n".join(f"{k % 10} " + " ".join(["-1", "0.5"] * 128) for k in range(20)).encode())
            for part in ("train", "test")]  # fmt: skip


def jartool(rng):
    return [
        ("Experiments_Images_Table", b"A1; TRN = [2,3];   TST = [1];\nA2; TRN = [1,3];   TST = [2];\n"),
        ("Experiments_Scoring_Table", b"A 2 300 7\n"),
        ("Images_Area_Volcanoes_Table", b"1 100 2\n2 200 5\n3 150.5 0\n"),
        *((f"img{k}.spr", b"2\n6\n0.0\n1.0\n4\n0.0\n1.0\n0\n") for k in (1, 2, 3)),
        *((f"img{k}.sdt", rng.integers(0, 256, 24, dtype=np.uint8).tobytes()) for k in (1, 2, 3)),
        *((f"img{k}.lxyr", b"1 2.5 1.0 1.5\n4 3 2 1\n") for k in (1, 2, 3)),
    ]


# ----------------------------------------------------------------------------------------------------------- damages


def _renamed(rng, files):
    if rng.random() < 0.5:
        return files
    files, at = list(files), int(rng.integers(len(files)))
    name, content = files[at]
    way = rng.integers(5)
    if way == 0:
        files[at] = str(rng.choice(NAMES)), content
    elif way == 1:
        files.append((name, content))
    elif way == 2:
        files[at] = name, _zip(rng, files)
    elif way == 3:
        files[at] = name, damaged(rng, content)
    else:
        files.append((str(rng.choice(NAMES)), pickle.dumps([1]) if rng.random() < 0.5 else bytes(1 << 24)))
    return files


def damaged(rng, content):
    ways = list(DAMAGES)
    for _ in range(int(rng.integers(1, 4))):
        content = DAMAGES[ways[rng.integers(len(ways))]](rng, content)
    return content


def _flip(rng, content):
    spoilt = bytearray(content)
    for at in rng.integers(0, max(len(spoilt), 1), int(rng.integers(1, 9))):
        spoilt[at : at + 1] = rng.bytes(1)
    return bytes(spoilt)


def _span(rng, content):
    a, b = sorted(rng.integers(0, len(content) + 1, 2))
    return int(a), int(b)


def _huge(rng, content):
    """A count in a header, in either order of bytes, that cannot be."""
    spoilt, at = bytearray(content), int(rng.integers(0, max(min(len(content), 300), 1)))
    value = int(rng.choice([0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 0x00FFFFFF, 0x10000]))
    spoilt[at : at + 4] = struct.pack(rng.choice([">I", "<I"]), value)
    return bytes(spoilt)


def _number(rng, content):
    """Some value of a text in place of another."""
    text, new = bytearray(content), NUMBERS[rng.integers(len(NUMBERS))]
    places = [k for k, byte in enumerate(content[:20_000]) if byte in b"0123456789"]
    if places:
        at = places[rng.integers(len(places))]
        text[at : at + 1] = new
    return bytes(text)


def _cut(rng, content):
    return content[: _span(rng, content)[1]]


def _without(rng, content):
    a, b = _span(rng, content)
    return content[:a] + content[b:]


def _again(rng, content):
    a, b = _span(rng, content)
    return content[:b] + content[a:]


DAMAGES = {
    "flipped": _flip,
    "cut off": _cut,
    "a piece gone": _without,
    "a piece again": _again,
    "doubled": lambda rng, content: content + content,
    "a huge count": _huge,
    "a number": _number,
    "two numbers": lambda rng, content: _number(rng, _number(rng, content)),
    "CRLF": lambda rng, content: content.replace(b"\n", b"\r\n"),
    "CR": lambda rng, content: content.replace(b"\n", b"\r"),
    "other ends": lambda rng, content: content.replace(b"\n", "\u2028".encode()),
    "a mark": lambda rng, content: b"\xef\xbb\xbf" + content,
    "UTF-16": lambda rng, content: content.decode("latin-1").encode("utf-16"),
    "Latin-1": lambda rng, content: content.replace(b"a", b"\xe9"),
    "zero bytes": lambda rng, content: content[: len(content) // 2] + b"\0\0" + content[len(content) // 2 :],
    "packed": lambda rng, content: gzip.compress(content, 1),
    "empty": lambda rng, content: b"" if rng.random() < 0.1 else content,
    "a bomb": lambda rng, content: gzip.compress(content + bytes(1 << 26), 1) if rng.random() < 0.1 else content,
    "zipped": lambda rng, content: _zip(rng, [("inner", content)]),
}
