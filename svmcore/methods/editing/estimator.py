"""Machines trained on edited training sets, as scikit-learn estimators; what they do is in crossing.py and rules.py."""

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from svmcore.allowed import Allowed, above, check, is_whole, number, optional, whole
from svmcore.estimator import MachineEstimator, Targets, checked, rows_for
from svmcore.methods.editing.beside import of_part
from svmcore.methods.editing.crossing import Crossing, threshold
from svmcore.methods.editing.roles import Edited
from svmcore.methods.editing.subsets import THIRD
from svmcore.model import Machine
from svmcore.preprocess import Preprocessor
from svmcore.rows import double_rows
from svmcore.solvers.progress import Stopped
from svmcore.solvers.session import Session
from svmcore.svc import SVC


@dataclass(eq=False, repr=False)
class CrossTrainingSVC(MachineEstimator):
    """Cross-training for two classes: machines on subsets, discarding, a final machine on what is left.

    Parameters
    ----------
    estimator : SVC or None, default None
        SVC or NuSVC of the first stage.
    n_subsets : int, default 5
        s, at least 2.
    subset_size : int or None, default None
        r, even; None for the largest with which the subsets are disjoint.
    final : SVC or None, default None
        Of the last stage, where it differs.
    grid : sequence of float or None, default None
        Values of C (of nu for a NuSVC) to choose from by what a first machine has not trained on; None for its own.
    final_grid : sequence of float or None, default None
        The same for the last machine, by the validation part.
    validation_size : int, "third" or None, default None
        Examples that train nothing and choose every threshold; "third" for r/3.
    slack : float, default 0.0
        Standard errors that a threshold may be worse on the validation part than the best, in order to be moved less.
    balance : bool, default True
        Whether easy examples come back until the final set has as many of both classes.
    n_jobs : int or None, default None
        Subsets that train at a time; None for as many as there are cores. Under joblib.parallel_config another backend
        takes them.
    random_state : int, RandomState or None, default None
        Draws the subsets; the same machine whatever `n_jobs`.

    Attributes
    ----------
    first_stage_ : list of Machine
        One for each subset; `bagged` averages them.
    subsets_ : ndarray (s, r)
        Training indices of each subset.
    validation_ : ndarray
        Indices of the validation part.
    margin_mean_ : ndarray (n,)
        Mean of y f over the first machines, NaN where training was ended before it was known.
    margin_variance_ : ndarray (n,)
        Its variance.
    role_ : ndarray (n,) int8
        What became of each example, by the codes of roles.py.
    C_ : float
        What was chosen for the first stage.
    final_C_ : float
        What was chosen for the last one.
    search_seconds_ : float
        Spent on values that were not chosen.
    kernel_evals_ : int
        Of both stages; all other attributes as of SVC, `support_` in the training set.

    References
    ----------
    Bakir, Bottou and Weston (2004), section 3, Algorithm 3, and section 4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from svmcore import RBF, SVC, CrossTrainingSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> y = (np.hypot(*X.T) > 1) ^ (rng.random(1000) < 0.2)
    >>> crossed = CrossTrainingSVC(SVC(RBF(1.0), C=10), random_state=0).fit(X, y)
    >>> len(crossed.support_) < len(SVC(RBF(1.0), C=10).fit(X, y).support_)
    True
    """

    estimator: SVC | None = None
    _: KW_ONLY
    n_subsets: int = 5
    subset_size: int | None = None
    final: SVC | None = None
    grid: Sequence[float] | None = None
    final_grid: Sequence[float] | None = None
    validation_size: int | str | None = None
    slack: float = 0.0
    balance: bool = True
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    def fit(self, X, y, *, monitor=None) -> "CrossTrainingSVC":
        """Train on two classes.

        Parameters
        ----------
        X : array-like (n, d)
            Examples in rows.
        y : array-like (n,)
            Their labels, of two classes.
        monitor : callable or None, default None
            As for SVC; the stages are "first stage" and "final". One that ends training in the first stage leaves the
            average of its machines as they are then, and everything kept.

        Returns
        -------
        CrossTrainingSVC
            The fitted estimator.

        Raises
        ------
        ValueError
            Naming the parameter and what is allowed.
        """
        self._check_parameters()
        X, y = checked(self, X, y)
        targets = two_classes(X, y, type(self).__name__)
        prepare, rows, (first, *final) = settled([self.estimator, self.final] if self.final else [self.estimator], X)
        last = final[0] if final else first
        crossing = Crossing(rows, y, targets.label, session := Session(monitor), self.slack)
        self.final_C_ = name_of(last)[1]  # a search may choose another
        rng = check_random_state(self.random_state)
        crossing.draw(self.n_subsets, self.subset_size, self.validation_size, rng)
        with session:
            try:
                crossing.train(first, settings_of(first, self.grid), self.n_jobs)
                crossing.judge()
                crossing.discard(self.balance)
                fitted, seconds = self._final(crossing, last)
            except Stopped:
                fitted, seconds = None, 0.0
        crossing.first_stage = [replace(machine, prepare=prepare) for machine in crossing.first_stage]
        self._tell(crossing, seconds, first, last)
        if fitted is None:
            machine = crossing.as_it_stands() or empty_machine(rows, targets, first)
            ends = {"gaps": crossing.gap, "iterations": np.zeros(1), "ending": "stopped"}
        else:
            machine = fitted.machine_
            ending = fitted.ending_ or crossing.ending
            ends = {"gaps": fitted.gap_, "iterations": fitted.n_iter_, "ending": ending}
        self._publish(replace(machine, prepare=prepare), session, label=targets.label, **ends)
        self.support_vectors_ = machine.support_vectors if prepare is None else double_rows(X, machine.support)
        return self

    def _final(self, crossing: Crossing, last: SVC) -> tuple[SVC, float]:
        """The last machine, with its C and its threshold chosen on the validation part; seconds of those not chosen.

        Bakir, Bottou and Weston (2004), Algorithm 3, step 6.
        """
        kept = Edited.of(crossing.role).kept
        settings, at, session = settings_of(last, self.final_grid), crossing.validation, crossing.session
        rows, targets = crossing.X[kept], Targets(crossing.X[kept], crossing.y[kept])
        source = last.shared_source(rows, 1) if len(settings) > 1 else None
        best, best_right, chosen_seconds, total = None, -1.0, 0.0, 0.0
        for setting in settings:
            started = time.perf_counter()
            svc = clone(last).set_params(**setting)._fit(rows, targets, session, "final", source, of_part(kept))
            machine, right = replace(svc.machine_, support=kept[svc.machine_.support]), 0.0
            if len(at) and not session.stopped:
                shift, right = threshold(machine.decision_values(crossing.X[at])[:, 0], crossing.Y[at], self.slack)
                machine = replace(machine, bias=machine.bias + shift)
            total += (seconds := time.perf_counter() - started)
            if right > best_right and not (best and session.stopped):
                svc.machine_ = machine
                best, best_right, chosen_seconds = svc, right, seconds
                self.final_C_ = setting.get(*name_of(last))
            if session.stopped:
                break
        return best, total - chosen_seconds

    def _tell(self, crossing: Crossing, seconds: float, first: SVC, last: SVC) -> None:
        self.first_stage_, self.subsets_, self.validation_ = crossing.first_stage, crossing.subsets, crossing.validation
        self.margin_mean_, self.margin_variance_, self.role_ = crossing.mean, crossing.variance, crossing.role
        self.C_ = crossing.setting.get(*name_of(first))
        self.search_seconds_ = crossing.search_seconds + seconds

    def _check_parameters(self) -> None:
        check_estimators(estimator=self.estimator, final=self.final)
        third = f"a whole number from 2, '{THIRD}' (of subset_size)"
        part = Allowed(third, lambda size: is_whole(size, 2) or size == THIRD)
        jobs = Allowed("a whole number other than 0 (-1: as many jobs as cores)", lambda n: is_whole(n) and n != 0)
        grid = Allowed("numbers above 0", _are_positive)
        check(self, n_subsets=whole(2), validation_size=optional(part), slack=number(0), n_jobs=optional(jobs))
        check(self, grid=optional(grid), final_grid=optional(grid))
        if self.validation_size is None and self.final_grid is not None and len(self.final_grid) > 1:
            asked = f"final_grid = {self.final_grid!r} with validation_size = None"
            raise ValueError(f"{asked}; allowed: a validation_size, because validation examples choose C")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _are_positive(values) -> bool:
    listed = isinstance(values, list | tuple | np.ndarray) and len(values) > 0
    return listed and all(map(above(0).takes, values))


def settled(estimators: Sequence[SVC | None], X) -> tuple[Preprocessor | None, np.ndarray, list[SVC]]:
    """The preparation that all their kernels allow (`rows_for`), the rows (n, d) float32 of X that it gives, and the
    estimators with the kernels that their parameters mean for all examples: one for all machines."""
    estimators = [svc or SVC() for svc in estimators]
    made = [rows_for(svc._kernel_for, X) for svc in estimators]
    as_it_is = [one for one in made if one[1] is None]
    _, prepare, rows = (as_it_is or made)[0]
    return prepare, rows, [clone(svc).set_params(kernel=kernel) for svc, (kernel, _, _) in zip(estimators, made)]


def name_of(svc: SVC) -> tuple[str, float]:
    """The parameter that a grid is about, and its present value."""
    name = "nu" if "nu" in svc.get_params() else "C"
    return name, getattr(svc, name)


def settings_of(svc: SVC, grid) -> list[dict]:
    """Parameters to try."""
    name, own = name_of(svc)
    return [{name: float(value)} for value in ([own] if grid is None else grid)]


def two_classes(X, y, who: str) -> Targets:
    """The labels as one machine sees them. ValueError for another number of classes."""
    targets = Targets(X, y)
    if len(targets.classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. y: {len(targets.classes)} classes; allowed: 2. For more, "
            f"use sklearn.multiclass.OneVsRestClassifier({who}(...))"
        )
    return targets


def check_estimators(**named) -> None:
    """ValueError naming the one that is not an SVC, is wrong in itself, or has no examples that could be drawn."""
    for name, svc in named.items():
        if svc is not None and not isinstance(svc, SVC):
            raise ValueError(f"{name} = {svc!r}; allowed: an SVC or a NuSVC of svmcore, or None")
        (svc or SVC())._check_as_part(name, "examples, because subsets are drawn")


def empty_machine(rows, targets: Targets, svc: SVC) -> Machine:
    """What a stop before any training leaves: f = 0 everywhere."""
    nothing = np.zeros((1, 0))
    return Machine(
        kernel=svc.kernel,
        classes=targets.classes,
        support=np.empty(0, np.int64),
        support_vectors=rows[:0],
        coef=nothing,
        bias=np.zeros(1),
        C=float(svc.C),
        bound=nothing > 0,
    )
