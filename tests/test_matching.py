"""Matching of detections to the truth against loops over pairs."""

import math

import numpy as np
import pytest

from svmcore.detection.matching import by_centre, by_overlap, first_of
from svmcore.detection.suppression import overlaps
from tests import naive
from tests.cases import all_cases


def boxes(rng, n, size=14, field=60):
    corner = rng.integers(-5, field, (n, 2))
    return np.concatenate([corner, corner + rng.integers(1, size, (n, 2))], axis=1).astype(float)


def middle(box):
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


@all_cases("seed", range(10))
@all_cases("least", [0, 6.5, 13])
def test_by_centre_takes_the_nearest_object_in_reach(seed, least):
    rng = np.random.default_rng(seed)
    found, truth = boxes(rng, 40), boxes(rng, seed * 2)

    def fits(d, o):
        distance = math.dist(middle(d), middle(o))
        radius = max(o[2] - o[0], o[3] - o[1]) / 2
        return distance if distance <= max(radius, least) else None

    assert by_centre(found, truth, least).tolist() == [naive.covered(d, truth, fits) for d in found]


@all_cases("seed", range(10))
@all_cases("least", [0, 0.1, 0.3, 0.5])
def test_by_overlap_takes_the_object_of_largest_overlap(seed, least):
    rng = np.random.default_rng(seed)
    found, truth = boxes(rng, 40, field=20), boxes(rng, seed * 2, field=20)
    shared = np.array([[naive.shared_cells(a, b) for b in truth] for a in found]).reshape(40, len(truth))
    assert overlaps(found, truth) == pytest.approx(shared)

    def fits(d, o):
        share = naive.shared_cells(d, o)
        return -share if share > 0 and share >= least else None

    assert by_overlap(found, truth, least).tolist() == [naive.covered(d, truth, fits) for d in found]


@pytest.mark.parametrize("seed", range(5))
def test_the_first_on_each_object_and_all_on_none(seed):
    rng = np.random.default_rng(seed)
    for hit in (rng.integers(-1, 6, 30), np.full(4, -1), np.zeros(3, int), np.empty(0, int)):
        expected = [at < 0 or at not in hit[:k] for k, at in enumerate(hit)]
        assert first_of(hit).tolist() == expected


def test_several_detections_may_cover_one_object():
    truth = np.array([[0, 0, 10, 10], [100, 100, 110, 110]])
    found = np.array([[1, 0, 11, 10], [0, 1, 10, 11], [50, 50, 60, 60]])
    assert by_centre(found, truth, 0).tolist() == by_overlap(found, truth, 0.5).tolist() == [0, 0, -1]


def test_a_detection_matches_the_nearest_even_where_a_larger_object_reaches_too():
    truth = np.array([[0, 0, 60, 60], [40, 25, 50, 35]])
    assert by_centre(np.array([[40, 26, 48, 34]]), truth, 0).tolist() == [1]


def test_no_detections_and_no_truth():
    for match in (by_centre, by_overlap):
        assert match(np.empty((0, 4)), np.ones((2, 4)), 1).shape == (0,)
        assert match(np.ones((2, 4)), np.empty((0, 4)), 1).tolist() == [-1, -1]
    assert overlaps(np.zeros((1, 4)), np.zeros((1, 4))).tolist() == [[0.0]]
