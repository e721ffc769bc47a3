"""A trained machine without some of its examples, exactly: retrained from where it stands.

    C_i = 0 for those that go; what they leave of sum_i alpha_i y_i = 0 goes to others, so that alpha is feasible again;
    pairs and second-order steps go on from there (solvers/), to a smaller gap than training had

Leave-one-out: what the machine that was trained without example i says of x_i. Only support vectors need it: without
any other example the machine is the same.

Symbols: k machines, Y, alpha, f (k, n), f = sum_j alpha_j y_j K_ij - y_i; box (n,) C of each example.
DeCoste and Schoelkopf, Machine Learning 46 (2002), section 5.1, leave bounds on the error to future work; leave-one-out
by retraining: Joachims, ICML (2000).
"""

from __future__ import annotations

import numpy as np

from svmcore.estimator import Targets, float32_rows
from svmcore.gram.products import Operand
from svmcore.gram.sources import Dense, Streamed, Work
from svmcore.memory import ceiling_bytes
from svmcore.model import Machine
from svmcore.solvers import decomposition
from svmcore.solvers.progress import Monitor, Solution, Stopped
from svmcore.solvers.session import Session
from svmcore.source import Source, given_source, gram_source, held
from svmcore.svc import SVC

HELD = 10_000  # examples up to which all kernel values are kept, as memory allows
DOUBLE = 2e9  # n n d up to which they are computed in double precision
TOGETHER = 32  # machines retrained at a time
DUST = 1e-12  # share of an alpha that rounding may leave of it, beside a bound
FINER = 0.1  # times the machine's tol, the gap that retraining goes to


class Retraining:
    """A trained machine and its examples, some of which can be taken out.

    Parameters
    ----------
    estimator : SVC
        With the parameters of the training; fitted, where `machine` is None.
    X : array-like (n, d)
        The examples that it was trained on; their Gram matrix where its kernel is "precomputed".
    y : array-like (n,)
        Their labels.
    sample_weight : array-like (n,) or None, default None
        Factors of C, as in training.
    machine : Machine or None, default None
        What training made; None for the estimator's.
    monitor : callable or None, default None
        As of SVC.fit; False ends what is at work by an exception, `svmcore.solvers.progress.Stopped`.

    Raises
    ------
    ValueError
        For examples that the machine was not trained on, or another formulation than that with C.
    BudgetError
        A ValueError that says what memory it would need.

    References
    ----------
    Joachims (2000), Estimating the generalization performance of an SVM efficiently.

    Examples
    --------
    >>> import numpy as np
    >>> from svmcore import RBF, SVC, Retraining
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = X[:, 0] > 0
    >>> machine = SVC(RBF(1.0), C=10).fit(X, y)
    >>> gone = machine.support_[:3]
    >>> without = Retraining(machine, X, y).without(gone)
    >>> anew = SVC(RBF(1.0), C=10).fit(np.delete(X, gone, 0), np.delete(y, gone))
    >>> bool(np.abs(without.decision_function(X)[:, 0] - anew.decision_function(X)).max() < 0.01)
    True
    """

    def __init__(self, estimator: SVC, X, y, sample_weight=None, *, machine=None, monitor: Monitor | None = None):
        if estimator._nu is not None:
            raise ValueError("estimator = a nu-SVC; allowed: one with C, which stays as it is when examples go")
        self.estimator, self.monitor = estimator, monitor
        machine = estimator.machine_ if machine is None else machine
        self.targets = Targets(X, np.asarray(y), sample_weight)
        self.Y, self.box = self.targets.Y, estimator._box(self.targets)
        self.kernel = machine.kernel
        self.alpha = np.zeros_like(self.Y)
        beyond = len(machine.support) and not 0 <= machine.support.min() <= machine.support.max() < len(self.box)
        if beyond or len(machine.bias) != len(self.Y):
            raise ValueError(f"X: {len(self.box)} examples; allowed: those that the machine was trained on")
        self.alpha[:, machine.support] = np.minimum(machine.alpha, self.box[machine.support])
        self.rows, self.source = self._source(X)
        self.f = self._sums(self.alpha * self.Y) - self.Y
        solution = self._solve([(c, ()) for c in range(len(self.Y))], "to a smaller gap")
        self.alpha, self.bias = solution.alpha, solution.bias
        self.f = self._sums(self.alpha * self.Y) - self.Y

    @property
    def decision(self) -> np.ndarray:
        """f (n, k) of the training examples, as of Machine.decision_values."""
        return (self.f + self.Y + self.bias[:, None]).T

    def without(self, indices) -> Machine:
        """The machine that training without these examples would give.

        Parameters
        ----------
        indices : array-like of int
            Positions of the examples that go, each of which may be a support vector or not.

        Returns
        -------
        Machine
            Its `support` counts as before, in all of the examples.
        """
        gone = np.unique(np.asarray(indices, np.int64))
        if len(gone) and not 0 <= gone[0] <= gone[-1] < len(self.box):
            raise ValueError(f"indices = {gone[[0, -1]].tolist()}; allowed: 0 to {len(self.box) - 1}")
        stays = np.setdiff1d(np.flatnonzero(self.box > 0), gone)
        if len(np.unique(self.targets.label[stays])) < len(self.targets.classes):
            raise ValueError(f"indices: {len(gone)} examples, which are all of a class; allowed: some of each class")
        solution = self._solve([(c, gone) for c in range(len(self.Y))], "retraining")
        box = np.tile(self.box, (len(self.Y), 1))
        return self.estimator._machine(self.rows, self.kernel, self.targets, box, solution)

    def leave_one_out(self) -> np.ndarray:
        """f (n, k) of each example by the machines that were trained without it; where an example is the only one of
        its class, what all others say."""
        decision, done = self.decision, 0
        tasks = [(c, [i]) for c, i in np.argwhere(self.alpha > 0).tolist()]
        for some in (tasks[at : at + TOGETHER] for at in range(0, len(tasks), TOGETHER)):
            solution = self._solve(some, f"leaving out {done + len(some):,} of {len(tasks):,}")
            done += len(some)
            for (c, gone), alpha, bias in zip(some, solution.alpha, solution.bias, strict=True):
                support = np.flatnonzero(alpha)
                coef = (alpha * self.Y[c])[support]
                decision[gone, c] = self.source.gram.exact_sums(np.array(gone), support, coef, Work()) + bias
        return decision

    def _source(self, X) -> tuple[np.ndarray, Source]:
        """The examples as rows, and where their kernel values come from: kept, in double precision where they are few,
        as each is used many times."""
        n, k, ceiling = len(self.box), len(self.Y), ceiling_bytes(self.estimator.cache_mb)
        if self.estimator.kernel == "precomputed":
            return np.empty((n, 0), np.float32), given_source(X, ceiling, k)
        rows = float32_rows(np.asarray(X) if not hasattr(X, "toarray") else X)
        if n * n * rows.shape[1] <= DOUBLE and 12 * n * n <= ceiling / 2:
            K = Streamed(Operand(rows), self.kernel).exact(np.arange(n), np.arange(n), Work())
            return rows, Source(Dense(K), ceiling - 12 * n * n)
        if n <= HELD and 4 * n * n <= ceiling / 2:
            source = held(gram_source(rows, self.kernel, "smo", ceiling, k))
            return rows, source._replace(gram=Dense(source.gram.blocks[0]))
        return rows, gram_source(rows, self.kernel, "decomposition", ceiling, k)

    def _sums(self, coef) -> np.ndarray:
        """sum_j coef_j K_ij (k, n) for coef (k, n)."""
        changed, sums, gram = np.flatnonzero(coef.any(0)), np.zeros(coef.shape), self.source.gram
        if isinstance(gram, Dense):
            return coef[:, changed] @ gram.given[changed].astype(np.float64)
        gram.add_to(sums, changed, coef[:, changed], gram.columns(None), Work())
        return sums

    def _start(self, c: int, gone, C) -> tuple[np.ndarray, np.ndarray]:
        """Feasible alpha and f (n,) of machine c without the examples that are gone, whose C (n,) is 0: what they had
        goes to those that gain most by it, and where these have no room the other side gives up as much."""
        y, alpha, f = self.Y[c], self.alpha[c].copy(), self.f[c]
        left = float((alpha * y)[gone].sum())
        alpha[gone] = 0
        if not np.array_equal(alpha, self.alpha[c]):
            f = f + self._sums(((alpha - self.alpha[c]) * y)[None])[0]
        before, own = alpha.copy(), np.flatnonzero((y * left > 0) & (C > 0))
        own = own[np.argsort((y * f)[own], kind="stable")]
        room = C[own] - alpha[own]
        given = np.clip(abs(left) - (np.cumsum(room) - room), 0, room)
        alpha[own] = np.where(given < (1 - DUST) * room, alpha[own] + given, C[own])
        others = y * left < 0
        if (too_much := abs(left) - given.sum()) > DUST * abs(left):
            alpha[others] *= max(1 - too_much / alpha[others].sum(), 0.0)
        return alpha, f + self._sums(((alpha - before) * y)[None])[0] if left else f

    def _solve(self, tasks, stage: str) -> Solution:
        """Machines c without the examples `gone`, for all (c, gone) of the tasks: alpha (len(tasks), n)."""
        of = [c for c, _ in tasks]
        C = np.tile(self.box, (len(tasks), 1))
        for row, (_, gone) in enumerate(tasks):
            C[row, list(gone)] = 0
        starts = [self._start(c, list(gone), C[row]) for row, (c, gone) in enumerate(tasks)]
        start = tuple(np.array(arrays) for arrays in zip(*starts, strict=True))
        how = {"tol": FINER * self.estimator.tol, "stage": stage, "square_bytes": self.source.square_bytes}
        with Session(self.monitor) as session:
            solution = decomposition.solve(self.source.gram, self.Y[of], C, session, start=start, **how)
            if session.stopped:
                raise Stopped
        return solution
