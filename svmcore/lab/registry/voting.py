"""Several machines that vote: a method that trains k machines and answers with the mean of their decision values.

    f(x) = 1/k sum_j f_j(x) = sum_i a_i K(x_i, x) + b        one machine again: a_i, b the means of coefficients, biases

Each learns from all objects and from a half of the background, drawn by the seed and its number: half-samples, as in
Friedman and Hall, instead of draws with replacement. The mean and not a count of those that say yes: a threshold on f
trades false alarms for objects, and the mean is one expansion, so that all that keeps, shows or searches by a machine
does so with it.

References: Osuna, Freund and Girosi, MIT AI memo 1602 (1997), section 5 (multiple classifiers as future work); Breiman,
Machine Learning 24 (1996) (bagging); Friedman and Hall, J. Statistical Planning and Inference 137 (2007).
"""

from dataclasses import replace

import numpy as np

from svmcore.lab.registry.problem import Problem, left_out
from svmcore.methods.editing import bagged
from svmcore.model import Machine
from svmcore.solvers.progress import under_name


class Voting:
    """A method in the place of another one, of which it trains k machines; a Finder asks it for `train` alone."""

    def __init__(self, method, k: int):
        self.method, self.k = method, k

    def train(self, recipe, problem: Problem, monitor):
        """The estimator of one of the machines, of one that did not converge where there is one, with the machine that
        decides for all and what all of them have cost."""
        fitted, machines = [], []
        for number in range(self.k):
            part = left_out(problem, _others(recipe.seed, number, problem))
            named = monitor and under_name(f"machine {number + 1} of {self.k}", monitor)
            fitted.append(self.method.train(recipe, part, named))
            rows = np.flatnonzero(np.isin(problem.train_index, part.train_index))
            machines.append(_numbered(fitted[-1].machine_, rows))
        found = next((one for one in fitted if not one.converged_), fitted[-1])
        found.kernel_evals_ = sum(int(one.kernel_evals_) for one in fitted)
        found.machine_ = bagged(machines)
        return found


def _others(seed: int, number: int, problem: Problem) -> np.ndarray:
    """Positions of the background that machine `number` does not learn from."""
    background = problem.train_index[problem.y_train < 0]
    return np.random.default_rng([seed, number]).permutation(background)[: len(background) // 2]


def _numbered(machine: Machine, rows: np.ndarray) -> Machine:
    """The machine with its vectors counted among all examples; rows: those that it was trained on."""
    parent = None if machine.parent is None else rows[machine.parent]
    return replace(machine, support=rows[machine.support], parent=parent)
