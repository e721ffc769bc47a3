"""Compiled kernels: inner products become kernel values where they lie, so that a product writes each value once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

LINEAR, POLY, RBF_, SIGMOID = range(4)


class KernelCode(NamedTuple):
    """A kernel as compiled code sees it: plain numbers (a function argument would defeat the disk cache)."""

    kind: int
    degree: int
    gamma: np.float32
    coef0: np.float32


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
