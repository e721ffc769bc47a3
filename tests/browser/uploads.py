"""Files that a person might bring: sets of other shapes than digits, and broken ones with what their refusal must say.

GOOD    name -> (files, classes, shape of an example as the page states it)
BROKEN  name -> (files, words of the reason)              files: {file name: bytes}
"""

import io
import struct
import zipfile

import numpy as np
from PIL import Image


def examples(n_classes, shape, per_class=24):
    """Noisy copies (n, *shape) uint8 of one random pattern a class, and their labels (n,)."""
    rng = np.random.default_rng(n_classes)
    patterns = rng.integers(40, 216, (n_classes, *shape))
    y = np.tile(np.arange(n_classes), per_class)
    return np.clip(patterns[y] + rng.normal(0, 12, (len(y), *shape)), 0, 255).astype(np.uint8), y


def png(pixels):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "png")
    return buffer.getvalue()


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def idx(values):
    return struct.pack(f">BBBB{values.ndim}I", 0, 0, 8, values.ndim, *values.shape) + values.astype(np.uint8).tobytes()


def spotted(seed, places, side=96, radius=6):
    """A noisy grey picture (side, side) uint8 with a bright spot at each place (x, y)."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:side, :side]
    spots = sum(110 * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / radius**2) for cx, cy in places)
    return np.clip(rng.normal(80, 12, (side, side)) + spots, 0, 255).astype(np.uint8)


def folders(X, y):
    return {f"kind-{label}/{i}.png": png(x) for i, (x, label) in enumerate(zip(X, y))}


def photographs(n=96, sides=(70, 160)):
    """Sizes (h, w), and files of a zip: coloured pictures of two classes, a third of them for testing. One of eight has
    the other class: an error that no machine can avoid."""
    rng, members, all_sizes = np.random.default_rng(5), {}, []
    for k in range(n):
        h, w = rng.integers(*sides, 2).tolist()
        all_sizes.append((h, w))
        lit = np.clip(
            np.mgrid[:h, :w][k % 2][..., None] * (180 / (h, w)[k % 2]) + rng.normal(40, 12, (h, w, 3)), 0, 255
        )
        kind = ("across", "down")[(k + (k % 16 < 2)) % 2]
        members[f"{'test' if k % 3 == 0 else 'train'}/{kind}/{k:03}.png"] = png(lit.astype(np.uint8))
    return all_sizes, members


def embedded(n=90, side=160):
    """Arrays of an npz file: feature vectors of three classes, some of which overlap, and the picture of each."""
    rng = np.random.default_rng(6)
    y = np.arange(n) % 3
    X = rng.normal(np.eye(8)[y] * 1.2, 1.0, (n, 8)).astype(np.float32)
    images = np.stack([spotted(k, [(40 + 40 * label, 80)], side) for k, label in enumerate(y)])
    return {"X": X, "y": np.array(["left", "middle", "right"])[y], "images": images}


_RGB, _WIDE, _MANY = examples(3, (20, 20, 3)), examples(4, (12, 30)), examples(30, (10, 10), per_class=20)

GOOD = {
    "rgb": ({"colours.zip": zipped(folders(*_RGB))}, 3, "20 × 20 × 3"),
    "non-square": ({"wide-idx3-ubyte": idx(_WIDE[0]), "wide-idx1-ubyte": idx(_WIDE[1])}, 4, "12 × 30"),
    "thirty-classes": ({"many.npz": npz(X=_MANY[0], y=_MANY[1])}, 30, "10 × 10"),
}

_X, _Y = _MANY
_HOLES = _X.astype(np.float32).copy()
_HOLES[3, 0, 0] = np.nan

BROKEN = {
    "empty": ({"empty.csv": b""}, "empty"),
    "a word among the numbers": ({"word.csv": b"1,2,a\n3,oops,b\n5,6,a\n7,8,b\n"}, "oops"),
    "ragged rows": ({"ragged.csv": b"1,2,a\n3,4,b\n5,a\n"}, "Line 3"),
    "pickled objects": ({"objects.npz": npz(X=np.array([{}, []], dtype=object), y=np.arange(2))}, "object"),
    "labels that do not match": ({"short.npz": npz(X=_X, y=_Y[:-5])}, str(len(_X))),
    "missing values": ({"holes.npz": npz(X=_HOLES, y=_Y)}, "missing or infinite"),
    "a cut-off zip": ({"cut.zip": GOOD["rgb"][0]["colours.zip"][:2000]}, "zip"),
    "one class only": ({"one.zip": zipped(folders(_WIDE[0], 0 * _WIDE[1]))}, "1 class"),
    "images in no folder": (
        {"flat.zip": zipped({"1.png": png(_WIDE[0][0]), "2.png": png(_WIDE[0][1])})},
        "not in a folder",
    ),
    "a cut-off idx file": ({"cut-idx3-ubyte": idx(_WIDE[0])[:-7], "cut-idx1-ubyte": idx(_WIDE[1])}, "header declares"),
    "labels alone": ({"alone-idx1-ubyte": idx(_WIDE[1])}, "missing"),
}
