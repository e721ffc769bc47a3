"""Laws of svmcore.detection.suppression, beside loops that say what is meant."""

import numpy as np
import pytest

from svmcore.detection import suppression
from svmcore.detection.suppression import grown, overlaps, supported, suppressed
from tests.cases import all_cases


def naive_iou(a, b):
    """By counting the cells of a fine grid: corners are whole numbers."""
    cells = [{(x, y) for x in range(int(c[0]), int(c[2])) for y in range(int(c[1]), int(c[3]))} for c in (a, b)]
    union = len(cells[0] | cells[1])
    return len(cells[0] & cells[1]) / union if union else 0.0


def naive_suppressed(boxes, f, iou, centre):
    kept = []
    for i in sorted(range(len(f)), key=lambda i: (-f[i], i)):
        x, y = (boxes[i][0] + boxes[i][2]) / 2, (boxes[i][1] + boxes[i][3]) / 2
        near = [
            naive_iou(boxes[i], boxes[k]) > iou
            or (centre and boxes[k][0] < x < boxes[k][2] and boxes[k][1] < y < boxes[k][3])
            for k in kept
        ]
        if not any(near):
            kept.append(i)
    return kept


def random_boxes(n, seed):
    rng = np.random.default_rng(seed)
    corner, size = rng.integers(0, 30, (n, 2)), rng.integers(0, 14, (n, 2))
    return np.hstack([corner, corner + size]).astype(float), np.round(rng.normal(size=n), 1)


def test_overlap_is_shared_over_joint_area():
    a, _ = random_boxes(25, 0)
    b, _ = random_boxes(20, 1)
    found = overlaps(a, b)
    np.testing.assert_allclose(found, [[naive_iou(p, q) for q in b] for p in a], atol=1e-12)
    np.testing.assert_allclose(found, overlaps(b, a).T)
    assert overlaps(a[:0], b).shape == (0, 20)


@all_cases("seed", range(8))
@all_cases(("iou", "centre"), [(0.2, True), (0.2, False), (0.0, False), (1.0, True), (1.0, False)])
def test_the_surest_stay(seed, iou, centre):
    boxes, f = random_boxes(40, seed)
    assert suppressed(boxes, f, iou=iou, centre=centre).tolist() == naive_suppressed(boxes, f, iou, centre)


def test_long_lists_are_worked_through_in_pieces(monkeypatch):
    boxes, f = random_boxes(300, 9)
    whole, voted, asked = suppressed(boxes, f), supported(boxes, f), []
    monkeypatch.setattr(suppression, "PAIRS", 5000)
    np.testing.assert_array_equal(suppressed(boxes, f, check=lambda: asked.append(1)), whole)
    assert len(asked) > 1
    np.testing.assert_array_equal(supported(boxes, f, check=lambda: asked.append(1)), voted)
    assert len(asked) > 10
    np.testing.assert_array_equal(suppressed(boxes, f, most=5), whole[:5])


@pytest.mark.parametrize("seed", range(8))
def test_a_higher_threshold_only_takes_boxes_away(seed):
    boxes, f = random_boxes(60, seed)
    kept = suppressed(boxes, f)
    for threshold in np.unique(f):
        above = np.flatnonzero(f >= threshold)
        alone = above[suppressed(boxes[above], f[above])]
        np.testing.assert_array_equal(alone, kept[f[kept] >= threshold])


def test_every_dropped_box_has_its_reason_among_those_kept():
    boxes, f = random_boxes(80, 3)
    kept = suppressed(boxes, f, iou=0.3, centre=False)
    assert (np.diff(f[kept]) <= 0).all()
    table = overlaps(boxes[kept], boxes[kept])
    assert (table[~np.eye(len(kept), dtype=bool)] <= 0.3).all()
    dropped = np.setdiff1d(np.arange(80), kept)
    assert (overlaps(boxes[dropped], boxes[kept]).max(axis=1) > 0.3).all()


@pytest.mark.parametrize("seed", range(4))
def test_support_is_counted_among_all_boxes(seed):
    boxes, f = random_boxes(40, seed)
    counts = [1 + sum(naive_iou(a, b) > 0.15 for j, b in enumerate(boxes) if j != i) for i, a in enumerate(boxes)]
    assert max(counts) > 2
    np.testing.assert_allclose(supported(boxes, f, weight=0.7, iou=0.15), f + 0.7 * np.log(counts))
    np.testing.assert_array_equal(supported(boxes, f, weight=0), f)
    assert supported(boxes[:0], f[:0]).shape == (0,)


def test_nothing_stays_of_nothing():
    assert suppressed(np.empty((0, 4)), np.empty(0)).tolist() == []
    assert suppressed(np.array([[0, 0, 2, 2.0]]), np.array([-5.0])).tolist() == [0]


def test_growing_keeps_centres_and_multiplies_sides():
    boxes, _ = random_boxes(10, 5)
    large = grown(boxes, 1.8)
    np.testing.assert_allclose(large[:, :2] + large[:, 2:], boxes[:, :2] + boxes[:, 2:])
    np.testing.assert_allclose(large[:, 2:] - large[:, :2], 1.8 * (boxes[:, 2:] - boxes[:, :2]))
    np.testing.assert_allclose(grown(large, 1 / 1.8), boxes)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: suppressed(np.zeros((3, 4)), np.zeros(2)), r"f has shape \(2,\); allowed: \(3,\)"),
        (lambda: suppressed(np.zeros((3, 5)), np.zeros(3)), r"boxes has shape \(3, 5\)"),
        (lambda: suppressed(np.zeros((1, 4)), np.zeros(1), iou=1.5), "iou = 1.5; allowed"),
        (lambda: supported(np.zeros((3, 4)), np.zeros(2)), r"f has shape \(2,\); allowed: \(3,\)"),
        (lambda: grown(np.zeros((1, 4)), 0), "factor = 0; allowed"),
    ],
)
def test_what_cannot_be_is_named(call, says):
    with pytest.raises(ValueError, match=says):
        call()
