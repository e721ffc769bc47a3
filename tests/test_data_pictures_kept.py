"""A reader's own pictures: named safely, kept whole, given back unchanged; damage to a stored file is found."""

import json
from dataclasses import replace

import numpy as np
import pytest

from data import DataError, catalogue, pictures
from data.loaders.pictures import MAX_NAME, MAX_PICTURES, read_pictures
from data.pictures import drawing
from tests.uploads import BOXES as TABLE
from tests.uploads import STREETS, archive, npz
from tests.uploads import street_files as files


def test_kept_pictures_come_back_unchanged(home):
    upload = read_pictures(files())
    drafted = pictures.draft("My town, 2", upload, "house")
    entry = pictures.keep("My town, 2", upload, "house")
    kept = pictures.load("own:pictures:my-town-2")
    assert pictures.entries()[-1].name == entry.name == kept.entry.name == drafted.entry.name
    assert kept.content_hash == drafted.content_hash
    assert kept.entry.title == "My town, 2"
    assert (entry.n_pictures, entry.n_objects, entry.object_name, entry.shape) == (3, 3, "house", "box")
    assert kept.entry.categories == {1: "category 1", 2: "category 2"}
    assert [len(p.boxes) for p in kept.pictures] == [1, 2, 0]
    assert all((p.image == given).all() for p, given in zip(kept.pictures, STREETS))
    (experiment,) = kept.experiments.values()
    assert [part.test for part in experiment.parts] == [(0,), (1,), (2,)]
    assert (experiment.area, experiment.opportunities) == (3, 3)
    assert drawing.thumbnail(kept).shape == (72, 180, 3)
    assert entry.name not in [other.name for other in catalogue.entries()]


def test_names_titles_and_forgetting(home):
    upload = read_pictures(files())
    before = pictures.keep("town", upload).load().content_hash
    with pytest.raises(DataError, match="already a set of pictures 'own:pictures:town'"):
        pictures.keep("Town!", upload)
    pictures.keep("town", read_pictures(files(TABLE + "c.png,1,2,9,9,1")), replace=True)
    assert pictures.load("own:pictures:town").content_hash != before
    pictures.keep("../../etc/x", upload)
    assert sorted(p.name for p in (home / "own" / "pictures").iterdir()) == ["etc-x.npz", "town.npz"]
    for title in ("", "///", "x" * 20_000):
        with pytest.raises(DataError):
            pictures.keep(title, upload)
    for word in ("", "x" * 31):
        with pytest.raises(DataError, match="cannot be called"):
            pictures.keep("a", upload, word)
    pictures.forget("own:pictures:town")
    assert [e.name for e in pictures.entries() if e.name.startswith("own:")] == ["own:pictures:etc-x"]
    with pytest.raises(DataError, match="no pictures of yours"):
        pictures.forget("own:pictures:town")


@pytest.mark.parametrize("letter", ["x", "é", "数", "\U0001f600"])
def test_many_pictures_with_long_names_of_any_script_come_back(home, letter):
    upload = read_pictures(files())
    names = tuple(f"{k:03}".ljust(MAX_NAME, letter) for k in range(MAX_PICTURES))
    upload = replace(upload, names=names, images=MAX_PICTURES * (np.zeros((16, 16), np.uint8),))
    kept = pictures.keep("town", upload).load()
    assert pictures.damaged() == []
    assert tuple(picture.name for picture in kept.pictures) == names


def test_pictures_that_could_not_be_read_again_are_refused_and_the_old_ones_stay(home):
    upload = read_pictures(files())
    before = pictures.keep("town", upload).load().content_hash
    for bad in ({"picture": upload.picture + 7}, {"boxes": upload.boxes * np.nan}, {"names": ("x" * 301, "b", "c")}):
        with pytest.raises(DataError):
            pictures.keep("town", replace(upload, **bad), replace=True)
    long = tuple("数" * 400_000 + name for name in upload.names)
    with pytest.raises(DataError, match=r"take 3,6\d\d,\d\d\d bytes in UTF-8.*at most 1,048,576 bytes"):
        pictures.keep("town", replace(upload, names=long), replace=True)
    assert pictures.load("own:pictures:town").content_hash == before
    assert pictures.damaged() == []


def stored(home, **changes):
    """A kept set whose file is then written anew with some arrays changed; None leaves one out."""
    pictures.keep("town", read_pictures(files()))
    path = home / "own" / "pictures" / "town.npz"
    with np.load(path) as file:
        arrays = dict(file)
    if isinstance(changes.get("entry"), dict):
        changes["entry"] = np.array(json.dumps(json.loads(str(arrays["entry"])) | changes["entry"]))
    path.write_bytes(npz(**{name: a for name, a in (arrays | changes).items() if a is not None}))


AT_ONCE = {
    "no pixels": ({"pixels": None}, "has no array pixels"),
    "no title": ({"entry": {"title": ""}}, "invalid value: title"),
    "another shape": ({"entry": {"shape": "star"}}, "invalid value: shape"),
    "one name": ({"entry": {"names": ["a"]}}, "invalid value: names"),
    "fewer names": ({"entry": {"names": ["a", "b"]}}, "sizes in .* the shape"),
    "a number as a name": ({"entry": {"names": ["a", "b", 3]}}, "invalid value: names"),
    "more objects": ({"entry": {"n_objects": 4}}, "boxes in .* the shape"),
    "categories": ({"entry": {"categories": [0]}}, "invalid value: categories"),
    "no description": ({"entry": np.array("[1]")}, "has no readable description"),
    "no JSON": ({"entry": np.array("{")}, "has no readable description"),
    "wide pixels": ({"pixels": np.zeros((2, 3), np.uint8)}, "pixels in .* the shape"),
    "float categories": ({"category": np.ones(3)}, "category in .* float64"),
}
ON_READING = {
    "fewer pixels": ({"pixels": np.zeros(7, np.uint8)}, "do not have the declared sizes"),
    "negative sizes": ({"sizes": np.full((3, 2), -50)}, "do not have the declared sizes"),
    "huge sizes": ({"sizes": np.full((3, 2), 2**40)}, "do not have the declared sizes"),
    "boxes of nothing": ({"boxes": np.zeros((3, 4))}, "boxes have no extent"),
    "boxes of NaN": ({"boxes": np.full((3, 4), np.nan)}, "boxes have no extent"),
    "no such picture": ({"picture": np.array([0, 1, 9])}, "refer to missing pictures"),
    "one picture": ({"picture": np.array([1, 1, 1])}, "or to one picture only"),
    "other categories": ({"category": np.array([1, 3, 1])}, "do not match the declared categories"),
}


@pytest.mark.parametrize("kind", AT_ONCE)
def test_a_stored_file_that_is_none_is_listed_as_damaged(home, kind):
    changes, words = AT_ONCE[kind]
    stored(home, **changes)
    assert not [e for e in pictures.entries() if e.name.startswith("own:")]
    (damage,) = pictures.damaged()
    assert damage.name == "own:pictures:town"
    with pytest.raises(DataError, match=words):
        raise DataError(damage.reason)
    pictures.forget(damage.name)
    assert pictures.damaged() == []


@pytest.mark.parametrize("kind", ON_READING)
def test_a_stored_file_with_damaged_numbers_is_found_when_read(home, kind):
    changes, words = ON_READING[kind]
    stored(home, **changes)
    assert pictures.damaged() == []
    with pytest.raises(DataError, match=words):
        pictures.load("own:pictures:town")
    assert [damage.name for damage in pictures.damaged()] == ["own:pictures:town"]


def test_a_file_cut_off_or_of_another_kind_is_damaged(home):
    stored(home)
    path = home / "own" / "pictures" / "town.npz"
    for content in (path.read_bytes()[:300], b"PK", b"", archive({"a.txt": b"hi"})):
        path.write_bytes(content)
        assert [damage.name for damage in pictures.damaged()] == ["own:pictures:town"]
    path.unlink()
    path.mkdir()
    assert pictures.damaged()
    pictures.forget("own:pictures:town")
