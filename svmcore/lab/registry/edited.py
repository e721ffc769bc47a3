"""What an edited run keeps of its training examples: which were left out, why, and by what margins.

    found = run.kept("edited")                 FileNotFoundError for a run whose method leaves nothing out
    found.index[found.role == WRONG_SIDE]      positions in the dataset's X_train (svmcore.methods.editing.roles)
    found.mean, found.variance                 m_i and v_i of y f over the first-stage machines, or (0,) for a rule
                                               that has none

Training saw labels with the recipe's noise: `svmcore.lab.registry.split.flipped(len(index), recipe.option("noise"),
recipe.seed)` tells which, in the order of `index`. Bakir, Bottou and Weston (2004), Algorithm 3.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from svmcore.lab.registry.method import Kept
from svmcore.methods.editing.roles import TITLES


class Edited(NamedTuple):
    """Each training example, in the order of the run's split."""

    index: np.ndarray  # (n,) int64, positions in the dataset's X_train
    role: np.ndarray  # (n,) int8, codes of svmcore.methods.editing.roles
    mean: np.ndarray  # (n,) float64, or (0,)
    variance: np.ndarray  # (n,) float64, or (0,)

    @classmethod
    def read(cls, index: np.ndarray, arrays: Mapping[str, np.ndarray]) -> "Edited":
        """From the arrays of its file. ValueError for what cannot be."""
        role, mean, variance = (arrays[name] for name in EDITED.arrays)
        n = len(index)
        if len(role) != n or (len(mean), len(variance)) not in ((n, n), (0, 0)):
            raise ValueError(f"it is of {len(role)}, {len(mean)} and {len(variance)} examples, the run has {n}")
        if n and not 0 <= role.min() <= role.max() < len(TITLES):
            raise ValueError(f"it names roles from {role.min()} to {role.max()}, there are {len(TITLES)}")
        if variance.min(initial=0) < 0:
            raise ValueError("it has a negative variance")
        return cls(index, role, mean, variance)


EDITED = Kept("edited", {"role": ("iu", 1), "mean": ("f", 1), "variance": ("f", 1)}, Edited.read)
