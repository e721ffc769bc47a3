"""Several machines of the same two classes over one list of support vectors, and their average as one machine.

    f_j(x) = sum_i coef[j, i] K(x_i, x) + bias[j]       j = 1 ... s
    bagged   f(x) = 1/s sum_j f_j(x)                    the dashed lines of Bakir, Bottou and Weston (2004), Figure 4

A kernel value serves all s machines, since they share it.
"""

from typing import NamedTuple

import numpy as np

from svmcore.gram.products import Operand
from svmcore.gram.sources import STEP, Work
from svmcore.kernels import squared_norms
from svmcore.model import Machine


class Together(NamedTuple):
    """s machines over shared support vectors."""

    support: np.ndarray  # (m,) int64, training indices
    vectors: np.ndarray  # (m, d) float32
    coef: np.ndarray  # (s, m) float64
    bias: np.ndarray  # (s,) float64
    bound: np.ndarray  # (s, m) bool
    jitter: np.ndarray  # (m,) int64, 0 for the identity


def together(machines: list[Machine]) -> Together:
    """Binary machines of one kernel and training set, over the union of their support vectors; copies of an example by
    different jitters stay apart."""
    first = machines[0]
    if any(machine.kernel != first.kernel or len(machine.bias) != 1 for machine in machines):
        raise ValueError("machines: different kernels, or more than two classes; allowed: two classes and one kernel")
    support, jitter = (np.concatenate(part) for part in zip(*((m.support, _jitters(m)) for m in machines), strict=True))
    _, at, places = np.unique(jitter * (support.max(initial=0) + 1) + support, return_index=True, return_inverse=True)
    coef, bound = np.zeros((len(machines), len(at))), np.zeros((len(machines), len(at)), bool)
    ends = np.cumsum([len(machine.support) for machine in machines])[:-1]
    for row, (machine, own) in enumerate(zip(machines, np.split(places, ends), strict=True)):
        coef[row, own], bound[row, own] = machine.coef[0], machine.bound[0]
    vectors = np.concatenate([machine.support_vectors for machine in machines])[at]
    biases = np.concatenate([machine.bias for machine in machines])
    return Together(support[at], vectors, coef, biases, bound, jitter[at])


def _jitters(machine: Machine) -> np.ndarray:
    return np.zeros(len(machine.support), np.int64) if machine.jitter is None else machine.jitter.astype(np.int64)


def decisions(machines: list[Machine], X, work: Work) -> np.ndarray:
    """f (s, n) float64 of rows X (n, d) for machines as `together` takes them; every kernel value is computed once."""
    union = together(machines)
    F = np.repeat(union.bias[:, None], len(X), axis=1)
    operand, coef, sq = Operand(X), union.coef.astype(np.float32), squared_norms(union.vectors)
    for start in range(0, len(union.support), STEP):
        work.check()
        part = slice(start, start + STEP)
        operand.add_to(F, union.vectors[part], sq[part], machines[0].kernel, coef[:, part])
    work.count(evaluations=len(union.support) * len(X))
    return F


def bagged(first_stage: list[Machine]) -> Machine:
    """The average of the first machines as one machine: its support vectors are all of theirs.

    Parameters
    ----------
    first_stage : list of Machine
        Machines of the same two classes and kernel, as `CrossTrainingSVC.first_stage_` has them; virtual support
        vectors stay what they are, by `parent` and `jitter`.

    Returns
    -------
    Machine
        With the mean of their coefficients and biases. A vector is bound where it is at its C in every machine that has
        it.

    Raises
    ------
    ValueError
        Where the list is empty.

    References
    ----------
    Bakir, Bottou and Weston (2004), Figure 4: bagging the first stage.

    Examples
    --------
    >>> import numpy as np
    >>> from svmcore import SVC, CrossTrainingSVC, bagged
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> crossed = CrossTrainingSVC(SVC(C=1), random_state=0).fit(X, X[:, 0] > 0)
    >>> bagged(crossed.first_stage_).coef.shape[0]
    1
    """
    if not first_stage:
        raise ValueError("first_stage is empty; allowed: at least one machine")
    union, first = together(first_stage), first_stage[0]
    virtual = {} if first.jitter is None else {"parent": union.support, "jitter": union.jitter.astype(np.int32)}
    bound = ~((union.coef != 0) & ~union.bound).any(axis=0) & (union.coef != 0).any(axis=0)
    return Machine(
        kernel=first.kernel,
        classes=first.classes,
        support=union.support,
        support_vectors=union.vectors,
        coef=union.coef.mean(axis=0)[None],
        bias=union.bias.mean(keepdims=True),
        C=first.C,
        bound=bound[None],
        meta=first.meta | {"bagged": len(first_stage)},
        prepare=first.prepare,
        **virtual,
    )
