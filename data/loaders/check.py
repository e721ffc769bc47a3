"""The requirements on a user's dataset in any format; the only place that checks them.

X (n, h, w[, 3]) or (n, d), finite numbers;  y (n,) labels, 2 to 100 classes, at least two examples of each

A training example with an empty label, or NaN as label, is unlabelled and is moved behind the others. All rows of a
group are on one side and have one label, or none; each class has at least two groups.
"""

import math
from collections.abc import Sequence

import numpy as np

from data.dataset import Arrays, DataError, alike, alike_note, megabytes
from data.loaders.bundle import MAX_BYTES, SIZE_ACCEPTED, composed
from data.loaders.npz import channels_last
from data.loaders.sieve import Sieve

MAX_CLASSES = 100
MAX_FEATURES = 3 << 20
ROUNDED = 1e-3  # largest rounding error, relative to the narrowest range that holds a quarter of a column
MERGED = 0.1  # of neighbouring quantiles of a column, that may become equal in float32
LARGEST, BLOCK = np.finfo(np.float32).max, 1 << 22  # number in single precision; numbers that are tested at a time
QUANTILES = 256  # of a column, so that numbers which are neighbours because they are many do not count
SEEN = 1 << 16  # rows, evenly spaced, that a column is judged by
NOISE = 16 * np.finfo(np.float64).eps  # relative: what differs by less is the rounding of float64 itself
MAX_LABEL = 200  # characters of a label; an array of texts reserves the longest one for each
ACCEPTED_X = "X of shape (n, height, width), (n, height, width, 3) or (n, features), with finite numbers"
ACCEPTED_Y = f"one label per example: a whole number, or a text of up to {MAX_LABEL} characters"
ACCEPTED_GROUPS = "a group for each example; the examples of a group have one class and are all training examples or "
ACCEPTED_GROUPS += "all test examples; each class has at least two groups"
ACCEPTED_CLASSES = f"2 to {MAX_CLASSES} classes with at least two training examples each"


def checked(
    arrays: Arrays, image_shape: tuple[int, ...] | None = None, features: Sequence[str] = (), skip: bool = False
) -> tuple[Arrays, list[str]]:
    """The arrays in the types of the project, and notes on the decisions made.

    features : names of the columns of X, where they have names
    image_shape : (h, w) or (h, w, 3) to read flat rows as images, () to keep them as rows, None to decide by values
    skip : leave out rows with missing or infinite values, and classes of one training example; notes list them
    Raises DataError with the reason; its subclass Unusable if `skip` would help.
    """
    arrays, left_out = _finite(arrays, skip)
    X, y, order, notes = _labelled_first(_examples(arrays.X_train, "X"), arrays.y_train)
    beside, n_train = arrays[4:], len(X)
    if order is not None:
        beside = arrays.beside(np.concatenate([order, np.arange(n_train, n_train + len(arrays.X_test))]))
    X_test, y_test = arrays.X_test, arrays.y_test
    if len(X_test):
        X_test, y_test = _examples(X_test, "X_test"), _labels(y_test, len(X_test), "y_test", y.dtype.kind == "U")
        if X_test.shape[1:] != X.shape[1:]:
            shapes = f"{X_test.shape[1:]}, but training examples have {X.shape[1:]}"
            raise DataError(
                f"Test examples have the shape {shapes}", "the same shape in the training set and the test set"
            )
    else:
        X_test, y_test = X[:0], y[:0]
    (X, y, X_test, y_test, album, groups, paths), more = _repeated(Arrays(X, y, X_test, y_test, *beside), skip)
    left_out += more
    notes += _check_classes(y, y_test)
    if groups is not None:
        if groups.dtype.kind == "U":
            cure = "they count as two. If they are one group, give them one name"
            notes += alike_note("The groups", groups.tolist(), cure)
        groups = _grouped(groups, y, n_train, y_test)
        together = "no group is divided between training and test set"
        notes.append(f"{len(groups):,} rows in {groups.max() + 1:,} groups: {together}")
    if album and X.ndim == 2 and image_shape is None:
        image_shape = ()  # rows that other images show are features, whatever they look like
    shape, more = _image_shape(X, image_shape)
    dtype = np.uint8 if len(shape) > 1 and _are_bytes(X) and _are_bytes(X_test) else np.float32
    if len(shape) == 1 and len(columns := np.union1d(_rounded_columns(X), _rounded_columns(X_test))):
        dtype, named = np.float64, features if len(features) == X.shape[1] else ()
        shown = _listed(columns, named)
        notes.append(f"Single precision cannot distinguish the numbers in {shown}, so the table is stored in "
                     "double precision. Standardise or centre its features before training")  # fmt: skip
        if len(apart := columns[_rounded_columns((X - np.median(X, axis=0))[:, columns].astype(np.float64))]):
            notes.append(f"Standardising or centring does not help for {_listed(apart, named)}: numbers there form "
                         "groups that are far apart. Replace each such column by two, one for the group and one for "
                         "the position within the group")  # fmt: skip
    X, X_test = (part.reshape(len(part), *shape).astype(dtype, copy=False) for part in (X, X_test))
    return Arrays(X, y, X_test, y_test, album, groups, paths), left_out + notes + more


def _finite(arrays: Arrays, skip: bool) -> tuple[Arrays, list[str]]:
    """The rows whose numbers are all finite, also in single precision, with what belongs to them, and a note on the
    others, as of a table. Unusable if there are others and they may not be skipped."""
    sieve, kept, begin = Sieve(skip), [], 0
    for X, name in ((arrays.X_train, "X"), (arrays.X_test, "X_test")):
        bad = _not_finite(X) if X.dtype.kind == "f" and X.size else np.zeros(len(X), np.int64)
        for k in np.flatnonzero(bad).tolist():
            what = "a missing or infinite value" if bad[k] == 1 else f"{bad[k]:,} missing or infinite values"
            sieve.add(f"{name}[{k}]", DataError(f"{name} has {what} in example {k}", ACCEPTED_X), begin + k)
        kept.append(bad == 0)
        begin += len(X)
    if not sieve.bad:
        return arrays, []
    left_out = sieve.notes(begin, "rows")
    return _taken(arrays, *kept), left_out


def _repeated(arrays: Arrays, skip: bool) -> tuple[Arrays, list[str]]:
    """The examples without classes of one training example, and a note; all of them if fewer than two classes would be
    left. Unusable if those classes may not be skipped."""
    sieve, (classes, counts) = Sieve(skip), np.unique(arrays.y_train, return_counts=True)
    alone = classes[counts == 1]
    if not len(alone) or len(classes) - len(alone) < 2:
        return arrays, []
    for name in alone.tolist():
        sieve.add(f"class {name}", DataError(f"Class {name} has only one training example", ACCEPTED_CLASSES))
    left_out, n, known = sieve.notes(len(classes), "classes"), len(arrays.X_train), len(arrays.y_train)
    train = np.append(~np.isin(arrays.y_train, alone), np.ones(n - known, bool))
    return _taken(arrays, train, ~np.isin(arrays.y_test, alone)), left_out


def _taken(arrays: Arrays, train: np.ndarray, test: np.ndarray) -> Arrays:
    """Some rows of X_train and X_test, by masks, with what belongs to them."""
    good, known = np.flatnonzero(np.concatenate([train, test])), train[: len(arrays.y_train)]
    examples = arrays.X_train[train], arrays.y_train[known], arrays.X_test[test], arrays.y_test[test]
    return Arrays(*examples, *arrays.beside(good))


def _not_finite(X: np.ndarray) -> np.ndarray:
    """(n,) int64: how many numbers of each row are missing, or infinite in single precision; some rows at a time."""
    step = max(1, BLOCK // max(X[0].size, 1))
    blocks = (X[at : at + step].reshape(len(X[at : at + step]), -1) for at in range(0, len(X), step))
    return np.concatenate([(~(np.abs(block) <= LARGEST)).sum(axis=1) for block in blocks])


def _labelled_first(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, list[str]]:
    """Examples with the unlabelled last, the labels, the original rows (None if none moved), and a note."""
    none = np.zeros(len(y), bool)
    if y.shape in ((len(X),), (len(X), 1)) and y.dtype.kind in "SUf":
        flat = y.reshape(len(X))
        none = np.isnan(flat) if y.dtype.kind == "f" else np.char.str_len(flat) == 0
    if not none.any():
        return X, _labels(y, len(X), "y"), None, []
    if none.all():
        raise DataError("No example has a label", ACCEPTED_CLASSES)
    known = _labels(y[~none], int((~none).sum()), "y")
    order = np.concatenate([np.flatnonzero(~none), np.flatnonzero(none)])
    return X[order], known, order, [f"{none.sum():,} of {len(X):,} examples have no label yet"]


def _examples(X: np.ndarray, name: str) -> np.ndarray:
    """X as uint8 if it has integers from 0 to 255; else float32, or float64 for rows of a wider type."""
    if X.dtype.kind not in "biuf":
        raise DataError(f"{name} has the type {X.dtype}, which is not numeric", ACCEPTED_X)
    X = channels_last(X)
    if X.ndim not in (2, 3, 4) or (X.ndim == 4 and X.shape[-1] != 3):
        raise DataError(f"{name} has the shape {X.shape}", ACCEPTED_X)
    if not X.size:
        raise DataError(f"{name} is empty (its shape is {X.shape})", ACCEPTED_X)
    if math.prod(X.shape[1:]) > MAX_FEATURES:
        raise DataError(f"{name} has {math.prod(X.shape[1:]):,} values per example", f"at most {MAX_FEATURES:,}")
    if X.dtype == np.uint8 or (X.dtype.kind in "biu" and X.min() >= 0 and X.max() <= 255):
        return np.ascontiguousarray(X, np.uint8)
    if X.size * 4 > MAX_BYTES:
        raise DataError(f"{name} takes {megabytes(X.size * 4)} in single precision", SIZE_ACCEPTED)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(X, np.result_type(X.dtype, np.float32) if X.ndim == 2 else np.float32)


def _rounded_columns(X: np.ndarray) -> np.ndarray:
    """Columns (k,) of X (n, d) whose numbers float32 could not tell apart, or would move by more than ROUNDED. Judged
    by neighbouring numbers, so that one number far from all others, as a 0 for an unknown time, changes nothing."""
    if X.dtype != np.float64 or not len(X):
        return np.zeros(0, np.intp)
    rows = np.linspace(0, len(X) - 1, min(len(X), SEEN)).astype(np.intp)
    return np.flatnonzero([_is_rounded(np.sort(column[rows])) for column in X.T])


def _listed(columns: np.ndarray, names: Sequence[str]) -> str:
    """`columns 'a', 'b'`: five of these, by name where they have names, and how many more there are."""
    shown = [f"'{names[k]}'" if len(names) else str(k + 1) for k in columns[:5]]
    return f"column{'s' * (len(columns) > 1)} {', '.join(shown)}" + f" and {len(columns) - 5} more" * (len(columns) > 5)


def _is_rounded(numbers: np.ndarray) -> bool:
    """Whether float32 makes more than MERGED of the neighbouring quantiles of a column, sorted numbers (m,), equal, or
    somewhere moves numbers by more than ROUNDED of the range of a quarter of them."""
    numbers = numbers[:: max(len(numbers) // QUANTILES, 1)]
    single, noise = numbers.astype(np.float32), NOISE * np.abs(numbers)
    apart = np.diff(numbers) > np.maximum(noise[1:], noise[:-1])
    merged = apart & (single[1:] == single[:-1])
    rounding, quarter = np.abs(numbers - single), max(len(numbers) // 4, 1)
    ends, wide = (slice(None, -quarter), slice(quarter, None)), numbers[quarter:] - numbers[:-quarter]
    moved = np.maximum(*(rounding[end] for end in ends)) > ROUNDED * wide
    moved &= wide > np.maximum(*(noise[end] for end in ends))
    return bool(merged.sum() > MERGED * apart.sum() or moved.any())


def _labels(y: np.ndarray, n: int, name: str, as_text: bool = False) -> np.ndarray:
    """y as (n,) int64 if all labels are whole numbers, else str, or always with `as_text`."""
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.shape != (n,):
        raise DataError(f"{name} has the shape {y.shape}, but there are {n} examples", ACCEPTED_Y)
    if y.dtype.kind in "SU" and (longest := y.dtype.itemsize // np.dtype(y.dtype.kind + "1").itemsize) > MAX_LABEL:
        raise DataError(f"{name} stores its labels as texts of {longest} characters, which is too long", ACCEPTED_Y)
    if y.dtype.kind == "S":
        y = np.char.decode(y, "utf-8", "replace")
    if y.dtype.kind == "U":
        if (y == "").any():
            raise DataError(f"{name} has no label for example {int(np.argmax(y == ''))}", ACCEPTED_Y)
        names, number = np.unique(y, return_inverse=True)
        y = np.array([composed(name) for name in names.tolist()])[number]
        if as_text:
            return y
        try:
            y = y.astype(np.float64)
        except ValueError:
            return y
    if y.dtype.kind not in "biuf":
        raise DataError(f"{name} has the type {y.dtype}", ACCEPTED_Y)
    whole = np.isfinite(y) & (np.abs(y) < 2**53) & (np.mod(y, 1) == 0) if y.dtype.kind == "f" else np.ones(n, bool)
    if not whole.all():
        bad = int(np.argmin(whole))
        raise DataError(f"{name} has the label {y[bad]} for example {bad}", ACCEPTED_Y)
    return y.astype(np.int64).astype(str) if as_text else y.astype(np.int64)


def _check_classes(y: np.ndarray, y_test: np.ndarray) -> list[str]:
    """A note on classes whose names are alike. DataError for classes that cannot be told apart by a machine."""
    classes, counts = np.unique(y, return_counts=True)
    if not 2 <= len(classes) <= MAX_CLASSES:
        only = f" ({classes[0]})" if len(classes) == 1 else ""
        raise DataError(
            f"The training labels have {len(classes)} class{'es' * (len(classes) > 1)}{only}", ACCEPTED_CLASSES
        )
    if counts.min() < 2:
        raise DataError(f"Class {classes[counts.argmin()]} has only one training example", ACCEPTED_CLASSES)
    names = classes.astype(str).tolist()
    if new := np.setdiff1d(y_test.astype(str), names).tolist():
        near = next((f" (it has {group[0]!r})" for group in alike([*names, new[0]]) if new[0] in group), "")
        raise DataError(f"The test set has the label {new[0]!r}, but the training set does not{near}",
                        "the same classes in the training set and the test set")  # fmt: skip
    return alike_note("The classes", names, "they count as two. If they are one class, give them one name")


def _grouped(groups: np.ndarray, y: np.ndarray, n_train: int, y_test: np.ndarray) -> np.ndarray:
    """Numbers (n,) int64 of the groups of all rows, the n_train of X_train first. DataError for a group of several
    classes or on both sides, and a class of a single group."""
    if groups.ndim != 1 or groups.dtype.kind not in "biufSU" or (groups.dtype.kind == "f" and np.isnan(groups).any()):
        raise DataError(f"The array groups has the shape {groups.shape} and the type {groups.dtype}", ACCEPTED_GROUPS)
    if groups.dtype.kind in "SU" and (empty := np.char.str_len(groups) == 0).any():
        raise DataError(f"Example {int(empty.argmax())} has no group", ACCEPTED_GROUPS)
    names, number = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        raise DataError(f"All {len(groups):,} examples are in one group, {_group(names[0])}", ACCEPTED_GROUPS)
    classes, label = np.unique(np.concatenate([y, y_test]), return_inverse=True)
    label = np.insert(label, len(y), np.full(n_train - len(y), len(classes)))  # of those without one
    pairs = np.unique([number, label], axis=1)
    if len(several := np.flatnonzero(np.bincount(pairs[0]) > 1)):
        own = [str(classes[c]) if c < len(classes) else "(no label)" for c in pairs[1, pairs[0] == several[0]]]
        of = f"The group {_group(names[several[0]])} has examples of several classes: {' and '.join(own[:3])}"
        raise DataError(of, ACCEPTED_GROUPS)
    if len(both := np.intersect1d(number[:n_train], number[n_train:])):
        raise DataError(f"The group {_group(names[both[0]])} is in the training set and the test set", ACCEPTED_GROUPS)
    of_class = np.bincount(label[np.unique(number[: len(y)], return_index=True)[1]], minlength=len(classes))
    if of_class.min() < 2:
        raise DataError(f"Class {classes[of_class.argmin()]} is in only one group", ACCEPTED_GROUPS)
    return number


def _group(name) -> str:
    """The name of a group in a message."""
    return repr(name.item())[:60]


def _image_shape(X: np.ndarray, wanted: tuple[int, ...] | None) -> tuple[tuple[int, ...], list[str]]:
    """The shape of one example; flat rows of bytes are read as square images unless `wanted` says otherwise."""
    if wanted is not None:
        if wanted and math.prod(wanted) != math.prod(X.shape[1:]):
            raise DataError(
                f"Rows of {math.prod(X.shape[1:])} values cannot be images of {wanted}",
                "height x width = number of values",
            )
        return tuple(wanted) or (math.prod(X.shape[1:]),), []
    side = math.isqrt(X.shape[1])
    looks_square = X.ndim == 2 and side >= 8 and side * side == X.shape[1]
    if looks_square and X.max() > 15 and _are_bytes(X):
        return (side, side), [f"Rows of {side * side} whole numbers from 0 to 255 are read as {side} x {side} images"]
    return X.shape[1:], []


def _are_bytes(X: np.ndarray) -> bool:
    """Whether every value is a whole number from 0 to 255 (floats with no values but 0 and 1 count as fractions)."""
    if X.dtype == np.uint8 or not X.size:
        return True
    return bool(X.min() >= 0 and 1 < X.max() <= 255 and not np.mod(X, 1).any())
