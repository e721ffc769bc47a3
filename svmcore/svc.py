"""Support vector classification with scikit-learn's estimator API: binary, or one machine for each class against the
rest.

    min_w,b  1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w.phi(x_i) + b)),    C_i = C * class weight of i * sample weight of i

solved in the dual (smo.py, decomposition.py), or with the square of max(0, ...), which is a ridge (gram/ridged.py). A C
of its own for every example is the weighted SVM of Osuna, Freund and Girosi (1997). All one-vs-rest machines share one
Gram source, since kernel rows do not depend on labels.
"""

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from math import prod

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import validate_data

from svmcore.allowed import Allowed, above, check, is_whole, one_of, require
from svmcore.estimator import (
    MachineEstimator,
    Targets,
    checked,
    copied_bytes,
    has_features,
    require_memory,
    rows_for,
    seed_of,
)
from svmcore.gram.products import Operand
from svmcore.gram.ridged import Ridged, at_bounds, gap_without_bounds, ridge_of, without_bounds
from svmcore.gram.sources import Streamed
from svmcore.kernels import KERNELS, Kernel, Linear, Precomputed, named_kernels
from svmcore.memory import ceiling_bytes
from svmcore.model import Machine
from svmcore.rows import FileRows, double_rows, lost_columns, variance
from svmcore.solvers import decomposition, digestion, general
from svmcore.solvers.decomposition import Decomposition
from svmcore.solvers.digestion import Digestion
from svmcore.solvers.general import General
from svmcore.solvers.progress import Solution
from svmcore.solvers.session import Session
from svmcore.source import Source, computed_once, given_source, gram_source

SMALL_SHARE = 0.125  # of the ceiling, up to which the rows of a file are read at once
LOSSES = ("hinge", "squared_hinge")
SOLVERS = ("auto", "smo", "decomposition", "smo-digestion", "general")
AS_THEY_COME = {"smo-digestion": Digestion(), "general": General()}
PARAMETERS = {
    "solver": one_of(SOLVERS).or_a("a Decomposition, Digestion or General object", Decomposition, Digestion, General),
    "loss": one_of(LOSSES),
    "C": above(0),
    "tol": above(0),
    "max_iter": Allowed("a whole number from 0, or -1 for no limit", lambda n: is_whole(n, -1)),
}


@dataclass(eq=False, repr=False)
class SVC(MachineEstimator):
    """C-support vector classifier; several classes are each separated from the rest.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or Kernel, default "rbf"
        By name, with `degree`, `gamma` and `coef0` as in scikit-learn. A Kernel object brings its own numbers, which
        searches reach as `kernel__degree`. "precomputed": X is a Gram matrix.
    C : float, default 1.0
        What slack costs: the largest alpha of an example, before its weights, where that is the hinge loss.
    degree : int, default 3
        Of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default "scale"
        Factor of inner products and squared distances.
    coef0 : float, default 0.0
        Added to the inner product by "poly" and "sigmoid".
    class_weight : dict, "balanced" or None, default None
        Factors of C by class.
    loss : {"hinge", "squared_hinge"}, default "hinge"
        Whether an example costs its slack or the square of it, after which no alpha has a bound.
    tol : float, default 1e-3
        The largest KKT gap left, in double precision (kernels that fill their own blocks have values of single
        precision).
    max_iter : int, default -1
        Pairs that a machine may move, second-order steps counted as the pairs that take as long; -1 for no limit but
        one that ends what cannot be solved.
    cache_mb : float or None, default None
        Ceiling for all memory that grows with the data; None for a third of what is free.
    solver : {"auto", "smo", "decomposition", "smo-digestion", "general"} or object, default "auto"
        "smo" holds the whole Gram matrix, "decomposition" works on sets of examples, "auto" chooses. A Decomposition
        has Osuna's settings of the latter; "smo-digestion", or a Digestion with its settings, is the solver of DeCoste
        and Schölkopf; "general", or a General with its way, an optimiser that knows nothing of SVMs.
    random_state : int, RandomState or None, default None
        Draws the first working set; the same seed gives the same machine.

    Attributes
    ----------
    classes_ : ndarray (number of classes,)
        Labels; there are k machines: 1 for two classes, else one a class, in this order.
    support_ : ndarray (m,)
        Indices of the m examples that are support vectors of any machine; of two classes ordered by class, then by
        index.
    support_vectors_ : ndarray (m, d)
        These examples.
    dual_coef_ : ndarray (k, m)
        y alpha. Of several classes a row for each class, where scikit-learn has rows for pairs.
    intercept_ : ndarray (k,)
        The biases b.
    n_support_ : ndarray (number of classes,)
        Support vectors of each class.
    n_bound_ : ndarray (k,)
        Support vectors whose alpha has reached C.
    n_iter_ : ndarray (k,)
        Pairs moved, with second-order steps as the pairs that take as long.
    gap_ : float
        The largest KKT gap of any machine, on examples as single precision holds them.
    converged_ : bool
        Whether all gaps are at most `tol`.
    ending_ : str
        Why training ended above `tol`; empty where it did not.
    strategy_ : str
        Whether the whole Gram matrix was kept, and why.
    machine_ : Machine
        What `save` writes.
    kernel_ : Kernel
        The kernel with its numbers.
    history_ : list of Progress
        How training went.
    kernel_evals_ : int
        Kernel values computed.
    trace_ : Trace or Costs
        With a Decomposition who entered and left the working sets; with digestion what was counted.

    References
    ----------
    Osuna, Freund and Girosi (1997), section 2.3: slack, and its exponent; section 3.2: working sets, and a C for each
    example.
    DeCoste and Schölkopf (2002), section 4: digestion.

    Examples
    --------
    >>> import numpy as np
    >>> from svmcore import RBF, SVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> machine = SVC(RBF(1.0), C=10).fit(X, np.hypot(*X.T) > 1)
    >>> bool(machine.converged_), machine.score(X, np.hypot(*X.T) > 1) > 0.95
    (True, True)
    """

    kernel: str | Kernel = "rbf"
    _: KW_ONLY
    C: float = 1.0
    degree: int = 3
    gamma: str | float = "scale"
    coef0: float = 0.0
    class_weight: dict | str | None = None
    loss: str = "hinge"
    tol: float = 1e-3
    max_iter: int = -1
    cache_mb: float | None = None
    solver: str | Decomposition | Digestion | General = "auto"
    random_state: int | np.random.RandomState | None = None

    _nu = None  # of a nu-SVC (nu.py)

    def fit(self, X, y, sample_weight=None, *, monitor=None, source=None):
        """Train on examples and labels.

        Parameters
        ----------
        X : array-like (n, d), or (n, n) where the kernel is "precomputed"; or FileRows
            Examples in rows, or their Gram matrix. Rows of a file, or an array that is mapped from one (numpy.memmap),
            never come into memory whole where that would be much beside `cache_mb`.
        y : array-like (n,)
            Labels.
        sample_weight : array-like (n,) or None, default None
            Factors of C; 0 leaves an example out.
        monitor : callable or None, default None
            `monitor(progress) -> bool`, called every few dozen milliseconds; False ends training, and what is there by
            then is a feasible machine with `converged_` False.
        source : Source or None, default None
            What `shared_source` gave for these X and this kernel.

        Returns
        -------
        SVC
            The fitted estimator. A machine that does not come to `tol` warns (ConvergenceWarning) and says why in
            `ending_`.

        Raises
        ------
        ValueError
            Naming what is wrong with the input and what is allowed.
        BudgetError
            A ValueError that says what memory the fit would need.
        """
        self._check_parameters()
        rows, beside = self._in_file(X), 0
        if rows is None:
            given = X
            if isinstance(X, FileRows):
                given = X.rows(slice(None), np.float64 if len(lost_columns(X)) else np.float32)
            beside = given.nbytes if given is not X or isinstance(X, np.memmap) else 0
            X, y = checked(self, given, y)
        else:
            X, y = rows, self._labels_of(rows, y)
        with Session(monitor, self.max_iter) as session:
            return self._fit(X, Targets(X, y, sample_weight), session, "train", source, beside=beside)

    def held_out_decisions(self, X, y, left_out, sample_weight=None, *, monitor=None, source=None) -> np.ndarray:
        """What each of several machines that do not see all examples decides of them all; they are trained together.

        Parameters
        ----------
        X : array-like (n, d)
            As of `fit`; none in a file.
        y : array-like (n,)
            Labels.
        left_out : ndarray (folds, n) bool
            The examples that the machines of each fold do not see.
        sample_weight, monitor, source
            As of `fit`.

        Returns
        -------
        ndarray (folds, n, k)
            Decision values of the k machines of each fold, in the precision of their training.

        Raises
        ------
        ValueError
            As `fit`; where a fold leaves out all examples of a class; for loss "squared_hinge".
        """
        self._check_parameters()
        require(not self._squared, "loss", self.loss, "'hinge', because examples left out by a fold have C = 0")
        X, y = checked(self, X, y)
        kernel, _, rows = rows_for(self._kernel_for, X)
        targets = Targets(X, y, sample_weight)
        box, (k, n) = np.zeros((len(left_out), X.shape[0])), targets.Y.shape
        for at, kept in enumerate(~left_out):
            own = Targets(X[kept], y[kept], targets.weight[kept])
            some = len(own.classes) == len(targets.classes)
            require(some, "left_out", f"fold {at}", "folds that leave some examples of each class")
            box[at, kept] = self._box(own)
        box, Y = np.repeat(box, k, axis=0), np.tile(targets.Y, (len(left_out), 1))
        with Session(monitor, self.max_iter) as session:
            like = np.tile(np.arange(k), len(left_out))
            solution = self._solve(rows, kernel, Y, box, session, "train", source=source, like=like)
        if solution.ending and not session.stopped:
            warnings.warn(solution.ending, ConvergenceWarning, stacklevel=2)
        return (solution.f + Y + solution.bias[:, None]).reshape(-1, k, n).transpose(0, 2, 1)

    def shared_source(self, X, n_machines: int) -> Source:
        """Kernel values for fits on the same X (n, d) that differ in C, labels or weights: such fits may share it, in
        turn or at the same time, and what memory can keep of them is computed once."""
        kernel, _, rows = rows_for(self._kernel_for, X)
        return computed_once(gram_source(rows, kernel, self.solver, ceiling_bytes(self.cache_mb), n_machines))

    def set_params(self, **params):
        """As in scikit-learn; kernel__FIELD replaces a field of a Kernel object."""
        fields = {name[8:]: params.pop(name) for name in list(params) if name.startswith("kernel__")}
        super().set_params(**params)
        if fields:
            if not isinstance(self.kernel, Kernel):
                why = (
                    f"kernel__{min(fields)} can be set only if kernel is a Kernel object, but kernel = {self.kernel!r}"
                )
                raise ValueError(f"{why}; allowed: a Kernel object")
            self.kernel = self.kernel.with_params(**fields)
        return self

    @property
    def coef_(self):
        """Weight vectors (k, d) of linear machines. AttributeError for other kernels."""
        if not isinstance(getattr(self, "kernel_", None), Linear):
            raise AttributeError("coef_ exists only for a fitted machine with the linear kernel")
        return self.dual_coef_ @ self.machine_.support_vectors

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _in_file(self, X) -> FileRows | None:
        """X where it stays in its file, if large, for a solver and kernel that work by pieces; None for an array."""
        by_pieces = self.solver in ("auto", "decomposition") or isinstance(self.solver, Decomposition)
        if self.kernel == "precomputed" or getattr(self.kernel, "fills", False) or not by_pieces:
            return None
        rows = X if isinstance(X, FileRows) else FileRows.of(X)
        much = rows is not None and 4 * prod(rows.shape) > SMALL_SHARE * ceiling_bytes(self.cache_mb)
        return rows if much else None

    def _labels_of(self, rows: FileRows, y) -> np.ndarray:
        """Checked labels of the rows of a file."""
        y = validate_data(self, "no_validation", y)
        if len(y) != len(rows):
            raise ValueError(f"X has {len(rows)} rows, but y has {len(y)}; allowed: equal numbers")
        has_features(self, rows.shape[1])
        return y

    def _check_parameters(self) -> None:
        if not isinstance(self.kernel, Kernel):
            check(self, kernel=one_of((*named_kernels(), "precomputed")).or_a("a Kernel object", Kernel))
        check(self, **PARAMETERS)
        if isinstance(self._settings, Digestion):
            require(not self._squared, "solver", self.solver, "another one, because alpha has no bound with this loss")
            given = self.kernel == "precomputed"
            require(not given, "solver", self.solver, "another one, because all kernel values are precomputed")
        if self.cache_mb is not None:
            ceiling_bytes(self.cache_mb)

    def _check_as_part(self, name: str, why: str) -> None:
        """The same for the parameter `name` of another estimator. ValueError also for what that one cannot use. why:
        what it needs a kernel of."""
        try:
            self._check_parameters()
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        if self._squared:
            raise ValueError(f"{name}: loss = {self.loss!r}; allowed: 'hinge', whose support vectors have a bound")
        if self.kernel == "precomputed":
            raise ValueError(f"{name}: kernel = 'precomputed'; allowed: a kernel of {why}")

    def _kernel_for(self, X) -> Kernel:
        """The Kernel that this estimator's parameters mean for training examples X (n, d)."""
        if isinstance(self.kernel, Kernel):
            return self.kernel
        if self.kernel == "precomputed":
            return Precomputed(X.shape[1])
        kind, numbers = KERNELS[self.kernel], {"degree": self.degree, "coef0": float(self.coef0)}
        return kind.of_numbers(**numbers, gamma=self._gamma(X) if hasattr(kind, "gamma") else 1.0)

    def _gamma(self, X) -> float:
        """The number that `gamma` means for training examples X (n, d)."""
        if self.gamma == "scale":
            spread = float(variance(X) if hasattr(X, "toarray") else X.var(dtype=np.float64))
            return 1 / (X.shape[1] * spread) if spread > 0 else 1.0
        if self.gamma == "auto":
            return 1 / X.shape[1]
        if isinstance(self.gamma, str):
            raise ValueError(f"gamma = {self.gamma!r}; allowed: 'scale', 'auto', or a number above 0")
        return float(self.gamma)

    def _box(self, targets: Targets) -> np.ndarray:
        """C_i (n,) of the examples.

        Weights by class: Osuna, Freund and Girosi (1997), section 2.5; C_pos and C_neg in
        DeCoste and Schölkopf (2002), section 5.2.
        """
        if self.class_weight is None:
            return np.maximum(self.C * targets.weight, 0)
        per_class = compute_class_weight(self.class_weight, classes=targets.classes, y=targets.y)
        return np.maximum(self.C * targets.weight * per_class[targets.label], 0)

    @property
    def _squared(self) -> bool:
        return self.loss == "squared_hinge"

    @property
    def _settings(self) -> str | Decomposition | Digestion | General:
        """The solver with its settings, where it has any."""
        return AS_THEY_COME.get(self.solver, self.solver)

    def _fit(
        self, X, targets: Targets, session: Session, stage: str, source: Source | None = None, whole=None, beside=0
    ):
        """Train on checked examples as one stage of a session, and publish the machine. whole(standing): how all stands
        when this does; beside: bytes that X takes, where it is the fit's own."""
        if self.kernel == "precomputed":
            source = source or given_source(X, ceiling_bytes(self.cache_mb), len(targets.Y))
            kernel, prepare = self._kernel_for(X), None
            rows = np.empty((X.shape[0], 0), np.float32)
        else:
            beside += copied_bytes(X)
            kind = "sparse" if hasattr(X, "toarray") else X.dtype
            require_memory(beside, ceiling_bytes(self.cache_mb), f"a copy of X ({kind}) in single precision")
            kernel, prepare, rows = rows_for(self._kernel_for, X)
        box = np.tile(self._box(targets), (len(targets.Y), 1))
        solution = self._solve(rows, kernel, targets.Y, box, session, stage, whole, source, beside)
        machine = replace(self._machine(rows, kernel, targets, box, solution), prepare=prepare)
        ends = {"gaps": solution.gaps, "iterations": solution.iterations, "ending": solution.ending}
        self._publish(machine, session, label=targets.label, **ends)
        if prepare is not None:
            self.support_vectors_ = double_rows(X, machine.support)
            if isinstance(kernel, Linear):  # f(x) = w.(x - shift) + b
                self.intercept_ = machine.bias - self.coef_ @ np.ravel(prepare.learned_[0])
        if session.trace is not None:
            self.trace_ = session.trace
        return self

    def _solve(
        self, rows, kernel, Y, C, session, stage, whole=None, source: Source | None = None, beside: int = 0, like=None
    ) -> Solution:
        """The machines of Y (k, n), C (k, n) on rows (n, d), by the solver that was asked for, within the ceiling."""
        session.max_iter, ceiling = self.max_iter, ceiling_bytes(self.cache_mb)
        costs, C, settings = C[0], without_bounds(C) if self._squared else C, self._settings
        if isinstance(settings, Digestion):
            operand = Operand(rows, "dense")
            fixed = beside + operand.nbytes + 8 * 8 * Y.size
            require_memory(fixed + 4 * len(rows), ceiling, "solver 'smo-digestion'")
            how = {"cache_bytes": ceiling - fixed, "seed": seed_of(self.random_state), "settings": settings}
            return digestion.solve(operand, kernel, Y, C, session, tol=self.tol, stage=stage, whole=whole, **how)
        if isinstance(settings, General):
            need = settings.nbytes(Y.shape[1])
            require_memory(beside + need, ceiling, f"solver 'general' by {settings.way}")
            gram = (source or gram_source(rows, kernel, "decomposition", ceiling - need, len(Y), beside)).gram
            gram = self._ridged(gram, costs)
            solution = general.solve(gram, Y, C, session, tol=self.tol, stage=stage, whole=whole, settings=settings)
            return self._of_stated_problem(gram, Y, C, solution)
        source = source or gram_source(rows, kernel, self.solver, ceiling, len(Y), beside)
        gram, square_bytes = source.gram, source.square_bytes
        settings = settings if isinstance(settings, Decomposition) else None
        how = {"square_bytes": square_bytes, "seed": seed_of(self.random_state), "settings": settings, "nu": self._nu}
        how |= {"like": like, "interior": None if self._squared else source.interior}
        how["hold"] = self.solver == "auto" and isinstance(gram, Streamed)
        gram = self._ridged(gram, costs)
        solution = decomposition.solve(gram, Y, C, session, tol=self.tol, stage=stage, whole=whole, **how)
        return self._of_stated_problem(gram, Y, C, solution)

    def _of_stated_problem(self, gram, Y, C, solution: Solution) -> Solution:
        """The solution with the gaps of the problem that has no bounds, where its alpha are at those of the solver."""
        if not self._squared or not (at := at_bounds(solution.alpha, C).any(axis=1)).any():
            return solution
        gaps = solution.gaps.copy()
        for c in np.flatnonzero(at):
            gaps[c] = gap_without_bounds(gram, Y[c], solution.alpha[c], C[c])
        if not (gaps > self.tol).any() or solution.ending == "stopped":
            return solution._replace(gaps=gaps)
        why = f"alpha grows without limit, to {solution.alpha.max():.2g}, because {self.kernel} is not positive "
        why += f"definite: the gap is {gaps.max():.2g}, above tol = {self.tol:g}; "
        why += "use a smaller C, loss = 'hinge' or another kernel"
        return solution._replace(gaps=gaps, converged=False, ending=why)

    def _ridged(self, gram, costs):
        """The source that slack which costs so much (n,) makes of another one."""
        return Ridged(gram, ridge_of(costs)) if self._squared else gram

    def _machine(self, rows, kernel, targets: Targets, box, solution: Solution) -> Machine:
        support = np.flatnonzero((solution.alpha > 0).any(axis=0))
        if len(targets.Y) == 1:  # in scikit-learn's order: by class, then by index
            support = support[np.argsort(targets.label[support], kind="stable")]
        alpha = solution.alpha[:, support]
        return Machine(
            kernel=kernel,
            classes=targets.classes,
            support=support,
            support_vectors=rows[support],
            coef=alpha * targets.Y[:, support],
            bias=solution.bias,
            C=float(self.C),
            bound=(alpha > 0) & (alpha >= box[:, support]) & (not self._squared),
            meta={"loss": self.loss} if self._squared else {},
        )
