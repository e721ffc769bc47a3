"""The clockwork of a run: how often it writes, how long it says is left, how slow slow motion is."""

import numpy as np
import pytest

from svmcore.lab.jobs.worker import Pace


def test_progress_is_written_sparsely():
    def lines(seconds, step):
        pace = Pace([(seconds, 0)], tol=1e-3)
        return sum(pace.should_write(age) for age in np.arange(0, seconds, step))

    assert 15 <= lines(1, 0.01) <= 25
    assert 400 < lines(3600, 0.05) < 1000


def test_time_left_starts_at_the_prediction_and_follows_the_gap():
    pace = Pace([(10, 0)], tol=1e-3)
    assert pace.eta(0) == pytest.approx(10, abs=0.01)
    for age in np.arange(0, 12, 0.1):
        pace.seen(age, 10.0 ** (-age / 5))  # reaches tol at 15 s
    assert pace.eta(12) == pytest.approx(3, rel=0.05)
    pace.seen(15.2, 1e-3)
    assert pace.eta(15.2) < 0.01


@pytest.mark.parametrize("seconds", [0.2, 10.0, 3000.0])
def test_time_left_falls_below_zero_once_the_forecast_is_used_up(seconds):
    pace = Pace([(seconds, 0)], tol=1e-3)
    assert pace.eta(1.3 * seconds) == pytest.approx(-0.3 * seconds)  # nothing was reported yet
    for age in (0.1 * seconds, 2.5 * seconds):  # a gap that stands still tells nothing
        pace.seen(age, 2.0)
    assert pace.eta(2.5 * seconds) == pytest.approx(-1.4 * seconds)


def test_time_left_knows_the_stages_to_come():
    pace = Pace([(2, 0), (8, 1)], tol=1e-3)
    for age in np.arange(0, 4, 0.05):  # the first stage takes twice its time
        pace.seen(age, max(2 * 10.0 ** (-age), 1e-3))
    assert pace.eta(4) == pytest.approx(18, rel=0.1)
    for age in np.arange(4, 12, 0.05):  # halfway through the second one, at the same pace
        pace.seen(age, 2 * 2000.0 ** (-(age - 4) / 16))
    assert pace.eta(12) == pytest.approx(8 + 2, rel=0.1)


@pytest.mark.parametrize("first", [1e-4, 1e-3, 0.03])
def test_a_first_training_of_milliseconds_does_not_set_the_pace_of_the_rest(first):
    parts = [(first, 0.0), (0.4, 0.02), *[(0.1, 0.01)] * 5]
    took = [1.5, *(2 * sum(part) for part in parts[1:])]  # the first one waits, the rest takes twice its time
    pace, begun = Pace(parts, tol=1e-3), 0.0
    for seconds in took:
        for share in np.arange(0, 1, 0.1):
            age = begun + share * seconds
            pace.seen(age, 2 * 2000.0**-share)
            assert pace.eta(age) <= 12 * (sum(took) - age) + 1
        begun += seconds
        pace.seen(begun, 1e-3)


def test_a_gap_that_rises_again_in_the_last_stage_is_no_end_of_it():
    pace = Pace([(2, 0), (40, 0)], tol=1e-3)
    for age in np.arange(0, 4, 0.05):  # the first stage takes twice its time
        pace.seen(age, max(2 * 10.0 ** (-age), 1e-3))
    for age in np.arange(4, 24, 0.05):  # the second one solves a batch every second
        pace.seen(age, max(2 * 2000.0 ** (-2 * (age % 1)), 1e-3))
    assert pace.eta(24) == pytest.approx(2 * 40 - 20, rel=0.1)


def test_slow_motion_rests_twenty_seconds_in_all():
    slow, quick = Pace([(1, 0)], 1e-3, slow_motion=True), Pace([(1, 0)], 1e-3)
    assert slow.burst(1, 300) == 1
    assert quick.burst(10, 4000) > slow.burst(10, 4000) > 50
    assert Pace([(100, 1)], tol=1e-3).burst(10, 60000) is None
    for pace, most in ((quick, 400), (slow, 1600)):
        pairs = reports = 0
        while pairs < 400_000:  # of a machine of 250 examples whose C is large
            pairs, reports = pairs + pace.burst(1, 250, pairs), reports + 1
        assert 30 < reports < most
    assert slow.eta(0) == pytest.approx(21)
    rests = []
    for gap in np.geomspace(2, 1e-3, 300):
        slow.seen(sum(rests), gap)
        rests.append(slow.rest())
    assert sum(rests) == pytest.approx(20)
    assert sum(rests[:150]) == pytest.approx(10, rel=0.01)  # halfway down, half of it
    assert max(rests) < 0.2


def test_slow_motion_keeps_rest_for_the_last_training():
    pace = Pace([(1, 0), (1, 0)], 1e-3, slow_motion=True)
    for age in (1, 2):
        pace.seen(age, 2.0)
        assert pace.rest() == 0
        pace.seen(age + 0.5, 1e-3)
        assert sum(pace.rest() for _ in range(100)) == pytest.approx(10)
