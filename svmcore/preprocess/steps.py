"""The steps of preprocessing, each a function of images, and the registry that names them.

Symbols: images (n, h, w, c) float32; plain features come as (n, 1, d, 1), float32 or float64.

Scrambling gives pixel p of the result what pixel pi(p) of the image shows, by one permutation pi of all h w pixels for
every image: u'.v' = sum_p u_pi(p) v_pi(p) = u.v, so that a kernel of inner products or distances cannot notice.
"""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d

from svmcore.preprocess import window
from svmcore.preprocess.upright import deslant
from svmcore.rows import lost_columns

MOST_SEEDS = 2**32 - 1
BLOCK = 1024  # examples that are taken in double precision at a time
CHUNK = 2048  # images that one native call works on, so that no call lasts long


@dataclass(frozen=True)
class Parameter:
    """The number after the colon of a step, for forms: what it is, its default and the range allowed."""

    label: str
    default: float
    low: float
    high: float
    whole: bool = False


@dataclass(frozen=True)
class Step:
    """One kind of step.

    apply(images, value): (n, h, w, c) to the same; value is the parameter, or what `learn(images)` found on
    the training set. images_only: has no meaning for plain features. first: must stand before all others. last: looks
    at the whole vector or removes the border, so it belongs after a jitter, not before (see `Preprocessor.split`).
    shape(shape, value): shape of what comes out for images of `shape`, where it is another; show(images, shape): those
    put back as images of `shape`.
    """

    title: str
    help: str
    apply: Callable
    parameter: Parameter | None = None
    learn: Callable | None = None
    images_only: bool = False
    first: bool = False
    last: bool = False
    shape: Callable | None = None
    show: Callable | None = None


def parse_step(text: str) -> tuple[str, float | None]:
    """ "smooth:0.75" -> ("smooth", 0.75); "unit-norm" -> ("unit-norm", None).

    Raises ValueError naming the step and the allowed ones, or the parameter and its range.
    """
    name, colon, number = str(text).partition(":")
    if name not in STEPS:
        raise ValueError(f"preprocessing step '{text}' is unknown; allowed: {', '.join(map(usage, STEPS))}")
    wanted = STEPS[name].parameter
    if wanted is None:
        if colon:
            raise ValueError(f"preprocessing step '{text}' takes no parameter; allowed: '{name}'")
        return name, None
    try:
        value = float(number) if colon else wanted.default
    except ValueError:
        value = np.nan
    if not wanted.low <= value <= wanted.high or (wanted.whole and value != int(value)):
        kind = "whole number" if wanted.whole else "number"
        raise ValueError(
            f"preprocessing step '{text}': {wanted.label} must be a {kind} from {wanted.low:g} to {wanted.high:.10g}"
        )
    return name, value


def check_order(steps: Iterable[str]) -> None:
    """ValueError for a step that must come first and does not, or for one that is unknown or out of range."""
    for at, text in enumerate(steps):
        if STEPS[parse_step(text)[0]].first and at:
            raise ValueError(f"preprocessing step '{text}' must be the first step")


def usage(name: str) -> str:
    """How a step is written, with its default: "smooth:0.75"."""
    parameter = STEPS[name].parameter
    return name if parameter is None else f"{name}:{parameter.default:g}"


def as_images(X: np.ndarray, image_shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Any accepted X as images (n, h, w, c) float32; features (n, d) without an image shape become (n, 1, d, 1), in
    double precision where they have more digits than float32.

    Raises ValueError when X has another number of dimensions or does not fit the image shape.
    """
    X = np.asarray(X)
    features = X.ndim == 2 and image_shape is None
    X = X.astype(np.result_type(X.dtype, np.float32) if features else np.float32, copy=False)
    if X.ndim == 2:
        shape = (1, X.shape[1]) if image_shape is None else tuple(image_shape)
        if X.shape[1] != np.prod(shape):
            raise ValueError(f"rows of {X.shape[1]} values do not match image_shape = {shape}")
        X = X.reshape(len(X), *shape)
    elif X.ndim not in (3, 4):
        raise ValueError(f"X has shape {X.shape}; allowed: (n, h, w), (n, h, w, c) or (n, d)")
    elif image_shape is not None and X.shape[1:] != tuple(image_shape):
        raise ValueError(f"images of shape {X.shape[1:]} do not match image_shape = {tuple(image_shape)}")
    return X if X.ndim == 4 else X[..., None]


def smooth(images: np.ndarray, sigma: float) -> np.ndarray:
    """Images blurred by a Gaussian of `sigma` pixels; beyond the border the edge pixels are repeated.

    Source: DeCoste and Schölkopf (2002), section 5.1, for USPS.
    """
    out = np.empty_like(images)
    for s in range(0, len(images), CHUNK):
        along_rows = gaussian_filter1d(images[s : s + CHUNK], sigma, axis=2, mode="nearest")
        gaussian_filter1d(along_rows, sigma, axis=1, mode="nearest", output=out[s : s + CHUNK])
    return out


def crop(images: np.ndarray, margin: float) -> np.ndarray:
    """Images without `margin` whole pixels on each side. Raises ValueError when nothing would be left.

    Source: DeCoste and Schölkopf (2002), section 5.2, before the normalisation of shifted chips.
    """
    m = int(margin)
    if min(images.shape[1:3]) <= 2 * m:
        raise ValueError(
            f"crop:{m} removes everything from images of shape {images.shape[1:3]}; allowed: less than half a side"
        )
    return images[:, m:-m, m:-m]


def permutation(n: int, seed: float) -> np.ndarray:
    """(n,) int64: the order of n random 64-bit numbers. The stream of a bit generator is the same in every version of
    NumPy, so that the seed in a machine's file names one permutation for good."""
    return np.argsort(np.random.PCG64(int(seed)).random_raw(n), kind="stable")


def scramble(images: np.ndarray, seed: float) -> np.ndarray:
    """Images (n, h, w, c) with all pixels in the order of one permutation, the same for every image.

    Source: DeCoste and Schölkopf (2002), section 1: a plain machine cannot use that nearby pixels belong together.
    """
    n, h, w, c = images.shape
    order = permutation(h * w, seed)
    return images.reshape(n, h * w, c)[:, order].reshape(n, h, w, c)


def standardise(images: np.ndarray) -> np.ndarray:
    """Each example with mean 0 and standard deviation 1; a constant example becomes 0.

    Source: DeCoste and Schölkopf (2002), section 5.2.
    """
    centred = images - images.mean(axis=(1, 2, 3), keepdims=True)
    centred[(images == images[:, :1, :1, :1]).all(axis=(1, 2, 3))] = 0  # the mean is rounded
    return _divide(centred, centred.std(axis=(1, 2, 3), keepdims=True))


def unit_norm(images: np.ndarray) -> np.ndarray:
    """Each example divided by its 2-norm; an empty example stays 0.

    Source: DeCoste and Schölkopf (2002), section 5.1.1.
    """
    squares = np.einsum("nhwc,nhwc->n", images, images, dtype=np.float64)  # whole numbers add up in any order
    return _divide(images, np.sqrt(squares)[:, None, None, None])


STEPS: dict[str, Step] = {
    "scale01": Step(
        "Scale to 0-1",
        "Divides by the largest value of the training set, after shifting negative values so that the smallest is 0.",
        lambda images, span: (images - span[0]) / (span[1] - span[0] or 1),
        learn=lambda images: (min(float(images.min()), 0.0), float(images.max())),
    ),
    "smooth": Step(
        "Smooth",
        "Blurs with a Gaussian, so that strokes shifted by a pixel still match (0.75 pixels is usual for USPS).",
        smooth,
        Parameter("the width of the Gaussian in pixels", 0.75, 0.1, 10),
        images_only=True,
    ),
    "deslant": Step(
        "Deslant",
        "Shifts rows sideways until the principal axis of the ink is vertical.",
        lambda images, _: deslant(images),
        images_only=True,
    ),
    "deslant-pixels": Step(
        "Deslant by whole pixels",
        "Shifts each row sideways by whole pixels, as far as a rotation that makes the principal axis vertical would.",
        lambda images, _: deslant(images, whole=True),
        images_only=True,
    ),
    "crop": Step(
        "Crop",
        "Removes the border, and with it the pixels that a shift brought in from outside.",
        crop,
        Parameter("the number of pixels removed on each side", 1, 1, 16),
        images_only=True,
        last=True,
        shape=lambda shape, margin: (shape[0] - 2 * int(margin), shape[1] - 2 * int(margin), *shape[2:]),
    ),
    "brightness-plane": Step(
        "Even light",
        "Subtracts the best-fitting plane of grey values inside an oval: removes light from one side.",
        lambda images, _: window.brightness_plane(images),
        images_only=True,
        last=True,
    ),
    "oval-mask": Step(
        "Oval",
        "Removes the corners, which show the background of a face: 283 of 19 x 19 pixels remain.",
        lambda images, _: window.oval_mask(images),
        images_only=True,
        last=True,
        shape=lambda shape, _: window.oval_shape(shape),
        show=window.unmasked,
    ),
    "equalise": Step(
        "Equalise greys",
        "Replaces each grey value by its rank within the image, from -1 for the darkest to 1: removes contrast.",
        lambda images, _: window.equalise(images),
        images_only=True,
        last=True,
    ),
    "standardise": Step(
        "Zero mean, unit deviation",
        "For each example: subtracts its mean and divides by its standard deviation (removes brightness and contrast).",
        lambda images, _: standardise(images),
        last=True,
    ),
    "unit-norm": Step(
        "Unit length",
        "Divides each example by its 2-norm, so that K(x, x) is the same for all examples.",
        lambda images, _: unit_norm(images),
        last=True,
    ),
    "zscore": Step(
        "Standardise features",
        "For each feature: subtracts the mean and divides by the standard deviation over the training set.",
        lambda images, found: _divide(_centred(images, found[0]), found[1]),
        learn=lambda images: _mean_and_deviation(images),
        last=True,
    ),
    "centre": Step(
        "Centre features",
        "For each feature: subtracts the mean over the training set.",
        lambda images, found: _centred(images, found[0]),
        learn=lambda images: (_mean(images),),
        last=True,
    ),
    "scramble": Step(
        "Scramble",
        "Permutes all pixels in one random order, the same for every image; affects only methods that use the "
        "positions of pixels. The number is the seed of the order.",
        scramble,
        Parameter("the seed of the order", 0, 0, MOST_SEEDS, whole=True),
        images_only=True,
        first=True,
    ),
}


def _mean_and_deviation(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each feature, float64 and float32. Summed in float64, in blocks of examples: a sum in float32 loses a feature
    whose mean is many times its deviation, as of dates, and one whose squares float32 cannot hold. A deviation within
    the rounding of such a sum is 0: scikit-learn, _is_constant_feature."""
    mean, squares = _mean(images), np.zeros(images.shape[1:])
    for start in range(0, len(images), BLOCK):
        squares += np.square(images[start : start + BLOCK] - mean).sum(axis=0)
    deviation = np.sqrt(squares / len(images))
    rounding = len(images) * np.finfo(np.float64).eps * np.abs(mean)
    return mean, np.where(deviation <= rounding, 0, deviation).astype(np.float32)


def _mean(images: np.ndarray) -> np.ndarray:
    """Of each feature, float64. A warning for those whose differences single precision rounds away without it, too."""
    mean = images.mean(axis=0, dtype=np.float64)
    if len(lost := lost_columns(images.reshape(len(images), mean.size), mean.ravel())):
        columns = ", ".join(map(str, lost[:5])) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
        warnings.warn(
            f"X: single precision rounds away differences in column {columns}, less its mean, too; its numbers lie in "
            "groups far apart: split it into the group and what is within",
            stacklevel=2,
        )
    return mean


def _centred(images: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """images - mean in float32, subtracted in double precision: a mean in float32 would move all examples alike."""
    return np.subtract(images, mean, out=np.empty(images.shape, np.float32), casting="same_kind")


def _divide(values: np.ndarray, by: np.ndarray) -> np.ndarray:
    return values / np.where(by > 0, by, 1).astype(values.dtype)
