"""Hostile uploads of every kind that the app accepts, through the functions that its pages call.

    python -m tests.bench.soak.uploads --count 20000 --seed 1 [--first I] [--save FOLDER]

Try i draws from (seed, i) alone: a good upload of some kind, then zero to three damages: bytes flipped, doubled, cut
off; huge counts in headers; numbers that are none; names that lead outside, are long or occur twice; archives in
archives. It must end within SECONDS and GROWTH, as a set whose arrays are finite and fit together, is what a slow
reader of it says (npz and libsvm), and can be kept and read again; or as a DataError that says what is accepted.
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import io
import os
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from data import DataError, catalogue, pictures
from data.loaders.pictures import read_pictures
from tests.bench.soak import hostile
from tests.uploads import read_upload

SECONDS, GROWTH = 10.0, 1 << 30  # of the processor, bytes
KEPT = 20  # failures of a row that are told


def _libsvm(content):
    """X and y of libsvm text, slowly."""
    wide = content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    content = content.decode("utf-16" if wide else "utf-8-sig", errors="replace").removeprefix("\ufeff").encode()
    rows = [line.split(b"#")[0].split() for line in content.splitlines()]
    rows = [[cell.decode().split(":") for cell in row] for row in rows if row]
    low = min(int(j) for row in rows for j, _ in row[1:])
    X = np.zeros((len(rows), max(int(j) for row in rows for j, _ in row[1:]) + (low == 0)), np.float32)
    for k, row in enumerate(rows):
        for j, x in row[1:]:
            X[k, int(j) - (low > 0)] = float(x)
    return X, [float(row[0][0]) for row in rows]


def _npz(content):
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        named = {name.lower(): file[name] for name in file.files}
    return named["x"].astype(np.float32), named["y"]


SLOWLY = {"libsvm": _libsvm, "npz": _npz}


def _as_set(rng, files, folder):
    (name, content), *more = files
    shape = [None, (), (4, 5), (28, 28)][rng.choice(4, p=[0.7, 0.1, 0.1, 0.1])]
    label = [None, "first", "last", "label"][rng.choice(4, p=[0.7, 0.1, 0.1, 0.1])]
    preview = read_upload(name, content, more, label=label, image_shape=shape, skip=bool(rng.random() < 0.3),
                          empty=str(rng.choice(["refuse", "fill", "tell"])))  # fmt: skip
    X, y, X_test, y_test = preview.arrays
    assert X.dtype in (np.uint8, np.float32)
    assert y.dtype.kind in "iU"
    assert np.isfinite(X).all()
    assert np.isfinite(X_test).all()
    assert (len(X), len(X_test)) == (len(y), len(y_test))
    assert X.shape[1:] == X_test.shape[1:]
    assert 2 <= len(np.unique(y)) <= 100
    if preview.format in SLOWLY and len(files) == 1 and content[:2] != b"\x1f\x8b" and b"inner" not in content:
        wanted, labels = SLOWLY[preview.format](content)
        assert (X.reshape(len(X), -1) == wanted.reshape(len(X), -1)).all()
        assert list(map(str, np.asarray(labels).ravel().astype(y.dtype))) == list(map(str, y))
    drafted = catalogue.draft("soak", preview.arrays, preview.features)
    if rng.random() < 0.3:
        entry = catalogue.keep("soak", preview.arrays, preview.features, replace=True)
        assert catalogue.load(entry.name).content_hash == drafted.content_hash
        assert not catalogue.damaged()


def _as_pictures(rng, files, folder):
    upload = read_pictures(files, skip=bool(rng.random() < 0.3))
    assert np.isfinite(upload.boxes).all()
    assert len(upload.boxes) == len(upload.category) == len(upload.picture)
    assert all(image.ndim == 2 and image.dtype == np.uint8 and min(image.shape) >= 16 for image in upload.images)
    assert upload.picture.max() < len(upload.images) == len(upload.names)
    drafted = pictures.draft("soak", upload)
    if rng.random() < 0.3:
        entry = pictures.keep("soak", upload, replace=True)
        assert pictures.load(entry.name).content_hash == drafted.content_hash
        assert not pictures.damaged()


def _as_photograph(rng, files, folder):
    from pages.detect import photo

    side = int(rng.choice([5, 19, 63]))
    image, full = photo._grey(photo.upload(*files[0], side))
    assert image.ndim == 2
    assert image.dtype == np.uint8
    assert side <= min(image.shape) <= max(image.shape) <= photo.LONGEST
    assert (full[0] > full[1]) == (image.shape[0] > image.shape[1]) or len(set(image.shape)) == 1


def _as_published(entry):
    def read(rng, files, folder):
        paths = []
        for name, content in files:
            paths.append(folder / name)
            paths[-1].write_bytes(content)
        found = entry()._read(paths)
        assert found.nbytes > 0

    return read


KINDS = {
    **dict.fromkeys((hostile.npz, hostile.idx, hostile.csv, hostile.sheet, hostile.libsvm, hostile.images), _as_set),
    hostile.objects: _as_pictures,
    hostile.annotated: _as_pictures,
    hostile.photograph: _as_photograph,
    hostile.usps: _as_published(lambda: replace(catalogue.entry("usps"), n_train=20, n_test=20)),
    hostile.jartool: _as_published(lambda: pictures.entry("venus")),
}


def _peak() -> int:
    """Bytes that the process has had at most since the last call."""
    try:
        status = Path("/proc/self/status").read_text()
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return 0
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM"))


def _late(*_):
    raise TimeoutError(f"more than {SECONDS:.0f} s of the processor")


def attempt(seed: int, number: int, folder: Path) -> tuple[str, str, str, list]:
    """(kind, how it ended, why it counts as fallen or nothing, the files) of one try."""
    rng = np.random.default_rng([seed, number])
    make = list(KINDS)[number % len(KINDS)]
    files = make(rng)
    if rng.random() < 0.8:
        at = int(rng.integers(len(files)))
        files[at] = files[at][0], hostile.damaged(rng, files[at][1])
    ended, fallen = "read", ""
    _peak()
    before = _peak()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        KINDS[make](rng, files, folder)
    except DataError as error:
        ended = "refused"
        if not (error.reason.strip() and error.accepted.strip()) or len(str(error)) > 2000:
            fallen = f"unclear: {str(error)[:200]}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        ended, place = "fell", traceback.extract_tb(error.__traceback__)[-1]
        fallen = f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if (grown := _peak() - before) > GROWTH:
        fallen += f" grew by {grown >> 20} MB"
    return make.__name__, ended, fallen, files


def _warm(folder: Path) -> None:
    """Good uploads of each kind, so that what they import is not counted as theirs."""
    for make, read in KINDS.items():
        with contextlib.suppress(DataError):
            read(np.random.default_rng(0), make(np.random.default_rng(0)), folder)


def uploads(count: int, seed: int, first: int = 0, save: Path | None = None) -> list[dict]:
    """A row for each kind: tries, how they ended, and the failures, each with the command that shows it again."""
    tally, failures, longest = Counter(), {make.__name__: [] for make in KINDS}, Counter()
    before, home = signal.signal(signal.SIGPROF, _late), os.environ.get("SVMLAB_HOME")
    with tempfile.TemporaryDirectory(prefix="svmlab-soak-") as folder, warnings.catch_warnings(action="ignore"):
        os.environ["SVMLAB_HOME"] = folder
        try:
            _warm(Path(folder))
            for number in range(first, first + count):
                began = time.process_time()
                kind, ended, fallen, files = attempt(seed, number, Path(folder))
                longest[kind] = max(longest[kind], time.process_time() - began)
                tally[kind, ended] += 1
                if fallen:
                    again = f"python -m tests.bench.soak.uploads --seed {seed} --first {number} --count 1"
                    failures[kind].append(f"{again}: {' '.join(fallen.split())[:300]}")
                    if save:
                        place = save / f"{seed}-{number}"
                        place.mkdir(parents=True, exist_ok=True)
                        for k, (_, content) in enumerate(files):
                            (place / str(k)).write_bytes(content)
        finally:
            signal.signal(signal.SIGPROF, before)
            os.environ.pop("SVMLAB_HOME") if home is None else os.environ.update(SVMLAB_HOME=home)
    return [
        {"what": f"uploads: {kind}", "tries": sum(tally[kind, how] for how in ("read", "refused", "fell")),
         "read": tally[kind, "read"], "refused": tally[kind, "refused"], "failures": fell[:KEPT],
         "longest": round(longest[kind], 2)}
        for kind, fell in failures.items()
    ]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("count", 1000), ("seed", 1), ("first", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    rows = uploads(options.count, options.seed, options.first, options.save)
    for row in rows:
        print({key: value for key, value in row.items() if key != "failures"}, *row["failures"], sep="\n    ")
    return int(any(row["failures"] for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
