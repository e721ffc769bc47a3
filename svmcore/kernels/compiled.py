"""Compiled kernels: inner products become kernel values where they lie, so that a product writes each value once.

A row is gone through once, its values in vectors from the inner product to the kernel value. A kernel needs none of
this to be right, but to be fast: of one without a `code` the pass leaves inner products, and `Kernel.value` goes on.

EXACT does the same for values of double precision, a function for each kind that has one, so that a fit compiles the
one it needs (the others' values are those of Kernel.value):
finish(code, dots, su, sv) in place, dots (m, n) float64, su (m,), sv (n,).
"""

from typing import NamedTuple

import numpy as np

from svmcore._jit import inner, native

LINEAR, POLY, RBF_, SIGMOID = range(4)
FUSED = {"contract"}  # a product and the sum it goes into may be one instruction


class KernelCode(NamedTuple):
    """A kernel as compiled code sees it: plain numbers (a function argument would defeat the disk cache)."""

    kind: int
    degree: int
    gamma: float
    coef0: float


INNER = KernelCode(LINEAR, 1, 1.0, 0.0)


@inner(fastmath=FUSED, error_model="numpy")
def _finish(code, row, su, sv):
    """Inner products `row` (t,) of u with t vectors become kernel values in place; su = |u|^2, sv (t,) = |v|^2."""
    gamma, coef0 = np.float32(code.gamma), np.float32(code.coef0)
    if code.kind == POLY and code.degree < 16:
        for t in range(row.shape[0]):
            row[t] = _power(gamma * row[t] + coef0, code.degree)
    elif code.kind == POLY:
        low, high = code.degree % 16, code.degree // 16
        for t in range(row.shape[0]):
            x = gamma * row[t] + coef0
            square = x * x
            fourth = square * square
            eighth = fourth * fourth
            row[t] = _power(x, low) * _power(eighth * eighth, high)
    elif code.kind == RBF_:
        for t in range(row.shape[0]):
            away = su + sv[t] - np.float32(2) * row[t]
            row[t] = _exp(-gamma * (np.float32(0) if away < 0 else away))
    elif code.kind == SIGMOID:
        for t in range(row.shape[0]):
            e = _exp(np.float32(2) * (gamma * row[t] + coef0))
            row[t] = (e - np.float32(1)) / (e + np.float32(1))
    elif code.kind != LINEAR:
        raise ValueError("kernel: the compiled pass does not know this kind of kernel")


@inner(fastmath=FUSED)
def _power(x, degree):
    """x ** degree, 0 <= degree < 16, by squares; a loop over the bits would keep one over many x from being vectors."""
    one = np.float32(1)
    power = x if degree & 1 else one
    x *= x
    power *= x if degree & 2 else one
    x *= x
    power *= x if degree & 4 else one
    x *= x
    return power * (x if degree & 8 else one)


@inner(fastmath=FUSED)
def _exp(x):
    """exp to 2e-7 (relative) by x = k ln 2 + r; vectorises, which a call of the library's exp does not. What is not a
    number stays so: `lesser` and `greater` would hide it."""
    x = np.float32(-87) if x < np.float32(-87) else x
    x = np.float32(87) if x > np.float32(87) else x
    k = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
    power_of_two = np.int32((np.int32(k) + np.int32(127)) << np.int32(23))
    r = (x - k * np.float32(0.693359375)) + k * np.float32(2.12194440e-4)  # ln 2 in two parts
    p = np.float32(1 / 720) + r * np.float32(1 / 5040)
    p = np.float32(1 / 24) + r * (np.float32(1 / 120) + r * p)
    p = np.float32(1) + r * (np.float32(1) + r * (np.float32(0.5) + r * (np.float32(1 / 6) + r * p)))
    return p * power_of_two.view(np.float32)


@inner(fastmath=FUSED)
def _exp_double(x):
    """exp to 4e-16 (relative), as `_exp`; 0 where it is less than 3e-308."""
    counts = 0.0 if x < -708.0 else 1.0
    x = -708.0 if x < -708.0 else x
    x = 709.0 if x > 709.0 else x
    k = np.floor(x * 1.4426950408889634 + 0.5)
    power_of_two = np.int64((np.int64(np.int32(k)) + np.int64(1023)) << np.int64(52))
    r = (x - k * 0.693145751953125) + k * -1.4286068203094172e-6  # ln 2 in two parts
    p = 1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600))
    p = 1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * p))
    p = 1 / 24 + r * (1 / 120 + r * (1 / 720 + r * p))
    p = 1.0 + r * (1.0 + r * (0.5 + r * (1 / 6 + r * p)))
    return counts * p * power_of_two.view(np.float64)


@native(fastmath=FUSED)
def _exact_rbf(code, dots, su, sv):
    for i in range(dots.shape[0]):
        for t in range(dots.shape[1]):
            away = su[i] + sv[t] - 2.0 * dots[i, t]
            dots[i, t] = _exp_double(-code.gamma * (0.0 if away < 0 else away))


@native(fastmath=FUSED)
def _exact_poly(code, dots, su, sv):
    gamma, coef0, low, high = code.gamma, code.coef0, code.degree % 16, code.degree // 16
    for i in range(dots.shape[0]):
        for t in range(dots.shape[1]):
            x = gamma * dots[i, t] + coef0
            fourth = (x * x) * (x * x)
            fourth *= fourth
            dots[i, t] = _power(x, low) * (_power(fourth * fourth, high) if high else 1.0)


@native(fastmath=FUSED, error_model="numpy")
def _exact_sigmoid(code, dots, su, sv):
    for i in range(dots.shape[0]):
        for t in range(dots.shape[1]):
            e = _exp_double(2.0 * (code.gamma * dots[i, t] + code.coef0))
            dots[i, t] = (e - 1.0) / (e + 1.0)


EXACT = {POLY: _exact_poly, RBF_: _exact_rbf, SIGMOID: _exact_sigmoid}
