"""How sure a machine is of each window of a picture, without cutting the windows out where that can be saved.

    f(window) = machine(prepare(window))

Windows that go through "brightness-plane", "oval-mask", "equalise" (and "unit-norm") are prepared where they lie, by
the compiled functions of those steps; any other preparation is applied to windows cut out. A machine of degree 2
decides by its quadratic form, any other by its support vectors.

Symbols: level (h, w) uint8, one scale of a picture; ys, xs (n,) int64, corners of windows of side x side pixels.

Reference: Osuna, Freund and Girosi, MIT AI memo 1602 (1997), section 4.
"""

import numpy as np
from numba import njit

from svmcore.detection.quadratic import is_quadratic, quadratic
from svmcore.model import Demanded, Machine
from svmcore.preprocess.window import bins, spans, spread, window_pixels

IN_PLACE = ("brightness-plane", "oval-mask", "equalise")


class Scorer:
    """f of windows of one size. ValueError for a machine of more than two classes, one whose preparation is known by
    name only, or one that takes another number of pixels."""

    def __init__(self, machine: Machine, side: int):
        self.machine, self.side = machine, side
        if isinstance(machine.prepare, Demanded):
            raise ValueError(machine.prepare.reason)
        if len(machine.bias) != 1:
            raise ValueError(f"machine: {len(machine.bias)} decision values; allowed: 1, object against the rest")
        steps = tuple(getattr(machine.prepare, "steps", ()))
        self.in_place, self.unit = steps[:3] == IN_PLACE and steps[3:] in ((), ("unit-norm",)), len(steps) == 4
        self.form = quadratic(machine) if is_quadratic(machine) else None
        taken, made = (
            machine.support_vectors.shape[1],
            self.prepared(np.zeros((side, side), np.uint8), *np.zeros((2, 1), int)),
        )
        if made.shape[1] != taken:
            raise ValueError(
                f"side = {side}: a window has {made.shape[1]} values; allowed: {taken}, as this machine requires"
            )

    def scores(self, level: np.ndarray, ys: np.ndarray, xs: np.ndarray) -> np.ndarray:
        """f (n,) of windows."""
        X = self.prepared(level, ys, xs)
        return self.machine.decision_values(X)[:, 0] if self.form is None else self.form.values(X)

    def prepared(self, level: np.ndarray, ys: np.ndarray, xs: np.ndarray) -> np.ndarray:
        """Windows (n, d) float32 as the machine takes them."""
        if not self.in_place:
            rows = cut(level, ys, xs, self.side)
            prepare = self.machine.prepare
            return rows.reshape(len(rows), -1).astype(np.float32) if prepare is None else prepare.transform(rows)
        inside = spans(self.side, self.side)
        m = int((inside[:, 1] - inside[:, 0]).sum())
        out = np.empty((len(ys), m), np.float32)
        _prepare(level, ys, xs, inside, np.empty(bins(m) + m, np.int32), self.unit, out)
        return out


def cut(level: np.ndarray, ys: np.ndarray, xs: np.ndarray, side: int) -> np.ndarray:
    """The windows (n, side, side) of a level, as they are there."""
    return np.lib.stride_tricks.sliding_window_view(level, (side, side))[ys, xs]


@njit(nogil=True, cache=True)
def _prepare(level, ys, xs, spans, scratch, unit, out):  # (h, w) uint8, (n,), (n,), (h', 2), (bins + m,), flag, (n, m)
    side, m = spans.shape[0], out.shape[1]
    window = np.empty((side, side), np.float32)
    for i in range(len(ys)):
        for y in range(side):
            row, place = level[ys[i] + y, xs[i] : xs[i] + side], window[y]
            for x in range(side):
                place[x] = row[x]
        window_pixels(window, spans, 0, 0, out[i])
        spread(out[i], scratch, out[i])
        if unit:
            square = np.float32(0)
            for k in range(m):
                square += out[i, k] * out[i, k]
            if square > 0:
                out[i] /= np.sqrt(square)
