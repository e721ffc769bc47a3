"""The clockwork of a run: how often it writes, how long it says is left, how slow slow motion is."""

import numpy as np
import pytest

from svmcore.lab.pace import Pace


def test_progress_is_written_sparsely():
    def lines(seconds, step):
        pace = Pace(prior=seconds, tol=1e-3)
        return sum(pace.should_write(age) for age in np.arange(0, seconds, step))

    assert 15 <= lines(1, 0.01) <= 25
    assert lines(3600, 0.05) < 1000


def test_time_left_starts_at_the_prediction_and_follows_the_gap():
    pace = Pace(prior=10, tol=1e-3)
    assert pace.eta(0) == 10
    for age in np.arange(0, 12, 0.1):
        pace.seen(age, 10.0 ** (-age / 5))  # reaches tol at 15 s
    assert pace.eta(12) == pytest.approx(3, rel=0.05)
    pace.seen(15.2, 1e-3)
    assert pace.eta(15.2) == 0


def test_slow_motion_rests_twenty_seconds_in_all():
    pace = Pace(prior=1, tol=1e-3)
    assert pace.burst(1, 300, True) == 1
    assert pace.burst(10, 4000, False) > pace.burst(10, 4000, True) > 50
    assert Pace(prior=100, tol=1e-3).burst(10, 60000, False) is None
    rests = [pace.rest() for _ in range(300)]
    assert sum(rests) == pytest.approx(20)
    assert max(rests) == 0.2
