"""What a trained machine is, and how it decides (saved.py: how it is kept in a file).

    f_c(x) = sum_i coef[c, i] K(x_i, x) + bias[c],    coef[c, i] = y_i alpha_i

One row c for each class against the rest (k rows), or a single row for two classes, positive for classes[1]. All rows
share one list of m distinct support vectors, so a kernel value is computed once for all machines.
Burges, Data Mining and Knowledge Discovery 2 (1998), section 4; DeCoste and Schölkopf (2002), section 2.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from svmcore.gram.products import WHOLE_GAIN, Operand
from svmcore.gram.threads import one_blas_thread, side_by_side
from svmcore.kernels import Kernel, Linear, Precomputed
from svmcore.preprocess import Preprocessor
from svmcore.rows import FileRows, double_rows, pieces, require_float32

PIECE = 4e9  # floating-point operations between two looks at whether to go on deciding
EXACT_UP_TO = 1 << 20  # numbers in the support vectors up to which kernel values are computed in double precision
STRETCH = 1 << 18  # of these that are worked on at a time, so that they stay in cache
ROUNDING = 1e-4  # of f, that single precision may cost


@dataclass(frozen=True, eq=False)
class Machine:
    """A trained machine: k sets of coefficients over m support vectors.

    Parameters
    ----------
    kernel : Kernel
        With its numbers.
    classes : ndarray (2,) where k = 1, else (k,)
        Labels.
    support : ndarray (m,) int64
        Positions in the training set; -1 for vectors that were constructed.
    support_vectors : ndarray (m, d) float32
        As the kernel sees them.
    coef : ndarray (k, m) float64
        y alpha.
    bias : ndarray (k,) float64
        b.
    C : float
        Of examples that weigh 1.
    bound : ndarray (k, m) bool
        Whether alpha is at its C.
    parent : ndarray (m,) int64 or None, default None
        The training example that a virtual one came from.
    jitter : ndarray (m,) int32 or None, default None
        Its jitter's number in the set, 0 for the identity.
    meta : dict, default {}
        What else is to be told of it; JSON-able.
    prepare : transformer or None, default None
        What examples go through before the kernel sees them, fitted.

    Raises
    ------
    ValueError
        When shapes disagree.

    Examples
    --------
    >>> import numpy as np
    >>> from svmcore import SVC
    >>> machine = SVC(C=1).fit(np.array([[0.0], [1.0]]), ["a", "b"]).machine_
    >>> machine.predict(np.array([[-1.0], [2.0]])).tolist()
    ['a', 'b']
    """

    kernel: Kernel
    classes: np.ndarray
    support: np.ndarray
    support_vectors: np.ndarray
    coef: np.ndarray
    bias: np.ndarray
    C: float
    bound: np.ndarray
    parent: np.ndarray | None = None
    jitter: np.ndarray | None = None
    meta: dict = field(default_factory=dict)
    prepare: object = None

    def __post_init__(self):
        m, k = len(self.support), len(self.bias)
        shapes = {"bias": (k,), "coef": (k, m), "bound": (k, m), "classes": (2 if k == 1 else k,)}
        shapes |= {name: (m,) for name in ("parent", "jitter") if getattr(self, name) is not None}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"machine: {name} has shape {getattr(self, name).shape}; allowed: {shape}")
        if self.support_vectors.ndim != 2 or len(self.support_vectors) != m:
            raise ValueError(f"machine: support_vectors has shape {self.support_vectors.shape}; allowed: ({m}, d)")

    @property
    def alpha(self) -> np.ndarray:
        """(k, m) float64, the multipliers."""
        return np.abs(self.coef)

    @property
    def n_sv(self) -> np.ndarray:
        """(k,) number of support vectors of each machine."""
        return np.count_nonzero(self.coef, axis=1)

    @property
    def constructed(self) -> np.ndarray:
        """(m,) bool: vectors that are no examples, nor made from one by a jitter, as a reduced set's."""
        return self.support < 0

    @property
    def origin(self) -> np.ndarray:
        """(m,) int64: the training example that each vector is, or was made from by a jitter; -1 for neither."""
        return self.support if self.parent is None else self.parent

    @property
    def nbytes(self) -> int:
        """Bytes that it holds now, what it packs for deciding among them once it has decided."""
        arrays = (self.support, self.support_vectors, self.coef, self.bound, self.parent, self.jitter)
        packed, double = self.__dict__.get("_operand"), self.__dict__.get("_vectors")
        held = (packed.nbytes if packed else 0) + (double.X.nbytes + double.side.nbytes if hasattr(double, "X") else 0)
        return sum(array.nbytes for array in arrays if array is not None) + held

    @cached_property
    def _operand(self) -> Operand:
        return Operand(self.support_vectors)

    def decision_function(self, X) -> np.ndarray:
        """f before the sign (n, k) float64 for examples X, (n, d) or images, as training had them: prepared here,
        sparse ones and FileRows by pieces.

        ValueError for another number of features, or where the preparation is known by name only.
        """
        if isinstance(self.prepare, Demanded):
            raise ValueError(self.prepare.reason)
        if self.prepare is None:
            return self.decision_values(X)
        if isinstance(X, FileRows) or (hasattr(X, "toarray") and isinstance(self.prepare, Preprocessor)):
            n, d = X.shape
            parts = (self.prepare.transform(double_rows(X, part)) for part in pieces(max(n, 1), d))
            return np.concatenate([self.decision_values(rows) for rows in parts])
        return self.decision_values(self.prepare.transform(X))

    def decision_values(self, X, check: Callable[[], None] = lambda: None) -> np.ndarray:
        """f before the sign for rows X (n, d) that are prepared already: (n, k) float64; kernel values (n, number of
        training examples) where the kernel is precomputed. ValueError for another number of features, or examples with
        kernel values that overflow.

        `check` is called between pieces of at most some tens of milliseconds, and may raise to stop.

        Bakir, Bottou and Weston (2004), equation (2).
        """
        d = self.kernel.n if isinstance(self.kernel, Precomputed) else self.support_vectors.shape[1]
        X = X if hasattr(X, "toarray") or isinstance(X, FileRows) else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != d:
            raise ValueError(f"X has shape {X.shape}; allowed: (n, {d})")
        decision = np.repeat(self.bias[None, :], X.shape[0], axis=0)
        if len(self.support):
            for start in range(0, X.shape[0], self._rows):
                check()
                rows = X[start : start + self._rows]
                rows = rows.toarray() if hasattr(rows, "toarray") else rows
                require_float32(rows)
                with np.errstate(over="ignore", invalid="ignore"):
                    sums = self._sums(rows)
                if not np.isfinite(sums).all():
                    raise ValueError(f"X: values of {self.kernel} overflow; scale the features first, as for training")
                decision[start : start + self._rows] += sums
        return decision

    @property
    def _rows(self) -> int:
        """Examples decided between two looks at whether to go on."""
        vectors = len(self.bias) if type(self.kernel) is Linear else len(self.support)
        work = 2 * vectors * max(self.support_vectors.shape[1], 1) * self.kernel.work
        if self._in_double:
            return int(np.clip(PIECE / work, 16, 4096))
        return int(np.clip(PIECE * (WHOLE_GAIN if self._operand.layout == "whole" else 1) / work, 16, 512))

    @property
    def products(self) -> str:
        """How inner products with its vectors are made: "double", or single precision by an Operand's layout."""
        return "double" if self._in_double else self._operand.layout

    @property
    def _in_double(self) -> bool:
        """Kernel values are given, or are computed in double precision: it can afford them, or single precision would
        show in f. A machine whose vectors are all constructed stands for another and is to be fast: it cannot."""
        if isinstance(self.kernel, Precomputed) or type(self.kernel) is Linear or not len(self.support):
            return True
        if self.kernel.derives:
            return False
        to_be_fast = self.support_vectors.size > EXACT_UP_TO or (self.constructed.all() and self.kernel.compiled)
        return not to_be_fast or (self.kernel.compiled and self._rounding > ROUNDING)

    @cached_property
    def _rounding(self) -> float:
        """What single precision costs f, about: sqrt(sum_i (coef_i K_ii)^2) of the machine with the largest, times the
        rounding of one number."""
        sizes = self.kernel.diag(self.support_vectors).astype(np.float64)
        return float(np.sqrt(np.square(self.coef) @ np.square(sizes)).max(initial=0.0)) * 2.0**-24

    def _sums(self, X) -> np.ndarray:
        """f less the bias (n, k) for prepared rows X."""
        if type(self.kernel) is Linear:
            return np.asarray(X, np.float32).astype(np.float64) @ self._normal.T
        if not self._in_double:
            return self._operand.sums(X, self.kernel, self.coef)
        if isinstance(self.kernel, Precomputed):
            return self.kernel_values(X) @ self.coef.T
        X, sums = np.ascontiguousarray(X, np.float32), np.zeros((len(X), len(self.bias)))
        size = max(16, STRETCH // len(self.support))

        def add(part, some, vectors):
            sums[part] += self.kernel.exact(X[part], vectors) @ self.coef[:, some].T

        with one_blas_thread:
            for some in self._stretches:
                vectors = self._vectors if len(self._stretches) == 1 else self._columns(some)
                side_by_side(add, [(slice(start, start + size), some, vectors) for start in range(0, len(X), size)])
        return sums

    @cached_property
    def _normal(self) -> np.ndarray:
        """(k, d) float64: w = sum_i coef_i x_i, which decides alone where the kernel is linear."""
        normal = np.zeros((len(self.bias), self.support_vectors.shape[1]))
        for some in self._stretches:
            normal += self.coef[:, some] @ self.support_vectors[some].astype(np.float64)
        return normal

    @cached_property
    def _stretches(self) -> list[slice]:
        """All vectors, as many of them at a time as may lie in double precision."""
        size = max(1, EXACT_UP_TO // max(self.support_vectors.shape[1], 1))
        return [slice(first, first + size) for first in range(0, len(self.support), size)]

    def _columns(self, some: slice):
        """Those of the vectors as the kernel takes them in double precision."""
        vectors = self.support_vectors[some]
        return vectors if self.kernel.fills else self.kernel.columns(vectors)

    @cached_property
    def _vectors(self):
        return self._columns(slice(None))

    def kernel_values(self, X) -> np.ndarray:
        """K(x_i, x) of prepared rows X (n, d) with the support vectors: (n, m) float64, those that f is summed from.

        In double precision where `products` says so.
        """
        if isinstance(self.kernel, Precomputed):
            return X[:, self.support].astype(np.float64)
        X = np.ascontiguousarray(X, np.float32)
        if self._in_double:
            return self.kernel.exact(X, self.support_vectors)
        return self._operand.block(X, self.kernel).astype(np.float64)

    def predict(self, X) -> np.ndarray:
        """Labels (n,) for examples as the machine was trained on."""
        return labels(self.classes, self.decision_function(X))


def multiply_adds(machine: Machine) -> int:
    """Multiplications and additions of one decision, all machines together: an inner product for each distinct vector,
    however many machines share it, and one for each coefficient; kernels of more than an inner product count as many
    as they are worth. Burges and Schölkopf (1997), section 5 counts so.
    """
    m, d = machine.support_vectors.shape
    return round(m * d * machine.kernel.work) + int(np.count_nonzero(machine.coef))


class Demanded:
    """In the place of a preparation that a file cannot hold: what it was."""

    def __init__(self, what: str):
        self.what = what
        self.reason = (
            f"this machine was trained on examples that {what} preprocessed, and its file does not contain this "
            "preprocessing; allowed: preprocess the examples in the same way and call decision_values"
        )

    def __repr__(self) -> str:
        return self.what


def answers(f: np.ndarray) -> np.ndarray:
    """Positions (...) of the winning classes of f (..., k): by the sign of one machine, the largest of several."""
    return (f[..., 0] > 0).astype(np.intp) if f.shape[-1] == 1 else np.argmax(f, axis=-1)


def labels(classes: np.ndarray, decision: np.ndarray) -> np.ndarray:
    """Labels (n,) that decision values (n, k) stand for.

    DeCoste and Schölkopf (2002), section 4.
    """
    return classes[answers(decision)]


def lead(decision: np.ndarray) -> np.ndarray:
    """By how much each answer leads, or how far one machine's is from the plane: (n,) for decision values (n, k)."""
    if decision.shape[1] == 1:
        return np.abs(decision[:, 0])
    second, first = np.partition(decision, -2, axis=1)[:, -2:].T
    return first - second
