"""LIBSVM's sparse text: one example per line, with its label and its non-zero values, and indices from 1 (or 0).

    label i:x_i j:x_j ...      i < j < ...      # begins a comment; qid:q before the values is ignored

scikit-learn reads the file; if that fails, the lines are checked one by one, so that the error names the line.
Reference: Chang and Lin, "LIBSVM: a library for support vector machines", README.
"""

import codecs
import io
import re
from pathlib import Path

import numpy as np

from data import places
from data.dataset import DataError, megabytes
from data.loaders.bundle import MAX_BYTES, SIZE_ACCEPTED

ACCEPTED = "UTF-8 text with lines like `+1 3:0.5 17:1`, with ascending indices"
HEAD = 1000  # bytes from which the format is recognised
_PAIR = re.compile(rb"^(?:\s*#[^\n]*\n)*\s*[^\s#]\S*\s+(?:qid:\d+\s+)?\d+:")


def is_libsvm(start: bytes) -> bool:
    """Whether a UTF-8 text begins like a LIBSVM file."""
    return bool(_PAIR.match(start))


def parse(name: str, content: bytes, n_features: int = 0, dtype=np.float64) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) and y (n,) float64; d is the largest index, or n_features if that is larger."""
    from sklearn.datasets import load_svmlight_file  # 0.5 s to import

    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        X, y = load_svmlight_file(io.BytesIO(content), dtype=dtype)
    except (ValueError, OverflowError) as error:
        raise _complaint(name, content) or DataError(f"{name}: {error}", ACCEPTED) from error
    n, d = len(y), max(X.shape[1], n_features)
    if n * d * 4 > MAX_BYTES:
        raise DataError(f"{name} has {n} examples of {d} features, {megabytes(n * d * 4)}", SIZE_ACCEPTED)
    X.resize(n, d)
    return X.toarray(), y


def read(path: Path, n_features: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """`parse` for a file on disk, gzipped or not, with X float32."""
    with places.opened(path) as file:
        return parse(path.name, file.read(), n_features, np.float32)


def _complaint(name: str, content: bytes) -> DataError | None:
    """The error in the first invalid line."""
    for number, line in enumerate(io.BytesIO(content), 1):
        label, *pairs = line.partition(b"#")[0].decode().split() or ["0"]
        where, last = f"Line {number} of {name}", -1
        pairs = pairs[1:] if pairs and pairs[0].startswith("qid:") else pairs
        try:
            float(label)
            for index, colon, value in (pair.partition(":") for pair in pairs):
                if not colon or not value:
                    return DataError(f"{where} does not consist of a label and index:value pairs", ACCEPTED)
                if not (index.isascii() and index.isdigit()):
                    return DataError(
                        f"{where} has the index {index[:40]!r}, which is not a whole number from 0", ACCEPTED
                    )
                if int(index[:20]) * 4 > MAX_BYTES:
                    reason = f"{where} has the index {index[:20]}, so that an example has too many features"
                    return DataError(reason, SIZE_ACCEPTED)
                if int(index) <= last:
                    return DataError(f"{where} has the index {index} after the index {last}", ACCEPTED)
                last = int(index)
                float(value)
        except ValueError as error:
            return DataError(f"{where}: {error}"[:200], ACCEPTED)
    return None
