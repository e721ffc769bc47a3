"""Files that are written whole or not at all, and read without trusting them.

A file is filled under a temporary name beside its place, fsynced and renamed: a reader finds the old one or the new.
What a kill leaves half-written is known by that name, and cleared away at the next start (lab/store/folders.py).
What is read may have been damaged or made by anyone: only plain files of a bounded size are opened, an archive's sizes
are checked before it is unpacked, and nothing is ever unpickled.
"""

import math
import os
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np

PART = ".part-"  # begins the name of a file that is not whole yet
MAX_ARRAYS = 16 << 30  # bytes of an archive, packed or unpacked
UNPACKED = 200  # times its own size that an archive of more than SMALL bytes may unpack to
SMALL = 64 << 20
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, NotImplementedError, RuntimeError)


def write(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Replace `path` by what `fill(file)` writes. OSError when the disk refuses; then the old file stays, alone."""
    handle, temporary = tempfile.mkstemp(prefix=PART, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(path.parent)


class Checkpoint:
    """An .npz file in which long work leaves what it has come to, to go on from there when it was broken off.

    key: a digest of all that decides the work, so that no other goes on from it."""

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)

    def write(self, key: str, arrays: dict[str, np.ndarray]) -> None:
        """Leave arrays by name, in place of what was left before. OSError when the disk refuses."""
        write(self.path, lambda file: np.savez(file, key=np.array(key), **arrays))

    def read(self, key: str) -> dict[str, np.ndarray] | None:
        """What was left, None for nothing. ValueError, saying why, for what cannot be read, or is of other work."""
        try:
            arrays = read_arrays(self.path)
        except FileNotFoundError:
            return None
        if str(arrays.pop("key", "")) != key:
            raise ValueError("it belongs to other examples or settings")
        return arrays


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read(path: str | os.PathLike, most: int) -> bytes:
    """What a file holds. FileNotFoundError; ValueError, saying why, for what is no plain file of `most` bytes."""
    require_plain(path, most)
    with _refusals():
        return Path(path).read_bytes()


def read_arrays(path: str | os.PathLike, most: int = MAX_ARRAYS) -> dict[str, np.ndarray]:
    """The arrays of an .npz file by name. FileNotFoundError; ValueError, saying why, for any other content."""
    return _each_member(path, most, _read_array)


def announced_arrays(path: str | os.PathLike, most: int = MAX_ARRAYS) -> dict[str, tuple[tuple[int, ...], np.dtype]]:
    """Shape and type of each array of an .npz file, from the headers alone. Raises what `read_arrays` raises."""
    return _each_member(path, most, lambda file, shape, dtype: (shape, dtype))


def require_plain(path: str | os.PathLike, most: int) -> None:
    """FileNotFoundError; ValueError, saying why, for what is no plain file of at most `most` bytes."""
    with _refusals():
        info = os.stat(path)
    if not stat.S_ISREG(info.st_mode):
        raise ValueError("it is not a file")
    if info.st_size > most:
        raise ValueError(f"it has {info.st_size:,} bytes; allowed: up to {most:,}")


@contextmanager
def _refusals() -> Iterator[None]:
    """What the disk refuses, but for a file that is not there, is a ValueError."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ValueError(f"it cannot be read ({error.strerror})") from None


def _each_member(path, most: int, read_member: Callable) -> dict:
    """read_member(file, shape, dtype) of every array, once its header and its size agree."""
    require_plain(path, most)
    arrays = {}
    try:
        with zipfile.ZipFile(path) as archive:
            _check_sizes(archive, os.path.getsize(path), most)
            for member in archive.infolist():
                with archive.open(member) as file:
                    name = member.filename.removesuffix(".npy")
                    arrays[name] = read_member(file, *_header(name, file, member.file_size))
    except FileNotFoundError:
        raise
    except _DAMAGE as error:
        raise ValueError(str(error) or type(error).__name__) from None
    return arrays


def _check_sizes(archive: zipfile.ZipFile, packed: int, most: int) -> None:
    """ValueError for an archive that would unpack to far more than it is."""
    unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > most or unpacked > max(SMALL, UNPACKED * packed):
        allowed = min(most, max(SMALL, UNPACKED * packed))
        raise ValueError(f"it has {packed:,} bytes but would unpack to {unpacked:,}; allowed: up to {allowed:,}")


def array_header(file) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape of the array of a .npy file, whether it holds column after column, and its type."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(file)


def _header(name: str, file, size: int) -> tuple[tuple[int, ...], np.dtype]:
    """Shape and type of a .npy file of `size` bytes; ValueError for objects, and for a size that is not theirs."""
    try:
        shape, _, dtype = array_header(file)
    except (ValueError, SyntaxError, TypeError) as error:
        raise ValueError(f"{name} is not an array ({error})") from None
    if dtype.hasobject:
        raise ValueError(f"{name} contains Python objects, and allow_pickle is off")
    if file.tell() + math.prod(shape) * dtype.itemsize != size or min(shape, default=0) < 0:
        raise ValueError(f"{name} does not have the size that its header declares")
    return shape, dtype


def _read_array(file, shape, dtype) -> np.ndarray:
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)
