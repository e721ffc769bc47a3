"""Virtual SV machines as a scikit-learn estimator; what it does is in stages.py."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from svmcore.estimator import MachineEstimator, Targets, as_rows, image_shape_of
from svmcore.jitter import JitterSet, PointJitters
from svmcore.methods.virtual.stages import Stages
from svmcore.nu import NuSVC
from svmcore.preprocess import Preprocessor
from svmcore.solvers.session import Session
from svmcore.svc import SVC

SCOPES = ("machine", "union", "all", "positive", "all-positive")


class VirtualSVC(MachineEstimator):
    """Virtual SV machine; several classes are each separated from the rest.

    estimator: the SVC of the first stage; second: the SVC of the later ones, where it differs (kernel, C). jitters: a
    JitterSet or its text, or PointJitters for points in the plane. image_shape: (h, w) or (h, w, c) of the rows of X;
    None when X is given as images, or when the set is the identity alone. prepare: a transformer applied to every
    image, jittered or not, before a kernel sees it, such as Preprocessor("unit-norm"). scope: whose support vectors are
    transformed: "machine" each machine its own, "union" all machines those of all, "all" the whole training set (no
    first stage); "positive" and "all-positive" each machine its own, or all examples, of its positive class alone,
    beside the others as they are. rounds: how often.

    Attributes after fit, as of SVC where not said otherwise: classes_, base_ (the first stage's SVC; None for scope
    "all"), machine_ (with parent and jitter of every support vector, and the preparation), jitters_ (the set that
    machine_.jitter counts in), n_virtual_ (k,) size of each machine's virtual training set (0: not retrained), support_
    (m,) parents, support_vectors_, dual_coef_, intercept_, n_support_ (by the parents' class), n_bound_, kernel_,
    history_, kernel_evals_, n_iter_ (k,) and gap_ of each machine's last stage, converged_, ending_. A monitor that
    ends training leaves machines not yet retrained as they were.
    """

    def __init__(
        self,
        estimator: SVC | None = None,
        *,
        jitters: str | JitterSet | PointJitters = "box:1",
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
        shape = image_shape_of(X, self.image_shape)
        of_points = isinstance(self.jitters, PointJitters)
        jitters = self.jitters if of_points else JitterSet.parse(self.jitters, shape)
        self._check_parameters(jitters)
        X, y = validate_data(self, as_rows(X), y, dtype=np.float32)
        if of_points and X.shape[1] != 2:
            raise ValueError(f"jitters = {jitters} move points in the plane; X has {X.shape[1]} features, allowed: 2")
        targets = Targets(X, y, sample_weight)
        self.prepare_ = None if self.prepare is None else self._preparation(jitters).fit(X)
        with Session(monitor) as session:
            run = Stages(self, jitters, X, targets, session)
            run.first_stage()
            for _ in range(self.rounds):
                if not session.stopped:
                    run.virtual_stage()
            machine = run.assemble(run.shares)
        self.base_, self.jitters_ = run.base, run.jitters
        self.n_virtual_ = np.concatenate([np.full(len(share.machines), share.examples) for share in run.shares])
        ends = {"gaps": run.gaps, "iterations": run.iterations, "ending": run.ending}
        self._publish(machine, session, label=targets.label, **ends)
        return self

    def prepared(self, X: np.ndarray) -> np.ndarray:
        """Rows X (n, d) as the kernel sees them."""
        return X if self.prepare_ is None else np.asarray(self.prepare_.transform(X), np.float32)

    def _preparation(self, jitters: JitterSet):
        """`prepare`, unfitted; a Preprocessor that was not told the image shape is told it."""
        prepare = clone(self.prepare)
        if isinstance(prepare, Preprocessor) and prepare.image_shape is None:
            prepare.set_params(image_shape=jitters.image_shape)
        return prepare

    def _checked(self, X):
        return validate_data(self, as_rows(X), dtype=np.float32, reset=False)

    def _check_parameters(self, jitters: JitterSet) -> None:
        for name in ("estimator", "second"):
            svc = getattr(self, name)
            if svc is not None and (not isinstance(svc, SVC) or isinstance(svc, NuSVC)):
                raise ValueError(f"{name} = {svc!r}; allowed: an SVC of svmcore, or None")
            try:
                (svc or SVC())._check_parameters()
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
            if svc is not None and svc.kernel == "precomputed":
                raise ValueError(f"{name}: kernel = 'precomputed'; allowed: a kernel of images, as jitters change them")
        if self.scope not in SCOPES:
            raise ValueError(f"scope = {self.scope!r}; allowed: {', '.join(SCOPES)}")
        least = 1 if self.scope.startswith("all") else 0
        if not isinstance(self.rounds, int | np.integer) or self.rounds < least:
            raise ValueError(f"rounds = {self.rounds!r}; allowed: a whole number from {least}")
        if jitters.image_shape is None and len(jitters) > 1:
            raise ValueError(
                "image_shape = None; allowed: (height, width) or (height, width, channels), or X as images"
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
