"""Tables whose columns lie far from 0, beside scikit-learn in double precision.

untrue    features that `zscore` standardises otherwise than StandardScaler does: given as an array, or read from a
          text, kept as a dataset and prepared by a recipe; decision values on what it made that are not
          scikit-learn's; more test errors than scikit-learn's own; an SVC of the table as it comes that decides
          otherwise than scikit-learn's, and warns of nothing: as an array, sparse, or in a file
"""

from __future__ import annotations

import tempfile
import time
import warnings
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from sklearn import svm
from sklearn.preprocessing import StandardScaler

from data import catalogue
from data.loaders.upload import opened
from svmcore import RBF, SVC, FileRows, Kernel, Linear
from svmcore.lab import train
from svmcore.lab.presets import RECIPES
from svmcore.preprocess import Preprocessor
from tests.bench.truth.outcome import Outcome, told
from tests.homes import new_home

CLOSE = 1e-5  # standard deviations, of what was given in double precision
ROUNDED = 1.1e-3  # of what was read: that much of a column's deviation may be rounded away
SAME = 2e-3  # of the largest |f|: decision values of machines of the same rows
FAR = {
    "Julian day": lambda rng, n: 2_460_400 + rng.uniform(0, 60, n),
    "whole Julian day": lambda rng, n: 2_460_400.0 + rng.integers(0, 60, n),
    "Unix seconds": lambda rng, n: 1.7e9 + rng.uniform(0, 10 ** rng.uniform(1, 6), n),
    "whole Unix seconds": lambda rng, n: 1.7e9 + rng.integers(0, 600, n),
    "milliseconds": lambda rng, n: 1.7e12 + rng.uniform(0, 6e5, n).round(),
    "pressure": lambda rng, n: 101_325 + 10 ** rng.uniform(-2, 1.5) * rng.normal(size=n),
    "year": lambda rng, n: rng.integers(1990, 2025, n).astype(float),
    "price": lambda rng, n: 1e6 + rng.normal(size=n),
    "kelvin": lambda rng, n: 273.15 + 0.01 * rng.normal(size=n),
    "below 0": lambda rng, n: -5e7 + 3 * rng.normal(size=n),
    "far": lambda rng, n: 20_000 + rng.uniform(0, 0.001, n),
}
NEAR = {
    "plain": lambda rng, n: rng.normal(size=n),
    "small": lambda rng, n: 1e-8 * rng.normal(size=n),
    "constant": lambda rng, n: np.full(n, rng.choice([0.1, 1 / 3, 101_325.1])),
}


@dataclass(frozen=True)
class Problem:
    """A table X (n, d) float64 with labels y (n,) of "a" and "b"."""

    names: tuple[str, ...]
    X: np.ndarray
    y: np.ndarray
    kernel: Kernel  # of standardised features
    C: float

    def solved(self, limit: float, beside: bool) -> Outcome:
        started = time.perf_counter()
        with new_home(), warnings.catch_warnings(action="ignore"):
            faults = [*self.given(), *self.recipe(), *self.as_it_comes()]
        return told(faults, time.perf_counter() - started)

    def given(self):
        """The array itself, its first half learned from."""
        half = len(self.X) // 2
        expected = StandardScaler().fit(self.X[:half]).transform(self.X[half:])
        prepare = Preprocessor("zscore").fit(self.X[:half])
        for fitted, how in ((prepare, "fitted"), (Preprocessor.from_dict(prepare.to_dict()), "stored")):
            yield from self.apart(fitted.transform(self.X[half:]), expected, CLOSE, f"zscore, {how}")

    def recipe(self):
        """The table as a reader uploads it, and a recipe on what was kept of it."""
        lines = [",".join((*self.names, "label"))]
        lines += [",".join((*map(repr, row), label)) for row, label in zip(self.X.tolist(), self.y, strict=True)]
        read = opened("far.csv", "\n".join(lines).encode()).read(label="label")
        name = catalogue.keep("far", read.arrays, read.features).name
        asked = {"dataset": name, "preprocess": ("zscore",), "kernel": self.kernel, "C": self.C, "tol": 1e-6}
        recipe = RECIPES["moons"].replace(n_train=None, n_test=len(self.y) // 3, **asked)
        problem = train.prepare(recipe)
        rows, held = problem.train_index, problem.test_index
        scaler = StandardScaler().fit(self.X[rows])
        for at, prepared in ((rows, problem.X_train), (held, problem.X_test)):
            yield from self.apart(prepared, scaler.transform(self.X[at]), ROUNDED, "the recipe")
        test = train.judge(recipe, train.fit(recipe, problem)).test
        same = theirs(self.kernel, self.C, problem.X_train.astype(float), self.y[rows])
        f = same.decision_function(problem.X_test.astype(float))
        apart = np.abs(f - test.decision[:, 0]).max() / np.abs(f).max()
        if not apart <= SAME and free(same, self.C):
            yield f"decision values of the recipe differ by {apart:.2g} of the largest"
        own = theirs(self.kernel, self.C, scaler.transform(self.X[rows]), self.y[rows])
        f = own.decision_function(scaler.transform(self.X[held]))
        sure = np.abs(f) > SAME * np.abs(f).max()  # a plane may go through a whole year
        ours, wrong = (np.count_nonzero(sure & (y != self.y[held])) for y in (test.y_pred, own.classes_[1 * (f > 0)]))
        if abs(ours - wrong) > allowed(len(held)):
            yield f"{ours} test errors of {len(held)}, scikit-learn has {wrong}"

    def as_it_comes(self):
        """The column that varies least, for a kernel that is as wide, and a number that stands for none in some;
        LIBSVM, whose distances are made of squares, is given it less its median."""
        varied = np.where(np.ptp(self.X, axis=0) > 0, self.X.std(axis=0) / np.abs(self.X).max(axis=0), np.inf)
        column, half = self.X[:, [int(np.argmin(varied))]], len(self.X) // 2
        column[7] *= len(column) % 2
        near = column - np.median(column)
        wide = np.median(np.abs(near))
        kernel, C = (RBF(0.5 / wide**2), self.C) if self.kernel != Linear() else (Linear(), self.C / wide**2)
        other = theirs(kernel, C, near[:half], self.y[:half])
        f = other.decision_function(near[half:])
        sure = np.abs(f) > SAME * np.abs(f).max()
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/column.npy", column[:half])
            rows = FileRows.open(f"{folder}/column.npy")
            for how, given in {"array": column[:half], "sparse": csr_matrix(column[:half]), "file": rows}.items():
                with warnings.catch_warnings(record=True) as warned:
                    warnings.simplefilter("always")
                    machine = SVC(kernel, C=C, tol=1e-6).fit(given, self.y[:half])
                unlike = np.count_nonzero(sure & (machine.predict(column[half:]) != other.classes_[1 * (f > 0)]))
                if unlike > allowed(half) and not warned and not other.fit_status_:
                    yield f"{how}: {unlike} of {len(f)} predictions as the column comes are not scikit-learn's"

    def apart(self, prepared, expected, allowed, what):
        """What differs by more than is allowed, by column."""
        worst = (np.abs(prepared - expected) / np.maximum(np.abs(expected), 1)).max(axis=0)
        for name, by in zip(self.names, worst, strict=True):
            if not by <= allowed:
                yield f"{what}: {name} is off by {by:.2g} standard deviations"


def theirs(kernel: Kernel, C: float, X, y):
    how = {"gamma": kernel.gamma} if hasattr(kernel, "gamma") else {}
    return svm.SVC(kernel=kernel.name, C=C, tol=1e-6, max_iter=2_000_000, **how).fit(X, y)


def free(machine, C: float) -> bool:
    """Whether the threshold is settled by a multiplier below C, and the fit came to its end."""
    return bool((np.abs(machine.dual_coef_) < C * (1 - 1e-9)).any()) and not machine.fit_status_


def allowed(n: int) -> float:
    """So many of n answers may differ where rows do by rounding."""
    return 2 + 0.03 * n


def offsets(rng) -> Problem:
    """Tables whose columns lie far from 0, beside scikit-learn in double precision."""
    n, d = int(10 ** rng.uniform(1.8, 2.7)), int(rng.integers(1, 5))
    kinds = [str(rng.choice(list(FAR))) for _ in range(d)]
    kinds += [str(rng.choice(list(NEAR)))] if rng.random() < 0.5 else []
    columns = {f"{kind} {at}": (FAR | NEAR)[kind](rng, n) for at, kind in enumerate(kinds)}
    X = np.column_stack(list(columns.values()))
    told_by = StandardScaler().fit_transform(X)[:, int(rng.integers(d))]
    kernel = Linear() if rng.random() < 0.4 else RBF(float(10 ** rng.uniform(-1, 0.5)) / len(kinds))
    value = np.abs(told_by) - 0.7 if rng.random() < 0.4 and kernel != Linear() else told_by
    y = np.where(value + rng.choice([0.0, 0.1, 0.5]) * rng.normal(size=n) > 0, "a", "b")
    for part in (slice(0, n // 2), slice(n // 2, n)):  # both classes wherever something is learned
        y[part][:8] = ["a", "b"] * 4
    return Problem(tuple(columns), X, y, kernel, float(10 ** rng.uniform(-1, 2)))
