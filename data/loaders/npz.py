"""NumPy archives: a zip of .npy members, read without unpickling.

A header is accepted only if exactly as many bytes follow as it declares.
Reference: NumPy enhancement proposal 1, "A simple file format for NumPy arrays".
"""

import io
import math
from pathlib import PurePosixPath

import numpy as np

from data.dataset import Arrays, DataError, in_words
from data.loaders.bundle import Member

ACCEPTED = "an npz file with arrays X and y, optionally X_test and y_test"
MAX_HEADER = 1 << 16  # bytes; NumPy refuses longer ones than 10 000
_TRAIN_NAMES = (("x_train", "y_train"), ("x", "y"), ("images", "labels"), ("data", "target"))
_TEST_NAMES = ("x_test", "y_test")


def read(members: list[Member]) -> Arrays:
    """The training and test parts of an npz file, recognised by the names of its arrays (case-insensitive)."""
    named = {PurePosixPath(member.name).stem.lower(): member for member in members}
    for names in _TRAIN_NAMES:
        if names[0] in named:
            train = _pair(named, names)
            return Arrays(*train, *_pair(named, _TEST_NAMES)) if "x_test" in named else Arrays.unsplit(*train)
    raise DataError(f"The npz file has the arrays {', '.join(sorted(named))}, but none named X", ACCEPTED)


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
            f"{name} contains pickled Python objects, which could run code", ACCEPTED + ", of numbers or text"
        )
    if dtype.kind not in "biufUS" or not dtype.itemsize:
        raise DataError(f"{name} has the type {dtype}", ACCEPTED + ", of numbers or text")
    expected = stream.tell() + math.prod(shape) * dtype.itemsize
    if size != expected or min(shape, default=0) < 0:
        raise DataError(f"{name} has {size:,} bytes, but its header declares {expected:,}", "the complete file")
    return shape, fortran, dtype, stream.tell()


def _pair(named: dict[str, Member], names: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    if names[1] not in named:
        raise DataError(f"The npz file has {names[0]} but no labels {names[1]}", ACCEPTED)
    X, y = (parse(named[name].name, named[name].read()) for name in names)
    return X, y
