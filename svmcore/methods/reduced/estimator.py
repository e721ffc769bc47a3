"""Reduced sets as an estimator: fit takes a trained machine and gives one with fewer vectors that decides nearly alike.

    f(x) = sum_i coef_i K(x_i, x) + bias   ->   sum_j gamma_j K(z_j, x) + bias'         m vectors z_j for n x_i

What it does is in stages.py. Burges (1996); Burges and Schoelkopf (1997), section 4.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from svmcore.estimator import seed_of
from svmcore.methods.reduced.checks import check_against, check_parameters, examples, method_for, numbers
from svmcore.methods.reduced.stages import FIRST, Stages, errors
from svmcore.model import Machine
from svmcore.solvers.progress import Stopped
from svmcore.solvers.session import Session

LADDER = 5  # steps of a path that ends when it is good enough


class ReducedSet(BaseEstimator):
    """A machine by fewer vectors.

    n_vectors: how many, at most as many as there are support vectors; below 1 a share of them; None with method
    "exact". shared: vectors serve all machines, n_vectors of them together; else each machine has n_vectors (or its
    share) of its own.

    method: "exact" drops support vectors that depend linearly on others, decisions unchanged to exact_tol; "quadratic"
    takes eigenvectors (kernels of degree 2, each machine alone); "rho" minimises the distance in feature space over all
    vectors, for `iterations` or until it falls by less than tol of itself in five; "answers" takes gradient steps on
    the decisions about training examples, as `answers` (an Answers) says, whose images it deforms where image_shape or
    the machine's own tells theirs. "auto": exact where no number is asked for, quadratic where it can be, answers where
    several machines share vectors and at least 20,000 training examples are given, or the kernel is not positive
    definite, else rho. start: the first vectors,
    one of k-means, greedy, weight, random; "auto" is k-means for answers, else greedy.

    max_rho (a share of |Psi|^2 of all machines together), max_error (of the validation examples): the number of vectors
    then doubles until both hold, from n_vectors / 2^(steps - 1) up to n_vectors; steps without them is the length of
    the same path, which answers begins at about 2000 where none is asked for, as it keeps so many, and more, for the
    next step. thresholds: "train" sets each bias anew on the training examples, "kept" leaves it, "auto" is train where
    examples are given; answers finds biases with the weights. cache_mb: a ceiling for memory. Same random_state, same
    result.

    Attributes after fit, k machines, m vectors: machine_ (support -1 for constructed vectors), method_, rho_ and
    rho_start_ (k,) at the end and with the first vectors, norms_ (k,) |Psi|^2 (NaN with answers, which do not go by
    them), n_before_, n_after_ (distinct vectors), path_ (list of (m, rho as a share of all |Psi|^2, or None, validation
    error or None)), sizes_ (numbers of vectors that the path is to go through, all parts together; empty with exact),
    threshold_shift_ (k,), history_ (Progress: gaps are rho as shares of |Psi|^2, n_sv the vectors), converged_,
    ending_, kernel_evals_.
    """

    def __init__(
        self,
        n_vectors=None,
        *,
        method="auto",
        start="auto",
        shared=True,
        max_rho=None,
        max_error=None,
        steps=None,
        thresholds="auto",
        iterations=200,
        tol=1e-2,
        exact_tol=1e-7,
        answers=None,
        image_shape=None,
        cache_mb=None,
        random_state=None,
    ):
        self.n_vectors = n_vectors
        self.method = method
        self.start = start
        self.shared = shared
        self.max_rho = max_rho
        self.max_error = max_error
        self.steps = steps
        self.thresholds = thresholds
        self.iterations = iterations
        self.tol = tol
        self.exact_tol = exact_tol
        self.answers = answers
        self.image_shape = image_shape
        self.cache_mb = cache_mb
        self.random_state = random_state

    def fit(self, machine, X=None, y=None, *, X_val=None, y_val=None, monitor=None, seen=None) -> ReducedSet:
        """Reduce a Machine, or the machine_ of a fitted estimator.

        X (n, d), y (n,): training examples, prepared as the kernel sees them; X_val, y_val: as many others as one likes
        that training has not seen. monitor(progress) -> bool is asked every few dozen milliseconds and ends the
        reduction by returning False: what has been reached by then is a machine, with converged_ = False.
        seen(self): called at each step of the path, with the attributes as they would be were it the last. ValueError
        names what is wrong and what is allowed; BudgetError says what memory it would take.
        """
        machine = machine if isinstance(machine, Machine) else getattr(machine, "machine_", None)
        check_parameters(self, machine)
        train, held = examples(machine, "X", X, y), examples(machine, "X_val", X_val, y_val)
        method = self.check(machine, *(len(part[1]) if part else 0 for part in (train, held)))
        with Session(monitor) as session:
            stages, self.path_ = Stages(self, machine, method, session), []
            self.sizes_ = [sum(counts) for counts in self._ladder(stages) if counts]
            try:
                self._walk(stages, train, held, seen or (lambda fitted: None))
            except Stopped:
                if not self.path_:
                    self._publish(stages, stages.assemble())
                self.ending_, self.converged_ = "stopped", False
        return self

    def check(self, machine: Machine, n_train: int = 0, n_val: int = 0) -> str:
        """The method that `fit` would take with so many training and validation examples. ValueError and BudgetError as
        there."""
        check_parameters(self, machine)
        method = self._method(machine, n_train)
        check_against(self, machine, method, n_train, n_val)
        return method

    def decision_function(self, X):
        """f (n, k), or (n,) for two classes, of examples X as the machine's own decision_function takes them."""
        check_is_fitted(self, "machine_")
        values = self.machine_.decision_function(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X):
        """Labels (n,) of examples X."""
        check_is_fitted(self, "machine_")
        return self.machine_.predict(X)

    def _walk(self, stages: Stages, train, held, seen) -> None:
        """The path, to the first number of vectors that is enough, or to the last."""
        for counts in self._ladder(stages):
            self._publish(stages, self._reduced(stages, counts, train))
            rho = None if stages.method == "answers" else stages.share
            error = errors(self.machine_, *held, stages.session) if held else None
            self.path_.append((self.n_after_, rho, error))
            seen(self)
            if self._enough(rho, error):
                return

    def _reduced(self, stages: Stages, counts: list[int], train) -> Machine:
        """The machine whose parts have so many vectors; the method "exact" finds out how many."""
        if stages.method == "exact":
            return stages.simplify(self.exact_tol)
        if stages.method == "answers":
            stages.answers(counts[0], *train, seed_of(self.random_state))
        else:
            stages.reduce(counts, seed_of(self.random_state))
            if train and self.thresholds != "kept":
                stages.threshold(*train)
        return stages.assemble()

    def _enough(self, rho: float | None, error: float | None) -> bool:
        """Whether all limits that were set hold."""
        limits = [(self.max_rho, rho), (self.max_error, error)]
        asked = [(limit, value) for limit, value in limits if limit is not None]
        return bool(asked) and all(value is not None and value <= limit for limit, value in asked)

    def _ladder(self, stages: Stages) -> list[list[int]]:
        """Numbers of vectors of the parts at each step of the path; none in the only step of "exact"."""
        if stages.method == "exact":
            return [[]]
        most = numbers(self.n_vectors, [len(part.target.vectors) for part in stages.parts])
        limited = self.max_rho is not None or self.max_error is not None
        begun = path_of_answers(most[0]) if stages.method == "answers" else 1
        steps = self.steps or (LADDER if limited else begun)
        path = [[max(1, m >> back) for m in most] for back in reversed(range(steps))]
        return [counts for i, counts in enumerate(path) if counts not in path[:i]]

    def _publish(self, stages: Stages, machine: Machine) -> None:
        """The attributes, for a machine of the stages as they stand."""
        names = ("n_vectors", "shared", "max_rho", "max_error", "thresholds")
        self.rho_, self.rho_start_ = stages.gather("rho"), stages.gather("start")
        self.norms_ = stages.gather("norms")
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
