"""Broken, hostile and mistaken files: each is refused with the reason and with what would be accepted."""

import contextlib
import gzip
import io
import os
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from data import DataError
from data.loaders import bundle
from tests.cases import all_cases
from tests.uploads import COLOUR, GREY, PAIR, ROWS, archive, csv, idx, image, npz, read_upload, tree


def lying_npy(shape):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue() + b"\0" * 64


def patched(content, old, new):
    assert old in content
    return content.replace(old, new)


PICTURES = tree(GREY, PAIR)
OBJECTS = np.array([{"a": 1}, [2]] * 6, dtype=object)
BROKEN = {
    "npz with objects": ("a.npz", npz(X=OBJECTS, y=PAIR), "pickled Python objects.*of numbers or text"),
    "npz with object labels": ("a.npz", npz(X=ROWS, y=OBJECTS), "pickled Python objects"),
    "npz without X": ("a.npz", npz(a=ROWS, b=PAIR), "arrays a, b, but none named X.*X and y"),
    "npz without labels": ("a.npz", npz(X=ROWS, z=PAIR), "an array x, but none named y.*X and y"),
    "npz that lies about its size": (
        "a.npz",
        archive({"X.npy": lying_npy((10**9, 10**6)), "y.npy": lying_npy((8,))}),
        "header declares 8,000,000,000,000",
    ),
    "npz with a garbled header": ("a.npz", archive({"X.npy": b"\x93NUMPY\1\0junk", "y.npy": b""}), "no readable npy"),
    "npz of records": ("a.npz", npz(X=np.zeros(12, "i4,f4"), y=PAIR), "has the type.*numbers or text"),
    "npz cut off": ("a.npz", npz(X=ROWS, y=PAIR)[:-40], "not a complete zip.*the complete zip or npz file"),
    "single npy": ("a.npy", lying_npy((8,)), "single array without labels.*X and y"),
    "pickle": ("a.pkl", pickle.dumps([1, 2]), "pickle, which could run code.*numpy.savez"),
    "NaN": (
        "a.npz",
        npz(X=np.where(ROWS[5, 1] == ROWS, np.nan, ROWS), y=PAIR),
        "a missing or infinite value in example 5",
    ),
    "infinite": ("a.npz", npz(X=np.where(ROWS[3, 0] == ROWS, 1e300, ROWS), y=PAIR), "infinite.*example 3"),
    "complex numbers": ("a.npz", npz(X=ROWS + 1j, y=PAIR), "type complex128.*of numbers or text"),
    "one class": ("a.npz", npz(X=ROWS, y=np.zeros(12)), r"1 class \(0\).*2 to 100 classes"),
    "101 classes": ("a.npz", npz(X=np.zeros((202, 2)), y=np.arange(202) % 101), "101 classes.*2 to 100 classes"),
    "class of one": ("a.npz", npz(X=ROWS, y=np.arange(12) == 0), "only one training example.*at least two"),
    "empty arrays": ("a.npz", npz(X=np.zeros((0, 3)), y=np.zeros(0)), "X is empty.*n, features"),
    "wrong shape": ("a.npz", npz(X=np.zeros((12, 2, 3, 4, 5)), y=PAIR), "shape.*n, height, width"),
    "channels in the middle": ("a.npz", npz(X=COLOUR.transpose(0, 1, 3, 2), y=PAIR), "shape.*height, width, 3"),
    "labels too few": ("a.npz", npz(X=ROWS, y=PAIR[:5]), "X has 12 entries, but y has 5.*one entry of y for each"),
    "one-hot labels": (
        "a.npz",
        npz(X=ROWS, y=np.eye(12)),
        "y has 12 values for each example.*a whole number, or a text",
    ),
    "fractions as labels": ("a.npz", npz(X=ROWS, y=PAIR + 0.5), "label 0.5 for example 0.*whole number"),
    "missing labels": ("a.npz", npz(X=ROWS, y=np.where(PAIR, np.inf, 1)), "label inf.*whole number"),
    "test labels unknown": (
        "a.npz",
        npz(X=ROWS, y=PAIR, X_test=ROWS, y_test=PAIR + 5),
        "test set has the label '5', but the training set does not.*same classes",
    ),
    "test of another shape": (
        "a.npz",
        npz(X=ROWS, y=PAIR, X_test=ROWS[:, :2], y_test=PAIR),
        "Test examples have the shape.*same shape",
    ),
    "empty file": ("a.csv", b"", "is empty"),
    "csv without rows": ("a.csv", b"label,a,b\n", "header but no examples"),
    "csv of one column": ("a.csv", b"1\n2\n", "only one column"),
    "csv with a word": ("a.csv", b"0,1,2\n1,x,3\n0,1,1\n1,1,1", "line 2 has 'x' instead of a number.*UTF-8 text"),
    "csv with a hole": ("a.csv", b"y,a,b\n0,1,2\n1,,3\n0,1,1", "line 3 has an empty cell in column 'a'"),
    "csv without labels": ("a.csv", b"y,a\n,1\n,3\n,1", "No example has a label"),
    "csv with ragged rows": ("a.csv", b"0,1,2\n1,2,3\n0,1\n", "Line 3 .* has 2 values, but the first line has 3"),
    "csv in UTF-16": ("a.csv", "0,1\n1,2\n".encode("utf-16-be"), "not UTF-8 text"),
    "csv in no encoding": ("a.csv", b"\xe9,1\n\x02,2\n", r"not UTF-8 text \(byte 0\)"),
    "binary as csv": ("a.csv", bytes(range(1, 128)) + b"\0", "not UTF-8 text"),
    "csv with a NaN": ("a.csv", b"0,1\n1,nan\n0,2\n1,3", "line 2 has 'nan', a missing value"),
    "gz cut off": ("a.csv.gz", gzip.compress(csv(ROWS, PAIR))[:-30], "damaged or incomplete.*complete file"),
    "gz garbled": ("a.csv.gz", b"\x1f\x8b\x08\0" + b"\xff" * 40, "damaged or incomplete"),
    "libsvm odd line": ("a.svm", b"1 1:2\n-1 2:3 4\n", "Line 2 .*does not consist of a label and index:value.*17:1"),
    "libsvm bad number": ("a.svm", b"1 1:x\n-1 2:3\n", "could not convert.*x.*17:1"),
    "libsvm bad index": ("a.svm", b"1 1:2\n-1 -2:3\n", "'-2', which is not a whole number"),
    "libsvm far index": (
        "a.svm",
        b"1 1:2\n-1 4000000000:3\n",
        "4000000000, so that an example has too many features.*at most 512 MB",
    ),
    "idx without labels": ("train-images-idx3-ubyte", idx(GREY), "training labels is missing.*one of labels"),
    "idx without images": ("train-labels-idx1-ubyte", idx(PAIR), "training images is missing"),
    "idx cut off": ("i.idx", idx(GREY)[:-5], "bytes, but its header declares.*complete file"),
    "idx header cut off": ("i.idx", idx(GREY)[:9], "ends within its header"),
    "zip cut off": ("a.zip", archive(PICTURES)[:-60], "not a complete zip"),
    "zip member damaged": ("a.zip", archive(PICTURES, 0).replace(b"IHDR", b"IHDX"), "damaged or incomplete.*CRC"),
    "zip of nothing": ("a.zip", archive({}), "contains no files"),
    "zip with a document among images": (
        "a.zip",
        archive(PICTURES | {"set/0/notes.doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99)}),
        "notes.doc is not an image",
    ),
    "text named png": ("a.zip", archive(PICTURES | {"set/0/x.png": b"hello"}), "x.png cannot be read.*png, jpg"),
    "image cut off": ("a.zip", archive(PICTURES | {"set/0/x.png": image(GREY[0])[:60]}), "x.png cannot be read"),
    "no image at all": (
        "a.zip",
        archive({f"a/{k}.png": b"hello" for k in range(40)}),
        r"a/0.png cannot be read as an image \(its content is not an image\); none of 40 files can be used",
    ),
    "images in no folder": ("a.zip", archive({"a.png": image(GREY[0])}), "not in a folder.*one folder per class"),
    "one image": ("a.png", image(GREY[0]), "label is missing.*one folder per class"),
    "giant image": ("a.zip", archive({"a/1.png": image(np.zeros((9, 4097), np.uint8))}), "9 x 4097.*4096 x 4096"),
    "path outside": ("a.zip", archive({"../../etc/a.png": image(GREY[0])}), "a path outside the archive"),
    "absolute path": ("a.zip", archive({"/etc/a.png": image(GREY[0])}), "a path outside the archive"),
    "Windows path": ("a.zip", archive({"C:\\x\\a.png": image(GREY[0])}), "a path outside the archive"),
    "unrelated files": ("a.zip", archive({"a.txt": b"hi", "b.xyz": b"ho"}), "do not form one dataset.*npz, a table"),
    "PDF": ("a.pdf", b"%PDF-1.7 ...", "a PDF.*npz, a table"),
    "RAR": ("a.rar", b"Rar!\x1a\7\0", "RAR archive.*a zip"),
}


@all_cases("case", BROKEN)
def test_broken_files_are_refused_with_a_reason_and_a_remedy(case):
    name, content, pattern = BROKEN[case]
    with pytest.raises(DataError, match=f"(?s){pattern}") as refusal:
        read_upload(name, content)
    assert refusal.value.reason
    assert refusal.value.accepted
    assert "Accepted: " in str(refusal.value)


def test_a_zip_that_unpacks_to_too_much_is_refused_before_it_is_read(monkeypatch):
    monkeypatch.setattr(bundle, "MAX_BYTES", 1000)
    with pytest.raises(DataError, match="unpacks to"):
        read_upload("bomb.zip", archive({"a/1.png": b"\0" * 5000}))
    with pytest.raises(DataError, match="unpacks to more"):
        read_upload("bomb.csv.gz", gzip.compress(b"1,2\n" * 5000))
    monkeypatch.setattr(bundle, "MAX_MEMBERS", 3)
    with pytest.raises(DataError, match="contains more than 3 files"):
        read_upload("many.zip", archive({f"a/{k}.png": b"" for k in range(4)}))


def test_a_zip_that_lies_about_sizes_is_not_believed():
    content = archive({"a/1.png": b"\0" * 100_000})
    honest = struct.pack("<I", 100_000)
    with pytest.raises(DataError, match="damaged or incomplete"):
        read_upload("bomb.zip", patched(content, honest, struct.pack("<I", 10)))


def test_a_locked_zip_and_a_link_are_refused():
    locked = bytearray(archive({"a/1.png": image(GREY[0])}))
    locked[locked.rindex(b"PK\1\2") + 8] |= 1
    with pytest.raises(DataError, match="protected with a password"):
        read_upload("a.zip", bytes(locked))
    link = zipfile.ZipInfo("a/1.png")
    link.external_attr = 0o120777 << 16
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr(link, "/etc/passwd")
    with pytest.raises(DataError, match="contains a link"):
        read_upload("a.zip", file.getvalue())


def test_files_damaged_at_random_are_read_or_refused_but_never_crash():
    samples = {
        "a.npz": npz(X=GREY, y=PAIR),
        "a.zip": archive(PICTURES),
        "a.csv": csv(ROWS, PAIR, "label,a,b,c"),
        "b.csv": csv(ROWS, PAIR).replace(b",", b'","'),
        "a.svm": b"\n".join(b"%d 1:0.5 %d:2" % (k % 2, 2 + k) for k in range(12)),
        "a.csv.gz": gzip.compress(csv(ROWS, PAIR)),
        "a.idx": idx(GREY),
    }
    rng, noise = np.random.default_rng(0), np.frombuffer(b'09,:;"-e.\n\0\xff', np.uint8)
    for _ in range(150):
        for name, content in samples.items():
            damaged = bytearray(content)
            for at in rng.integers(0, len(content), rng.integers(1, 6)):
                damaged[at : at + rng.integers(0, 3)] = rng.choice(noise, rng.integers(0, 3)).tobytes()
            with contextlib.suppress(DataError):
                read_upload(name, bytes(damaged), [("labels", idx(PAIR))] if name == "a.idx" else [])


def test_a_path_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="no file or folder"):
        read_upload("gone", tmp_path / "gone")
    with pytest.raises(DataError, match="contains no files"):
        read_upload("empty", tmp_path)


def test_a_name_that_no_page_could_show_is_refused(tmp_path):
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    for k in range(4):
        Path(os.fsdecode(folder + b"/%d.png" % k)).write_bytes(image(GREY[k]))
    with pytest.raises(DataError, match=r"a file whose name is not in UTF-8: 'caf\\udce9/\d.png'.*names in UTF-8"):
        read_upload("mine", tmp_path)


@pytest.mark.parametrize("junk", ["9" * 100_000, "x\x00\x1b[31m\u202e" * 5000])
def test_a_reason_that_quotes_a_file_is_short_and_can_be_shown(junk):
    error = DataError(f"a.spr is no header (could not convert {junk!s} to a number)", "a header")
    assert error.reason.startswith("a.spr is no header")
    assert error.reason.endswith("to a number)")
    assert len(error.reason) <= 600
    assert error.reason.isprintable()
