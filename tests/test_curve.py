"""Statistics of free-response curves against a slow count, resampling picture by picture."""

import math
import time

import numpy as np
import pytest

from svmcore.detection import curve
from svmcore.metrics import froc
from tests.cases import all_cases
from tests.naive import FreeResponse

SEEDS = range(40)


def search(seed, pictures=6, detections=60, objects=3):
    """Arguments of `trial`, with ties, duplicates, empty pictures and objects that no detection covers."""
    rng = np.random.default_rng(seed)
    tested = rng.permutation(50)[:pictures]
    n_objects = rng.integers(0, objects + 1, pictures)
    n_objects[rng.integers(pictures)] = objects
    place = rng.integers(0, max(1, pictures - 1), detections)  # the last has no detection
    owner = np.repeat(np.arange(pictures), n_objects)
    hits = np.full(detections, -1)
    for i, k in enumerate(place):
        own = np.flatnonzero(owner == k)
        if len(own) and rng.random() < 0.4:
            hits[i] = rng.choice(own)
    scores = np.round(rng.normal(size=detections) + (hits >= 0), rng.integers(0, 4))
    return scores, hits, tested[place], tested, n_objects


def drawn_times(pictures, replicates, seed):
    return np.random.default_rng(seed).multinomial(pictures, np.full(pictures, 1 / pictures), size=replicates)


@all_cases("seed", SEEDS)
def test_every_point_agrees_with_a_slow_count(seed):
    case = search(seed, pictures=1 + seed % 7, detections=(seed * 7) % 80)
    slow, fast = FreeResponse(*case), curve.trial(*case)
    counts = [0, 0.5, 1, 2, 3, 5.5, 10, 50, 1000, math.inf]
    assert curve.rates_at(fast, counts) == pytest.approx([slow.rate(a) for a in counts])
    for t in [-math.inf, math.inf, 0.123, *case[0]]:
        point = curve.at_threshold(fast, t)
        assert (point.alarms, point.found) == slow.count(t)
        assert point.rate == pytest.approx(slow.count(t)[1] / case[4].sum())
    assert curve.estimate(fast, curve.challenge, replicates=1).value == pytest.approx(slow.challenge())
    assert curve.estimate(fast, curve.area(17), replicates=1).value == pytest.approx(slow.area(17))
    assert curve.estimate(fast, curve.rate(4), replicates=1).value == pytest.approx(slow.rate(4))


@pytest.mark.parametrize("seed", range(6))
def test_each_replicate_is_the_search_of_the_pictures_drawn(seed):
    case = search(seed)
    other = (np.round(case[0] + np.random.default_rng(seed).normal(size=len(case[0])), 1), *case[1:])
    times = [
        t for t in drawn_times(6, 30, seed) if t[np.argsort(case[3])].size and t @ case[4][np.argsort(case[3])] > 0
    ]
    for statistic, of in (
        (curve.challenge, FreeResponse.challenge),
        (curve.area(20), lambda s: s.area(20)),
        (curve.rate(5), lambda s: s.rate(5)),
    ):
        a, b = (np.array([of(FreeResponse(*c).resampled(t)) for t in times]) for c in (case, other))
        first, second = curve.trial(*case), curve.trial(*other)
        alone = curve.estimate(first, statistic, replicates=30, seed=seed, level=0.8)
        assert alone == pytest.approx((of(FreeResponse(*case)), *np.quantile(a, [0.1, 0.9])))
        paired = curve.difference(first, second, statistic, replicates=30, seed=seed, level=0.8)
        gap = of(FreeResponse(*other)) - of(FreeResponse(*case))
        assert paired == pytest.approx((gap, *np.quantile(b - a, [0.1, 0.9])))


def test_the_band_is_the_interval_of_each_rate():
    fast = curve.trial(*search(3))
    counts = [0, 1, 4, 9]
    band = curve.band(fast, counts, replicates=50, seed=2)
    for i, a in enumerate(counts):
        assert (band.rate[i], band.low[i], band.high[i]) == curve.estimate(fast, curve.rate(a), replicates=50, seed=2)
    assert (band.low <= band.rate).all()
    assert (band.rate <= band.high).all()
    assert (band.low < band.high).any()


@all_cases("seed", SEEDS)
def test_the_curve_of_the_metrics_has_the_same_points(seed):
    case = search(seed)
    fast = curve.trial(*case)
    points = froc(case[0], case[1], int(case[4].sum()), 2.0)
    for t, alarms, rate in zip(*points, strict=True):
        point = curve.at_threshold(fast, t)
        assert (point.alarms / 2, point.rate) == pytest.approx((alarms, rate))


@all_cases("seed", SEEDS)
def test_thresholds_and_alarms_are_inverse(seed):
    case = search(seed)
    fast = curve.trial(*case)
    for budget in (0, 1, 2.5, 7, math.inf):
        point = curve.at_alarms(fast, budget)
        assert point == curve.at_threshold(fast, point.threshold)
        assert point.alarms <= budget
        assert point.rate == curve.rates_at(fast, [budget])[0]
        lower = case[0][case[0] < point.threshold]
        counting = [s for s in lower if curve.at_threshold(fast, s)[1:3] != point[1:3]]
        assert all(curve.at_threshold(fast, s).alarms > budget for s in counting)


@all_cases("seed", SEEDS)
def test_order_and_names_do_not_matter(seed):
    scores, hits, picture, tested, n_objects = search(seed)
    rng = np.random.default_rng(seed)
    rows, pictures, names = rng.permutation(len(scores)), rng.permutation(len(tested)), rng.permutation(100)
    renamed = np.where(hits >= 0, names[hits], -1 - rng.integers(0, 5, len(hits)))
    other = curve.trial(scores[rows], renamed[rows], picture[rows], tested[pictures], n_objects[pictures])
    same = curve.trial(scores, hits, picture, tested, n_objects)
    assert curve.estimate(same, curve.challenge, replicates=40) == curve.estimate(other, curve.challenge, replicates=40)
    counts = [0, 1, 5, 20]
    assert np.array_equal(curve.band(same, counts, replicates=40), curve.band(other, counts, replicates=40))
    assert curve.at_alarms(same, 3) == curve.at_alarms(other, 3)


def test_a_tie_of_object_and_false_alarm_counts_both():
    fast = curve.trial([0.5, 0.5], [0, -1], [0, 0], [0], [1])
    assert curve.rates_at(fast, [0, 1]).tolist() == [0.0, 1.0]
    assert curve.at_alarms(fast, 0) == (math.inf, 0, 0, 0.0)
    assert curve.estimate(fast, curve.area(4)).value == pytest.approx(3 / 4)


def test_further_detections_of_an_object_count_neither_way():
    once = curve.trial([0.9, 0.5], [0, -1], [0, 0], [0], [2])
    again = curve.trial([0.9, 0.5, 0.4, 0.95], [0, -1, 0, 0], [0, 0, 0, 0], [0], [2])
    assert curve.rates_at(again, [0, 1]).tolist() == curve.rates_at(once, [0, 1]).tolist() == [0.5, 0.5]
    assert curve.at_threshold(again, -math.inf)[1:] == (1, 1, 0.5)


def test_nothing_but_hits():
    fast = curve.trial([3.0, 2.0, 1.0], [0, 1, 2], [0, 0, 1], [0, 1, 2], [2, 1, 0])
    assert curve.rates_at(fast, [0]) == [1.0]
    assert curve.estimate(fast, curve.challenge, replicates=50) == (1.0, 1.0, 1.0)
    assert curve.at_alarms(fast, 0) == (1.0, 0, 3, 1.0)


def test_no_detection_at_all():
    fast = curve.trial([], [], [], [4, 2], [1, 2])
    assert curve.estimate(fast, curve.challenge, replicates=20) == (0.0, 0.0, 0.0)
    assert curve.at_alarms(fast, 10) == (math.inf, 0, 0, 0.0)


def test_without_objects_there_is_no_rate_and_a_page_can_say_so():
    fast = curve.trial([1.0, 2.0], [-1, -1], [0, 1], [0, 1], [0, 0])
    for statistic in (curve.challenge, curve.area(10), curve.rate(1)):
        assert all(map(math.isnan, curve.estimate(fast, statistic)))
    band = curve.band(fast, [0, 1])
    assert np.isnan([band.rate, band.low, band.high]).all()
    assert curve.at_threshold(fast, 1.5)[:3] == (1.5, 1, 0)
    assert math.isnan(curve.at_threshold(fast, 1.5).rate)
    with pytest.raises(ValueError, match="n_targets = 0"):
        froc(np.array([1.0]), np.array([-1]), 0, 1.0)


def test_replicates_that_drew_no_object_are_left_out():
    fast = curve.trial([1.0], [0], [0], [0, 1], [1, 0])
    assert curve.estimate(fast, curve.rate(0), replicates=100) == (1.0, 1.0, 1.0)


def test_one_picture_tells_of_no_spread():
    value, low, high = curve.estimate(curve.trial([1.0], [0], [0], [0], [2]), curve.rate(0))
    assert value == 0.5
    assert math.isnan(low)
    assert math.isnan(high)


def test_a_machine_differs_from_itself_by_nothing():
    fast = curve.trial(*search(1))
    assert curve.difference(fast, fast, curve.area(20), replicates=50) == (0.0, 0.0, 0.0)


def test_detections_of_objects_left_out_are_gone():
    hits = np.array([0, 1, -1, 2, 0])
    assert curve.counted(hits, [True, False, True]).tolist() == [True, False, True, True, True]
    assert curve.counted([-1, -1], []).tolist() == [True, True]
    with pytest.raises(ValueError, match="object 2 of 2 objects"):
        curve.counted(hits, [True, False])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": [1.0, math.nan]}, "scores: nan"),
        ({"scores": [1.0, math.inf]}, "scores: inf"),
        ({"scores": [1.0]}, "the same .m,. for all"),
        ({"hits": [3, 3]}, "object 3 has detections in two pictures"),
        ({"picture": [0, 7]}, r"detections in \[7\]"),
        ({"tested": [1, 1]}, "listed twice"),
        ({"n_objects": [1]}, "the same shape .p,. for both"),
        ({"n_objects": [1, -1]}, "n_objects = -1"),
        ({"tested": [], "n_objects": []}, "p at least 1"),
    ],
)
def test_what_makes_no_search_is_named(change, message):
    sound = {"scores": [1.0, 2.0], "hits": [0, -1], "picture": [0, 1], "tested": [0, 1], "n_objects": [1, 1]}
    with pytest.raises(ValueError, match=message):
        curve.trial(**sound | change)


def test_numbers_out_of_range_are_named():
    fast, other = curve.trial(*search(1)), curve.trial(*search(2))
    for call, message in (
        (lambda: curve.rates_at(fast, [-1]), r"alarms = \[-1"),
        (lambda: curve.at_alarms(fast, -2), "alarms"),
        (lambda: curve.rate(math.nan), "alarms"),
        (lambda: curve.area(0), "up_to = 0"),
        (lambda: curve.at_threshold(fast, math.nan), "threshold = nan"),
        (lambda: curve.estimate(fast, curve.challenge, level=1.0), "level = 1"),
        (lambda: curve.estimate(fast, curve.challenge, replicates=0), "replicates = 0"),
        (lambda: curve.difference(fast, other, curve.challenge), "same pictures"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_forty_two_pictures_with_ten_thousand_detections_each_take_well_under_a_second():
    rng = np.random.default_rng(0)
    objects = rng.integers(0, 30, 42)
    place = np.repeat(np.arange(42), 10_000)
    owner = np.repeat(np.arange(42), objects)
    hits = np.full(len(place), -1)
    hits[owner * 10_000 + np.arange(len(owner))] = np.arange(len(owner))
    fast = curve.trial(rng.normal(size=len(place)) + (hits >= 0), hits, place, np.arange(42), objects)
    took = []
    for _ in range(3):
        start = time.process_time()
        curve.estimate(fast, curve.challenge, replicates=1000)
        took.append(time.process_time() - start)
    assert min(took) < 1.0
