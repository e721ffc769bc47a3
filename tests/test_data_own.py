"""The reader's own sets: named safely, kept whole, given back unchanged."""

import json

import numpy as np
import pytest

from data import DataError, catalogue, thumbnails
from data.loaders import read_upload
from tests.uploads import COLOUR, PAIR, ROWS, archive, npz, tree


def test_keep_and_load_give_back_the_same_data(home):
    preview = read_upload("pets.zip", archive(tree(COLOUR, np.where(PAIR, "cat", "dog"))))
    draft = catalogue.draft("My pets, 2nd try", preview.arrays)
    entry = catalogue.keep("My pets, 2nd try", preview.arrays)
    kept = catalogue.load("own:my-pets-2nd-try")
    assert entry.name == draft.entry.name == kept.entry.name
    assert kept.content_hash == draft.content_hash
    assert kept.entry.title == "My pets, 2nd try"
    assert kept.classes.tolist() == ["cat", "dog"]
    assert thumbnails.draw(kept).shape[2] == 3
    assert catalogue.entries()[-1].name == entry.name


def test_a_taken_name_needs_permission_and_a_replaced_set_is_read_anew(home):
    first = read_upload("a.npz", npz(X=ROWS, y=PAIR)).arrays
    second = read_upload("a.npz", npz(X=ROWS + 1, y=PAIR)).arrays
    catalogue.keep("rows", first)
    before = catalogue.load("own:rows")
    with pytest.raises(DataError, match="already a data set 'own:rows'"):
        catalogue.keep("Rows!", second)
    catalogue.keep("rows", second, replace=True)
    assert catalogue.load("own:rows").content_hash != before.content_hash


@pytest.mark.parametrize("title", ["../../etc/passwd", "a/b\\c", "con\0trol", "x" * 5000, " ?*<>|: 1"])
def test_names_never_leave_the_home_folder(home, title):
    arrays = read_upload("a.npz", npz(X=ROWS, y=PAIR)).arrays
    entry = catalogue.keep(title, arrays)
    (stored,) = (home / "own").iterdir()
    assert stored.parent == home / "own"
    assert len(stored.name) < 80
    assert catalogue.load(entry.name).content_hash == catalogue.draft(title, arrays).content_hash


@pytest.mark.parametrize("title", ["", "   ", "///", "数字"])
def test_a_name_without_letters_or_digits_is_refused(home, title):
    with pytest.raises(DataError, match="no letter a-z and no digit"):
        catalogue.keep(title, read_upload("a.npz", npz(X=ROWS, y=PAIR)).arrays)


def test_a_title_too_long_to_be_read_again_is_refused(home):
    with pytest.raises(DataError, match=r"20,000 letters.*at most 10,000"):
        catalogue.keep("x" * 20_000, read_upload("a.npz", npz(X=ROWS, y=PAIR)).arrays)
    assert not (home / "own").exists()


def test_forget_removes_a_set_and_a_damaged_one_is_left_out(home):
    catalogue.keep("rows", read_upload("a.npz", npz(X=ROWS, y=PAIR)).arrays)
    (home / "own" / "broken.npz").write_bytes(b"PK not really")
    names = [entry.name for entry in catalogue.entries()]
    assert "own:rows" in names
    assert "own:broken" not in names
    catalogue.forget("own:rows")
    assert "own:rows" not in [entry.name for entry in catalogue.entries()]
    with pytest.raises(DataError, match="no data set of yours"):
        catalogue.forget("own:rows")


def test_a_kept_file_cut_off_is_refused_when_loaded(home):
    catalogue.keep("rows", read_upload("a.npz", npz(X=np.tile(ROWS, (50, 1)), y=np.tile(PAIR, 50))).arrays)
    entry = catalogue.entry("own:rows")
    path = home / "own" / "rows.npz"
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(DataError, match="damaged"):
        entry.load()


def test_columns_keep_their_names_and_older_sets_have_none(home):
    arrays = read_upload("a.npz", npz(X=ROWS, y=PAIR)).arrays
    names = [f"column {j}" for j in range(ROWS.shape[1])]
    entry = catalogue.keep("rows", arrays, names)
    assert catalogue.load(entry.name).feature_names == tuple(names)
    assert catalogue.draft("rows", arrays, names).feature_names == tuple(names)
    path = home / "own" / "rows.npz"
    with np.load(path) as file:
        kept = dict(file)
    shown = json.loads(str(kept["entry"]))
    np.savez(path, **kept | {"entry": np.array(json.dumps({k: v for k, v in shown.items() if k != "features"}))})
    assert catalogue.load(entry.name).feature_names[:2] == ("x1", "x2")
    np.savez(path, **kept | {"entry": np.array(json.dumps(shown | {"features": names[:1]}))})
    assert any("names 1 columns" in damaged.reason for damaged in catalogue.damaged())
