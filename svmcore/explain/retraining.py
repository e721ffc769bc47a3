"""Exact retraining of a machine without some examples, or with some relabelled, from its current solution.

    excluded         C_i = 0
    relabelled       y_i changes sign in the machines of both classes, and alpha_i starts at 0 there
    the resulting violation of sum_i alpha_i y_i = 0 is distributed over other alpha, so that alpha is feasible again;
    the solvers (solvers/) continue from there, to a smaller gap than in training

Leave-one-out: the decision value of x_i by the machine trained without example i. Only support vectors need retraining:
without any other example the machine is the same.

Symbols: k machines, Y, alpha, f (k, n), f = sum_j alpha_j y_j K_ij - y_i; box (n,) C of each example. For the squared
hinge loss K has a ridge r (n,), and box bounds every alpha (gram/ridged.py).
DeCoste and Schölkopf, Machine Learning 46 (2002), section 5.1, leave bounds on the error to future work; leave-one-out
by retraining: Joachims, ICML (2000).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from svmcore.estimator import Targets, float32_rows, transformed_rows
from svmcore.gram.products import Operand
from svmcore.gram.ridged import Ridged, at_bounds, ridge_of, without_bounds
from svmcore.gram.sources import Dense, Streamed, Work
from svmcore.memory import ceiling_bytes
from svmcore.model import Machine
from svmcore.rows import FileRows
from svmcore.solvers import decomposition
from svmcore.solvers.progress import Monitor, Solution, Stopped
from svmcore.solvers.session import Session
from svmcore.source import Source, computed_once, given_source, gram_source
from svmcore.svc import SVC

HELD = 10_000  # examples up to which the kernel matrix is stored, memory permitting
DOUBLE = 2e9  # n n d up to which the kernel matrix is computed in double precision
TOGETHER = 32  # machines retrained at a time
DUST = 1e-12  # relative rounding error of an alpha at a bound
FINER = 0.1  # tolerance of retraining, relative to the machine's tol


class Variant(NamedTuple):
    """Machine c with these labels y (n,) of +1 and -1 and these C (n,), 0 for an excluded example."""

    c: int
    y: np.ndarray
    C: np.ndarray


class Removals(NamedTuple):
    """t machines, each without one of its support vectors."""

    machine: np.ndarray  # (t,) int64, which of the k
    example: np.ndarray  # (t,) int64, which it is without
    alpha: np.ndarray  # (t, n) float64
    bias: np.ndarray  # (t,) float64


class Retraining:
    """A trained machine and its examples, some of which can be excluded or relabelled.

    Parameters
    ----------
    estimator : SVC
        With the parameters of the training; fitted if `machine` is None.
    X : array-like (n, d), or FileRows
        The training examples, as the estimator was given them; their Gram matrix if the kernel is "precomputed".
    y : array-like (n,)
        Their labels.
    sample_weight : array-like (n,) or None, default None
        Factors of C, as in training.
    machine : Machine or None, default None
        The trained machine; None for the estimator's. X is as the kernel of another one sees it, prepared.
    monitor : callable or None, default None
        As in SVC.fit; returning False stops by the exception `svmcore.solvers.progress.Stopped`.

    Raises
    ------
    ValueError
        For examples that the machine was not trained on, a formulation without C, or class weights with the squared
        hinge loss.
    BudgetError
        A ValueError that states how much memory is needed.

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
    >>> retraining = Retraining(machine, X, y)
    >>> without = retraining.changed(gone)
    >>> anew = SVC(RBF(1.0), C=10).fit(np.delete(X, gone, 0), np.delete(y, gone))
    >>> bool(np.abs(without.decision_function(X)[:, 0] - anew.decision_function(X)).max() < 0.01)
    True
    >>> mended = retraining.changed(labels={int(gone[0]): not y[gone[0]]})
    """

    def __init__(self, estimator: SVC, X, y, sample_weight=None, *, machine=None, monitor: Monitor | None = None):
        if estimator._nu is not None:
            raise ValueError(
                "estimator: a nu-SVC; allowed: an SVC with C, because C stays the same when examples are excluded"
            )
        self.estimator, self.monitor = estimator, monitor
        machine = estimator.machine_ if machine is None else machine
        self.prepare = machine.prepare if machine is getattr(estimator, "machine_", None) else None
        self.targets = Targets(X, np.asarray(y), sample_weight)
        self.Y, self.box, self.ridge = self.targets.Y, estimator._box(self.targets), None
        if estimator._squared:
            if estimator.class_weight is not None:
                allowed = "None if loss = 'squared_hinge', because another C changes the Gram matrix"
                raise ValueError(f"class_weight = {estimator.class_weight!r}; allowed: {allowed}")
            self.ridge, self.box = ridge_of(self.box), without_bounds(self.box[None])[0]
        self.kernel = machine.kernel
        self.alpha = np.zeros_like(self.Y)
        beyond = len(machine.support) and not 0 <= machine.support.min() <= machine.support.max() < len(self.box)
        if beyond or len(machine.bias) != len(self.Y):
            raise ValueError(f"X: {len(self.box)} examples; allowed: the training examples of the machine")
        self.alpha[:, machine.support] = np.minimum(machine.alpha, self.box[machine.support])
        self.rows, self.source = self._ridged(*self._source(X))
        self.f = self._sums(self.alpha * self.Y) - self.Y
        solution = self._solve([Variant(c, y, self.box) for c, y in enumerate(self.Y)], "to a smaller gap")
        self.alpha, self.bias = solution.alpha, solution.bias
        if self.ridge is not None and at_bounds(self.alpha, np.tile(self.box, (len(self.Y), 1))).any():
            allowed = "a positive definite kernel with loss = 'squared_hinge', or a smaller C, to keep alpha finite"
            raise ValueError(f"kernel = {self.kernel}; allowed: {allowed}")
        self.f = self._sums(self.alpha * self.Y) - self.Y

    @property
    def decision(self) -> np.ndarray:
        """f (n, k) of the training examples, as in Machine.decision_values."""
        own = 0.0 if self.ridge is None else self.alpha * self.Y * self.ridge  # decisions have no ridge
        return (self.f + self.Y + self.bias[:, None] - own).T

    def changed(self, take_out=(), labels: Mapping[int, object] | None = None) -> Machine:
        """The machine that training without some examples, and with some relabelled, would give.

        Kernel, preprocessing and C stay the same. Class weights follow the labels; balanced ones follow the remaining
        numbers of examples.

        Parameters
        ----------
        take_out : array-like of int
            Positions of the examples to exclude.
        labels : mapping of int to label, or None
            The new label of each of these positions, one of the classes.

        Returns
        -------
        Machine
            Its `support` refers to positions among all examples, as before.

        Raises
        ------
        ValueError
            For invalid positions, a label that is not a class, an example that is both excluded and relabelled, and if
            no example of a class would be left.
        """
        gone, relabelled = self._positions(take_out, "take_out"), self._positions(labels or (), "labels")
        if len(common := np.intersect1d(gone, relabelled)):
            raise ValueError(f"labels: example {common[0]} is also in take_out; allowed: only one of the two")
        y = self.targets.y.copy()
        for i in relabelled.tolist():
            if labels[i] not in self.targets.classes:
                raise ValueError(f"labels: {labels[i]!r}; allowed: {', '.join(map(str, self.targets.classes))}")
            y[i] = labels[i]
        stays = np.setdiff1d(np.flatnonzero(self.box > 0), gone)
        if missing := set(self.targets.classes.tolist()) - set(y[stays].tolist()):
            raise ValueError(f"no example of class {min(missing)!r} would be left; allowed: at least one of each class")
        targets = Targets(self.rows, y, self.targets.weight)
        box = self._weighed(y, gone)
        solution = self._solve([Variant(c, y, box) for c, y in enumerate(targets.Y)], "retraining")
        box = np.tile(box, (len(targets.Y), 1))
        machine = self.estimator._machine(self.rows, self.kernel, targets, box, solution)
        return replace(machine, prepare=self.prepare)

    def leave_one_out(self) -> np.ndarray:
        """f (n, k) of each example by machines trained without it, also if it is alone in its class. C of the others
        stays."""
        decision = self.decision
        for left in self.each_without():
            for c, i, alpha, bias in zip(*left, strict=True):
                support = np.flatnonzero(alpha)
                coef = (alpha * self.Y[c])[support]
                decision[i, c] = self.source.gram.exact_sums(np.array([i]), support, coef, Work())[0] + bias
        return decision

    def each_without(self, machines=None) -> Iterator[Removals]:
        """Machines without each support vector in turn, in batches that split no example; all machines, or these."""
        chosen = np.arange(len(self.Y)) if machines is None else np.asarray(machines)
        example, at = np.nonzero(self.alpha[chosen].T)
        first = np.flatnonzero(np.diff(example, prepend=-1))  # the first entry of each example
        every, start = np.arange(len(self.box)), 0
        for end in [*first[1:].tolist(), len(example)]:
            if start < end and (end - start >= TOGETHER or end == len(example)):
                some = chosen[at[start:end]], example[start:end]
                stage = f"leaving out {end:,} of {len(example):,}"
                variants = [Variant(c, self.Y[c], self.box * (every != i)) for c, i in zip(*some, strict=True)]
                solution = self._solve(variants, stage)
                yield Removals(*some, solution.alpha, solution.bias)
                start = end

    def _positions(self, indices, name: str) -> np.ndarray:
        """Positions of examples, sorted and unique. ValueError for invalid ones."""
        at = np.unique(np.asarray(list(indices), np.int64))
        if len(at) and not 0 <= at[0] <= at[-1] < len(self.box):
            raise ValueError(f"{name} = {at[[0, -1]].tolist()}; allowed: 0 to {len(self.box) - 1}")
        return at

    def _weighed(self, y, gone) -> np.ndarray:
        """C (n,) for labels y (n,) as in training on the remaining examples, 0 for excluded ones."""
        stays = np.setdiff1d(np.arange(len(y)), gone)
        C = np.zeros(len(y))
        if self.ridge is not None:
            C[stays] = self.box[stays]
            return C
        C[stays] = self.estimator._box(Targets(np.empty((len(stays), 0)), y[stays], self.targets.weight[stays]))
        return C

    def _source(self, X) -> tuple[np.ndarray, Source]:
        """The examples as rows, and the source of their kernel values: stored if possible, in double precision if they
        are few, as each is used many times."""
        n, k, ceiling = len(self.box), len(self.Y), ceiling_bytes(self.estimator.cache_mb)
        if self.estimator.kernel == "precomputed":
            return np.empty((n, 0), np.float32), given_source(X, ceiling, k)
        X = X if hasattr(X, "toarray") or isinstance(X, FileRows) else np.asarray(X)
        rows = float32_rows(X) if self.prepare is None else transformed_rows(self.prepare, X)
        rows = rows[:] if isinstance(rows, FileRows) else rows
        if n * n * rows.shape[1] <= DOUBLE and 12 * n * n <= ceiling / 2:
            K = Streamed(Operand(rows), self.kernel).exact(np.arange(n), np.arange(n), Work())
            return rows, Source(Dense(K), ceiling - 12 * n * n)
        if n <= HELD and 4 * n * n <= ceiling / 2:
            source = computed_once(gram_source(rows, self.kernel, "smo", ceiling, k))
            return rows, source._replace(gram=Dense(source.gram.K))
        return rows, gram_source(rows, self.kernel, "decomposition", ceiling, k)

    def _ridged(self, rows, source: Source) -> tuple[np.ndarray, Source]:
        if self.ridge is None:
            return rows, source
        if isinstance(source.gram, Dense):
            given = source.gram.given
            K = np.array(given, np.result_type(given, np.float32))  # a copy, as the given matrix must not change
            K[np.diag_indices(len(K))] += self.ridge
            return rows, source._replace(gram=Dense(K))
        return rows, source._replace(gram=Ridged(source.gram, self.ridge))

    def _sums(self, coef) -> np.ndarray:
        """sum_j coef_j K_ij (k, n) for coef (k, n)."""
        changed, sums, gram = np.flatnonzero(coef.any(0)), np.zeros(coef.shape), self.source.gram
        if isinstance(gram, Dense):
            return coef[:, changed] @ gram.given[changed].astype(np.float64)
        gram.add_to(sums, changed, coef[:, changed], gram.columns(None), Work())
        return sums

    def _start(self, variant: Variant) -> tuple[np.ndarray, np.ndarray]:
        """Feasible alpha and f (n,) of a variant. Each alpha is kept within its new box, and stays at C if it was
        there; relabelled ones start at 0. The violation of sum_i alpha_i y_i = 0 is assigned to the examples with the
        largest gain; if they have not enough room, the other side is reduced by the rest."""
        c, y, C = variant
        stood = self.alpha[c] * self.Y[c]
        alpha = np.where(self.alpha[c] < self.box, np.minimum(self.alpha[c], C), C)
        alpha[(y != self.Y[c]) | (self.alpha[c] == 0)] = 0
        moved = alpha * y - stood
        left = -float(moved[moved != 0].sum())
        f = self.f[c] + self.Y[c] - y
        f = f + self._sums(moved[None])[0] if moved.any() else f
        before, own = alpha.copy(), np.flatnonzero((y * left > 0) & (C > 0))
        own = own[np.argsort((y * f)[own], kind="stable")]
        room = C[own] - alpha[own]
        given = np.clip(abs(left) - (np.cumsum(room) - room), 0, room)
        alpha[own] = np.where(given < (1 - DUST) * room, alpha[own] + given, C[own])
        others = y * left < 0
        if (too_much := abs(left) - given.sum()) > DUST * abs(left):
            alpha[others] *= max(1 - too_much / alpha[others].sum(), 0.0)
        return alpha, f + self._sums(((alpha - before) * y)[None])[0] if left else f

    def _solve(self, variants: list[Variant], stage: str) -> Solution:
        """The machines of all variants: alpha (len(variants), n)."""
        starts = [self._start(variant) for variant in variants]
        start = tuple(np.array(arrays) for arrays in zip(*starts, strict=True))
        Y, C = (np.array([getattr(variant, name) for variant in variants]) for name in ("y", "C"))
        options = {"tol": FINER * self.estimator.tol, "stage": stage, "square_bytes": self.source.square_bytes}
        with Session(self.monitor) as session:
            solution = decomposition.solve(self.source.gram, Y, C, session, start=start, **options)
            if session.stopped:
                raise Stopped
        return solution
