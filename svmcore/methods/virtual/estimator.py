"""Virtual SV machines as a scikit-learn estimator; what it does is in stages.py."""

import os
from dataclasses import KW_ONLY, dataclass
from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from svmcore.allowed import above, check, one_of, whole
from svmcore.estimator import MachineEstimator, Targets, as_rows, image_shape_of, rows_for
from svmcore.files import Checkpoint
from svmcore.jitter import JitterSet, PointJitters
from svmcore.methods.virtual.stages import Stages
from svmcore.nu import NuSVC
from svmcore.preprocess import Preprocessor
from svmcore.rows import lost_columns, require_float32
from svmcore.solvers.session import Session
from svmcore.svc import SVC

SCOPES = ("machine", "union", "all", "positive", "all-positive")
RANKS = ("margin", "random")
DRAWN_BY = ("auto", "smo", "decomposition")  # solvers that go on from where machines stand


@dataclass(eq=False, repr=False)
class VirtualSVC(MachineEstimator):
    """Virtual SV machine; several classes are each separated from the rest.

    Parameters
    ----------
    estimator : SVC or None, default None
        Of the first stage; None for one as it comes.
    jitters : str, JitterSet or PointJitters, default "box:1"
        What leaves the class as it is: a jitter set of images, its text, or moves of points in the plane.
    image_shape : tuple of int or None, default None
        (h, w) or (h, w, c) of the rows of X; None where X is given as images, or the set is the identity alone.
    prepare : transformer or None, default None
        What every image, jittered or not, goes through before a kernel sees it, such as Preprocessor("unit-norm").
    scope : {"machine", "union", "all", "positive", "all-positive"}, default "machine"
        Whose support vectors are transformed: each machine's own, those of all machines, or the whole training set (no
        first stage); the last two take examples of the positive class alone, beside the others as they are.
    rounds : int, default 1
        How often; 0 leaves the first stage.
    second : SVC or None, default None
        Of the later stages, where its kernel or C differs.
    keep : float, default 1.0
        The share of the copies that a stage trains on, beside the support vectors themselves; with draws, of those
        that violate a margin.
    rank : {"margin", "random"}, default "margin"
        Which: those with the least y f by the machines before, or some.
    draws : int, default 0
        Above 0, with scope "union": forms drawn by the seed of `estimator` instead of all that there are, of which the
        machines keep those that tell something, in as many rounds as that takes; jitters may then be far more than
        memory has room for, such as "random:1000".

    Attributes
    ----------
    base_ : SVC or None
        The first stage; None for scope "all".
    machine_ : Machine
        With the parent and the jitter of every support vector, and the preparation.
    jitters_ : JitterSet or PointJitters
        The set in which `machine_.jitter` counts.
    n_virtual_ : ndarray (k,)
        Size of each machine's virtual training set; 0 for one that was not retrained.
    drawn_ : ndarray (rounds, 5)
        With draws: forms drawn so far, those of the round, violators among these, examples held, support vectors.
    went_on_ : str
        Where this fit went on from a checkpoint, or why it could not; empty where it found none.
    support_ : ndarray (m,)
        Parents, as indices of the training set.
    n_support_ : ndarray (number of classes,)
        Support vectors by their parents' class.
    gap_ : float
        Of each machine's last stage the largest gap; this and all other attributes as of SVC.

    References
    ----------
    Schölkopf, Burges and Vapnik (1996): virtual support vectors.
    DeCoste and Schölkopf (2002), section 3.2.
    Burges and Schölkopf (1997), section 6: the copies that matter.
    Loosli, Canu and Bottou (2007): more copies than can be stored, of which few are kept.

    Examples
    --------
    >>> from svmcore import Poly, SVC, VirtualSVC
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> virtual = VirtualSVC(SVC(Poly(5, 1e-3, 1), C=10), jitters="plus:1", image_shape=(8, 8)).fit(X[:200], y[:200])
    >>> virtual.score(X[200:], y[200:]) > virtual.base_.score(X[200:], y[200:])
    True
    """

    estimator: SVC | None = None
    _: KW_ONLY
    jitters: str | JitterSet | PointJitters = "box:1"
    image_shape: tuple[int, ...] | None = None
    prepare: object = None
    scope: str = "machine"
    rounds: int = 1
    second: SVC | None = None
    keep: float = 1.0
    rank: str = "margin"
    draws: int = 0

    def fit(
        self,
        X,
        y,
        sample_weight=None,
        *,
        groups=None,
        monitor=None,
        base: SVC | None = None,
        checkpoint: str | os.PathLike | Checkpoint | None = None,
    ) -> "VirtualSVC":
        """Train on images and labels, first on them as they are, then on transformed support vectors.

        Parameters
        ----------
        X : array-like (n, d) or (n, h, w[, c])
            Images, as rows of pixels or in their shape.
        y : array-like (n,)
            Labels.
        sample_weight : array-like (n,) or None, default None
            As for SVC; virtual examples weigh as much as their parents.
        groups : array-like (n,) or None, default None
            Which rows belong together, such as views of one picture: the first stage trains on the first row of each
            group, and the others of its support vectors' groups are virtual examples, jittered like these. Rows of a
            group that differ in their label are groups of their own.
        monitor : callable or None, default None
            As for SVC; stages are named "base" and "virtual", with the class where a machine is solved alone. One that
            ends training leaves machines not yet retrained as they were.
        base : SVC or None, default None
            `base_` of an earlier fit to the same examples, instead of training it again.
        checkpoint : path, Checkpoint or None, default None
            With draws: an .npz file that each round is left in. A fit to the same examples with the same settings that
            finds one there goes on from it, and ends with the machine of a fit that was never broken off; one that is
            damaged, or of another fit, is replaced (`went_on_`).

        Returns
        -------
        VirtualSVC
            The fitted estimator.

        Raises
        ------
        ValueError
            Naming a parameter that is not allowed.
        """
        shape = image_shape_of(X, self.image_shape)
        of_points = isinstance(self.jitters, PointJitters)
        jitters = self.jitters if of_points else JitterSet.parse(self.jitters, shape)
        self._check_parameters(jitters)
        X, y = validate_data(self, as_rows(X), y, dtype=[np.float64, np.float32] if of_points else np.float32)
        if of_points and X.shape[1] != 2:
            raise ValueError(f"jitters = {jitters} move points in the plane; X has {X.shape[1]} features; allowed: 2")
        targets = Targets(X, y, sample_weight)
        if groups is not None and self.draws:
            raise ValueError(f"groups are given, but draws = {self.draws}; allowed: draws = 0")
        X, centre = self._centred(X, jitters) if of_points else (X, None)
        self.prepare_ = centre if self.prepare is None else self._preparation(jitters).fit(X)
        with Session(monitor) as session:
            run = Stages(self, jitters, X, targets, session, groups)
            self.went_on_ = ""
            if self.draws and checkpoint is not None:
                left = checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)
                self.went_on_ = run.go_on_from(left)
            run.first_stage(base)
            stages = [partial(run.drawn_stage, self.draws)] if self.draws else [run.virtual_stage] * self.rounds
            for stage in stages:
                if session.stopped and not run.ending:  # at the last look of a stage that had converged
                    run.endings.append(("virtual stage", "stopped"))
                if not session.stopped:
                    stage()
            machine = run.assemble(run.shares)
        self.base_, self.jitters_, self.drawn_ = run.base, run.jitters, np.array(run.drawn, np.int64).reshape(-1, 5)
        self.n_virtual_ = np.concatenate([np.full(len(share.machines), share.examples) for share in run.shares])
        ends = {"gaps": run.gaps, "iterations": run.iterations, "ending": run.ending}
        self._publish(machine, session, label=targets.label, **ends)
        if session.trace is not None:
            self.trace_ = session.trace
        return self

    def prepared(self, X: np.ndarray) -> np.ndarray:
        """Rows X (n, d) as the kernel sees them."""
        return np.asarray(X if self.prepare_ is None else self.prepare_.transform(X), np.float32)

    def _centred(self, X: np.ndarray, jitters: PointJitters) -> tuple[np.ndarray, Preprocessor | None]:
        """Points X (n, 2), in double precision only where it matters for them or their copies, and what SVC would
        subtract from all of these in it, where the kernels allow that."""
        require_float32(forms := jitters.apply(X).reshape(-1, 2))
        if not len(lost_columns(forms)):
            return X.astype(np.float32, copy=False), None
        if self.prepare is not None:
            return X, None
        first = self.estimator or SVC()
        centres = [rows_for(svc._kernel_for, forms)[1] for svc in (first, self.second or first)]
        return X, None if None in centres else centres[0]

    def _preparation(self, jitters: JitterSet):
        """`prepare`, unfitted; a Preprocessor of images that was not told their shape is told it."""
        prepare, points = clone(self.prepare), isinstance(jitters, PointJitters)
        if isinstance(prepare, Preprocessor) and prepare.image_shape is None and not points:
            prepare.set_params(image_shape=jitters.image_shape)
        return prepare

    def _checked(self, X):
        points = isinstance(self.jitters, PointJitters)
        dtype = [np.float64, np.float32] if points else np.float32
        return validate_data(self, as_rows(X), dtype=dtype, reset=False)

    def _check_parameters(self, jitters: JitterSet) -> None:
        for name in ("estimator", "second"):
            svc = getattr(self, name)
            if svc is not None and (not isinstance(svc, SVC) or isinstance(svc, NuSVC)):
                raise ValueError(f"{name} = {svc!r}; allowed: an SVC of svmcore, or None")
            (svc or SVC())._check_as_part(name, "images, because jitters transform images")
        check(self, scope=one_of(SCOPES))
        least = 1 if self.scope.startswith("all") else 0
        check(self, rounds=whole(least), keep=above(0, 1), rank=one_of(RANKS), draws=whole(0))
        if self.keep < 1 and least:
            raise ValueError(
                f"keep = {self.keep} with scope = {self.scope!r}; allowed: keep = 1, because no machine can rank the "
                "copies"
            )
        self._check_draws()
        if jitters.image_shape is None and len(jitters) > 1:
            raise ValueError(
                "image_shape = None; allowed: (height, width) or (height, width, channels), or X as images"
            )

    def _check_draws(self) -> None:
        if not self.draws:
            return
        solver = (self.second or self.estimator or SVC()).solver
        allowed = {"scope": ("union",), "rounds": (1,), "solver": DRAWN_BY}
        for name, values in allowed.items():
            value = solver if name == "solver" else getattr(self, name)
            if value not in values:
                raise ValueError(f"{name} = {value!r}; allowed with draws: {', '.join(map(str, values))}")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
