"""Kernels as frozen values: what a machine compares two examples with.

    linear   K(u, v) = u.v
    poly     K(u, v) = ((gamma u.v + coef0) / (gamma + coef0)) ** degree     (or without the division)
    rbf      K(u, v) = exp(-gamma |u - v|^2)
    sigmoid  K(u, v) = tanh(gamma u.v + coef0)

u, v (d,) float32. Poly is normalised, so that vectors of unit length give values in [0, 1]: degree 9, gamma = coef0 = 1
is the (u.v + 1)^9 / 512 of DeCoste and Schölkopf (2002), section 5.1.1. All four are functions of u.v, |u|^2 and
|v|^2; `_finish` (compiled.py) turns inner products into kernel values.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from svmcore.allowed import Allowed, whole
from svmcore.kernels.apart import SAFE
from svmcore.kernels.base import FINITE, POSITIVE, Kernel, numeral, register
from svmcore.kernels.compiled import INNER, POLY, RBF_, SIGMOID, KernelCode


def _gamma():
    help = "Multiplies the inner product or the squared distance. A larger gamma makes the kernel more local."
    return numeral(1.0, "gamma", help, 1e-6, None, 0.1)


def _coef0(default: float):
    return numeral(default, "coef0", "A constant that is added to the inner product.", step=0.5)


def _affine_formula(gamma, coef0) -> str:
    product = r"u \cdot v" if gamma == 1 else rf"{_tex(gamma)}\, u \cdot v"
    return product + (" " + _tex(coef0, "+g") if coef0 else "")


def _tex(number: float, form: str = "g") -> str:
    """A number in TeX, `0.02` or 2 times 10 to the power of -6."""
    digits, power, exponent = format(number, form).partition("e")
    return rf"{digits} \cdot 10^{{{int(exponent)}}}" if power else digits


@register("linear")
@dataclass(frozen=True)
class Linear(Kernel):
    """The inner product: K(u, v) = u.v.

    Examples
    --------
    >>> from svmcore import Linear
    >>> Linear().block([[1.0, 2.0]], [[3.0, 4.0]]).tolist()
    [[11.0]]
    """

    title: ClassVar[str] = "Linear"
    differentiable: ClassVar[bool] = True
    centrable: ClassVar[bool] = True  # (u + a).(v + a) = u.v + a.u + a.v + |a|^2, and sum_i alpha_i y_i = 0
    formula: ClassVar[str] = r"u \cdot v"

    def code(self) -> KernelCode:
        return INNER

    def value(self, dots, su, sv):
        return dots

    def slopes(self, dots, su, sv):
        return dots, np.ones_like(dots), None


@register("poly")
@dataclass(frozen=True)
class Poly(Kernel):
    """Polynomial kernel: K(u, v) = ((gamma u.v + coef0) / (gamma + coef0)) ** degree.

    Parameters
    ----------
    degree : int, default 3
        0 to 64: how many features may act together.
    gamma : float, default 1.0
        Above 0.
    coef0 : float, default 1.0
        Added to the inner product.
    normalised : bool, default True
        Whether it is divided by gamma + coef0, so that unit vectors give at most 1.

    Raises
    ------
    ValueError
        Naming a number that is not allowed.

    References
    ----------
    DeCoste and Schölkopf (2002), section 5.1.1: degree 9, gamma = coef0 = 1.

    Examples
    --------
    >>> from svmcore import Poly
    >>> Poly(9, 1, 1).block([[1.0, 0.0]], [[0.0, 1.0]]).tolist()  # 1 / 512
    [[0.001953125]]
    """

    degree: int = numeral(3, "degree", "The power of the inner product: how many pixels may act together.", 0, 64, 1)
    gamma: float = _gamma()
    coef0: float = _coef0(1.0)
    normalised: bool = numeral(
        True, "Normalise", "Divides by (gamma + coef0)^degree, so that unit vectors give kernel values of at most 1."
    )
    title: ClassVar[str] = "Poly"
    differentiable: ClassVar[bool] = True

    @classmethod
    def of_numbers(cls, **numbers) -> "Poly":
        return super().of_numbers(**numbers, normalised=False)

    @property
    def definite(self) -> bool:
        return self.coef0 >= 0

    @property
    def unit(self) -> float:
        """What gamma u.v + coef0 is divided by."""
        return self.gamma + self.coef0 if self.normalised else 1.0

    @property
    def formula(self) -> str:
        inner = _affine_formula(self.gamma, self.coef0)
        inner = rf"\frac{{{inner}}}{{{_tex(self.unit)}}}" if self.unit != 1 else inner
        return rf"\left({inner}\right)^{{{self.degree}}}"

    def __post_init__(self):
        self.require(degree=whole(0, 64)._replace(words="0, 1, ... 64"), gamma=POSITIVE, coef0=FINITE)
        if self.normalised:
            together = Allowed("gamma + coef0 above 0 (or normalised=False)", lambda coef0: self.gamma + coef0 > 0)
            self.require(coef0=together)

    def code(self) -> KernelCode:
        return KernelCode(POLY, int(self.degree), float(self.gamma / self.unit), float(self.coef0 / self.unit))

    def value(self, dots, su, sv):
        return whole_power((self.gamma * dots + self.coef0) / self.unit, self.degree)

    def slopes(self, dots, su, sv):
        if not self.degree:
            return np.ones_like(dots), np.zeros_like(dots), None
        base = (self.gamma * dots + self.coef0) / self.unit
        power = whole_power(base, self.degree - 1)
        return power * base, (self.degree * self.gamma / self.unit) * power, None


@register("rbf")
@dataclass(frozen=True)
class RBF(Kernel):
    """Gaussian kernel: K(u, v) = exp(-gamma |u - v|^2).

    Parameters
    ----------
    gamma : float, default 1.0
        Above 0; larger is more local.

    Raises
    ------
    ValueError
        Where gamma is not a number above 0.

    Examples
    --------
    >>> from svmcore import RBF
    >>> RBF(0.5).block([[0.0]], [[0.0]]).tolist()
    [[1.0]]
    """

    gamma: float = _gamma()
    title: ClassVar[str] = "RBF"
    differentiable: ClassVar[bool] = True
    constant_diagonal: ClassVar[bool] = True
    centrable: ClassVar[bool] = True

    @property
    def reach(self) -> float:
        return SAFE / self.gamma

    @property
    def formula(self) -> str:
        return rf"\exp(-{_tex(self.gamma)}\,\|u - v\|^2)"

    def __post_init__(self):
        self.require(gamma=POSITIVE)

    def code(self) -> KernelCode:
        return KernelCode(RBF_, 1, float(self.gamma), 0.0)

    def value(self, dots, su, sv):
        exponent = np.minimum(2 * dots - su - sv, 0)
        exponent *= self.gamma
        return np.exp(exponent)

    def slopes(self, dots, su, sv):
        value = self.value(dots, su, sv)
        by_norm = -self.gamma * value
        return value, -2 * by_norm, by_norm


@register("sigmoid")
@dataclass(frozen=True)
class Sigmoid(Kernel):
    """K(u, v) = tanh(gamma u.v + coef0), not positive definite in general.

    Parameters
    ----------
    gamma : float, default 1.0
        Above 0.
    coef0 : float, default 0.0
        Added to the inner product.

    Raises
    ------
    ValueError
        Naming a number that is not allowed.

    Examples
    --------
    >>> from svmcore import Sigmoid
    >>> Sigmoid().block([[0.0]], [[1.0]]).tolist()
    [[0.0]]
    """

    gamma: float = _gamma()
    coef0: float = _coef0(0.0)
    title: ClassVar[str] = "Sigmoid"
    differentiable: ClassVar[bool] = True
    definite: ClassVar[bool] = False

    @property
    def formula(self) -> str:
        return rf"\tanh({_affine_formula(self.gamma, self.coef0)})"

    def __post_init__(self):
        self.require(gamma=POSITIVE, coef0=FINITE)

    def code(self) -> KernelCode:
        return KernelCode(SIGMOID, 1, float(self.gamma), float(self.coef0))

    def value(self, dots, su, sv):
        return np.tanh(self.gamma * dots + self.coef0)

    def slopes(self, dots, su, sv):
        value = self.value(dots, su, sv)
        return value, self.gamma * (1 - value * value), None


@register("precomputed")
@dataclass(frozen=True)
class Precomputed(Kernel):
    """Values that the caller brings: an example is its row of kernel values with the n training examples."""

    n: int

    def block(self, A, B, out=None):
        raise TypeError("kernel precomputed: kernel values are given and cannot be computed from examples")


def whole_power(x, degree: int):
    """x ** degree for a whole degree, by repeated squaring: many times faster than the library's power of floats."""
    power = np.ones_like(x)
    while degree:
        power, x, degree = power * x if degree % 2 else power, x * x, degree // 2
    return power
