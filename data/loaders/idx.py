"""MNIST's idx format: two zero bytes, a type code, the number of axes, the sizes (big-endian int32), the values.

Reference: LeCun, Cortes and Burges, "The MNIST database of handwritten digits", section "File formats".
"""

import math
import struct
from pathlib import Path

import numpy as np

from data import places
from data.dataset import Arrays, DataError
from data.loaders.bundle import Member

ACCEPTED = "an idx file of images and one of labels (idx3-ubyte and idx1-ubyte, optionally gzipped)"
TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_TEST_NAMES = ("t10k", "test")


def is_idx(content: bytes) -> bool:
    return len(content) >= 4 and content[:2] == b"\0\0" and content[2] in TYPES and 1 <= content[3] <= 4


def parse(name: str, content: bytes) -> np.ndarray:
    """The array in an idx file. DataError if it is not one, or if its length does not match its header."""
    if not is_idx(content):
        raise DataError(f"{name} does not begin like an idx file", ACCEPTED)
    axes = content[3]
    start = 4 + 4 * axes
    if len(content) < start:
        raise DataError(f"{name} ends within its header", ACCEPTED)
    shape = struct.unpack(f">{axes}I", content[4:start])
    dtype = np.dtype(TYPES[content[2]])
    expected = start + math.prod(shape) * dtype.itemsize
    if len(content) != expected:
        raise DataError(f"{name} has {len(content):,} bytes, but its header declares {expected:,}", "the complete file")
    return np.frombuffer(content, dtype, offset=start).reshape(shape)


def read(path: Path) -> np.ndarray:
    """The array in an idx file on disk, gzipped or not."""
    with places.opened(path) as file:
        return parse(path.name, file.read())


def read_pairs(members: list[Member]) -> Arrays:
    """Images and labels from two or four idx files; those with t10k or test in their names are the test set."""
    parts = {"training": {}, "test": {}}
    for member in members:
        part = "test" if any(word in member.name.lower() for word in _TEST_NAMES) else "training"
        array = parse(member.name, member.read())
        role = "labels" if array.ndim == 1 else "images"
        if role in parts[part]:
            raise DataError(f"There are two idx files of {part} {role}; the second is {member.name}", ACCEPTED)
        parts[part][role] = array
    if not parts["training"]:  # a test pair alone is used as the training set
        parts = {"training": parts["test"], "test": {}}
    for part, arrays in parts.items():
        if len(arrays) == 1:
            missing = "labels" if "images" in arrays else "images"
            raise DataError(f"The idx file of the {part} {missing} is missing", ACCEPTED)
    train, test = parts["training"], parts["test"]
    if not test:
        return Arrays.unsplit(train["images"], train["labels"])
    return Arrays(train["images"], train["labels"], test["images"], test["labels"])
