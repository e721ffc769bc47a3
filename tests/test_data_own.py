"""The reader's own sets: named safely, kept whole, given back unchanged."""

import json

import numpy as np
import pytest

from data import DataError, catalogue, thumbnails
from data.dataset import Arrays
from data.own import MAX_NAMES
from tests.uploads import COLOUR, PAIR, ROWS, archive, npz, read_upload, tree


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
    with pytest.raises(DataError, match="already a dataset 'own:rows'"):
        catalogue.keep("Rows!", second)
    catalogue.keep("rows", second, replace=True)
    assert catalogue.load("own:rows").content_hash != before.content_hash


def test_of_two_sets_saved_at_once_under_one_name_the_second_is_refused(home, monkeypatch):
    first, second = (Arrays.unsplit(np.full((4, 2), k, np.float32), np.arange(4) % 2) for k in range(2))
    write = np.savez

    def while_another_is_saved(file, **arrays):
        monkeypatch.setattr(np, "savez", write)
        catalogue.keep("Same", first)
        write(file, **arrays)

    monkeypatch.setattr(np, "savez", while_another_is_saved)
    with pytest.raises(DataError, match="already a dataset 'own:same'"):
        catalogue.keep("Same", second)
    assert (catalogue.load("own:same").X_train == 0).all()
    assert [path.name for path in (home / "own").iterdir()] == ["same.npz"]


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
    with pytest.raises(DataError, match="contains no letter a-z and no digit"):
        catalogue.keep(title, read_upload("a.npz", npz(X=ROWS, y=PAIR)).arrays)


def test_a_title_too_long_to_be_read_again_is_refused(home):
    with pytest.raises(DataError, match=r"20,000 characters.*at most 10,000"):
        catalogue.keep("x" * 20_000, read_upload("a.npz", npz(X=ROWS, y=PAIR)).arrays)
    assert not (home / "own").exists()


@pytest.mark.parametrize("letter", ["x", "é", "数", "\U0001f600", '"', "\x01"])
def test_names_of_columns_of_any_script_are_kept_or_left_out_and_the_set_is_read_again(home, letter):
    for n, length in ((2_000, 100), (20, 200), (30_000, 40)):
        arrays = Arrays.unsplit(np.eye(4, n, dtype=np.float32), np.arange(4) % 2)
        names = [f"{k:06}".ljust(length, letter) for k in range(n)]
        drafted, entry = catalogue.draft("wide", arrays, names), catalogue.keep("wide", arrays, names, replace=True)
        assert catalogue.damaged() == []
        kept = catalogue.load(entry.name)
        assert kept.content_hash == drafted.content_hash
        shown = len(json.dumps(names, ensure_ascii=False).encode()) <= MAX_NAMES
        assert (
            kept.feature_names
            == drafted.feature_names
            == (tuple(names) if shown else tuple(f"x{k + 1}" for k in range(n)))
        )


def spoilt():
    """Ways in which a set may be such that it could not be read again, and what is said."""
    good = read_upload("a.npz", npz(X=ROWS, y=PAIR)).arrays
    long = np.array([f"{k % 30} {'é' * 20_000}" for k in range(60)])
    holes = np.where(ROWS[3, 1] == ROWS, np.nan, ROWS).astype(np.float32)
    return {
        "long labels": (
            Arrays.unsplit(np.zeros((60, 2), np.uint8), long),
            r"take 1,2\d\d,\d\d\d bytes.*at most 1,048,576 bytes",
        ),
        "holes": (good._replace(X_train=holes), "missing or infinite"),
        "halves": (good._replace(X_train=ROWS.astype(np.float16)), "X_train has the type float16"),
        "another test part": (
            good._replace(X_test=ROWS[:4, :2].astype(np.float32), y_test=PAIR[:4]),
            "X_test has the type",
        ),
        "labels too many": (good._replace(X_train=good.X_train[:7]), "unlabelled = -5"),
        "strange classes": (
            good._replace(X_test=good.X_train, y_test=good.y_train + 5),
            "do not match the declared classes",
        ),
    }


@pytest.mark.parametrize("way", spoilt())
def test_what_could_not_be_read_again_is_refused_and_the_old_set_stays(home, way):
    arrays, words = spoilt()[way]
    before = catalogue.keep("rows", read_upload("a.npz", npz(X=ROWS, y=PAIR)).arrays).load().content_hash
    for title, replace in (("rows", True), ("other", False)):
        with pytest.raises(DataError, match=words):
            catalogue.keep(title, arrays, replace=replace)
    assert catalogue.damaged() == []
    assert [path.name for path in (home / "own").iterdir()] == ["rows.npz"]
    assert catalogue.load("own:rows").content_hash == before


def test_forget_removes_a_set_and_a_damaged_one_is_left_out(home):
    catalogue.keep("rows", read_upload("a.npz", npz(X=ROWS, y=PAIR)).arrays)
    (home / "own" / "broken.npz").write_bytes(b"PK not really")
    names = [entry.name for entry in catalogue.entries()]
    assert "own:rows" in names
    assert "own:broken" not in names
    catalogue.forget("own:rows")
    assert "own:rows" not in [entry.name for entry in catalogue.entries()]
    with pytest.raises(DataError, match="no dataset of yours"):
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


def test_half_a_character_in_a_name_is_refused_and_where_it_is_stored_it_is_damage(home):
    """JSON of another program can spell it, and a page that shows it would break off."""
    arrays = Arrays.unsplit(np.eye(4, 3, dtype=np.float32), np.array(["cat", "d\ud800g"])[np.arange(4) % 2])
    for title, given in (("a\udfffb", arrays._replace(y_train=arrays.y_train == "cat")), ("pets", arrays)):
        with pytest.raises(DataError, match=r"an incomplete character \(U\+D"):
            catalogue.keep(title, given)
    entry = catalogue.keep("rows", read_upload("a.npz", npz(X=ROWS, y=PAIR)).arrays)
    (path,) = (home / "own").iterdir()
    with np.load(path) as stored:
        held = dict(stored)
    held["entry"] = np.array(str(held["entry"]).replace('"rows"', '"ro\\ud800ws"'))
    np.savez(path, **held)
    assert entry.name not in [known.name for known in catalogue.entries()]
    assert any("an incomplete character" in damaged.reason for damaged in catalogue.damaged())
