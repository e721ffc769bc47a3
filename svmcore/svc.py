"""Support vector classification with scikit-learn's estimator API: binary, or one machine for each class against the
rest.

    min_w,b  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.phi(x_i) + b)),    C_i = C * class weight of i * sample weight of i

solved in the dual (smo.py, decomposition.py). A C of its own for every example is the weighted SVM of Osuna, Freund and
Girosi (1997). All one-vs-rest machines share one Gram source, since kernel rows do not depend on labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from svmcore.gram.products import Operand
from svmcore.gram.sources import CHUNK, Cached, Gram, Streamed
from svmcore.kernels import RBF, Kernel, Linear, Poly, Sigmoid
from svmcore.memory import MB, BudgetError, ceiling_bytes
from svmcore.model import Machine
from svmcore.solvers import decomposition, digestion
from svmcore.solvers.digestion import Digestion
from svmcore.solvers.progress import Solution

SOLVERS = ("auto", "smo", "decomposition", "smo-digestion")
KERNEL_NAMES = ("linear", "poly", "rbf", "sigmoid")
NUMBERS = 9  # of 8 bytes that the rounds hold of each example and machine
SMO_UP_TO = 2500  # examples, for one machine, up to which "auto" computes the whole Gram matrix; twice that for several


class Source(NamedTuple):
    """Where a fit takes its kernel values from."""

    gram: Gram
    square_bytes: int  # left for the Gram matrices of working sets


class SVC(ClassifierMixin, BaseEstimator):
    """C-support vector classifier.

    kernel: "linear", "poly", "rbf", "sigmoid" with `degree`, `gamma`, `coef0` meaning what they mean in scikit-learn,
    or a Kernel object, which brings its own. `tol` is the largest KKT gap left. `cache_mb` is a ceiling for all memory
    that grows with the data (None: a third of what is free). solver: "smo" holds the whole Gram matrix, "decomposition"
    works on sets of examples, "auto" chooses; "smo-digestion", or a Digestion object with its settings, is the paper's.
    Same `random_state`, same machine.

    Attributes after fit, n examples, d features, k machines (1 for two classes), m support vectors of any machine:
    classes_, support_ (m,), support_vectors_ (m, d), dual_coef_ (k, m), intercept_ (k,), n_support_ (number of
    classes,), machine_, kernel_, history_ (Progress values), n_bound_ (k,), kernel_evals_, n_iter_, gap_, converged_.
    """

    def __init__(
        self,
        kernel="rbf",
        *,
        C=1.0,
        degree=3,
        gamma="scale",
        coef0=0.0,
        class_weight=None,
        tol=1e-3,
        cache_mb=None,
        solver="auto",
        random_state=None,
    ):
        self.kernel = kernel
        self.C = C
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.class_weight = class_weight
        self.tol = tol
        self.cache_mb = cache_mb
        self.solver = solver
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None, *, monitor=None, source=None):
        """Train on X (n, d) and labels y (n,); sample_weight (n,) multiplies C, and 0 leaves an example out.

        `monitor(progress) -> bool` is called every few dozen milliseconds and ends training by returning False; what is
        there by then is a feasible machine with converged_ = False. `source`: what `gram_source` gave for these X and
        this kernel; fits that differ in C, labels or weights may share it, one after the other, so that values that
        memory can keep are computed once (kernel_evals_ then counts those of all). ValueError names what is wrong with
        the input; BudgetError (a ValueError) says what the fit would need.
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], accept_sparse="csr")
        check_classification_targets(y)
        X, weight = _float32(X), _check_sample_weight(sample_weight, X, dtype=np.float64)
        self.classes_, label = np.unique(y, return_inverse=True)
        _check_labels(self.classes_, label, weight)
        self.kernel_ = self.kernel_for(X)
        Y = one_vs_rest(label, len(self.classes_))
        box = self.box(y, label, weight)
        self._take(self._solve(X, Y, np.tile(box, (len(Y), 1)), monitor, source), X, Y, box, label)
        return self

    def decision_function(self, X):
        """f before the sign: (n,) for two classes, positive for classes_[1]; else (n, k), a column a machine."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], accept_sparse="csr", reset=False)
        values = self.machine_.decision_values(_float32(X))
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X):
        """Labels (n,): the sign of the one machine, or the machine with the largest decision value."""
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)]

    @property
    def coef_(self):
        """Weight vectors (k, d) of linear machines. AttributeError for other kernels."""
        if not isinstance(getattr(self, "kernel_", None), Linear):
            raise AttributeError("coef_ exists for a fitted machine with the linear kernel only")
        return self.dual_coef_ @ self.support_vectors_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        if not isinstance(self.kernel, Kernel) and self.kernel not in KERNEL_NAMES:
            raise ValueError(f"kernel = {self.kernel!r}; allowed: {', '.join(KERNEL_NAMES)}, or a Kernel object")
        if not isinstance(self.solver, Digestion) and self.solver not in SOLVERS:
            raise ValueError(f"solver = {self.solver!r}; allowed: {', '.join(SOLVERS)}, or a Digestion object")
        for name in ("C", "tol"):
            value = getattr(self, name)
            if not np.isscalar(value) or isinstance(value, str) or not np.isfinite(value) or value <= 0:
                raise ValueError(f"{name} = {value!r}; allowed: a number above 0")

    def kernel_for(self, X) -> Kernel:
        """The Kernel that this estimator's parameters mean for training examples X (n, d)."""
        if isinstance(self.kernel, Kernel):
            return self.kernel
        if self.kernel == "linear":
            return Linear()
        gamma = self.gamma
        if gamma == "scale":
            variance = X.var(dtype=np.float64)
            gamma = 1 / (X.shape[1] * variance) if variance > 0 else 1.0
        elif gamma == "auto":
            gamma = 1 / X.shape[1]
        elif isinstance(gamma, str):
            raise ValueError(f"gamma = {gamma!r}; allowed: 'scale', 'auto', or a number above 0")
        if self.kernel == "poly":
            return Poly(self.degree, float(gamma), float(self.coef0), normalised=False)
        return RBF(float(gamma)) if self.kernel == "rbf" else Sigmoid(float(gamma), float(self.coef0))

    def box(self, y, label, weight) -> np.ndarray:
        """C_i (n,) of examples with labels y, label numbers `label` and sample weights `weight`."""
        per_class = compute_class_weight(self.class_weight, classes=np.unique(y), y=y)
        return np.maximum(self.C * weight * per_class[label], 0)

    def gram_source(self, X, kernel: Kernel, machines: int) -> Source:
        """The Gram source that suits size and ceiling, for examples X (n, d) and so many one-vs-rest machines."""
        n = len(X)
        ceiling = ceiling_bytes(self.cache_mb)
        operand = Operand(X)
        if not np.isfinite(kernel.diag(X)).all():
            raise ValueError(f"X: values of {kernel} overflow float32; scale the features first, to unit norm say")
        fixed = operand.nbytes + NUMBERS * 8 * machines * n
        whole = 4 * n * n
        small = n <= (SMO_UP_TO if machines == 1 else 2 * SMO_UP_TO)
        if self.solver == "smo" or (self.solver == "auto" and small and fixed + whole <= ceiling):
            _check_budget(fixed + whole, ceiling, "the whole Gram matrix of solver 'smo'")
            return Source(Streamed(operand, kernel, whole=True), whole)
        if not hasattr(kernel, "fill"):
            fixed += operand.nbytes + (4 * X.size if operand.layout == "dense" else 0)  # those not settled, again
            _check_budget(fixed + 4 * CHUNK * n, ceiling, f"training on {n} examples")
            return Source(Streamed(operand, kernel), ceiling - fixed)
        _check_budget(fixed + 2 * 4 * CHUNK * n, ceiling, f"training on {n} examples")
        free = ceiling - fixed - 4 * CHUNK * n
        square = min(free // 4, min(2, machines) * whole)
        return Source(Cached(operand, kernel, free - square), square)

    @property
    def digestion(self) -> Digestion | None:
        """The settings of the paper's solver, where that is the one asked for."""
        if self.solver == "smo-digestion":
            return Digestion()
        return self.solver if isinstance(self.solver, Digestion) else None

    def digest(self, X, kernel: Kernel, Y, C, monitor=None, stage="train") -> Solution:
        """The machines of Y (k, n), C (k, n) on X (n, d) by the paper's solver, within the ceiling."""
        ceiling, operand = ceiling_bytes(self.cache_mb), Operand(X, "dense")
        fixed = operand.nbytes + 8 * 8 * Y.size
        _check_budget(fixed + 4 * len(X), ceiling, "solver 'smo-digestion'")
        free = ceiling - fixed
        return digestion.solve(
            operand, kernel, Y, C, tol=self.tol, monitor=monitor, stage=stage, cache_bytes=free, settings=self.digestion
        )

    def _solve(self, X, Y, C, monitor, source) -> Solution:
        if self.digestion:
            return self.digest(X, self.kernel_, Y, C, monitor)
        gram, square_bytes = source or self.gram_source(X, self.kernel_, len(Y))
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31))
        return decomposition.solve(gram, Y, C, tol=self.tol, monitor=monitor, square_bytes=square_bytes, seed=seed)

    def _take(self, solution, X, Y, box, label) -> None:
        support = np.flatnonzero((solution.alpha > 0).any(axis=0))
        if len(Y) == 1:  # in scikit-learn's order: by class, then by index
            support = support[np.argsort(label[support], kind="stable")]
        alpha = solution.alpha[:, support]
        self.machine_ = Machine(
            kernel=self.kernel_,
            classes=self.classes_,
            support=support,
            support_vectors=X[support],
            coef=alpha * Y[:, support],
            bias=solution.bias,
            C=float(self.C),
            bound=(alpha > 0) & (alpha >= box[support]),
        )
        self.support_, self.support_vectors_ = support.astype(np.int32), self.machine_.support_vectors
        self.dual_coef_, self.intercept_ = self.machine_.coef, self.machine_.bias
        self.n_support_ = np.bincount(label[support], minlength=len(self.classes_)).astype(np.int32)
        self.n_bound_ = self.machine_.bound.sum(axis=1)
        self.history_, self.n_iter_ = solution.history, solution.iterations
        self.gap_, self.converged_ = float(solution.gaps.max()), solution.converged
        self.kernel_evals_ = solution.history[-1].kernel_evals


def one_vs_rest(label, n_classes: int) -> np.ndarray:
    """Targets (k, n) of +1 and -1 for label numbers (n,): a row for two classes (+1 = class 1), else a row a class."""
    positive = np.arange(n_classes)[:, None] if n_classes > 2 else np.array([[1]])
    return np.where(label[None, :] == positive, 1.0, -1.0)


def _float32(X) -> np.ndarray:
    X = X.toarray() if hasattr(X, "toarray") else X
    with np.errstate(over="ignore"):
        X = np.ascontiguousarray(X, np.float32)
    if not np.isfinite(X).all():
        raise ValueError("X holds numbers beyond float32 (3e38); scale the features first")
    return X


def _check_labels(classes, label, weight) -> None:
    if len(classes) < 2:
        raise ValueError(
            f"y: the number of classes has to be greater than one; got {len(classes)} class ({classes[0]!r})"
        )
    if not (weight > 0).any():
        raise ValueError("Invalid input - all samples have zero or negative weights.")
    if len(np.unique(label[weight > 0])) < 2:
        raise ValueError("Invalid input - all samples with positive weights belong to the same class.")


def _check_budget(need: int, ceiling: int, what: str) -> None:
    if need > ceiling:
        raise BudgetError(
            f"cache_mb: {what} needs {need / MB:.0f} MB and the ceiling is {ceiling / MB:.0f} MB; allowed: cache_mb of "
            f"at least {need / MB:.0f}, fewer examples, or solver='decomposition'"
        )
