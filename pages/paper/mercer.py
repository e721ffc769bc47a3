"""Kernels from features, and features from kernels: Osuna, Freund and Girosi (1997), section 2.4.

features first    K(x, z) = sum_n phi_n(x) phi_n(z):    phi = (1, cos nx r^(n/2), sin nx r^(n/2)), n = 1, 2, ...,
                  has a closed form, 1/2 + the Poisson kernel / 2:
                  1 + sum_n r^n cos n(x - z) = 1/2 + (1 - r^2) / (2 (1 - 2 r cos(x - z) + r^2))
kernel first      Mercer: K is the scalar product of features if and only if no function g makes
                  int int K(x, z) g(x) g(z) dx dz negative; on any points, no eigenvalue of the matrix K is negative
"""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.ui.figures.frame import bare, log_ticks, side_by_side, worded
from pages.ui.figures.traces import beside, line
from pages.ui.kit.palette import BLUE, GREY, ORANGE
from svmcore.kernels import RBF, Kernel, Sigmoid

R, SUMS, GRID = 0.8, (1, 3, 8), 201
POINTS, SHOWN, LEAST = 100, 20, 1e-7  # of the largest eigenvalue: smaller ones are rounding
KERNELS: dict[str, Kernel] = {"Gaussian": RBF(4.0), "sigmoid": Sigmoid(1.0, -1.0)}


def summed(t: np.ndarray, n: int, r: float = R) -> np.ndarray:
    """K(x, z) at t = x - z, from the features up to frequency n."""
    k = np.arange(1, n + 1)[:, None]
    return 1 + (r**k * np.cos(k * t)).sum(axis=0)


def closed(t: np.ndarray, r: float = R) -> np.ndarray:
    """The sum over all frequencies."""
    return 0.5 + (1 - r**2) / (2 * (1 - 2 * r * np.cos(t) + r**2))


def spectrum(kernel: Kernel, n: int = POINTS) -> np.ndarray:
    """Eigenvalues of the kernel's matrix on n points of [-1, 1], the largest absolute value first, as shares of it."""
    x = np.linspace(-1, 1, n, dtype=np.float32)[:, None]
    values = np.linalg.eigvalsh(kernel.exact(x, x))
    values = values[np.argsort(-np.abs(values))]
    return values / abs(values[0])


def draw() -> None:
    side_by_side({"mercer_features": _features(), "mercer_spectrum": _spectra()}, 2, 360)
    st.caption(
        "On the left, the features come first. If the sum of their products is known in closed form, the kernel can be "
        "computed without the features. On the right, the kernel comes first. Mercer's condition says whether "
        "features exist for it. Here x and z are numbers, the Gaussian kernel is exp(-4 (x - z)²) and the sigmoid "
        "kernel is tanh(xz - 1)."
    )


def _features() -> go.Figure:
    t = np.linspace(-np.pi, np.pi, GRID)
    figure = bare("x - z", "K(x, z)", height=340)
    for n, colour in zip(SUMS, (GREY, ORANGE, BLUE), strict=True):
        line(figure, t, summed(t, n), colour, f"%{{y:.2f}} from {2 * n + 1} features", width=1.5)
    line(figure, t, closed(t), BLUE, "%{y:.2f} from all features", dash="dot")
    for n, colour in zip(SUMS, (GREY, ORANGE, BLUE), strict=True):
        figure.add_annotation(
            x=0, y=summed(np.zeros(1), n)[0], text=f"{2 * n + 1} features", showarrow=False, xanchor="left", xshift=8,
            font={"color": colour},
        )  # fmt: skip
    beside(figure, closed(t)[-1], "all features", BLUE)
    left = [float(np.abs(summed(t, n) - closed(t)).max()) for n in SUMS]
    told = ", ".join(f"{gap:.2f} with {2 * n + 1} features" for n, gap in zip(SUMS, left, strict=True))
    return worded(
        figure,
        "Sums over growing numbers of sine and cosine features approach a kernel in closed form. The largest "
        f"difference is {told}.",
        f"Sines and cosines of x are multiplied with the same functions of z, weighted by {R:g}^n at frequency n, and "
        f"summed. The sums approach a kernel in closed form (dotted). The largest difference is {told}.",
    )


def _spectra() -> go.Figure:
    figure = bare("rank of the eigenvalue", "|eigenvalue| / largest", margin_r=90, height=340, yaxis_type="log")
    negative = {}
    for (name, kernel), colour in zip(KERNELS.items(), (BLUE, ORANGE), strict=True):
        values = spectrum(kernel)[:SHOWN]
        values = values[np.abs(values) > LEAST]
        negative[name] = int((values < 0).sum())
        symbols = ["x" if value < 0 else "circle" for value in values]
        line(
            figure, np.arange(1, len(values) + 1), np.abs(values), colour, f"%{{y:.2g}}, {name}", width=1, points=True,
            marker={"symbol": symbols, "size": 8, "color": colour},
        )  # fmt: skip
        beside(figure, np.log10(abs(values[-1])), name, colour)
    figure.update_yaxes(**log_ticks(LEAST, 1.0), exponentformat="power")
    told = "; ".join(f"{name}: {count or 'none'} negative" for name, count in negative.items())
    return worded(
        figure,
        f"Absolute eigenvalues of two kernels on {POINTS} points of the interval from -1 to 1. {told}.",
        f"Eigenvalues of the kernel matrix on {POINTS} points from -1 to 1. {told} (crosses). So the sigmoid kernel "
        "with these settings is not a scalar product of features. The Gaussian kernel is one, on any points.",
    )
