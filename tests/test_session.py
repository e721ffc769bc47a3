"""A session: the first error of any machine is raised at once, stop and limits hold, memory is used again; threads."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock
from scipy import sparse
from sklearn.datasets import make_classification

from svmcore import RBF, SVC, BudgetError
from svmcore.gram import threads
from svmcore.gram.products import Operand
from svmcore.gram.sources import Streamed
from svmcore.solvers import decomposition, smo
from svmcore.solvers.progress import Standing, Stopped
from svmcore.solvers.session import REPORT_SECONDS, Part, Session, ending


@pytest.fixture(scope="module")
def ten_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 8)).astype(np.float32)
    return X, rng.integers(0, 10, 900)


def test_the_first_error_of_a_machine_is_raised_at_once(ten_classes, monkeypatch):
    """All ten machines used to be solved before the error of the first one showed."""
    begun = []

    def broken(problem, *arguments):
        if len(problem.y) != len(ten_classes[1]):  # a run of the app that an earlier test has left at work
            return solve(problem, *arguments)
        begun.append(1)
        if len(begun) == 1:
            raise MemoryError("no room")
        return solve(problem, *arguments)

    solve = smo.solve
    monkeypatch.setattr(smo, "solve", broken)
    with pytest.raises(MemoryError, match="no room"):
        SVC(RBF(1.0), C=100).fit(*ten_classes)
    assert len(begun) <= 3  # the two at work, and one that may just have begun


@pytest.mark.parametrize("burst", [None, 50])
def test_what_the_monitor_raises_ends_the_fit_at_once(ten_classes, burst):
    asked = []

    def monitor(progress):
        asked.append(progress)
        if progress.iterations > 0:
            raise OSError("disk full")
        return True

    monitor.burst = burst
    with pytest.raises(OSError, match="disk full"):
        SVC(RBF(1.0), C=100).fit(*ten_classes, monitor=monitor)
    late = [progress for progress in asked if progress.iterations > 0]
    assert len(late) <= 2  # each of the two threads may have been about to report


def test_an_only_machine_is_solved_in_the_thread_that_fits_which_goes_on_reporting():
    here, asked = set(), []
    session = Session(lambda progress: asked.append(progress) or len(asked) < 3)

    def solve():
        here.add(threading.get_ident())
        while session.see(1, lambda: None):
            time.sleep(0.001)

    with pytest.raises(Stopped):
        session.side_by_side(solve, [()], 2)
    assert here == {threading.get_ident()}
    assert 2 * REPORT_SECONDS < session.seconds < 10
    assert asked[-1].iterations > asked[0].iterations > 1


def test_a_machine_that_may_not_go_on_is_counted_alone(ten_classes):
    with pytest.warns(match="10 of 10 machines"):
        machine = SVC(RBF(1.0), C=100, max_iter=3).fit(*ten_classes)
    assert machine.n_iter_.tolist() == [3] * 10
    assert machine.history_[-1].iterations == 30


def test_no_count_is_lost_between_threads():
    """Iterations and second-order steps were added without a lock, or under locks of different owners."""
    session, interval = Session(), sys.getswitchinterval()

    def work():
        for _ in range(3000):
            session.see(1, lambda: None)
            session.count(iterations=2, second_order=3)
            Part(session, lambda: None).count(evaluations=1, iterations=1)

    workers = [threading.Thread(target=work) for _ in range(4)]
    sys.setswitchinterval(1e-6)
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
    finally:
        sys.setswitchinterval(interval)
    assert (session.iterations, session.second_order, session.evaluations) == (48_000, 36_000, 12_000)


@pytest.mark.parametrize("gaps", [[np.nan], [1e-4, np.nan], [np.inf, 1e-4]])
def test_a_gap_that_is_no_number_is_not_at_tol(gaps):
    said = ending(np.array(gaps), 1e-3, np.zeros(len(gaps), int), 100)
    assert "too large for floating-point numbers" in said
    assert not ending(np.full(len(gaps), 1e-4), 1e-3, np.zeros(len(gaps), int), 100)


def test_why_a_machine_ended_says_the_way_out():
    gaps, taken = np.array([1.0, 1e-4]), np.array([100, 100])
    assert "1 of 2 machines ended at a gap of 1, above tol = 0.001" in ending(gaps, 1e-3, taken, 100)
    assert "after max_iter = 100 pairs; use more pairs, a smaller C" in ending(gaps, 1e-3, taken, 100)
    futile, cramped = np.array([True, False]), np.array([True, False])
    assert "second-order steps reduce the gap further; use a smaller C" in ending(gaps, 1e-3, taken, 200, futile)
    assert "a larger cache_mb, a smaller C" in ending(gaps, 1e-3, taken, 200, futile, cramped)
    assert "a larger cache_mb" not in ending(gaps, 1e-3, taken, 200, futile, ~cramped)


def test_memory_is_used_again_and_given_back():
    session = Session()
    with session.memory(1000) as first, session.memory(10) as second:
        addresses = {first.ctypes.data, second.ctypes.data}
    assert len(addresses) == 2
    with session.memory(900) as again:
        assert again.ctypes.data == first.ctypes.data
        assert len(again) >= 900
    with session.memory(10**6):
        assert session._free == []  # what does not fit would only add to it
    with session.memory(10) as small:
        assert len(small) == 10
        assert session._free == []
    session.forget_memory()
    assert session._free == []


def test_only_the_thread_that_fits_reports():
    reports = []
    session = Session(lambda progress: reports.append(threading.get_ident()) or True)
    worker = threading.Thread(target=session.check)
    worker.start()
    worker.join()
    assert reports == []
    session.check()
    assert reports == [threading.get_ident()]
    session.stopped = True
    with pytest.raises(Stopped):
        session.check()


@pytest.mark.parametrize("calls", [1, 2, 30])
@pytest.mark.parametrize("in_pool", [False, True])
def test_who_attends_to_work_in_pieces_is_asked_between_two_and_ends_it(calls, in_pool):
    """Work that no session checks could not be stopped before its end."""
    done, now = [], set()

    def piece(i):
        now.add(i)
        time.sleep(0.002)
        now.discard(i)
        done.append(i)

    def no():
        if len(done) >= 3:
            raise InterruptedError

    def all_pieces():
        threads.side_by_side(piece, [(i,) for i in range(calls)])

    def in_a_thread_of_the_pool():
        threads.handed_on(threads._pool(threads._priority()), all_pieces).result()

    run = in_a_thread_of_the_pool if in_pool else all_pieces
    with threads.attended(no):
        if calls < 3:
            run()
            assert sorted(done) == list(range(calls))
            return
        with pytest.raises(InterruptedError):
            run()
    assert 3 <= len(done) < calls
    assert not now  # memory that a piece writes to may be another's as soon as the error is out


def test_threads_at_work_on_every_core_compute_by_themselves_and_the_last_one_on_all(monkeypatch):
    monkeypatch.setattr(threads, "CORES", 2)
    session, both, alone = Session(), threading.Barrier(2, timeout=10), threading.Event()
    found = {}

    def whose():
        seen = []
        threads.side_by_side(lambda i: seen.append(threading.get_ident()), [(i,) for i in range(4)])
        return set(seen) == {threading.get_ident()}

    def task(name):
        both.wait()
        found[name] = whose()
        both.wait()
        if name == "last":
            alone.wait(10)
            found["alone"] = whose()

    def handed_on(*arguments):
        future = threads.handed_on(*arguments)
        future.add_done_callback(lambda _: alone.set())
        return future

    monkeypatch.setattr("svmcore.solvers.session.handed_on", handed_on)
    session.side_by_side(task, [("first",), ("last",)], 2)
    assert found == {"first": True, "last": True, "alone": False}


def test_what_one_of_the_machines_at_work_asks_to_be_done_side_by_side_is_done_in_its_thread():
    session, done = Session(), []

    def inner(name):
        done.append((name, threading.get_ident()))

    def outer(names):
        session.side_by_side(inner, [(name,) for name in names], 2)
        done.append((names, threading.get_ident()))

    session.side_by_side(outer, [("ab",), ("cd",)], 2)
    owner = dict(done)
    assert owner["a"] == owner["b"] == owner["ab"] != threading.get_ident()
    assert owner["c"] == owner["d"] == owner["cd"]


def test_a_report_that_lasts_holds_the_machines_at_work():
    """A pause is a report that lasts."""
    times, spans = [], []

    def monitor(progress):
        if len(spans) < 3:
            spans.append((time.perf_counter(), time.sleep(0.1) or time.perf_counter()))
        return len(times) < 10**6

    def work():
        while len(spans) < 3:
            session.check()
            times.append(time.perf_counter())

    session = Session(monitor)
    session.side_by_side(work, [(), ()], 2)
    for begun, ended in spans:
        assert sum(begun + 0.01 < t < ended for t in times) == 0


def test_iterations_and_news_of_a_burst_are_told_by_the_same_report():
    """A report between the two told the iterations of a burst whose alphas it did not show yet."""
    waiting, news = [], []

    def monitor(progress):
        if not waiting:
            waiting.append(threading.Thread(target=session.see, args=(7, lambda: news.append(7))))
            waiting[0].start()
            waiting[0].join(0.1)
            assert (session.iterations, news) == (0, [])
        return True

    session = Session(monitor)
    session.check()
    waiting[0].join()
    assert (session.iterations, news) == (7, [7])


def test_a_part_keeps_how_its_own_machines_stand(ten_classes):
    X, y = ten_classes
    session = Session()
    whole = Standing((1.0,), 0.0, 0, 0, None)
    session.begin("all", lambda: whole)
    part = Part(session, lambda: whole)
    Y = np.where(y == 3, 1.0, -1.0)[None]
    solution = decomposition.solve(Streamed(Operand(X), RBF(1.0)), Y, np.ones_like(Y), part)
    assert part.standing().gaps == pytest.approx(solution.gaps, abs=1e-12)
    assert part.standing().n_sv == np.count_nonzero(solution.alpha)
    assert {progress.stage for progress in session.history} == {"all"}
    assert session.history[-1].gaps == (1.0,)
    assert session.iterations == solution.iterations.sum()
    assert session.evaluations > 0


def test_costs_of_a_shared_source_are_those_of_the_fit_that_asked(ten_classes):
    X, y = ten_classes
    gram = Streamed(Operand(X), RBF(1.0))
    Y = np.where(y == np.arange(10)[:, None], 1.0, -1.0)
    costs = []
    for _ in range(2):
        session = Session()
        decomposition.solve(gram, Y, np.ones_like(Y), session)
        costs.append(session.evaluations)
    assert costs[0] == costs[1] > 0


def test_fits_may_share_a_source_at_the_same_time(ten_classes):
    X, y = ten_classes
    source = SVC(RBF(0.5)).shared_source(X, 10)
    alone = [SVC(RBF(0.5), C=C).fit(X, y).decision_function(X[:50]) for C in (0.5, 5)]
    found = {}

    def fit(C):
        found[C] = SVC(RBF(0.5), C=C).fit(X, y, source=source).decision_function(X[:50])

    both = [threading.Thread(target=fit, args=(C,)) for C in (0.5, 5)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join(60)
    np.testing.assert_allclose(found[0.5], alone[0], atol=5e-3)
    np.testing.assert_allclose(found[5], alone[1], atol=5e-3)


def _fit_in_a_fork(queue):
    X, y = make_classification(1500, 30, random_state=0)
    queue.put(int(SVC(RBF(0.1)).fit(X, y).n_support_.sum()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_after_a_fit_can_fit():
    """Threads do not survive a fork: the child used to wait for the parent's for ever."""
    X, y = make_classification(1500, 30, random_state=0)
    here = int(SVC(RBF(0.1)).fit(X, y).n_support_.sum())
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_fit_in_a_fork, args=(queue,))
    child.start()
    child.join(60)
    stuck = child.is_alive()
    child.kill()
    assert not stuck
    assert queue.get() == here


FORKS = """
import os, signal, sys, threading, time
import numpy as np
from svmcore import RBF, SVC
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 60)).astype(np.float32)
y = np.sign(X[:, 0] + rng.normal(size=3000))
SVC(RBF(0.05)).fit(X[:400], y[:400])
def fits():
    while True:
        SVC(RBF(0.05)).fit(X, y)
threading.Thread(target=fits, daemon=True).start()
time.sleep(0.5)
for _ in range(8):
    child = os.fork()
    if not child:
        signal.alarm(30)
        SVC(RBF(0.05)).fit(X[:400], y[:400])
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
os._exit(0)
"""


@pytest.mark.ci
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_forks_while_another_thread_fits_end():
    """One in twenty waited for ever for a thread of OpenBLAS's, before the child was there."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], check=True, timeout=120)


def _compile_in_a_fork():
    with global_compiler_lock:
        os._exit(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_another_thread_compiles_can_compile():
    """The child waited for ever for a thread of the parent's to let go of the compiler."""
    compiling, ends = threading.Event(), threading.Event()

    def compiles():
        with global_compiler_lock:
            compiling.set()
            ends.wait(0.3)

    thread = threading.Thread(target=compiles)
    thread.start()
    assert compiling.wait(10)
    child = multiprocessing.get_context("fork").Process(target=_compile_in_a_fork)
    child.start()
    child.join(20)
    stuck = child.is_alive()
    child.kill()
    thread.join(10)
    assert not stuck
    assert child.exitcode == 0


TYPES = """
import numpy as np
import svmcore
from numba.core.typing.typeof import typeof_impl
before = set(typeof_impl.registry)
svmcore.SVC(svmcore.RBF(1.0)).fit(np.arange(8.0)[:, None], [0, 1] * 4)
print(set(typeof_impl.registry) - before)
"""


@pytest.mark.ci
def test_a_first_fit_adds_no_types_to_those_that_other_threads_read():
    """A page that decided while another one fitted for the first time: "dictionary changed size during iteration"."""
    done = subprocess.run([sys.executable, "-c", TYPES], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.ci
@pytest.mark.skipif(sys.platform != "linux", reason="affinity and priority of threads are Linux's")
def test_cores_are_those_that_the_process_may_use():
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    code += "; from svmcore.gram import threads; print(threads.CORES)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


@pytest.mark.skipif(sys.platform != "linux", reason="priority of threads is Linux's")
def test_a_page_does_not_get_the_threads_of_a_run():
    """The pool's threads used to keep the low priority of whoever had asked first."""
    found = {}

    def ask(nice):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)
        seen = []
        threads.side_by_side(lambda i: seen.append(threads._priority()), [(0,), (1,), (2,), (3,)])
        found[nice] = set(seen)

    base = threads._priority()
    lower = min(base + 7, 19)
    for nice in (lower, base):
        thread = threading.Thread(target=ask, args=(nice,))
        thread.start()
        thread.join(10)
    assert found == {lower: {lower}, base: {base}}


def test_sparse_examples_count_as_the_rows_that_they_become():
    """They used to become dense rows outside the budget."""
    X = sparse.random_array((3000, 5000), density=0.001, format="csr", random_state=np.random.default_rng(0))
    y = np.arange(3000) % 2
    with pytest.raises(BudgetError, match=r"sparse.*57 MB.*ceiling is 20 MB"):
        SVC(RBF(1.0), cache_mb=20).fit(X, y)
    few, dense = X[:200], X[:200].toarray()
    one, other = SVC(RBF(1.0), C=10).fit(few, y[:200]), SVC(RBF(1.0), C=10).fit(dense, y[:200])
    np.testing.assert_allclose(
        one.decision_function(X[200:900]), other.decision_function(X[200:900].toarray()), atol=1e-6
    )


def test_a_copy_in_single_precision_counts():
    X, y = np.random.default_rng(0).normal(size=(3000, 5000)), np.arange(3000) % 2
    with pytest.raises(BudgetError, match=r"float64.*57 MB.*ceiling is 20 MB"):
        SVC(RBF(1.0), cache_mb=20).fit(X, y)


@pytest.mark.parametrize("seed", [0, 1])
def test_examples_that_rounds_bring_up_to_date_are_prepared_one_kind_at_a_time(seed, monkeypatch):
    """Two kinds of them took a second share of X beyond the ceiling."""
    X, y = make_classification(6000, 20, n_informative=8, n_classes=3, flip_y=0.1, random_state=seed)
    made = []

    def columns(self, cols, of=Streamed.columns):
        assert not [one for one in (ref() for ref in made) if one is not None]
        found = of(self, cols)
        made.extend([] if found is self.operand else [weakref.ref(found)])
        return found

    monkeypatch.setattr(Streamed, "columns", columns)
    SVC(RBF(0.05), solver="decomposition", cache_mb=20).fit(X, y)
    assert len(made) > 3


def test_cancel_is_seen_within_a_fifth_of_a_second_everywhere():
    X, y = make_classification(4000, 60, n_informative=30, random_state=1)
    for solver in ("auto", "smo-digestion"):
        times = []
        SVC(RBF(0.05), C=10, solver=solver, cache_mb=100).fit(X[:400], y[:400])  # compiles, where nobody has yet

        def monitor(progress, times=times):
            times.append(time.process_time())  # of all threads: a busy machine is no slow answer
            return len(times) < 200

        SVC(RBF(0.05), C=10, solver=solver, cache_mb=100).fit(X, y, monitor=monitor)
        assert np.quantile(np.diff(times), 0.98) < 0.2


def test_each_stage_reports_as_it_begins_and_then_when_a_report_is_due(monkeypatch):
    monkeypatch.setattr("svmcore.solvers.session.REPORT_SECONDS", 3600.0)
    stages = []
    with Session(lambda progress: stages.append(progress.stage) or True) as session:
        for stage in ("first", "second"):
            session.begin(stage, lambda: Standing((), 0.0, 0, 0, None))
            for _ in range(3):
                session.check_when_due()
    assert stages == ["first", "second"]
