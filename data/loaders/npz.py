"""NumPy archives: a zip of .npy members, read without unpickling.

A header is accepted only if exactly as many bytes follow as it declares.
Reference: NumPy enhancement proposal 1, "A simple file format for NumPy arrays".
"""

import io
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from pathlib import PurePosixPath

import numpy as np

from data import album
from data.album import Album
from data.dataset import Arrays, DataError, in_words
from data.loaders.bundle import Member, composed, unread

ACCEPTED = (
    "an npz file with arrays X and y, optionally X_test and y_test, and images, paths or groups with one entry per "
    "example"
)
MAX_HEADER = 1 << 16  # bytes; NumPy refuses longer ones than 10 000
_TRAIN_NAMES = (
    *(("x_train", "y_train"), ("x", "y"), ("images", "labels"), ("data", "target")),
    ("train_images", "train_labels"),  # MedMNIST
)
_TEST_NAMES = (("x_test", "y_test"), ("test_images", "test_labels"))
_MORE = ("val_images", "val_labels")  # MedMNIST's second training part
GROUPS = ("groups", "groups_test")
IMAGES = (("images", "images_test"), ("images_train", "images_test"))
_BESIDE = (*IMAGES, ("paths", "paths_test"))


def read(members: list[Member], files: Sequence[Member] = ()) -> tuple[Arrays, list[str], list[Member] | None]:
    """The training and test parts of an npz file, recognised by the names of its arrays (case-insensitive), notes, also
    on the arrays that are not read, and the images that its array `paths` names among `files`, one for each example.
    Images in an array beside X are the album of the arrays."""
    named = {PurePosixPath(member.name).stem.lower(): member for member in members}
    names = next((names for names in _TRAIN_NAMES if names[0] in named), None)
    if names is None:
        raise DataError(f"The npz file has the arrays {', '.join(sorted(named))}, but none named X", ACCEPTED)
    (X, y), notes, used = _pair(named, names), [], {*names}
    if _MORE[0] in named and names[0] == "train_images":
        more = _pair(named, _MORE)
        used.update(_MORE)
        for added, name, part, of in zip(more, _MORE, (X, y), names):
            if added.shape[1:] != part.shape[1:]:
                raise DataError(f"{name} has the shape {added.shape}, but {of} has {part.shape}", ACCEPTED)
        X, y = np.concatenate([X, more[0]]), np.concatenate([y, more[1]])
        notes.append(f"The {len(more[0]):,} examples for validation are added to the training set")
    test = next((pair for pair in _TEST_NAMES if pair[0] in named), None)
    arrays = Arrays(X, y, *_pair(named, test)) if test else Arrays.unsplit(X, y)
    beside = next((pair for pair in _BESIDE if pair[0] in named and pair[0] != names[0]), None)
    if beside and beside[0] == "paths" and X.ndim > 2 and not files:
        beside = None  # where the images of X are from
    used.update(test or (), beside or (), GROUPS)
    if others := [repr(name) for name in named if name not in used]:
        notes.append(unread("Arrays", others))

    def value(name: str) -> np.ndarray:
        return parse(name, named[name].read())

    if beside and beside[0] == "paths":
        by_ending, parts = _by_ending(files), _of_each_row(named, value, beside, arrays)
        pictures = [_named_file(row, path, by_ending) for part in parts for row, path in enumerate(part.tolist())]
        return with_beside(arrays, named, value), notes, pictures
    if beside is None and files:
        raise DataError("The npz file has no array `paths`, which names the image of each row", ACCEPTED)
    return with_beside(arrays, named, value, beside), notes, None


def with_beside(
    arrays: Arrays, named: Collection[str], value: Callable[[str], np.ndarray], images: tuple[str, str] | None = None
) -> Arrays:
    """The arrays with their groups, if `named`, and the album of the images of these two names. value: of a name."""
    if GROUPS[0] in named:
        arrays = arrays._replace(groups=np.concatenate(_of_each_row(named, value, GROUPS, arrays)))
    if images:
        arrays = arrays._replace(album=_album(_of_each_row(named, value, images, arrays), images[0]))
    return arrays


def _of_each_row(
    named: Collection[str], value: Callable[[str], np.ndarray], names: tuple[str, str], arrays: Arrays
) -> list[np.ndarray]:
    """The arrays of these names, with a value for each row of X and of X_test. DataError for another length."""
    parts = [value(name) for name in names if name in named]
    for name, part, examples in zip(names, parts, (arrays.X_train, arrays.X_test)):
        if not part.ndim or len(part) != len(examples):
            raise _unequal(examples, "X", part, name)
    if len(parts) == 1 and (n := len(arrays.X_test)):
        reason = f"There is an array {names[0]}, but no array {names[1]} for the {n:,} test rows"
        raise DataError(reason, f"an array {names[1]} as well")
    return parts


def _album(parts: list[np.ndarray], name: str) -> Album:
    """The album of images (n, h, w[, c]) or (n, c, h, w); other values than 0 to 255 are stretched to that range."""
    parts = [channels_last(part) for part in parts]
    if any(part.ndim not in (3, 4) or part.shape[3:] not in ((), (3,)) or part.dtype.kind not in "biuf"
           or not part.size for part in parts):  # fmt: skip
        raise DataError(f"{name} has the shape {parts[0].shape} and type {parts[0].dtype}", "images (n, h, w[, 3])")
    low, high = (float(end([end(part) for part in parts])) for end in (np.min, np.max))
    if not np.isfinite([low, high]).all():
        raise DataError(f"{name} has missing or infinite values", "images (n, h, w[, 3]) of finite numbers")
    if all(part.dtype.kind in "iu" for part in parts) and low >= 0 and high <= 255:
        low, high = 0.0, 255.0
    scale, side = 255 / max(high - low, 1e-12), album.side_of(sum(map(len, parts)))
    as_bytes = (np.rint((picture - low) * scale).astype(np.uint8) for part in parts for picture in part)
    return Album.bound([album.encoded(picture, side) for picture in as_bytes])


def channels_last(X: np.ndarray) -> np.ndarray:
    """Images (n, c, h, w) of one or three channels as (n, h, w[, 3]); others as they are."""
    if X.ndim == 4 and X.shape[1] in (1, 3) and X.shape[-1] not in (1, 3):
        X = np.moveaxis(X, 1, -1)
    return X[..., 0] if X.ndim == 4 and X.shape[-1] == 1 else X


def _by_ending(files: Sequence[Member]) -> dict[tuple[str, ...], list[Member]]:
    """The files of an upload by their name, by this and the folder that it is in, and so on."""
    by_ending = defaultdict(list)
    for file in files:
        parts = PurePosixPath(file.name).parts
        for depth in range(1, len(parts) + 1):
            by_ending[parts[-depth:]].append(file)
    return by_ending


def _named_file(row: int, path: object, by_ending: dict[tuple[str, ...], list[Member]]) -> Member:
    """The file that the path of a row names, by its ending; a Member that cannot be read if none or several match."""
    named = f"row {row}: the array `paths` names {str(path)[:100]!r}"
    wanted = PurePosixPath(composed(str(path)).replace("\\", "/"))
    for depth in range(len(wanted.parts), 0, -1):
        found = by_ending.get(wanted.parts[-depth:], [])
        if len(found) == 1:
            return found[0]
        if found:
            both = f"{found[0].name} or {found[1].name}"
            return Member.missing(f"row {row}", f"{named}, which may be {both}", "paths that include the folders")
    accepted = "an upload of the npz file together with its images"
    return Member.missing(f"row {row}", f"{named}, which is not in the upload", accepted)


def announced(member: Member) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and type in the header of a .npy member. DataError if they do not match its declared size."""
    start = member.start(MAX_HEADER)
    shape, _, dtype, _ = header(member.name, start, member.size)
    return shape, dtype


def parse(name: str, content: bytes) -> np.ndarray:
    """The array of one .npy member. DataError for pickled objects, records, and sizes that do not match."""
    shape, fortran, dtype, at = header(name, content[:MAX_HEADER], len(content))
    array = np.frombuffer(content, dtype, offset=at)
    return array.reshape(shape, order="F" if fortran else "C")


def header(name: str, start: bytes, size: int) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """Shape, order, type and offset of the numbers in a .npy file of `size` bytes that begins with `start`."""
    stream = io.BytesIO(start)
    with in_words(f"{name} has no readable npy header", ACCEPTED, ValueError, SyntaxError, TypeError):
        version = np.lib.format.read_magic(stream)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read_header(stream)
    if dtype.hasobject:
        raise DataError(
            f"{name} contains pickled Python objects, which could run code", ACCEPTED + ", all of numbers or text"
        )
    if dtype.kind not in "biufUS" or not dtype.itemsize:
        raise DataError(f"{name} has the type {dtype}", ACCEPTED + ", all of numbers or text")
    expected = stream.tell() + math.prod(shape) * dtype.itemsize
    if size != expected or min(shape, default=0) < 0:
        raise DataError(f"{name} has {size:,} bytes, but its header declares {expected:,}", "the complete file")
    return shape, fortran, dtype, stream.tell()


def _pair(named: dict[str, Member], names: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    if names[1] not in named:
        raise DataError(f"The npz file has an array {names[0]}, but none named {names[1]}", ACCEPTED)
    X, y = (parse(named[name].name, named[name].read()) for name in names)
    if not X.ndim or not y.ndim or len(X) != len(y):
        raise _unequal(X, PurePosixPath(named[names[0]].name).stem, y, names[1])
    if y.ndim > 1 and y.size != len(y):
        raise DataError(
            f"{names[1]} has {y.size // len(y)} values for each example",
            "one label per example: a whole number, or a text",
        )
    return X, y


def _unequal(X: np.ndarray, name: str, part: np.ndarray, beside: str) -> DataError:
    """The error of an array that has not one value for each row of X, or of what is called so."""
    counts = [len(array) if array.ndim else 1 for array in (X, part)]
    return DataError(
        f"{name} has {counts[0]:,} entries, but {beside} has {counts[1]:,}",
        f"one entry of {beside} for each entry of {name}, in the same order",
    )
