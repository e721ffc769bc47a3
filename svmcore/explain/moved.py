"""Decision values of one picture in many forms: under each jitter of a set, and under all shifts in a square.

    f_c(T_j x),  j = 1 ... J        T_1 the identity, so that f(T_1 x) = f(x)

Jitters are applied to the original picture, before preprocessing, so that the machine treats a moved picture like a new
one. If a machine is correct for all shifts of up to r pixels in every direction, its plateau has the radius r.

A jittered kernel compares each support vector x_i only with the nearest form of x; `pulls` gives the share of each form
in sum_i |alpha_i K_J(x_i, x)|.

Symbols: X (n, ...) pictures as in the dataset; f (J, n, k) float64; prepare: X -> (n, d).
Reference: DeCoste and Schölkopf, Machine Learning 46 (2002), sections 3.2, 3.3 and Figure 4.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from svmcore.jitter import JitterSet
from svmcore.methods.jittering import Jittered
from svmcore.model import Machine

Prepare = Callable[[np.ndarray], np.ndarray]
REACH = 4  # largest shift of the map in each direction, in pixels
PIECE = 256  # pictures per call: some ten milliseconds for a large machine


class Plateau(NamedTuple):
    """The shifts under which a prediction holds. radius: the largest r for which it holds under all shifts of up to r
    rows and columns (-1 if it fails for the original); held: number of shifts under which it holds, out of `of`."""

    radius: int
    held: int
    of: int


def decided(machine: Machine, prepare: Prepare, moved: np.ndarray) -> np.ndarray:
    """f (J, n, k) of forms (J, n, d)."""
    J, n, _ = moved.shape
    return machine.decision_values(prepare(moved.reshape(J * n, -1))).reshape(J, n, -1)


def leads(f: np.ndarray, true: np.ndarray | int) -> np.ndarray:
    """The lead (...) of the class at position `true` over all others, for f (..., k); positive if it wins."""
    if f.shape[-1] == 1:
        return np.where(true, f[..., 0], -f[..., 0])
    true = np.broadcast_to(true, f.shape[:-1])[..., None]
    others = f.copy()
    np.put_along_axis(others, true, -np.inf, axis=-1)
    return np.take_along_axis(f, true, axis=-1)[..., 0] - others.max(axis=-1)


def surface(machine: Machine, prepare: Prepare, X: np.ndarray, image_shape, reach: int = REACH) -> np.ndarray:
    """f (2 reach + 1, 2 reach + 1, k) of one picture X (1, ...), row dy + reach, column dx + reach, under all shifts of
    up to `reach` pixels, filled with its background. The centre is f(x).
    """
    square = JitterSet(f"box:{reach}", image_shape)
    f = decided(machine, prepare, square.apply(X))[:, 0]
    grid = np.empty((2 * reach + 1, 2 * reach + 1, f.shape[1]))
    grid[tuple(square.offsets.T + reach)] = f
    return grid


def plateau(holds: np.ndarray) -> Plateau:
    """The plateau around the centre of a square (2 r + 1, 2 r + 1) bool of shifts."""
    reach = len(holds) // 2
    radius = -1
    while (
        radius < reach and holds[reach - radius - 1 : reach + radius + 2, reach - radius - 1 : reach + radius + 2].all()
    ):
        radius += 1
    return Plateau(radius, int(holds.sum()), holds.size)


def jittered_kernel(machine: Machine) -> Jittered | None:
    """The jittered kernel of a machine, also within a kernel made positive definite; None for other kernels."""
    kernel = getattr(machine.kernel, "base", None) if not isinstance(machine.kernel, Jittered) else machine.kernel
    return kernel if isinstance(kernel, Jittered) else None


class Pulls(NamedTuple):
    """The forms of an example in a jittered kernel: share (J,) of each form in the sum of |contributions|, and for the
    support vectors with the largest |contributions| their positions in the machine, contributions and forms."""

    jitters: JitterSet
    share: np.ndarray
    position: np.ndarray
    part: np.ndarray
    form: np.ndarray


def pulls(machine: Machine, c: int, x: np.ndarray, most: int = 12) -> Pulls | None:
    """The pulls of machine c's decision on the preprocessed example x (d,); None for other kernels."""
    kernel = jittered_kernel(machine)
    if kernel is None:
        return None
    support = np.flatnonzero(machine.coef[c])
    vectors = machine.support_vectors[support]
    part = machine.coef[c, support] * kernel.block(x[None], vectors)[0]
    form = kernel.nearest(x, vectors)
    share = np.bincount(form, np.abs(part), len(kernel.forms))
    first = np.argsort(-np.abs(part), kind="stable")[:most]
    return Pulls(kernel.forms, share / max(share.sum(), 1e-300), support[first], part[first], form[first])
