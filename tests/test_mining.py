"""Laws of bootstrapping: false alarms come from all pictures, the worst first, none twice, and teach the machine."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from svmcore import SVC, Poly
from svmcore.detection.mining import SAME, mine
from svmcore.detection.scan import scan
from svmcore.detection.suppression import overlaps
from svmcore.detection.turns import QUARTERS
from svmcore.preprocess import Preprocessor
from tests.bench.faces import rounds

HOW = {"side": 9, "stride": 2, "step": 1.4, "enlarge": 1.0, "threshold": -0.7}


def chips(n, rng):
    """Upright light bars (+1) and noise (-1), (2 n, 9, 9) uint8."""
    bars = rng.integers(0, 60, (n, 9, 9))
    bars[:, 1:8, 3:6] += 120
    return np.concatenate([bars, rng.integers(0, 180, (n, 9, 9))]).astype(np.uint8), np.repeat([1, -1], n)


def fit(X, y, number=0):
    prepare = Preprocessor("standardise", "unit-norm")
    return replace(SVC(Poly(2, 1.0, 1.0), C=10.0).fit(prepare.transform(X), y).machine_, prepare=prepare)


@pytest.fixture(scope="module")
def machine():
    return fit(*chips(60, np.random.default_rng(0)))


@pytest.fixture(scope="module")
def pictures():
    """Smooth textures, which the machine was never told of."""
    rng = np.random.default_rng(1)
    rough = [rng.uniform(0, 255, shape) for shape in ((60, 70), (45, 50), (80, 60))]
    smooth = [sum(np.roll(r, (dy, dx), (0, 1)) for dy in range(5) for dx in range(2)) / 10 for r in rough]
    return [s.astype(np.uint8) for s in smooth] + [np.full((40, 40), 50, np.uint8)]


def test_false_alarms_are_windows_of_their_pictures(machine, pictures):
    mined = mine(pictures, machine, per_picture=50, **HOW)
    assert len(mined.f) > 20
    assert mined.chips.dtype == np.uint8
    assert (mined.f >= -0.7).all()
    np.testing.assert_allclose(machine.decision_function(mined.chips)[:, 0], mined.f, atol=1e-4)
    for number, picture in enumerate(pictures):
        own = np.flatnonzero(mined.picture == number)
        seen = scan(picture, machine, **HOW)
        assert len(own) <= len(seen.f)
        if len(own):
            assert mined.f[own[0]] == seen.f.max()
            at = [np.flatnonzero((seen.boxes == box).all(axis=1))[0] for box in mined.boxes[own]]
            np.testing.assert_array_equal(seen.chips[at], mined.chips[own])
    assert mined.looked == sum(scan(p, machine, **HOW).looked for p in pictures)
    assert mined.alarms == sum(len(scan(p, machine, **HOW).f) for p in pictures)


def test_the_worst_come_first_and_pictures_take_turns(machine, pictures):
    all_of_them = mine(pictures, machine, **HOW)
    for limit in (2, 7):
        few = mine(pictures, machine, limit=limit, **HOW)
        np.testing.assert_array_equal(few.chips, all_of_them.chips[:limit])
        counts = np.bincount(few.picture, minlength=4)[:3]
        assert counts.max() - counts.min() <= 1
    for number in range(3):
        own = all_of_them.f[all_of_them.picture == number]
        assert (np.diff(own) <= 0).all()
        assert len(mine(pictures[number : number + 1], machine, per_picture=3, **HOW).f) == min(3, len(own))


def test_no_two_false_alarms_lie_on_top_of_each_other(machine, pictures):
    mined = mine(pictures, machine, **HOW)
    assert mined.alarms > len(mined.f)
    for number in range(3):
        boxes = mined.boxes[mined.picture == number]
        table = overlaps(boxes, boxes)
        assert (table[~np.eye(len(boxes), dtype=bool)] <= SAME).all()


def test_large_pictures_are_shrunk_and_boxes_are_theirs(machine, pictures):
    large = np.kron(pictures[0], np.ones((3, 3), np.uint8))
    mined = mine([large], machine, longest=70, **HOW)
    np.testing.assert_allclose(machine.decision_function(mined.chips)[:, 0], mined.f, atol=1e-4)
    assert mined.boxes[:, 2].max() > 70
    assert (mined.boxes[:, 2:] <= large.shape[::-1]).all()
    assert mined.looked == mine([pictures[0]], machine, **HOW).looked


def test_pictures_are_searched_on_their_side_too(machine, pictures):
    picture, how = pictures[0], HOW | {"step": 3.0}
    seen = [mine([np.ascontiguousarray(np.rot90(picture, k))], machine, **how) for k in range(4)]
    mined = mine([picture], machine, turns=QUARTERS, **how)
    assert len(mined.f) == sum(len(one.f) for one in seen) > len(seen[0].f)
    np.testing.assert_allclose(np.sort(mined.f), np.sort(np.concatenate([one.f for one in seen])))
    h, w = picture.shape
    for k, one in enumerate(seen):  # the first level is the picture itself: a box holds its chip, turned
        for chip, f, box in zip(one.chips, one.f, one.boxes):
            if box[2] - box[0] != 9:
                continue
            at = np.flatnonzero((mined.chips == chip).all(axis=(1, 2)) & (mined.f == f))
            found = mined.boxes[at].round().astype(int)
            turned = [np.rot90(picture[y0:y1, x0:x1], k) for x0, y0, x1, y1 in found]
            assert any(np.array_equal(t, chip) for t in turned)
    assert (mined.boxes >= -1e-9).all()
    assert (mined.boxes[:, 2:] <= np.array([w, h]) + 1e-9).all()


def test_nothing_is_mined_where_nothing_is_wrong(machine):
    empty = mine([np.full((40, 40), 50, np.uint8)], machine, **HOW | {"threshold": 1e9})
    assert empty.chips.shape == (0, 9, 9)
    assert mine([], machine, **HOW).looked == 0


def test_rounds_add_their_false_alarms_and_leave_fewer(pictures):
    X, y = chips(60, np.random.default_rng(0))
    done = list(rounds(fit, X, y, pictures, n=2, limit=12, **HOW))
    assert [each.number for each in done] == [0, 1, 2]
    assert done[-1].mined is None
    for before, after in pairwise(done):
        n = len(before.y)
        np.testing.assert_array_equal(after.chips[:n], before.chips)
        np.testing.assert_array_equal(after.chips[n:], before.mined.chips)
        assert (after.y[n:] == -1).all()
        assert (after.origin[n:] == after.number).all()
        np.testing.assert_array_equal(after.picture[n:], before.mined.picture)
    assert done[1].mined.alarms < done[0].mined.alarms
    assert (done[0].picture == -1).all()


def test_rounds_end_early_where_no_false_alarm_is_left():
    X, y = chips(60, np.random.default_rng(0))
    done = list(rounds(fit, X, y, [np.full((40, 40), 50, np.uint8)], n=3, **HOW | {"threshold": 1e9}))
    assert len(done) == 1


def test_mining_can_be_stopped(machine, pictures):
    def check():
        raise InterruptedError

    with pytest.raises(InterruptedError):
        mine(pictures, machine, check=check, **HOW)
