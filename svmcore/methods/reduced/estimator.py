"""Reduced sets as an estimator: fit takes a trained machine and gives one with fewer vectors that decides nearly alike.

    f(x) = sum_i coef_i K(x_i, x) + bias   ->   sum_j gamma_j K(z_j, x) + bias'         m vectors z_j for n x_i

What it does is in stages.py. Burges (1996); Burges and Schölkopf (1997), section 4.
"""

from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from svmcore.estimator import Decider, as_rows, seed_of
from svmcore.methods.reduced.answers import Answers
from svmcore.methods.reduced.checks import BY_EXAMPLES, check_against, check_parameters, examples, method_for, numbers
from svmcore.methods.reduced.stages import FIRST, Stages, errors
from svmcore.model import Machine
from svmcore.solvers.progress import Stopped
from svmcore.solvers.session import Session

LADDER = 5  # steps of a path that ends when it is good enough


@dataclass(eq=False, repr=False)
class ReducedSet(Decider):
    """A machine by fewer vectors.

    Parameters
    ----------
    n_vectors : int, float or None, default None
        How many, at most as many as there are support vectors; below 1 a share of them; None with method "exact".
    method : {"auto", "exact", "quadratic", "rho", "one-by-one", "fixed-point", "answers", "direct"}, default "auto"
        "exact" drops support vectors that depend linearly on others, decisions unchanged to `exact_tol`. "quadratic"
        takes eigenvectors: kernels of degree 2, each machine alone. "rho" minimises the distance in feature space over
        all vectors. "one-by-one" is the paper's search for the same: vector by vector, then all together by conjugate
        gradients; "fixed-point" finds each one otherwise, for Gaussian kernels. "answers" takes gradient steps on the
        decisions about training examples. "auto": exact where no number is asked for, quadratic where it can be,
        answers where several machines share vectors and at least 20,000 training examples are given, or the kernel is
        not positive definite, else rho. "direct" minimises the SVM's own objective on the training examples; of the
        machine it takes kernel, C and the first vectors.
    start : {"auto", "k-means", "greedy", "weight", "random", "examples"}, default "auto"
        The first vectors; "auto" is k-means for answers, else greedy. "examples", for answers alone: training examples
        at random, so that nothing of the machine is in them.
    shared : bool, default True
        Whether vectors serve all machines, n_vectors of them together; else each machine has so many of its own.
    max_rho : float or None, default None
        A share of |Psi|, of all machines together. The number of vectors doubles until this holds, from
        n_vectors / 2^(steps - 1) up to n_vectors.
    steps : int or None, default None
        Without this limit the length of the same path, which answers begins at about 2000 vectors where none is asked
        for, as it keeps so many, and more, for the next step.
    thresholds : {"auto", "train", "fewest", "kept"}, default "auto"
        "train" sets each bias anew on the training examples, moving it until the errors are within a standard
        deviation of the fewest, "fewest" to the fewest, "kept" leaves it, "auto" is train where examples
        are given. Answers finds biases with the weights.
    iterations : int, default 200
        Of all vectors together, at most.
    tol : float, default 1e-2
        They end when rho^2 falls by less than this share of itself in five iterations.
    exact_tol : float, default 1e-7
        Of "exact".
    answers : Answers or None, default None
        How the steps of "answers" go.
    image_shape : tuple of int or None, default None
        Of the examples' rows, where the machine does not tell it: images are deformed by "answers".
    cache_mb : float or None, default None
        Ceiling for memory.
    random_state : int, RandomState or None, default None
        The same seed gives the same result.

    Attributes
    ----------
    machine_ : Machine
        Its `support` is -1 for constructed vectors.
    method_ : str
        What "auto" came to.
    rho_, rho_start_ : ndarray (k,)
        |Psi - Psi'|, distance of each machine, of k, from its original in feature space, at the end and before all
        vectors move together.
    norms_ : ndarray (k,)
        |Psi|; NaN with answers and direct, which do not go by them.
    n_before_, n_after_ : int
        Distinct vectors of the machine, and of the reduced one.
    path_ : list of tuple
        (m, rho as a share of |Psi|, of all machines, or None, validation error or None) of each step.
    sizes_ : list of int
        Numbers of vectors that the path is to go through, all parts together; empty with exact.
    threshold_shift_ : ndarray (k,)
        What thresholds moved each bias by.
    history_ : list of Progress
        Gaps are rho^2 as shares of |Psi|^2, n_sv the vectors.
    converged_ : bool
        False where it was stopped.
    ending_ : str
        Why it ended early, in words.
    kernel_evals_ : int
        Kernel values computed.

    References
    ----------
    Burges (1996), Simplified support vector decision rules.
    Burges and Schölkopf (1997), section 4.
    Wu, Schölkopf and Bakır (2006), A direct method for building sparse kernel learning algorithms: "direct".

    Examples
    --------
    >>> import numpy as np
    >>> from svmcore import RBF, SVC, ReducedSet
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> machine = SVC(RBF(0.5), C=1).fit(X, np.hypot(*X.T) > 1)
    >>> reduced = ReducedSet(0.1, random_state=0).fit(machine, X, np.hypot(*X.T) > 1)
    >>> bool(reduced.n_after_ <= 0.11 * reduced.n_before_)
    True
    """

    n_vectors: float | None = None
    _: KW_ONLY
    method: str = "auto"
    start: str = "auto"
    shared: bool = True
    max_rho: float | None = None
    steps: int | None = None
    thresholds: str = "auto"
    iterations: int = 200
    tol: float = 1e-2
    exact_tol: float = 1e-7
    answers: Answers | None = None
    image_shape: tuple[int, ...] | None = None
    cache_mb: float | None = None
    random_state: int | np.random.RandomState | None = None

    def fit(
        self, machine, X=None, y=None, *, X_val=None, y_val=None, prepare=None, monitor=None, seen=None
    ) -> "ReducedSet":
        """Reduce a machine.

        Parameters
        ----------
        machine : Machine or estimator
            The Machine, or a fitted estimator that has it as `machine_`.
        X, y : array-like (n, d) and (n,), or None, default None
            Training examples, prepared as the kernel sees them, and their labels; as they came for an estimator without
            a `prepare`, which may have centred them by itself.
        X_val, y_val : array-like or None, default None
            Others that training has not seen.
        prepare : transformer or None, default None
            Fitted: what makes X and X_val, which are images then, what the kernel sees; "answers" deforms them before,
            as features of images have no shape that can be deformed.
        monitor : callable or None, default None
            `monitor(progress) -> bool`, asked every few dozen milliseconds; False ends the reduction, and what has been
            reached by then is a machine, with `converged_` False.
        seen : callable or None, default None
            `seen(self)` at each step of the path, with the attributes as they would be were it the last.

        Returns
        -------
        ReducedSet
            The fitted estimator.

        Raises
        ------
        ValueError
            Naming what is wrong and what is allowed.
        BudgetError
            A ValueError that says what memory it would take.
        """
        as_they_came = not isinstance(machine, Machine) and getattr(machine, "prepare", None) is None
        machine = machine if isinstance(machine, Machine) else getattr(machine, "machine_", None)
        check_parameters(self, machine)
        images = None if prepare is None or X is None else np.asarray(as_rows(X), np.float32)
        if prepare is None and as_they_came:
            prepare = machine.prepare
        train, validation = (examples(machine, *given, prepare) for given in (("X", X, y), ("X_val", X_val, y_val)))
        pixels = None if images is None else images.shape[1]
        method = self.check(machine, len(train[1]) if train else 0, pixels)
        with Session(monitor) as session:
            stages, self.path_ = Stages(self, machine, method, session), []
            stages.deformed = None if images is None else (images, prepare)
            self.sizes_ = [sum(counts) for counts in self._ladder(stages) if counts]
            try:
                self._walk(stages, train, validation, seen or (lambda fitted: None))
            except Stopped:
                if not self.path_:
                    self._publish(stages, stages.assemble())
                self.ending_, self.converged_ = "stopped", False
        return self

    def check(self, machine: Machine, n_train: int = 0, pixels: int | None = None) -> str:
        """The method that `fit` would use with n_train training examples. pixels: numbers of each image, where images
        are given and not what was made of them. ValueError and BudgetError as there."""
        check_parameters(self, machine)
        method = self._method(machine, n_train)
        check_against(self, machine, method, n_train, pixels)
        return method

    def _walk(self, stages: Stages, train, validation, seen) -> None:
        """The path, to the first number of vectors that is enough, or to the last."""
        for counts in self._ladder(stages):
            self._publish(stages, self._reduced(stages, counts, train))
            rho = None if stages.method in BY_EXAMPLES else stages.share**0.5
            error = errors(self.machine_, *validation, stages.session) if validation else None
            self.path_.append((self.n_after_, rho, error))
            seen(self)
            if None not in (rho, self.max_rho) and rho <= self.max_rho:
                return

    def _reduced(self, stages: Stages, counts: list[int], train) -> Machine:
        """The machine whose parts have so many vectors; the method "exact" finds out how many."""
        if stages.method == "exact":
            return stages.simplify(self.exact_tol)
        if stages.method == "answers":
            stages.answers(counts[0], *train, seed_of(self.random_state))
        elif stages.method == "direct":
            stages.direct(counts, *train, seed_of(self.random_state))
        else:
            stages.reduce(counts, seed_of(self.random_state))
            if train and self.thresholds != "kept":
                stages.threshold(*train, slack=0.0 if self.thresholds == "fewest" else 1.0)
        return stages.assemble()

    def _ladder(self, stages: Stages) -> list[list[int]]:
        """Numbers of vectors of the parts at each step of the path; none in the only step of "exact"."""
        if stages.method == "exact":
            return [[]]
        most = numbers(self.n_vectors, [len(part.target.vectors) for part in stages.parts])
        begun = path_of_answers(most[0]) if stages.method == "answers" else 1
        steps = self.steps or (LADDER if self.max_rho is not None else begun)
        path = [[max(1, m >> back) for m in most] for back in reversed(range(steps))]
        return [counts for i, counts in enumerate(path) if counts not in path[:i]]

    def _publish(self, stages: Stages, machine: Machine) -> None:
        """The attributes, for a machine of the stages as they stand."""
        names = ("n_vectors", "shared", "max_rho", "thresholds")
        self.rho_, self.rho_start_, self.norms_ = (np.sqrt(stages.gather(name)) for name in ("rho2", "start", "norms"))
        self.n_before_, self.n_after_ = int(stages.machine.coef.any(axis=0).sum()), len(machine.support)
        facts = {name: getattr(self, name) for name in names} | {
            "method": stages.method,
            "start": stages.first,
            "n_before": self.n_before_,
            "n_after": self.n_after_,
            "rho": _listed(self.rho_),
            "rho_start": _listed(self.rho_start_),
            "norms": _listed(self.norms_),
        }
        self.method_, self.machine_ = stages.method, replace(machine, meta=machine.meta | {"reduced": facts})
        self.threshold_shift_ = machine.bias - stages.machine.bias
        self.classes_, self.kernel_ = machine.classes, machine.kernel
        self.history_, self.kernel_evals_ = list(stages.session.history), stages.session.evaluations
        self.ending_ = stages.ending
        self.converged_ = not self.ending_

    def _method(self, machine: Machine, n_train: int) -> str:
        """The method that "auto" stands for."""
        if self.method != "auto":
            return self.method
        if self.n_vectors is None:
            return "exact"
        return method_for(machine.kernel, len(machine.bias), self.shared, n_train)


def path_of_answers(m: float) -> int:
    """Steps of the path to m vectors by their answers, where none are asked for."""
    return max(1, 1 + round(np.log2(m / FIRST)))


def _listed(values) -> list:
    """JSON-able: None for what is not known."""
    return [float(value) if np.isfinite(value) else None for value in values]
