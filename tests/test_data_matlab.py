"""MATLAB files as SciPy writes them: read right, or refused with a reason and a way out."""

import io
import struct
import zlib
from contextlib import suppress

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from data import DataError
from data.loaders import matlab
from tests.cases import all_cases
from tests.test_data_upload import by_value
from tests.uploads import COLOUR, GREY, PAIR, ROWS, read_upload


def mat(compressed=True, version="5", **arrays):
    file = io.BytesIO()
    savemat(file, arrays, do_compression=compressed, format=version)
    return file.getvalue()


def cells(texts):
    out = np.empty((len(texts), 1), object)
    out[:, 0] = texts
    return out


@all_cases("compressed", [True, False])
@all_cases("names", ["X y", "x_train y_train", "data labels", "fea gnd", "images labels"])
@all_cases("rows", [ROWS, ROWS.T, ROWS.astype(np.float32), np.round(ROWS * 1000), sparse.csc_array(ROWS)])
def test_tables(compressed, names, rows):
    content = mat(compressed, **dict(zip(names.split(), (rows, PAIR))), also={"a": 1}, and_cells=cells(["a", 1]))
    arrays = read_upload("mine.mat", content).arrays
    expected = np.round(ROWS * 1000) if rows.max() > 1 else ROWS
    assert np.allclose(arrays.X_train, expected, rtol=1e-6)
    assert (arrays.y_train == PAIR).all()


@all_cases("compressed", [True, False])
def test_a_sparse_matrix_keeps_the_numbers_that_a_dense_one_keeps(compressed):
    """Timestamps within ten minutes, which single precision reads as six or seven numbers."""
    times = 1.7e9 + np.arange(300.0) * 2
    rows, y = np.column_stack([times, np.arange(300) % 7]), np.arange(300) % 2
    assert len(np.unique(times.astype(np.float32))) < 8
    previews = [read_upload("a.mat", mat(compressed, X=X, y=y)) for X in (rows, sparse.csc_array(rows))]
    for preview in previews:
        assert sorted(preview.arrays.X_train.tolist()) == rows.tolist()
    assert previews[0].notes == previews[1].notes


@pytest.mark.parametrize(
    "images", [GREY, COLOUR, GREY[..., None], GREY.astype(float)], ids=["grey", "rgb", "1", "real"]
)
@pytest.mark.parametrize("last", [False, True], ids=["n first", "n last"])
def test_images_along_the_first_side_or_the_last(images, last):
    preview = read_upload("mine.mat", mat(X=np.moveaxis(images, 0, -1) if last else images, y=PAIR[:, None]))
    expected = images[..., 0] if images.shape[-1] == 1 else images
    assert by_value(preview.arrays.X_train, preview.arrays.y_train) == by_value(expected.astype(np.uint8), PAIR)
    assert any("with one example per slice" in note for note in preview.notes) == last


@pytest.mark.parametrize("labels", [["dog", "cät"], ["1", "2"], ["only one alphabet", "κάτα"]])
def test_labels_that_are_texts_in_cells_or_rows_of_letters(labels):
    y = [labels[k] for k in PAIR]
    for given in (cells(y), cells(y).T, np.array(y)):
        assert read_upload("a.mat", mat(X=ROWS, y=given)).arrays.y_train.astype(str).tolist() == y


def test_a_test_part_and_examples_without_a_label():
    given = mat(X_train=GREY, y_train=PAIR, X_test=GREY[:4], y_test=PAIR[:4])
    assert len(read_upload("a.mat", given).arrays.X_test) == 4
    y = PAIR.astype(float)
    y[3] = np.nan
    assert "1 of 12 examples have no label yet" in read_upload("a.mat", mat(X=ROWS, y=y)).notes


@all_cases("last", [True, False])
def test_images_and_groups_beside_features_are_read_and_what_is_left_is_named(last):
    images = np.moveaxis(COLOUR, 0, -1) if last else COLOUR
    groups = [f"{k // 4}{PAIR[k]}" for k in range(12)]
    preview = read_upload("a.mat", mat(X=ROWS, y=PAIR, images=images, groups=cells(groups), lens=50.0, by="me"))
    arrays = preview.arrays
    assert np.allclose(arrays.X_train, ROWS)
    assert all((arrays.album.picture(k) == COLOUR[k]).all() for k in range(12))
    assert len(set(zip(arrays.groups.tolist(), groups))) == len(set(groups)) == len(set(arrays.groups.tolist()))
    assert "Variables that are not read: lens (1 x 1 double), by (1 x 2 char)" in preview.notes
    with_test = {"X_test": ROWS[:5], "y_test": PAIR[:5], "images_test": images[..., :5] if last else images[:5]}
    album = read_upload("a.mat", mat(X=ROWS, y=PAIR, images=images, **with_test)).arrays.album
    assert all((album.picture(12 + k) == COLOUR[k]).all() for k in range(5))


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        ({"images": COLOUR[:7]}, "X has 12 entries, but images has 7"),
        ({"images": {"a": 1}}, r"images \(1 x 1 struct\) is not an array"),
        ({"images": ROWS}, r"images has the shape \(12, 3\)"),
        ({"groups": PAIR[:7]}, "X has 12 entries, but groups has 7"),
    ],
)
def test_images_and_groups_that_do_not_fit_are_refused(beside, said):
    with pytest.raises(DataError, match=said):
        read_upload("a.mat", mat(X=ROWS, y=PAIR, **beside))


def test_a_file_of_a_machine_whose_bytes_are_the_other_way_round():
    def element(kind, content):
        return struct.pack(">II", kind, len(content)) + content + bytes(-len(content) % 8)

    def matrix(name, array):
        parts = (6, struct.pack(">II", 6, 0)), (5, struct.pack(f">{array.ndim}i", *array.shape)), (1, name)
        return element(14, b"".join(element(*p) for p in (*parts, (9, array.astype(">f8").tobytes("F")))))

    content = b"MATLAB 5.0".ljust(124) + b"\1\0MI" + matrix(b"X", ROWS) + matrix(b"y", PAIR[:, None])
    arrays = read_upload("a.mat", content).arrays
    assert np.allclose(arrays.X_train, ROWS)
    assert (arrays.y_train == PAIR).all()


SQUARE = np.zeros((12, 5, 12), np.uint8)
REFUSED = {
    "version 7.3": (b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM" + b"\x89HDF", r"version 7\.3 \(HDF5\).*'-v7'"),
    "version 4": (mat(version="4", X=ROWS, y=PAIR), r"version 4, or damaged.*'-v7'"),
    "other names": (mat(a=ROWS, b={"c": 1}), r"has a \(12 x 3 double\), b \(1 x 1 struct\), but no X and y"),
    "a structure": (mat(X={"a": 1}, y=PAIR), r"X has the type struct, not real numbers"),
    "complex numbers": (mat(X=ROWS + 1j, y=PAIR), r"X has the type complex, not real numbers"),
    "no common side": (
        mat(X=ROWS, y=PAIR[:7]),
        r"X \(12 x 3 double\) has no dimension of 7, the number of labels in y \(1 x 7 int64\)",
    ),
    "two sides that fit": (mat(X=SQUARE, y=PAIR), r"X \(12 x 5 x 12 uint8\) may have its 12 images along the first"),
    "labels in two columns": (
        mat(X=ROWS, y=np.column_stack([PAIR, PAIR])),
        r"y \(12 x 2 int64\) is not a column of lab",
    ),
    "numbers in cells": (mat(X=ROWS, y=cells(list(PAIR))), r"y has a cell that is not a text \(int64\)"),
    "cut off": (mat(False, X=ROWS, y=PAIR)[:-60], r"a\.mat is damaged or incomplete"),
    "cut off while packed": (mat(X=ROWS, y=PAIR)[:-9], r"a\.mat is damaged or incomplete"),
    "nothing in it": (mat()[:128], r"has no variables"),
}


@all_cases("kind", REFUSED)
def test_what_cannot_be_read_is_refused_with_a_reason_and_a_remedy(kind):
    content, said = REFUSED[kind]
    with pytest.raises(DataError, match=said) as refusal:
        read_upload("a.mat", content)
    assert refusal.value.accepted


def bomb(shape, n, kind=2):
    """A file of some kB that says it holds a matrix of this shape, and unpacks to n zeros."""
    head = struct.pack("<IIII", 6, 8, 6, 0) + struct.pack("<IIii", 5, 8, *shape) + struct.pack("<HHI", 1, 1, ord("X"))
    packed = zlib.compressobj(9)
    body = packed.compress(struct.pack("<II", 14, len(head) + 8 + n) + head + struct.pack("<II", kind, n))
    for _ in range(n >> 20):
        body += packed.compress(bytes(1 << 20))
    body += packed.flush()
    return mat()[:128] + struct.pack("<II", 15, len(body)) + body


def test_what_unpacks_to_more_than_may_be_is_refused_before_it_does(monkeypatch):
    monkeypatch.setattr(matlab, "MAX_BYTES", 1 << 22)
    with pytest.raises(DataError, match="unpacks to more than 4 MB"):
        read_upload("a.mat", bomb((1 << 12, 1 << 12), 1 << 24))
    y = mat(y=PAIR)[128:]
    with pytest.raises(DataError, match=r"X \(1048576 x 1048576 double\) has 1,048,576 values"):
        read_upload("a.mat", bomb((1 << 20, 1 << 20), 1 << 20) + y)
    wide = sparse.csc_array((1 << 20, 40))
    with pytest.raises(DataError, match=r"X \(1048576 x 40 sparse\) takes 160 MB as a dense matrix"):
        read_upload("a.mat", mat(X=wide, y=PAIR))
    monkeypatch.setattr(matlab, "MAX_TEXTS", 5)
    with pytest.raises(DataError, match=r"has 12 labels.*at most 5 texts"):
        read_upload("a.mat", mat(X=ROWS, y=cells(12 * ["a"])))


@pytest.mark.parametrize("X", [ROWS, sparse.csc_array(ROWS), GREY])
@pytest.mark.parametrize("y", [PAIR, cells(["a", "b"] * 6)], ids=["numbers", "cells"])
def test_a_damaged_file_is_read_or_refused(X, y):
    whole, rng = mat(False, X=X, y=y), np.random.default_rng(0)
    for _ in range(150):
        spoilt = np.frombuffer(whole, np.uint8).copy()
        at = rng.integers(124, len(spoilt), 3)
        spoilt[at] = rng.integers(0, 256, 3)
        with suppress(DataError):
            read_upload("a.mat", spoilt.tobytes()[: rng.integers(130, 3 * len(spoilt))])
