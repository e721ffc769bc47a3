"""The machine of a sample, kept without the examples that it was trained on.

A sample comes with the lab, and no data set does: of its support vectors the file says which examples they are, in
which form, and they are prepared anew from the data set. Vectors that a reduction constructed are no examples: they
stay.
"""

from dataclasses import replace

import numpy as np

from data import load
from svmcore.jitter import JitterSet
from svmcore.lab.recipe.recipe import Recipe
from svmcore.model import Machine


def without_examples(machine: Machine) -> Machine:
    """The machine with zeros in place of its examples."""
    kept = np.where(_examples(machine)[:, None], np.float32(0), machine.support_vectors)
    return replace(machine, support_vectors=kept)


def with_examples(machine: Machine, recipe: Recipe, train: np.ndarray) -> Machine:
    """The inverse. train: (n,) positions of the training examples in the data set. DataError when it cannot be had."""
    own = _examples(machine)
    origin = machine.origin[own]
    if not len(origin):
        return machine
    X = load(recipe.dataset).X_train[train[origin]]
    if machine.jitter is not None:
        jitters = JitterSet.parse(machine.meta["jitters"], tuple(machine.meta["image_shape"]))
        X = jitters.apply(X)[machine.jitter[own], np.arange(len(X))]
    vectors = machine.support_vectors.copy()
    vectors[own] = machine.prepare.transform(X)
    return replace(machine, support_vectors=vectors)


def _examples(machine: Machine) -> np.ndarray:
    """(m,) bool: which support vectors are training examples, or jittered ones."""
    return np.ones(len(machine.support), bool) if "reduced" not in machine.meta else ~machine.constructed
