"""A share: some of the k machines, and the virtual examples that they are trained on together."""

from dataclasses import dataclass, replace

import numpy as np

from svmcore.solvers.progress import Snapshot


@dataclass(frozen=True)
class Share:
    """Some of the k machines, and the examples that they were trained on together."""

    machines: np.ndarray  # (s,) which of the k
    parent: np.ndarray  # (m,)
    jitter: np.ndarray  # (m,)
    alpha: np.ndarray  # (s, m)
    bound: np.ndarray  # (s, m) bool
    bias: np.ndarray  # (s,)
    examples: int = 0  # of the virtual training set

    @classmethod
    def of_all(cls, machines: np.ndarray, n: int) -> "Share":
        """Some machines on all n examples, not yet trained."""
        nothing = np.zeros((len(machines), n))
        return cls(machines, np.arange(n), np.zeros(n, int), nothing, nothing > 0, np.zeros(len(machines)))

    def support(self) -> "Share":
        """The same machines on their support vectors alone."""
        return self.at((self.alpha > 0).any(axis=0))

    def at(self, which) -> "Share":
        """The same machines on some of their examples, or on all in another order."""
        positions = {"parent": self.parent[which], "jitter": self.jitter[which]}
        return replace(self, alpha=self.alpha[:, which], bound=self.bound[:, which], **positions)

    def live(self, inner: Snapshot) -> "Share":
        """The share as the solver's own snapshot of its examples has it."""
        alpha, bound = (
            np.zeros((len(inner.coef), len(self.parent))),
            np.zeros((len(inner.coef), len(self.parent)), bool),
        )
        alpha[:, inner.support], bound[:, inner.support] = abs(inner.coef), inner.bound
        return replace(self, alpha=alpha, bound=bound, bias=inner.bias)
