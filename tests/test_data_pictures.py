"""Sets of pictures: the facts of the catalogue hold, scenes repeat, folds do not leak."""

import numpy as np
import pytest

from data import NotAtHand, UnknownDataset, pictures
from data.pictures import synthetic
from data.pictures.kinds import Contents, Picture, around, leave_out


@pytest.fixture
def mirrored():
    """`mirrored(name) -> PictureSet`; skips, naming the set, when it is not at hand."""

    def get(name):
        if not pictures.entry(name).at_hand:
            pytest.skip(f"needs the pictures {name!r} in a folder of SVMLAB_DATA")
        return pictures.load(name)

    return get


def test_venus_as_published(mirrored):
    venus = mirrored("venus")
    assert sum(len(p.boxes) for p in venus.pictures[:4]) == 163
    assert sum(p.opportunities for p in venus.pictures[:4]) == 161
    a, b = venus.experiments["A"], venus.experiments["B"]
    assert (a.area, a.opportunities, a.missing) == (22232, 161, ())
    assert (b.area, b.opportunities, b.missing) == (185309, 444, ())
    assert (len(a.parts), len(b.parts), len(b.tested)) == (4, 6, 36)
    for e in (a, b):
        assert sum(venus.pictures[k].area for k in e.tested) == e.area
        assert sum(venus.pictures[k].opportunities for k in e.tested) == e.opportunities
    if len(venus.pictures) == 42:
        assert [len(venus.experiments[name].missing) for name in "CDE"] == [56, 36, 5]
        assert all(not venus.experiments[name].parts for name in "CDE")


def test_cmu_faces_as_published(mirrored):
    faces = mirrored("cmu-faces")
    X, y = faces.chips
    assert (len(faces.pictures), faces.entry.n_objects, len(faces.empty)) == (40, 169, 50)
    assert (X.shape, (y > 0).sum(), (y < 0).sum()) == ((6977, 19, 19), 2429, 4548)
    (part,) = faces.experiments["A"].parts
    assert (part.train, part.test, faces.experiments["A"].area) == ((), tuple(range(40)), 40)
    centres = [(p.image.shape, p.circles[:, :2]) for p in faces.pictures]
    assert all((c >= 0).all() and (c[:, 0] <= w).all() and (c[:, 1] <= h).all() for (h, w), c in centres)


@pytest.mark.parametrize("name", ["venus-like", "lfw-faces"])
def test_the_embedded_sets_need_no_files_and_no_network(home, monkeypatch, name):
    monkeypatch.setenv("SVMLAB_DATA", "")
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("the network was asked"))
    entry = pictures.entry(name)
    assert entry.at_hand
    loaded = entry.load()
    assert (loaded.entry.n_pictures, loaded.entry.n_objects) == (entry.n_pictures, entry.n_objects)


def test_the_small_demo_of_faces(home):
    faces = pictures.load("lfw-faces")
    X, y = faces.chips
    assert X.shape == (200, 19, 19)
    assert X.dtype == np.uint8
    assert y.tolist() == [1] * 100 + [-1] * 100
    middle = X[:, 4:15, 4:15].mean((1, 2))
    assert middle[:100].std() < middle[100:].std()  # faces are alike
    found = {p.name: len(p.boxes) for p in faces.pictures}
    assert found == {"astronaut": 1, "grace_hopper": 1, "camera": 1, "chelsea": 0}
    assert {p.name for p in faces.empty}.isdisjoint(found)
    assert all(not len(p.boxes) for p in faces.empty)


def test_what_is_not_at_hand_says_so(home, monkeypatch):
    monkeypatch.setenv("SVMLAB_DATA", "")
    assert not pictures.entry("venus").at_hand
    with pytest.raises(NotAtHand, match=r"Experiments_Images_Table is missing.*SVMLAB_DATA"):
        pictures.load("venus")
    with pytest.raises(UnknownDataset, match=r"no dataset 'mars'.*venus-like"):
        pictures.load("mars")


def test_arrays_are_read_only():
    picture = pictures.load("venus-like").pictures[0]
    for array in (picture.image, picture.boxes, picture.category):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


# --------------------------------------------------------------------------------------------------- synthetic


def test_a_scene_repeats_and_another_seed_differs():
    one, again, other = (synthetic.scene("a", seed, side=128) for seed in (3, 3, 4))
    assert (one.image == again.image).all()
    assert (one.boxes == again.boxes).all()
    assert one.boxes.shape != other.boxes.shape or (one.boxes != other.boxes).any()


def test_scenes_are_marked_as_synthetic_and_hold_what_they_say():
    scenes = pictures.load("venus-like")
    assert scenes.entry.synthetic
    assert "synthetic" in scenes.entry.title
    for p in scenes.pictures:
        assert p.image.shape == (512, 512)
        assert 15 <= len(p.boxes) <= 30
        assert p.opportunities == len(p.boxes)
        assert p.boxes.min() >= 0
        assert p.boxes.max() <= 512
        assert (p.circles[:, 2] >= 5).all()
        assert (p.circles[:, 2] <= 20).all()
    assert set(np.concatenate([p.category for p in scenes.pictures])) == {1, 2, 3, 4}
    s = scenes.experiments["S"]
    assert [len(part.test) for part in s.parts] == [2] * 4
    assert s.tested == tuple(range(8))


def test_a_dome_is_bright_on_its_left_and_a_surer_one_more_so():
    """What a category claims: the flanks differ, on average more where the label is surer."""
    step = {c: [] for c in (1, 2, 3)}
    for p in pictures.load("venus-like").pictures:
        for (x, y, r), c in zip(p.circles, p.category):
            rows = slice(round(y - r / 2), round(y + r / 2) + 1)
            left, right = (p.image[rows, round(x + s - r / 4) : round(x + s + r / 4) + 1] for s in (-r / 2, r / 2))
            if c in step and left.size and right.size:
                step[c].append(left.mean() - right.mean())
    means = [np.mean(step[c]) for c in (1, 2, 3)]
    assert means[0] > means[1] > means[2] > 2


# ------------------------------------------------------------------------------------------------------- folds


def blank(m):
    boxes = around(np.full(m, 8.0), np.full(m, 8.0), np.full(m, 2.0))
    return Picture("p", np.zeros((16, 16), np.uint8), boxes, np.ones(m, np.int64), 1.0, m)


@pytest.mark.parametrize("counts", [(1, 1), (0, 0, 3, 0, 0, 0, 2, 0, 0), (1, 0, 2), (5,) * 11])
def test_every_picture_tests_once_and_every_part_has_objects_to_train_on(counts):
    folds = leave_out(tuple(map(blank, counts)), "A", "A", 4)
    tested = [k for part in folds.parts for k in part.test]
    assert sorted(tested) == list(range(len(counts)))
    for part in folds.parts:
        assert not set(part.train) & set(part.test)
        assert sorted((*part.train, *part.test)) == list(range(len(counts)))
        assert sum(counts[k] for k in part.train) > 0
    assert (folds.area, folds.opportunities) == (len(counts), sum(counts))


def test_the_content_hash_sees_pixels_boxes_categories_folds_and_not_the_name():
    entry = pictures.entry("venus-like")

    def hashed(change=None, parts=2):
        made = [blank(2), blank(1), blank(1)]
        if change:
            image, boxes, category = (a.copy() for a in (made[0].image, made[0].boxes, made[0].category))
            {"image": image, "boxes": boxes, "category": category}[change][0] += 1
            made[0] = Picture("p", image, boxes, category, 1.0, 2)
        folds = leave_out(tuple(made), "A", "A", parts)
        return entry.described(Contents(tuple(made), {"A": folds})).content_hash

    assert hashed() == hashed()
    assert len({hashed(), hashed("image"), hashed("boxes"), hashed("category"), hashed(parts=3)}) == 5


def test_new_titles_of_experiments_leave_the_content_hash_of_stored_runs():
    scenes = tuple(synthetic.scene(f"s{k}", seed=k, side=64) for k in range(3))
    titles = (
        "A: 3 folds, each tested on a model trained on the others",
        "A: 3 parts, each tests what the others train on",
    )
    now, before = (
        pictures.PictureSet(None, scenes, {"A": leave_out(scenes, "A", title, 3)}).content_hash for title in titles
    )
    assert now == before
    assert pictures.load("lfw-faces").content_hash.startswith("d4dda33f25c0")  # of runs stored with the former title
