"""What every estimator of machines has in common: it checks examples and labels, publishes what was fitted, decides.

f_c(x) = sum_i coef[c, i] K(x_i, x) + bias[c]        c one machine of k: each class against the rest, or the only one
predict: argmax_c f_c(x), or the sign of the only f
"""

import warnings
from collections.abc import Callable
from math import prod

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from svmcore.kernels import Kernel
from svmcore.memory import MB, BudgetError
from svmcore.model import Machine, labels
from svmcore.preprocess import Preprocessor
from svmcore.rows import FileRows, double_rows, lost_columns, middles, pieces, require_float32
from svmcore.solvers.session import Session

NOT_GIVEN = "no_validation"  # scikit-learn's word for it


class Targets:
    """Labels y (n,) as k machines see them. Raises ValueError for fewer than two classes, or weights that leave so few.

    classes (c,), label (n,) numbers of the classes, Y (k, n) of +1 and -1, weight (n,) sample weights.
    """

    def __init__(self, X, y, sample_weight=None):
        if y.dtype.kind not in "biu":  # whole numbers always name classes, and the check takes a tenth of a tiny fit
            check_classification_targets(y)
        self.y = y
        self.weight = np.ones(len(y))
        if sample_weight is not None:
            self.weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        self.classes, self.label = np.unique(y, return_inverse=True)
        if len(self.classes) < 2:
            classes_found = f"{len(self.classes)} class ({self.classes[0]!r})"
            raise ValueError(f"y: the number of classes has to be greater than one; got {classes_found}")
        weighed = self.weight > 0
        if not weighed.any():
            raise ValueError("Invalid input - all samples have zero or negative weights.")
        if not weighed.all() and len(np.unique(self.label[weighed])) < 2:
            raise ValueError("Invalid input - all samples with positive weights belong to the same class.")
        self.Y = one_vs_rest(self.label, len(self.classes))


def checked(estimator, X, y=NOT_GIVEN, reset: bool = True):
    """Examples X (n, d), or these and labels y (n,), as scikit-learn checks them. It returns floating-point arrays and
    whole numbers as labels unchanged, but takes a tenth of a fit of 200 examples for that. Here only their sizes, their
    sum and the number of features are checked."""
    unlabelled = y is NOT_GIVEN
    if _finite(X) and (unlabelled or (type(y) is np.ndarray and y.dtype.kind in "biu" and y.shape == X.shape[:1])):
        if reset:
            has_features(estimator, X.shape[1])
        else:
            validate_data(estimator, X, reset=False, skip_check_array=True)
        return X if unlabelled else (X, y)
    return validate_data(estimator, X, y, reset=reset, dtype=[np.float64, np.float32], accept_sparse="csr")


def has_features(estimator, d: int) -> None:
    """Record that an estimator is fitted to d features without names."""
    estimator.n_features_in_ = d
    estimator.__dict__.pop("feature_names_in_", None)


def _finite(X) -> bool:
    """Whether X is an array (n, d) of finite floating-point numbers. False also where their sum overflows."""
    if type(X) is not np.ndarray or X.dtype not in (np.float32, np.float64) or X.ndim != 2 or not X.size:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


def one_vs_rest(label, n_classes: int) -> np.ndarray:
    """Targets (k, n) of +1 and -1 for label numbers (n,): a row for two classes (+1 = class 1), else a row a class."""
    positive = np.arange(n_classes)[:, None] if n_classes > 2 else np.array([[1]])
    return np.where(label[None, :] == positive, 1.0, -1.0)


def seed_of(random_state) -> int:
    """A seed for the solvers, from what scikit-learn allows for random_state; 0 for None, so that runs repeat."""
    return 0 if random_state is None else int(check_random_state(random_state).randint(2**31))


def copied_bytes(X) -> int:
    """Memory that `float32_rows` of examples X (n, d) takes beside them, which counts as part of a fit's."""
    as_it_is = isinstance(X, FileRows) or (isinstance(X, np.ndarray) and X.dtype == np.float32 and X.flags.c_contiguous)
    return 0 if as_it_is else 4 * X.shape[0] * X.shape[1]


def require_memory(need: int, ceiling: int, what: str) -> None:
    """BudgetError where `what` needs more bytes than the ceiling allows."""
    if need > ceiling:
        raise BudgetError(
            f"cache_mb: {what} needs {need / MB:.0f} MB and the ceiling is {ceiling / MB:.0f} MB; allowed: cache_mb of "
            f"at least {need / MB:.0f}, fewer examples, or solver='decomposition'"
        )


def float32_rows(X, lost: np.ndarray | None = None) -> np.ndarray:
    """X (n, d), sparse or not, as float32 rows; those of a file stay there. ValueError for numbers beyond float32; a
    warning for columns that lose in it what tells examples apart (`lost`, where they are known)."""
    lost = lost_columns(X) if lost is None else lost
    _warn_of(lost, "subtract its mean or standardise it first: Preprocessor('zscore')")
    if isinstance(X, FileRows):
        return X
    with np.errstate(over="ignore"):
        X = X.astype(np.float32).toarray() if hasattr(X, "toarray") else np.ascontiguousarray(X, np.float32)
    require_float32(X)
    return X


def rows_for(kernel_of: Callable, X) -> tuple[Kernel, Preprocessor | None, np.ndarray | FileRows]:
    """The kernel, and the rows (n, d) float32 that it sees of examples X (n, d), sparse or of a file. Columns
    whose differences float32 would round away have their median subtracted first, in double precision, where the kernel
    is centrable: by the Preprocessor, which the machine needs from then on. kernel_of(X): the kernel."""
    lost = lost_columns(X)
    if len(lost) and not isinstance(X, FileRows):
        require_float32(X.data if hasattr(X, "toarray") else X)
    if not len(lost) or not (kernel := kernel_of(X)).centrable:
        rows = float32_rows(X, lost)
        return kernel_of(rows), None, rows
    centre = centring(shift := middles(X, lost))
    remedy = "its numbers form groups far apart: replace it by two columns, the group and the position in it"
    _warn_of(lost_columns(X, shift), remedy)
    if isinstance(X, FileRows):
        return kernel, centre, X.less(shift)
    return kernel, centre, transformed_rows(centre, X)


def centring(shift: np.ndarray) -> Preprocessor:
    """A fitted Preprocessor that subtracts shift (d,) float64 in double precision."""
    centre = Preprocessor("centre")
    centre.learned_ = {0: (shift.reshape(1, -1, 1),)}
    centre.n_features_in_ = len(shift)
    return centre


def transformed_rows(prepare: Preprocessor, X) -> np.ndarray:
    """What it makes of examples X, arrays of any kind, sparse or of a file: (n, d) float32."""
    if not hasattr(X, "toarray") and not isinstance(X, FileRows):
        return prepare.transform(X)
    return np.concatenate([prepare.transform(double_rows(X, part)) for part in pieces(*X.shape)])


def _warn_of(lost: np.ndarray, remedy: str) -> None:
    """A warning that names the columns (k,) in which float32 rounds away differences."""
    if len(lost):
        columns = ", ".join(map(str, lost[:5])) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
        what = f"X: kernels compute in single precision, which rounds away differences in column {columns}"
        warnings.warn(f"{what}; {remedy}", stacklevel=4)


def image_shape_of(X, image_shape):
    """The shape of one image: that of X itself where X is given as images (n, h, w[, c]), else `image_shape`."""
    shape = () if hasattr(X, "toarray") else np.asarray(X).shape
    return shape[1:] if len(shape) > 2 else image_shape


def as_rows(X):
    """Images (n, h, w[, c]) as rows (n, d) float32; anything else as it is, for scikit-learn to check."""
    if hasattr(X, "toarray"):
        return X
    X = np.asarray(X)
    return X.astype(np.float32).reshape(len(X), prod(X.shape[1:])) if X.ndim > 2 else X


class Decider(BaseEstimator):
    """Base of what decides by the Machine that its fit ends in, on examples as that machine takes them."""

    def decision_function(self, X):
        """f before the sign: (n,) for two classes, positive for classes_[1]; else (n, k), a column a machine."""
        check_is_fitted(self, "machine_")
        values = self.machine_.decision_function(self._checked(X))
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X):
        """Labels (n,): the sign of the one machine, or the machine with the largest decision value."""
        values = self.decision_function(X)
        return labels(self.classes_, values[:, None] if values.ndim == 1 else values)

    def _checked(self, X):
        """Examples to decide on."""
        return X


class MachineEstimator(ClassifierMixin, Decider):
    """Base of estimators that train a Machine; a subclass fits and calls `_publish`."""

    def _checked(self, X):
        """Examples to decide on, (n, d) as fit had them. ValueError for NaN, or another number of features."""
        if isinstance(X, FileRows):
            return X  # whose numbers are checked where they are read, and how many by the machine
        return checked(self, X, reset=False)

    def _publish(self, machine: Machine, session: Session, *, label, gaps, iterations, ending: str) -> None:
        """The fitted attributes, in one place. gaps, iterations (k,); ending: why training ended above tol, or \"\"."""
        self.machine_, self.classes_, self.kernel_ = machine, machine.classes, machine.kernel
        self.support_, self.support_vectors_ = machine.support.astype(np.int32), machine.support_vectors
        self.dual_coef_, self.intercept_ = machine.coef, machine.bias
        self.n_support_ = np.bincount(label[machine.support], minlength=len(machine.classes)).astype(np.int32)
        self.n_bound_ = machine.bound.sum(axis=1)
        self.history_, self.kernel_evals_ = list(session.history), session.evaluations
        self.n_iter_ = np.asarray(iterations, np.int64)
        steps = f"; {session.second_order} second-order steps on free support vectors" if session.second_order else ""
        taken = f"; machines reused from fits with a smaller C: {session.taken}" if session.taken else ""
        self.strategy_ = f"{session.strategy}{steps}{taken}"
        self.gap_, self.converged_, self.ending_ = float(np.max(gaps)), not ending, ending
        if ending and not session.stopped:
            warnings.warn(ending, ConvergenceWarning, stacklevel=3)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
