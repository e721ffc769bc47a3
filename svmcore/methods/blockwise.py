"""Base classes of the kernels that are not functions of u.v, |u|^2 and |v|^2, and compute their own blocks.

    fill(operand, A, sq, cols, out)      out[i, j] = K(a_i, x_j),  x_j the operand's examples of the slice `cols`

A (m, d) float32; sq (m,) = |a|^2; out (m, n') float32. What such a kernel precomputes of the operand's examples is kept
by `operand.derived`. A FittedKernel has arrays that were found on training examples. A DirectedKernel adds to a kernel,
or subtracts from it, the components along a few directions w_r = sum_i weights_ir phi(point_i) of its feature space:

    K'(u, v) = K(u, v) +- <p(u), p(v)>,    p(u)_r = <w_r, phi(u)> = sum_i weights_ir K(point_i, u)
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from svmcore.gram.products import Operand
from svmcore.gram.threads import between_pieces
from svmcore.kernels import Kernel, squared_norms

PIECE = 1024  # rows multiplied at once: what is asked to stop, or clicked, waits for one product


class BlockwiseKernel(Kernel):
    """A kernel whose blocks come from its `fill`, wherever an Operand asks for them."""

    fills: ClassVar[bool] = True

    def block(self, A, B, out=None):
        """Kernel values of every row of A (m, d) against every row of B (n, d): (m, n) float32, into `out` if given."""
        return Operand(B).block(A, self, out)


def image_shape_for(kernel: Kernel, shape) -> tuple[int, ...]:
    """The shape of images that a kernel was given, as whole numbers. ValueError for what is no shape."""
    if shape is None or len(shape) not in (2, 3) or min(shape) < 1:
        raise ValueError(
            f"kernel {kernel.name}: image_shape = {shape}; allowed: (height, width[, channels]) of the rows"
        )
    return tuple(int(side) for side in shape)


def by_pieces(A, width: int, make) -> np.ndarray:
    """make(rows) (m', width) float32 of the rows of A (m, d), in pieces, between which the fit can be stopped."""
    out = np.empty((len(A), width), np.float32)
    for start in range(0, len(A), PIECE):
        between_pieces()
        out[start : start + PIECE] = make(A[start : start + PIECE])
    return out


class FittedKernel(BlockwiseKernel):
    """A kernel over `base` with arrays found on training examples, known by their content; a subclass names them."""

    arrays: ClassVar[tuple[str, ...]] = ()

    @property
    def definite(self) -> bool:
        return self.base.definite

    def __post_init__(self):
        for name in self.arrays:
            array = np.ascontiguousarray(getattr(self, name), np.float32)
            if array.ndim != 2 or not np.isfinite(array).all():
                raise ValueError(f"kernel {self.name}: {name} has shape {array.shape}; allowed: a finite (m, n) array")
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def formula(self) -> str:
        return rf"\text{{{self.name} }} {self.base.formula}"

    @property
    def work(self) -> float:
        return self.base.work

    @cached_property
    def digest(self) -> str:
        """Hash of the arrays' content, and of what else is not the base."""
        content = hashlib.sha256()
        for name, value in self.get_params(deep=False).items():
            if name in self.arrays:
                content.update(repr(value.shape).encode() + value.tobytes())
            elif name != "base":
                content.update(repr(value).encode())
        return content.hexdigest()

    def __eq__(self, other) -> bool:
        return type(self) is type(other) and (self.base, self.digest) == (other.base, other.digest)

    def __hash__(self) -> int:
        return hash((type(self), self.base, self.digest))

    def to_dict(self) -> dict:
        """Description that `kernel_from_dict` reads back: JSON-able but for the arrays, which `save` keeps apart."""
        return {"name": self.name} | self.get_params(deep=False) | {"base": self.base.to_dict()}


@dataclass(frozen=True, eq=False)
class DirectedKernel(FittedKernel):
    """base(u, v) + sign <p(u), p(v)>, p(u) = base(u, points) weights; a subclass has the sign."""

    base: Kernel
    points: np.ndarray  # (m, d)
    weights: np.ndarray  # (m, r)
    arrays: ClassVar[tuple[str, ...]] = ("points", "weights")
    sign: ClassVar[int]

    @property
    def work(self) -> float:
        return 2 * self.base.work

    def diag(self, A) -> np.ndarray:
        """K'(u, u) of every row u of A (m, d): (m,) float32."""
        return self.base.diag(A) + self.sign * squared_norms(self._along(A))

    def fill(self, operand: Operand, A, sq, cols: slice, out) -> None:
        """Kernel values (m, n') of the rows of A against the operand's examples `cols`, into `out`."""
        along = operand.derived(self, lambda: self._along(operand.X))
        operand.product(A, sq, self.base, cols, out)
        out += self.sign * self._along(A) @ along[cols].T

    @cached_property
    def _points(self) -> Operand:
        return Operand(self.points)

    def _along(self, A) -> np.ndarray:
        """Components along the directions: p (m, r) float32 of the rows of A."""
        return by_pieces(
            A, self.weights.shape[1], lambda rows: self._points.block(rows, self.base).astype(np.float64) @ self.weights
        )
