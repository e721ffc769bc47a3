"""BLAS keeps to one thread while any thread of ours is inside, whichever thread was the first."""

import threading

import numpy as np
from threadpoolctl import threadpool_info

from svmcore import RBF, SVC
from svmcore.gram.threads import one_blas_thread
from tests.gate import until


def blas():
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}


def elsewhere(work):
    """work() in a thread of its own; what it gives."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


def inside():
    with one_blas_thread:
        return blas()


def test_any_thread_holds_blas_to_one_thread_after_another_one_did():
    before = blas()
    for _ in range(2):
        assert inside() == {1}
        assert blas() == before
        assert elsewhere(inside) == {1}
        until(lambda: blas() == before, 10)  # what other tests left behind may hold it for a moment


def test_one_thread_may_enter_and_another_one_leave_last():
    before, entered, leave = blas(), threading.Event(), threading.Event()

    def other():
        with one_blas_thread:
            entered.set()
            leave.wait(60)
            return blas()

    with one_blas_thread:
        found = []
        thread = threading.Thread(target=lambda: found.append(other()))
        thread.start()
        assert entered.wait(60)
    leave.set()
    thread.join()
    assert found == [{1}]
    assert blas() == before
    assert elsewhere(inside) == {1}


def test_fits_in_threads_after_one_in_the_main_thread():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y, seen = X[:, 0] > 0, []

    def fit():
        return SVC(RBF(1.0)).fit(X, y, monitor=lambda progress: seen.append(blas()) or True).dual_coef_

    first = fit()
    assert np.array_equal(elsewhere(fit), first)
    assert np.array_equal(elsewhere(fit), first)
    assert {frozenset(each) for each in seen} == {frozenset({1})}
