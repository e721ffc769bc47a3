"""What a machine looks like while it is being trained, from the solver's intermediate alphas.

    f_c(t) = sum_i coef[c, i] K(x_i, t) + bias[c]     on a fixed sample of test examples t

A kernel value of the sample is computed once, when its training example first becomes a support vector, and kept; a
look then costs one small product. After its first five looks a run is looked at for a tenth of its time.
"""

import io
import json
import time
from typing import NamedTuple

import numpy as np

from svmcore.gram.products import Operand
from svmcore.kernels import Kernel, kernel_from_dict
from svmcore.lab.problem import Problem
from svmcore.model import labels
from svmcore.solvers.progress import Snapshot

SAMPLE, KEPT_VALUES = 500, 1 << 24  # test examples looked at; kernel values held (64 MB)
TOP = 60  # support vectors shown of each machine
PIECE = 2048  # new support vectors between two checks
LOOK_EVERY = 0.5  # seconds between looks, once a run is a few seconds old
SHARE_OF_TIME, FIRST_LOOKS = 0.1, 5  # of the run's time, once it has had its first five looks


class Top(NamedTuple):
    """The training examples with the largest alphas of one machine, falling; virtual SVs count for their parents."""

    rows: np.ndarray  # (<= 60,) of the training set
    alpha: np.ndarray
    bound: np.ndarray  # bool: at its own C; of several forms of an example, all that are SVs
    forms: np.ndarray  # of how many forms of the example alpha is the sum
    virtual: np.ndarray  # bool: whether a virtual one is among them


class Live(NamedTuple):
    """One look at a machine in training; `machine`, the one at work, is the row of `top` in `support` and `alpha`.

    whole: all of its support vectors where the examples are points of a plane, so that its regions can be drawn.
    """

    version: int
    top: tuple[Top, ...]  # of each machine
    test_index: np.ndarray  # (n_errors,) positions in the dataset of the test examples that are wrong now
    y_true: np.ndarray  # (n_errors,)
    y_pred: np.ndarray  # (n_errors,)
    n_errors: int
    n_sample: int
    split: str  # "test" | "train": the part of the dataset that test_index points into
    whole: Snapshot | None = None
    machine: int = 0

    @property
    def support(self) -> np.ndarray:
        """Training rows with the largest alpha of this machine."""
        return self.top[self.machine].rows

    @property
    def alpha(self) -> np.ndarray:
        """Their alphas."""
        return self.top[self.machine].alpha

    def of(self, machine: int) -> "Live":
        """The same look, at another machine."""
        return self._replace(machine=machine)


class Viewer:
    """Looks at one run. Belongs to the thread that trains; a Live once published is never changed."""

    def __init__(self, problem: Problem, seed: int):
        n = len(problem.X_train)
        size = min(SAMPLE, len(problem.y_test), max(50, KEPT_VALUES // n))
        self._sample = np.sort(np.random.default_rng(seed).permutation(len(problem.y_test))[:size])
        self._problem, self._kernel = problem, problem.kernel
        self._operand = Operand(problem.X_test[self._sample])
        self._operand.block(problem.X_train[:1], self._kernel)  # compiled now, not in the first look's time
        self._classes = np.unique(problem.y_train)
        self._place = np.full(n, -1, np.int64)  # training row -> its row among those of all blocks
        self._blocks: list[np.ndarray] = []  # (rows, size) float32, kernel values of the sample
        self._version, self._last, self._cost = 0, -np.inf, 0.0
        self._seen = -1, 0.0  # iterations and gap at the last look
        self._sums, self._machine = np.zeros(1), 0  # of each machine's alphas at the last look; the one at work

    def due(self, progress, final: bool) -> bool:
        """Whether there is something new to see, and the time since the last look allows another one."""
        if progress.snapshot is None or (progress.iterations, progress.gap) == self._seen:
            return False
        if final or self._version < FIRST_LOOKS:
            return True
        return time.perf_counter() - self._last >= max(LOOK_EVERY, self._cost / SHARE_OF_TIME)

    def look(self, progress, check) -> Live | None:
        """Look at the machine behind a Progress; None when its rows are not the training set's. What `check` raises."""
        started = time.perf_counter()
        snapshot = progress.snapshot()
        live = None
        if not len(snapshot.support) or snapshot.support.max() < len(self._place):
            live = self._live(snapshot, check)
        self._seen, self._last = (progress.iterations, progress.gap), time.perf_counter()
        self._cost = self._last - started
        return live

    def _live(self, snapshot, check) -> Live:
        decide = self._decide_virtual if snapshot.vectors is not None else self._decide
        predicted = labels(self._classes, decide(snapshot, check))
        sums = np.abs(snapshot.coef).sum(axis=1)
        changed = np.flatnonzero(~np.isclose(sums, self._sums, rtol=1e-9))
        self._sums, self._machine = sums, int(changed[-1]) if len(changed) else self._machine
        truth = self._problem.y_test[self._sample]
        wrong = np.flatnonzero(predicted != truth)
        self._version += 1
        made = np.zeros(len(snapshot.support), bool) if snapshot.jitter is None else snapshot.jitter > 0
        return Live(
            version=self._version,
            top=tuple(_largest(snapshot.support, *row, made) for row in zip(np.abs(snapshot.coef), snapshot.bound)),
            test_index=self._problem.test_index[self._sample[wrong]],
            y_true=truth[wrong],
            y_pred=predicted[wrong],
            n_errors=len(wrong),
            n_sample=len(truth),
            split=self._problem.test_split,
            whole=snapshot if self._problem.X_train.shape[1] == 2 else None,
            machine=self._machine,
        )

    def _decide_virtual(self, snapshot: Snapshot, check) -> np.ndarray:
        """Decision values (sample, k) of a machine of virtual support vectors; nothing is kept for the next look."""
        decision = np.zeros((len(snapshot.coef), len(self._sample)))
        for start in range(0, len(snapshot.support), PIECE):
            check()
            rows = slice(start, start + PIECE)
            decision += snapshot.coef[:, rows] @ self._operand.block(snapshot.vectors[rows], snapshot.kernel)
        return decision.T + snapshot.bias

    def _decide(self, snapshot, check) -> np.ndarray:
        """Decision values (sample, k)."""
        self._extend(snapshot.support, check)
        placed = np.zeros((len(snapshot.coef), sum(map(len, self._blocks))), np.float32)
        placed[:, self._place[snapshot.support]] = snapshot.coef
        decision, start = np.zeros((len(placed), len(self._sample)), np.float32), 0
        for block in self._blocks:
            decision += placed[:, start : start + len(block)] @ block
            start += len(block)
        return decision.T + snapshot.bias

    def _extend(self, support, check) -> None:
        """Kernel values of support vectors not seen before."""
        new = support[self._place[support] < 0]
        for start in range(0, len(new), PIECE):
            check()
            rows = new[start : start + PIECE]
            self._place[rows] = sum(map(len, self._blocks)) + np.arange(len(rows))
            self._blocks.append(self._operand.block(self._problem.X_train[rows], self._kernel))


def _largest(support, alpha, bound, made) -> Top:
    held = alpha > 0
    rows, parent = np.unique(support[held], return_inverse=True)
    free = np.bincount(parent, ~bound[held], len(rows)) > 0
    forms = np.bincount(parent, minlength=len(rows))
    virtual = np.bincount(parent, made[held], len(rows)) > 0
    alpha = np.bincount(parent, alpha[held], len(rows))
    order = np.flatnonzero(alpha >= np.partition(alpha, -TOP)[-TOP]) if len(alpha) > TOP else np.arange(len(alpha))
    order = order[np.argsort(-alpha[order], kind="stable")][:TOP]
    return Top(rows[order], alpha[order], ~free[order], forms[order], virtual[order])


SENT = {one.__name__: one for one in (Live, Top, Snapshot)}  # a look is made of them


def packed(look: Live) -> bytes:
    """A look as bytes: its arrays, and a tree of plain values in which {"array": i} stands for the i-th of them."""
    arrays: list[np.ndarray] = []

    def plain(value):
        if isinstance(value, np.ndarray):
            arrays.append(value)
            return {"array": len(arrays) - 1}
        if isinstance(value, Kernel):
            return {"kernel": value.to_dict()}
        if type(value).__name__ in SENT:
            return {"made": type(value).__name__, "of": [plain(each) for each in value]}
        if isinstance(value, tuple):
            return [plain(each) for each in value]
        return value.item() if isinstance(value, np.generic) else value

    tree = json.dumps(plain(look))
    file = io.BytesIO()
    np.savez(file, tree=np.array(tree), **{str(i): array for i, array in enumerate(arrays)})
    return file.getvalue()


def unpacked(blob: bytes) -> Live:
    """The look that `packed` has made bytes of. ValueError or KeyError for others."""
    arrays = np.load(io.BytesIO(blob), allow_pickle=False)

    def whole(value):
        if isinstance(value, list):
            return tuple(map(whole, value))
        if not isinstance(value, dict):
            return value
        if "array" in value:
            return arrays[str(value["array"])]
        return kernel_from_dict(value["kernel"]) if "kernel" in value else SENT[value["made"]](*map(whole, value["of"]))

    return whole(json.loads(str(arrays["tree"])))
