"""What is kept in memory: bounded in bytes, the least recently asked for goes first, each is read once."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from data.memo import Bounded
from svmcore.lab.store import contents
from svmcore.memory import MB, share_of_memory


def shelf(limit):
    return Bounded(lambda: limit)


def of(nbytes):
    return SimpleNamespace(nbytes=nbytes)


def test_three_stay_while_they_fit():
    kept, read = shelf(30), []
    for _ in range(3):
        for name in "abc":
            kept.get(name, lambda name=name: read.append(name) or of(10))
    assert read == ["a", "b", "c"]
    assert all(map(kept.has, "abc"))


def test_the_least_recently_asked_for_goes_first():
    kept = shelf(30)
    for name in "abcad":
        kept.get(name, lambda: of(10))
    assert [name for name in "abcd" if kept.has(name)] == ["a", "c", "d"]


def test_no_more_stay_than_it_may_hold():
    kept = Bounded(lambda: 1000, most=2)
    for name in "abcb":
        kept.get(name, lambda: of(10))
    assert [name for name in "abc" if kept.has(name)] == ["b", "c"]
    assert contents.MACHINES._most == contents.MAX_MACHINES


def test_the_last_one_stays_however_large():
    kept = shelf(30)
    for name in "ab":
        kept.get(name, lambda: of(10))
    assert kept.get("c", lambda: of(1000)).nbytes == 1000
    assert [name for name in "abc" if kept.has(name)] == ["c"]


def test_what_grows_is_measured_anew():
    kept = shelf(30)
    first = kept.get("a", lambda: of(10))
    kept.get("b", lambda: of(10))
    first.nbytes = 25
    kept.get("b", lambda: of(0))
    assert not kept.has("a")


def test_an_error_is_not_kept():
    kept = shelf(30)
    with pytest.raises(FileNotFoundError):
        kept.get("a", lambda: (_ for _ in ()).throw(FileNotFoundError))
    assert kept.get("a", lambda: of(1)).nbytes == 1


def test_many_who_ask_at_once_read_once():
    kept, read, go = shelf(30), [], threading.Event()

    def slow():
        go.wait(5)
        read.append(1)
        return of(10)

    threads = [threading.Thread(target=kept.get, args=("a", slow)) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert kept.get("b", lambda: of(1)).nbytes == 1  # meanwhile others are served
    go.set()
    for thread in threads:
        thread.join(5)
    assert read == [1]


def test_a_limit_is_a_share_of_the_free_memory_fixed_once():
    limit = share_of_memory(1e-9, least_mb=7)
    assert limit() == limit() == 7 * MB
    assert share_of_memory(0.5, least_mb=1)() > 7 * MB
    assert contents.MACHINES is not None


def test_a_machine_says_what_it_holds():
    from svmcore import SVC, Poly

    X = np.random.default_rng(0).random((2200, 784)).astype(np.float32)
    machine = SVC(Poly(2), C=100.0).fit(X, np.arange(2200) % 2).machine_
    before = machine.nbytes
    assert before >= machine.support_vectors.nbytes + machine.coef.nbytes
    machine.decision_values(X[:3])
    assert machine.nbytes == before + machine._operand.nbytes
