"""Kernels as frozen values: what a machine compares two examples with.

    linear   K(u, v) = u.v
    poly     K(u, v) = ((gamma u.v + coef0) / (gamma + coef0)) ** degree     (or without the division)
    rbf      K(u, v) = exp(-gamma |u - v|^2)
    sigmoid  K(u, v) = tanh(gamma u.v + coef0)

u, v (d,) float32. Poly is normalised, so that vectors of unit length give values in [0, 1]: degree 9, gamma = coef0 = 1
is the (u.v + 1)^9 / 512 of DeCoste and Schoelkopf (2002), section 5.2. All four are functions of u.v, |u|^2 and |v|^2;
`_finish` turns a stretch of inner products into kernel values where it lies, so that a product writes each value once.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from typing import ClassVar, NamedTuple

import numpy as np
from numba import njit

LINEAR, POLY, RBF_, SIGMOID = range(4)
KERNELS: dict[str, type[Kernel]] = {}


class KernelCode(NamedTuple):
    """A kernel as compiled code sees it: plain numbers (a function argument would defeat the disk cache)."""

    kind: int
    degree: int
    gamma: np.float32
    coef0: np.float32


class Kernel:
    """Base of all kernels: frozen, hashable, and rebuilt by `kernel_from_dict`."""

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""  # in the form; without one a kernel is not offered there
    constant_diagonal: ClassVar[bool] = False  # K(u, u) is the same for every u
    translation_invariant: ClassVar[bool] = False  # K(u + w, v + w) = K(u, v)

    @property
    def formula(self) -> str:
        """K(u, v) in TeX."""
        return rf"\text{{{self.name}}}"

    @property
    def brief(self) -> str:
        """The kernel in a few characters: `poly 9`, `rbf 0.02`, `linear`."""
        number = getattr(self, "degree", getattr(self, "gamma", None))
        return self.name if number is None else f"{self.name} {number:g}"

    @property
    def work(self) -> float:
        """How many values of a plain kernel, a function of u.v and the norms, take as long as one of this."""
        return 1.0

    def block(self, A, B, out=None):
        """Kernel values of every row of A (m, d) against every row of B (n, d): (m, n) float32, into `out` if given."""
        A, B = _rows(A), _rows(B)
        if A.shape[1] != B.shape[1]:
            raise ValueError(f"A has {A.shape[1]} features and B has {B.shape[1]}; they must agree")
        out = np.empty((len(A), len(B)), np.float32) if out is None else out
        np.matmul(A, B.T, out=out)
        _finish_rows(self.code(), out, squared_norms(A), squared_norms(B))
        return out

    def exact(self, A, B):
        """The same values in double precision, (m, n) float64: slower, and the same whatever the rows' company.

        Kernels that fill their own blocks are as exact as those are.
        """
        if hasattr(self, "fill"):
            return self.block(A, B).astype(np.float64)
        A, B = np.asarray(A, np.float64), np.asarray(B, np.float64)
        return self.value(A @ B.T, squared_norms(A)[:, None], squared_norms(B)[None, :])

    def value(self, dots, su, sv):
        """K from inner products u.v and squared norms |u|^2, |v|^2 (arrays that broadcast, any precision)."""
        raise TypeError(f"{type(self).__name__} is not a function of inner products")

    def diag(self, A):
        """K(u, u) of every row u of A (m, d): (m,) float32."""
        sq = squared_norms(_rows(A))
        with np.errstate(over="ignore"):
            return self.value(sq, sq, sq).astype(np.float32)

    def get_params(self, deep: bool = True) -> dict:
        """The fields, and with `deep` those of an inner kernel as inner__field, for scikit-learn's searches."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        inner = {
            f"{name}__{key}": v for name, k in own.items() if isinstance(k, Kernel) for key, v in k.get_params().items()
        }
        return own | (inner if deep else {})

    def with_params(self, **params) -> Kernel:
        """This kernel with other fields; inner__field is a field of an inner kernel. ValueError for unknown ones."""
        own = self.get_params(deep=False)
        changed, inner = {}, {}
        for name, value in params.items():
            head, _, rest = name.partition("__")
            if head not in own or (rest and not isinstance(own[head], Kernel)):
                raise ValueError(f"kernel {self.name}: unknown field {name!r}; allowed: {', '.join(self.get_params())}")
            if rest:
                inner.setdefault(head, {})[rest] = value
            else:
                changed[head] = value
        for head, of_inner in inner.items():
            changed[head] = changed.get(head, own[head]).with_params(**of_inner)
        return replace(self, **changed)

    def __sklearn_clone__(self) -> Kernel:
        return self  # never changed

    def code(self) -> KernelCode:
        """The kernel in plain numbers; kernels that are not functions of u.v and the norms have none."""
        raise TypeError(f"{type(self).__name__} is not a function of inner products")

    def to_dict(self) -> dict:
        """JSON-able description that `kernel_from_dict` reads back."""
        return {"name": self.name} | asdict(self)


def numeral(default, label: str, help: str, low=None, high=None, step=None):
    """A number (or flag) of a kernel, with its words and range for forms."""
    return field(default=default, metadata={"label": label, "help": help, "low": low, "high": high, "step": step})


def _gamma():
    return numeral(
        1.0, "gamma", "Factor of the inner product or of the squared distance; larger is more local.", 1e-6, None, 0.1
    )


def _coef0(default: float):
    return numeral(default, "coef0", "Added to the inner product.", step=0.5)


def _affine_formula(gamma, coef0) -> str:
    product = r"u \cdot v" if gamma == 1 else rf"{gamma:g}\, u \cdot v"
    return product + (f" {coef0:+g}" if coef0 else "")


def register(name: str):
    """Class decorator: make a kernel known to `kernel_from_dict` under `name`."""

    def enter(cls):
        cls.name = name
        KERNELS[name] = cls
        return cls

    return enter


def kernel_from_dict(description: dict) -> Kernel:
    """The kernel that `to_dict` described. ValueError names the field, its value and what is allowed."""
    if not isinstance(description, dict) or description.get("name") not in KERNELS:
        name = description.get("name") if isinstance(description, dict) else description
        raise ValueError(f"kernel: {name!r} is unknown; allowed: {', '.join(sorted(KERNELS))}")
    cls = KERNELS[description["name"]]
    values = {key: value for key, value in description.items() if key != "name"}
    if hasattr(cls, "from_fields"):
        return cls.from_fields(values)
    allowed = [f.name for f in fields(cls)]
    if unknown := sorted(set(values) - set(allowed)):
        raise ValueError(f"kernel {cls.name}: unknown field {unknown[0]!r}; allowed: {', '.join(allowed) or 'none'}")
    return cls(**values)


@register("linear")
@dataclass(frozen=True)
class Linear(Kernel):
    """K(u, v) = u.v"""

    title: ClassVar[str] = "Linear"
    formula: ClassVar[str] = r"u \cdot v"

    def code(self) -> KernelCode:
        return KernelCode(LINEAR, 1, np.float32(1), np.float32(0))

    def value(self, dots, su, sv):
        return dots


@register("poly")
@dataclass(frozen=True)
class Poly(Kernel):
    """K(u, v) = ((gamma u.v + coef0) / (gamma + coef0)) ** degree; without the divisor where `normalised` is False."""

    degree: int = numeral(3, "degree", "How many pixels may act together.", 0, 64, 1)
    gamma: float = _gamma()
    coef0: float = _coef0(1.0)
    normalised: bool = numeral(True, "Normalise", "Divide by (gamma + coef0)^degree: unit vectors give at most 1.")
    title: ClassVar[str] = "Poly"

    @property
    def formula(self) -> str:
        inner, unit = _affine_formula(self.gamma, self.coef0), self.gamma + self.coef0
        inner = rf"\frac{{{inner}}}{{{unit:g}}}" if self.normalised and unit != 1 else inner
        return rf"\left({inner}\right)^{{{self.degree}}}"

    def __post_init__(self):
        _check(self, "degree", isinstance(self.degree, int | np.integer) and 0 <= self.degree <= 64, "0, 1, ... 64")
        _check_positive(self, "gamma")
        _check_finite(self, "coef0")
        if self.normalised:
            _check(self, "coef0", self.gamma + self.coef0 > 0, "gamma + coef0 above 0 (or normalised=False)")

    def code(self) -> KernelCode:
        unit = self.gamma + self.coef0 if self.normalised else 1.0
        return KernelCode(POLY, int(self.degree), np.float32(self.gamma / unit), np.float32(self.coef0 / unit))

    def value(self, dots, su, sv):
        unit = self.gamma + self.coef0 if self.normalised else 1.0
        return whole_power((self.gamma * dots + self.coef0) / unit, self.degree)


@register("rbf")
@dataclass(frozen=True)
class RBF(Kernel):
    """K(u, v) = exp(-gamma |u - v|^2)"""

    gamma: float = _gamma()
    title: ClassVar[str] = "RBF"
    constant_diagonal: ClassVar[bool] = True
    translation_invariant: ClassVar[bool] = True

    @property
    def formula(self) -> str:
        return rf"\exp(-{self.gamma:g}\,\|u - v\|^2)"

    def __post_init__(self):
        _check_positive(self, "gamma")

    def code(self) -> KernelCode:
        return KernelCode(RBF_, 1, np.float32(self.gamma), np.float32(0))

    def value(self, dots, su, sv):
        return np.exp(-self.gamma * np.maximum(su + sv - 2 * dots, 0))


@register("sigmoid")
@dataclass(frozen=True)
class Sigmoid(Kernel):
    """K(u, v) = tanh(gamma u.v + coef0), not positive definite in general."""

    gamma: float = _gamma()
    coef0: float = _coef0(0.0)
    title: ClassVar[str] = "Sigmoid"

    @property
    def formula(self) -> str:
        return rf"\tanh({_affine_formula(self.gamma, self.coef0)})"

    def __post_init__(self):
        _check_positive(self, "gamma")
        _check_finite(self, "coef0")

    def code(self) -> KernelCode:
        return KernelCode(SIGMOID, 1, np.float32(self.gamma), np.float32(self.coef0))

    def value(self, dots, su, sv):
        return np.tanh(self.gamma * dots + self.coef0)


@register("precomputed")
@dataclass(frozen=True)
class Precomputed(Kernel):
    """Values that the caller brings: an example is its row of kernel values with the n training examples."""

    n: int

    def block(self, A, B, out=None):
        raise TypeError("kernel precomputed: there are no examples to compute kernel values of; they are given")


def whole_power(x, degree: int):
    """x ** degree for a whole degree, by repeated squaring: many times faster than the library's power of floats."""
    power = np.ones_like(x)
    while degree:
        power, x, degree = power * x if degree % 2 else power, x * x, degree // 2
    return power


def squared_norms(X) -> np.ndarray:
    """|x|^2 of every row of X (n, d): (n,) of its precision."""
    return np.einsum("ij,ij->i", X, X)


def _rows(A) -> np.ndarray:
    A = np.ascontiguousarray(A, np.float32)
    if A.ndim != 2:
        raise ValueError(f"expected examples in rows, (n, d); got an array of shape {A.shape}")
    return A


def _check(kernel, field: str, good: bool, allowed: str) -> None:
    if not good:
        raise ValueError(f"kernel {kernel.name}: {field} = {getattr(kernel, field)!r}; allowed: {allowed}")


def _check_finite(kernel, field: str) -> None:
    value = getattr(kernel, field)
    good = isinstance(value, int | float | np.number) and not isinstance(value, bool) and np.isfinite(value)
    _check(kernel, field, bool(good), "a finite number")


def _check_positive(kernel, field: str) -> None:
    _check_finite(kernel, field)
    _check(kernel, field, getattr(kernel, field) > 0, "a number above 0")


@njit(cache=True, nogil=True)
def _finish_rows(code, block, su, sv):
    for i in range(block.shape[0]):
        _finish(code, block[i], su[i], sv)


@njit(cache=True, nogil=True)
def _finish(code, row, su, sv):
    """Inner products `row` (t,) of u with t vectors become kernel values in place; su = |u|^2, sv (t,) = |v|^2."""
    for start in range(0, row.shape[0], 256):  # stretches that stay in L1 through the passes below
        part = row[start : start + 256]
        if code.kind == POLY:
            _affine(part, code.gamma, code.coef0)
            _power(part, code.degree)
        elif code.kind == RBF_:
            norms = sv[start : start + 256]
            for t in range(part.shape[0]):
                part[t] = -code.gamma * max(su + norms[t] - np.float32(2) * part[t], np.float32(0))
            _exp(part)
        elif code.kind == SIGMOID:
            _affine(part, code.gamma, code.coef0)
            for t in range(part.shape[0]):
                part[t] = min(max(np.float32(2) * part[t], np.float32(-80)), np.float32(80))
            _exp(part)
            for t in range(part.shape[0]):
                part[t] = (part[t] - np.float32(1)) / (part[t] + np.float32(1))


@njit(cache=True, nogil=True)
def _affine(part, gamma, coef0):
    for t in range(part.shape[0]):
        part[t] = gamma * part[t] + coef0


@njit(cache=True, nogil=True)
def _power(part, degree):
    """part ** degree by repeated squaring, one pass of multiplications a bit."""
    square = part.copy()
    if degree % 2 == 0:
        part[:] = np.float32(1)
    bits = degree // 2
    while bits > 0:
        for t in range(part.shape[0]):
            square[t] *= square[t]
        if bits % 2 == 1:
            for t in range(part.shape[0]):
                part[t] *= square[t]
        bits //= 2


@njit(cache=True, nogil=True)
def _exp(part):
    """exp in place to 2e-7 (relative) by x = k ln 2 + r; vectorises, which a call of the library's exp does not."""
    bits = np.empty(part.shape[0], np.int32)
    for t in range(part.shape[0]):
        x = min(max(part[t], np.float32(-87)), np.float32(87))
        k = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
        bits[t] = (np.int32(k) + np.int32(127)) << 23
        r = (x - k * np.float32(0.693359375)) + k * np.float32(2.12194440e-4)  # ln 2 in two parts
        p = np.float32(1 / 720) + r * np.float32(1 / 5040)
        p = np.float32(1 / 24) + r * (np.float32(1 / 120) + r * p)
        part[t] = np.float32(1) + r * (np.float32(1) + r * (np.float32(0.5) + r * (np.float32(1 / 6) + r * p)))
    power_of_two = bits.view(np.float32)
    for t in range(part.shape[0]):
        part[t] *= power_of_two[t]
