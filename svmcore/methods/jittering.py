"""Kernels that jitter: of all forms of one example, the one nearest to the other in feature space.

    K_J(u, v) = K(T_q u, v),    q = argmin_q  K(T_q u, T_q u) - 2 K(T_q u, v) + K(v, v)

(for kernels with constant diagonal, the largest K(T_q u, v)). For a set of shifts that holds the opposite of each, with
zeros shifted in (border "@zero"), <T_q u, v> = <u, T_-q v> and K_J is symmetric as it stands; for other sets and
borders it is the mean of K_J(u, v) and K_J(v, u). With sides = "both" it is the nearest pair of forms, which for shifts
of zeros is a matter of the relative shift alone: 25 forms of u for the 81 pairs of 3x3 shifts. Where the background is
0 the borders "@background" and "@zero" bring in the same; name the second then, it costs less than half. Nothing makes
K_J positive definite: see definite.py.

With a plain machine, jittering at test time alone is query jitter.

Reference: DeCoste and Schölkopf, Machine Learning 46 (2002), section 3.3 and Table 10.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from svmcore._jit import native
from svmcore.allowed import one_of
from svmcore.gram.products import Operand
from svmcore.jitter import JitterSet
from svmcore.kernels import Kernel, register, squared_norms
from svmcore.methods.blockwise import BlockwiseKernel, image_shape_for
from svmcore.model import Machine
from svmcore.preprocess import Preprocessor

SIDES = ("one", "both")


@register("jittered")
@dataclass(frozen=True)
class Jittered(BlockwiseKernel):
    """Jittering kernel: the base kernel of the forms of two examples that are nearest.

    Parameters
    ----------
    base : Kernel
        A kernel of inner products.
    jitters : str, default "box:1"
        Text of a JitterSet.
    image_shape : tuple of int or None, default None
        (h, w) or (h, w, c) of the rows; it must be given.
    sides : {"one", "both"}, default "one"
        Whether one of two examples is jittered, or both.
    prepare : tuple of str, default ()
        Preprocessing steps that the examples have been through and a jitter can undo, such as ("unit-norm",): they are
        repeated after each jitter. Where they make features, the rows are images that have been through none of them.

    Raises
    ------
    ValueError
        Naming a field that is not allowed.

    References
    ----------
    DeCoste and Schölkopf (2002), section 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from svmcore import Jittered, Linear
    >>> u, v = np.eye(9, dtype=np.float32)[[4, 5]]  # one pixel, and the same one pixel to the right
    >>> Jittered(Linear(), "box:1", (3, 3)).block(u[None], v[None]).round(5).tolist()
    [[1.0]]
    """

    base: Kernel
    jitters: str = "box:1"
    image_shape: tuple[int, ...] | None = None
    sides: str = "one"
    prepare: tuple[str, ...] = ()
    definite: ClassVar[bool] = False  # each pair is compared in a form of its own

    def __post_init__(self):
        object.__setattr__(self, "image_shape", image_shape_for(self, self.image_shape))
        self.require(sides=one_of(SIDES))
        object.__setattr__(self, "jitters", str(JitterSet.parse(self.jitters, self.image_shape)))
        object.__setattr__(self, "prepare", tuple(self.prepare))
        if not self._pipeline.__sklearn_is_fitted__():
            raise ValueError(f"kernel jittered: prepare = {self.prepare}; allowed: steps that learn nothing from data")

    def diag(self, A) -> np.ndarray:
        """K_J(u, u) = K(u, u): no form of u is nearer to u than u itself."""
        return self.base.diag(self._compared(A))

    def fill(self, operand: Operand, A, sq, cols: slice, out) -> None:
        """Kernel values (m, n') of the rows of A (m, d) against the operand's examples `cols`, into `out`."""
        best = np.full(out.shape, -np.inf, np.float32)
        if self.sides == "both" and self._shifts is None:
            for other, _, own in self._forms(operand.X[cols], operand.sq[cols]):
                self._nearest(self._forms(A, sq), Operand(other), slice(0, len(other)), own, best, out)
            return
        nobody = np.zeros(out.shape[1], np.float32)
        self._nearest(self._forms(A, sq), self._operand(operand), cols, nobody, best, out)
        if self._shifts is None:
            back, best = np.empty(out.shape[::-1], np.float32), np.full(out.shape[::-1], -np.inf, np.float32)
            nobody, others = np.zeros(len(A), np.float32), Operand(self._compared(A))
            self._nearest(self._forms_of(operand, cols), others, slice(0, len(A)), nobody, best, back)
            out += back.T
            out /= 2

    def to_dict(self) -> dict:
        """JSON-able description that `kernel_from_dict` reads back."""
        fields = {"jitters": self.jitters, "image_shape": list(self.image_shape), "sides": self.sides}
        return {"name": self.name, "base": self.base.to_dict(), "prepare": list(self.prepare)} | fields

    @property
    def formula(self) -> str:
        return rf"\text{{jittered }} {self.base.formula}"

    @property
    def work(self) -> float:
        return self.products * self.base.work

    @property
    def products(self) -> int:
        """Values of `base` that one value of this kernel takes."""
        if self._shifts is not None:
            return len(self._shifts)
        return len(self._set) ** 2 if self.sides == "both" else 2 * len(self._set)

    @property
    def derives(self) -> bool:
        """Features of all forms of the operand's examples take longer than the products with them."""
        return self._pipeline.makes_features

    @property
    def moved(self) -> tuple | None:
        """(base, shifts (J, 2), image shape) where its value is the largest of `base` over shifts, zeros shifted in."""
        return None if self._shifts is None else (self.base, self._shifts.offsets, self.image_shape)

    @property
    def forms(self) -> JitterSet:
        """The forms of an example that the kernel chooses from: its jitters, or for shifts of zeros those of both."""
        return self._set if self._shifts is None else self._shifts

    def nearest(self, u, X) -> np.ndarray:
        """Numbers (n,) in `forms` of the form of u (d,) that is nearest to each row of X (n, d) in feature space.

        DeCoste and Schölkopf (2002), section 3.3, step 1.
        """
        operand, u = Operand(self._compared(X)), np.ascontiguousarray(u, np.float32)[None]
        values = np.empty((len(self.forms), operand.n), np.float32)
        for row, (form, norms, own) in zip(values, self._forms(u, squared_norms(u)), strict=True):
            operand.product(form, norms, self.base, slice(0, operand.n), row[None])
            row *= 2
            row -= own[0]
        return np.argmax(values, axis=0)

    @cached_property
    def _pipeline(self) -> Preprocessor:
        return Preprocessor(*self.prepare, image_shape=self.image_shape)

    @cached_property
    def _set(self) -> JitterSet:
        return JitterSet(self.jitters, self.image_shape)

    @cached_property
    def _shifts(self) -> JitterSet | None:
        """The shifts, zeros shifted in and lengths kept, by which jittering u alone is as good as what `sides` asks
        for: a set with the opposite of each, or the differences of any set. None for other sets and other borders."""
        if not set(self.prepare) <= {"unit-norm"} or self._set.offsets is None or self._set.border != "zero":
            return None
        offsets = {tuple(o) for o in self._set.offsets.tolist()}
        if self.sides == "both":
            offsets = {(a - dy, b - dx) for a, b in offsets for dy, dx in offsets}
        elif offsets != {(-dy, -dx) for dy, dx in offsets}:
            return None
        moves = ";".join(f"{dy},{dx}" for dy, dx in sorted(offsets - {(0, 0)}))
        return JitterSet(f"shift:{moves}@zero" if moves else "none@zero", self.image_shape)

    def _forms(self, A, sq) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """For each jitter: the forms (m, d) of the rows of A, their |.|^2 and their K(., .), both (m,)."""
        if self._shifts is not None:
            own = self.base.diag(A)
            for rows in self._shifts.each(A):
                yield rows, sq, own
            return
        for rows in self._set.each(A):
            rows = self._pipeline.transform(rows)
            yield rows, squared_norms(rows), self.base.diag(rows)

    def _compared(self, X) -> np.ndarray:
        """Rows X (m, d) as the base kernel compares them: the features of images, or as they are."""
        return self._pipeline.transform(X) if self._pipeline.makes_features and len(X) else X

    def _operand(self, operand: Operand) -> Operand:
        """The operand as the base kernel compares it."""
        if not self._pipeline.makes_features:
            return operand
        return operand.derived((self, "features"), lambda: Operand(self._compared(operand.X)))

    def _forms_of(self, operand: Operand, cols: slice) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """`_forms` of the operand's examples `cols`; features, which take longest, are made once and kept."""
        if not self._pipeline.makes_features:
            return self._forms(operand.X[cols], operand.sq[cols])
        kept = operand.derived((self, "forms"), lambda: list(self._forms(operand.X, operand.sq)))
        return (tuple(part[cols] for part in form) for form in kept)

    def _nearest(self, forms, operand, cols, own_other, best, out) -> None:
        """Into `out`, of the present values and those of all forms, the ones at the least distance.

        DeCoste and Schölkopf (2002), section 3.3, step 1.
        """
        values = np.empty(out.shape, np.float32)
        for rows, norms, own in forms:
            operand.product(rows, norms, self.base, cols, values)
            _keep_nearest(values, own, own_other, best, out)


def query_jittered(machine: Machine, jitters, image_shape, prepare=()) -> Machine:
    """The same machine, whose test examples are compared with each support vector in the nearest of their forms.

    Parameters
    ----------
    machine : Machine
        Trained with a kernel of inner products.
    jitters : str or JitterSet
        What test examples are put through.
    image_shape : tuple of int
        (h, w) or (h, w, c) of the rows.
    prepare : tuple of str, default ()
        As of Jittered.

    Returns
    -------
    Machine
        The same vectors and coefficients under a Jittered kernel.

    References
    ----------
    DeCoste and Schölkopf (2002), Table 10: "query jitter".

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from svmcore import SVC, Poly, query_jittered
    >>> X, y = load_digits(return_X_y=True)
    >>> machine = SVC(Poly(3, 1e-3, 1)).fit(X[:100], y[:100]).machine_
    >>> query_jittered(machine, "plus:1", (8, 8)).kernel.name
    'jittered'
    """
    return replace(machine, kernel=Jittered(machine.kernel, jitters, image_shape, prepare=tuple(prepare)))


@native()
def _keep_nearest(values, own, own_other, best, out):
    """out, best (m, n): where 2 K - K_own - K_other exceeds the best so far, the kernel value and the new best.

    DeCoste and Schölkopf (2002), section 3.3, step 2.
    """
    for i in range(values.shape[0]):
        new, old, row = values[i], best[i], out[i]
        for j in range(new.shape[0]):
            nearness = np.float32(2) * new[j] - own[i] - own_other[j]
            row[j] = new[j] if nearness > old[j] else row[j]
            old[j] = nearness if nearness > old[j] else old[j]
