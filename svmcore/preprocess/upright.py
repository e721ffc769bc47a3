"""Deslanting makes the principal axis of the ink vertical by shifting rows. With the ink's mass m(r, s) = |grey -
background|, its centre (r0, s0) and second moments, row r of the result is row r of the image read at
s + (r - r0) cov(r, s) / var(r), by linear interpolation. Interpolation smooths, and fewer support vectors are needed
than in the paper's Table 9.

By the paper's words, which approximate a rotation, it is read at s + (r - middle) sin(theta), in whole pixels,
theta the angle of the principal axis. tests/bench/NOTES.md compares both and others.

Symbols: images (n, h, w, c) float32; paper (n, c), the background's value.
"""

import numpy as np

from svmcore._jit import inner, native

CHUNK = 2048  # images that one native call works on, so that no call lasts long


def background(images: np.ndarray) -> np.ndarray:
    """The background (n, c) of images (n, h, w, c): darkest or lightest, whichever is nearer to the mean border; in all
    channels alike, as the darkest red and the lightest green need not be a colour of the picture."""
    low, high = images.min(axis=(1, 2)), images.max(axis=(1, 2))
    rows = images[:, [0, -1]].mean(axis=(1, 2))
    columns = images[:, :, [0, -1]].mean(axis=(1, 2))
    dark = (rows + columns).sum(axis=1, keepdims=True) <= (low + high).sum(axis=1, keepdims=True)
    return np.where(dark, low, high)


def deslant(images: np.ndarray, whole: bool = False) -> np.ndarray:
    """Images (n, h, w, c) with each image's principal axis made vertical by shifting rows, all channels alike.

    whole: by whole pixels, the paper's words.
    Source: DeCoste and Schölkopf (2002), section 5.1.1, experiment 2.
    """
    images = np.ascontiguousarray(images)
    paper, out = background(images), np.empty_like(images)
    for s in range(0, len(images), CHUNK):
        _deslant(images[s : s + CHUNK], paper[s : s + CHUNK], whole, out[s : s + CHUNK])
    return out


@inner()
def _slant(image, paper, rotate):  # (h, w, c), (c,) -> a row that stays, columns to shift for each row below it
    h, w, c = image.shape
    m = my = mx = myy = mxy = mxx = 0.0
    for y in range(h):
        for x in range(w):
            grey = 0.0
            for k in range(c):
                grey += image[y, x, k] - paper[k]
            grey = abs(grey)
            m += grey
            my += grey * y
            mx += grey * x
            myy += grey * y * y
            mxy += grey * y * x
            mxx += grey * x * x
    variance = myy - my * my / m if m > 0 else 0.0
    if variance <= 1e-9 * myy:
        return 0.0, 0.0
    covariance = mxy - mx * my / m
    if rotate:  # by the angle of the principal axis to the vertical
        return (h - 1) / 2, np.sin(np.arctan2(2 * covariance, variance - (mxx - mx * mx / m)) / 2)
    return my / m, covariance / variance


@native()
def _deslant(images, paper, in_pixels, out):  # (n, h, w, c), (n, c), flag, (n, h, w, c)
    n, h, w, c = images.shape
    for i in range(n):
        centre, slope = _slant(images[i], paper[i], in_pixels)
        for y in range(h):
            offset = slope * (y - centre)
            if in_pixels:
                offset = np.floor(offset + 0.5)
            whole = int(np.floor(offset))
            part = np.float32(offset - whole)
            for x in range(w):
                left = x + whole
                for k in range(c):
                    a = images[i, y, left, k] if 0 <= left < w else paper[i, k]
                    b = images[i, y, left + 1, k] if 0 <= left + 1 < w else paper[i, k]
                    out[i, y, x, k] = (np.float32(1) - part) * a + part * b
