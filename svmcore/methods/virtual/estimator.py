"""Virtual SV machines as a scikit-learn estimator; what it does is in stages.py."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from svmcore.jitter import JitterSet
from svmcore.methods.virtual.stages import Stages
from svmcore.svc import SVC

SCOPES = ("machine", "union", "all")


class VirtualSVC(ClassifierMixin, BaseEstimator):
    """Virtual SV machine.

    estimator: the SVC of the first stage; second: the SVC of the later ones, where it differs (kernel, C). jitters: a
    JitterSet or its text. image_shape: (h, w) or (h, w, c) of the rows of X; None when X is given as images. prepare: a
    transformer applied to every image, jittered or not, before a kernel sees it, such as Preprocessor("unit-norm").
    scope: whose support vectors are transformed: "machine" each machine its own, "union" all machines those of all,
    "all" the whole training set (no first stage). rounds: how often.

    Attributes after fit: classes_, base_ (the first stage's SVC; None for scope "all"), machine_ (with parent and
    jitter of every support vector), jitters_ (the set that machine_.jitter counts in), n_virtual_ (k,) size of each
    machine's virtual training set (0: not retrained), support_ (m,) parents, support_vectors_, dual_coef_, intercept_,
    n_bound_, kernel_, history_, kernel_evals_, converged_. A monitor that ends training leaves machines not yet
    retrained as they were.
    """

    def __init__(
        self,
        estimator: SVC | None = None,
        *,
        jitters: str | JitterSet = "box:1",
        image_shape: tuple[int, ...] | None = None,
        prepare=None,
        scope: str = "machine",
        rounds: int = 1,
        second: SVC | None = None,
    ):
        self.estimator = estimator
        self.jitters = jitters
        self.image_shape = image_shape
        self.prepare = prepare
        self.scope = scope
        self.rounds = rounds
        self.second = second

    def fit(self, X, y, sample_weight=None, *, monitor=None) -> VirtualSVC:
        """Train on images X, (n, d) or (n, h, w[, c]), with labels y (n,).

        `monitor` as for SVC.fit; stages are named "base" and "virtual", with the class where a machine is solved alone.
        ValueError names a parameter that is not allowed.
        """
        shape = tuple(np.shape(X)[1:]) if np.ndim(X) > 2 else self.image_shape
        self._check_parameters(shape)
        X = _rows(X)
        self.prepare_ = None if self.prepare is None else clone(self.prepare).fit(X)
        run = Stages(self, JitterSet.parse(self.jitters, shape), X, y, sample_weight, monitor)
        run.first_stage()
        for _ in range(self.rounds):
            if run.converged:
                run.virtual_stage()
        self.classes_, self.base_ = run.classes, run.base
        self.machine_, self.jitters_ = run.assemble(run.shares), run.jitters
        self.kernel_, self.converged_ = run.kernel, run.converged
        self.history_, self.kernel_evals_ = run.history, run.evaluations
        self.support_, self.support_vectors_ = self.machine_.support, self.machine_.support_vectors
        self.dual_coef_, self.intercept_ = self.machine_.coef, self.machine_.bias
        self.n_bound_ = self.machine_.bound.sum(axis=1)
        self.n_virtual_ = np.concatenate([np.full(len(share.machines), share.examples) for share in run.shares])
        return self

    def decision_function(self, X) -> np.ndarray:
        """f before the sign for images X: (n,) for two classes, positive for classes_[1]; else (n, k)."""
        check_is_fitted(self, "machine_")
        values = self.machine_.decision_values(self.prepared(_rows(X)))
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X) -> np.ndarray:
        """Labels (n,) of images X."""
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)]

    def prepared(self, X: np.ndarray) -> np.ndarray:
        """Rows X (n, d) as the kernel sees them."""
        return X if self.prepare_ is None else self.prepare_.transform(X)

    def _check_parameters(self, shape) -> None:
        if self.scope not in SCOPES:
            raise ValueError(f"scope = {self.scope!r}; allowed: {', '.join(SCOPES)}")
        least = 1 if self.scope == "all" else 0
        if not isinstance(self.rounds, int | np.integer) or self.rounds < least:
            raise ValueError(f"rounds = {self.rounds!r}; allowed: a whole number from {least}")
        if shape is None:
            raise ValueError(
                "image_shape = None; allowed: (height, width) or (height, width, channels), or X as images"
            )


def _rows(X) -> np.ndarray:
    X = np.asarray(X, np.float32)
    return X.reshape(len(X), -1)
