"""Preprocessing in the nodes of a graph: what each step of `preprocess.STEPS` does to rows x (n, d).

    scale01, centre, zscore      (x - a) / b,  a and b from the training set
    unit-norm, standardise       x / |x|,  (x - mean) / deviation, of each example
    smooth                       A_h x A_w',  each image between two matrices
    crop, oval-mask, scramble    some of the pixels, in some order

In single precision where the steps work in it, so that rows come out alike to the last digit or two. A step that is not
in CARRIED cannot be told so: it measures slants, fits planes or counts ranks, and comes out otherwise where rounding
does. value: the step's number, or what it learned; shape (h, w, c): of the images that it is given.
"""

from collections.abc import Callable

import numpy as np

from svmcore.exchange.graph import Value
from svmcore.preprocess import STEPS
from svmcore.preprocess.steps import smooth

Shape = tuple[int, ...]


def _scaled(x: Value, name: str, span: tuple[float, float], shape: Shape) -> Value:
    return (x - span[0]) / (span[1] - span[0] or 1)


def _standard_features(x: Value, name: str, found: tuple[np.ndarray, np.ndarray], shape: Shape) -> Value:
    centred, deviation = _centred(x, name, found, shape), np.reshape(found[1], -1)
    return centred / np.where(deviation > 0, deviation, 1).astype(np.float32)


def _centred(x: Value, name: str, found: tuple[np.ndarray, ...], shape: Shape) -> Value:
    return (x.astype(np.float64) - np.reshape(found[0], -1).astype(np.float64)).astype(np.float32)


def _unit_norm(x: Value, name: str, value: None, shape: Shape) -> Value:
    x2 = x.astype(np.float64)
    return x / np.sqrt((x2 * x2).sum(1)).or_one().astype(np.float32)


def _standard_examples(x: Value, name: str, value: None, shape: Shape) -> Value:
    d = float(np.prod(shape))
    centred = x - (x.astype(np.float64).sum(1) / d).astype(np.float32)
    apart = centred.astype(np.float64)
    apart = apart - apart.sum(1) / d
    return centred / np.sqrt((apart * apart).sum(1) / d).or_one().astype(np.float32)


def _smoothed(x: Value, name: str, sigma: float, shape: Shape) -> Value:
    """Along the rows of the images, then along their columns."""
    h, w, c = shape
    along_rows = (_blur(w, sigma) @ x.astype(np.float64).reshape(-1, h, w, c)).astype(np.float32)
    both = _blur(h, sigma) @ along_rows.astype(np.float64).reshape(-1, h, w * c)
    return both.astype(np.float32).reshape(-1, h * w * c)


def _blur(n: int, sigma: float) -> np.ndarray:
    """A (n, n): A x is a line x of n pixels, smoothed."""
    return smooth(np.eye(n)[:, None, :, None], sigma)[:, 0, :, 0].T


def _chosen_pixels(x: Value, name: str, value: float | None, shape: Shape) -> Value:
    """What the step does to an image whose pixels are their own numbers."""
    numbers = np.arange(np.prod(shape)).reshape(1, *shape)
    return x.take(STEPS[name].apply(numbers, value).reshape(-1))


CARRIED: dict[str, Callable[[Value, str, object, Shape], Value]] = {
    "scale01": _scaled,
    "smooth": _smoothed,
    "crop": _chosen_pixels,
    "oval-mask": _chosen_pixels,
    "standardise": _standard_examples,
    "unit-norm": _unit_norm,
    "zscore": _standard_features,
    "centre": _centred,
    "scramble": _chosen_pixels,
}
