"""Steps that are a few lines of arithmetic, each a function of images.

Symbols: images (n, h, w, c) float32; plain features come as (n, 1, d, 1), float32 or float64.

Scrambling gives pixel p of the result what pixel pi(p) of the image shows, by one permutation pi of all h w pixels for
every image: u'.v' = sum_p u_pi(p) v_pi(p) = u.v, so that a kernel of inner products or distances cannot notice.
"""

import math
import warnings

import numpy as np
from scipy.ndimage import gaussian_filter1d
from sklearn.decomposition import PCA

from svmcore.rows import lost_columns

FLAT = 1e-6  # of the largest deviation: what a whitened component with less is would be noise
BLOCK = 1024  # examples that are taken in double precision at a time
CHUNK = 2048  # images that one native call works on, so that no call lasts long


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
    less = images - images.mean(axis=(1, 2, 3), keepdims=True)
    less[(images == images[:, :1, :1, :1]).all(axis=(1, 2, 3))] = 0  # the mean is rounded
    return divided(less, less.std(axis=(1, 2, 3), keepdims=True))


def unit_norm(images: np.ndarray) -> np.ndarray:
    """Each example divided by its 2-norm; an empty example stays 0.

    Source: DeCoste and Schölkopf (2002), section 5.1.1.
    """
    squares = np.einsum("nhwc,nhwc->n", images, images, dtype=np.float64)  # whole numbers add up in any order
    return divided(images, np.sqrt(squares)[:, None, None, None])


def mean_and_deviation(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each feature, float64 and float32. Summed in float64, in blocks of examples: a sum in float32 loses a feature
    whose mean is many times its deviation, as of dates, and one whose squares float32 cannot hold. A deviation within
    the rounding of such a sum is 0: scikit-learn, _is_constant_feature."""
    mean, squares = mean_of(images), np.zeros(images.shape[1:])
    for start in range(0, len(images), BLOCK):
        squares += np.square(images[start : start + BLOCK] - mean).sum(axis=0)
    deviation = np.sqrt(squares / len(images))
    rounding = len(images) * np.finfo(np.float64).eps * np.abs(mean)
    return mean, np.where(deviation <= rounding, 0, deviation).astype(np.float32)


def mean_of(images: np.ndarray) -> np.ndarray:
    """Of each feature, float64. A warning for those whose differences single precision rounds away without it, too."""
    mean = images.mean(axis=0, dtype=np.float64)
    if len(lost := lost_columns(images.reshape(len(images), mean.size), mean.ravel())):
        columns = ", ".join(map(str, lost[:5])) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
        warnings.warn(
            f"X: single precision rounds away differences in column {columns}, even after the mean is subtracted, "
            "because the numbers form groups that are far apart. Replace the column by two: the group, and the "
            "position within the group",
            stacklevel=2,
        )
    return mean


def centred(images: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """images - mean in float32, subtracted in double precision: a mean in float32 would move all examples alike."""
    return np.subtract(images, mean, out=np.empty(images.shape, np.float32), casting="same_kind")


def divided(values: np.ndarray, by: np.ndarray) -> np.ndarray:
    return values / np.where(by > 0, by, 1).astype(values.dtype)


def principal_components(images: np.ndarray, components: int, whiten: int) -> tuple[np.ndarray, np.ndarray]:
    """The mean (1, d, 1) and the axes (K, d) float32 of training examples, divided by their deviations where whitened.
    ValueError for more components than the examples have."""
    X, K = images.reshape(len(images), -1), components
    if min(X.shape) < K:
        raise ValueError(
            f"preprocessing step 'pca': components = {K}, but there are {len(X):,} training examples of {X.shape[1]:,} "
            f"features; allowed: at most {min(X.shape):,}"
        )
    found = PCA(K, whiten=bool(whiten), random_state=0).fit(X)
    axes = found.components_
    if whiten:
        deviation = np.sqrt(found.explained_variance_)
        axes = np.where(deviation > FLAT * max(deviation[0], FLAT), 1 / np.maximum(deviation, 1e-30), 0)[:, None] * axes
    return found.mean_.reshape(1, -1, 1).astype(np.float64), axes.astype(np.float32)


def components_shape(shape: tuple[int, ...], components: int, whiten: int) -> tuple[int, ...]:
    """(1, K, 1). ValueError for more components than examples of `shape` have numbers."""
    if components > (most := math.prod(shape)):
        raise ValueError(
            f"preprocessing step 'pca': components = {components}, but an example has {most:,} numbers; allowed: 1 "
            f"to {most:,}"
        )
    return 1, components, 1


def project(images: np.ndarray, mean: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """(n, 1, K, 1) float32: examples less the mean, along each axis. Summed in float64: in float32 the last digits of
    an example depend on where it stands among the others."""
    less, along = centred(images.reshape(len(images), mean.size), mean.ravel()), axes.T.astype(np.float64)
    out = np.empty((len(less), len(axes)), np.float32)
    for start in range(0, len(less), BLOCK):
        out[start : start + BLOCK] = less[start : start + BLOCK].astype(np.float64) @ along
    return out[:, None, :, None]


def reconstruct(features: np.ndarray, shape: tuple[int, ...], mean: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """The examples of `shape` that have these components (n, 1, K, 1) and no others."""
    squares = np.square(axes).sum(axis=1)
    back = features.reshape(len(features), -1) / np.where(squares > 0, squares, 1) @ axes + mean.ravel()
    return back.reshape(len(features), *shape).astype(np.float32)
