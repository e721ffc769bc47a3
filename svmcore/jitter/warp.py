"""What the parts of a jitter do to pixels: functions (images, values, paper, border, margin) -> images.

A linear part, an elastic distortion, or both with a move of parts of a pixel read every pixel p of the result at a
point q(p) of the image, p and q from its centre, M a 2x2 matrix, t the move, u a smooth random field:

    q(p) = M^-1 p - t + alpha u(p)

With bilinear interpolation that is one sparse matrix for all images,

    y = W x + (1 - W 1) b        W (H W, H W), at most four entries a row; b the background's colour,

where points outside have no entry in W (borders "background" and "zero", the latter with b = 0) or are moved onto the
edge (border "edge", W 1 = 1).
Thickness s > 0 mixes the ink m = |x - b| with its grey dilation over the four neighbours, (1 - s) m + s dilate(m);
s < 0 with its erosion. A contour that moves by s > 0 pixels up the gradient reads x at p + s grad m(p) / max m, which
is m + s |grad m|^2 / max m to first order, Simard's tangent of line thickness; s < 0 thins.

Symbols: images (n, h, w, c) float32; values: the part's numbers; paper (n, c) = b; border: "background", "edge" or
"zero"; margin: pixels of padding that the canvas already has on each side.
"""

from functools import lru_cache
from itertools import product

import numpy as np
from scipy.ndimage import gaussian_filter, grey_dilation, grey_erosion, map_coordinates
from scipy.sparse import csr_array, eye_array, kron

CHUNK = 2048  # images that one native call works on, so that no call lasts long
LOOKED = 16  # images by which it is told whether all hold whole numbers
STILL = (1, 0, 0, 1, 0, 0)  # M and t that leave all as it is
CORNERS = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], np.int32)  # of a square of pixels: down, right
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], dtype=bool)[None, :, :, None]


def widen(images: np.ndarray, by: int, paper: np.ndarray, border: str) -> np.ndarray:
    """Images on a canvas wider by `by` pixels on each side -> (n, h + 2 by, w + 2 by, c)."""
    if by == 0:
        return images
    if border == "edge":
        return np.pad(images, ((0, 0), (by, by), (by, by), (0, 0)), mode="edge")
    n, h, w, c = images.shape
    canvas = np.empty((n, h + 2 * by, w + 2 * by, c), dtype=np.float32)
    canvas[:] = paper[:, None, None, :]
    canvas[:, by : by + h, by : by + w] = images
    return canvas


def transform(images: np.ndarray, values: tuple[float, ...], paper, border: str, margin: int) -> np.ndarray:
    """Images after a linear map, values = its 2x2 matrix row by row."""
    return _apply_operator(operator((*values, 0, 0), None, images.shape[1:], border, margin), images, paper)


def distort(images: np.ndarray, values: tuple[float, ...], paper, border: str, margin: int) -> np.ndarray:
    """Images after an elastic distortion, values = alpha, sigma, seed."""
    return _apply_operator(operator(STILL, values, images.shape[1:], border, margin), images, paper)


def deform(images: np.ndarray, values: tuple[float, ...], paper, border: str, margin: int) -> np.ndarray:
    """Images after a linear map, a move and an elastic distortion at once, values = the matrix, the move down and
    right, and alpha, sigma, seed. Images of whole numbers, as greys are, stay so: their products are exact and fast."""
    out = _apply_operator(operator(values[:6], values[6:], images.shape[1:], border, margin), images, paper)
    some = images[:LOOKED]
    return np.rint(out, out=out) if np.array_equal(some, np.rint(some)) and some.max(initial=0) > 1 else out


def thicken(images: np.ndarray, values: tuple[float, ...], paper, border: str, margin: int) -> np.ndarray:
    """Images with thicker or, for a value below 0, thinner lines."""
    strength, out = values[0], np.empty_like(images)
    morph, paper = grey_dilation if strength > 0 else grey_erosion, paper[:, None, None, :]
    for s in range(0, len(images), CHUNK):
        signed = images[s : s + CHUNK] - paper[s : s + CHUNK]
        ink = abs(signed)
        changed = morph(ink, footprint=CROSS, mode="nearest")
        sign = np.where(signed.min(axis=(1, 2), keepdims=True) < 0, -1, 1).astype(np.float32)
        out[s : s + CHUNK] = paper[s : s + CHUNK] + sign * (ink + np.float32(abs(strength)) * (changed - ink))
    return out


def contour(images: np.ndarray, values: tuple[float, ...], paper, border: str, margin: int) -> np.ndarray:
    """Images whose lines are thicker or, for a value below 0, thinner, their contours moved along the gradient.

    Source: Drucker, Schapire and Simard (1993), by the tangent of Simard, LeCun and Denker, NIPS 5 (1993).
    """
    out = np.empty_like(images)
    for start, c in product(range(0, len(images), CHUNK), range(images.shape[3])):
        piece, ground = (a[start : start + CHUNK, ..., c] for a in (images, paper))
        ink = abs(piece - ground[:, None, None])
        ink /= np.maximum(ink.max(axis=(1, 2), keepdims=True), np.finfo(np.float32).tiny)
        at = np.indices(ink.shape, dtype=np.float32)
        at[1:] += values[0] * np.stack(np.gradient(ink, axis=(1, 2)))
        map_coordinates(piece, at, out[start : start + CHUNK, ..., c], order=1, mode="nearest")
    return out


@lru_cache(maxsize=64)
def operator(
    linear: tuple[float, ...], elastic: tuple[float, ...] | None, shape: tuple[int, int, int], border: str, margin: int
) -> csr_array:
    """W (h w c, h w c) float32 of M row by row and t, and of alpha, sigma and seed, for a canvas of shape (h, w, c)."""
    h, w, c = shape
    centre = np.array([(h - 1) / 2, (w - 1) / 2])[:, None, None]
    inverse, move = np.linalg.inv(np.reshape(linear[:4], (2, 2))), np.reshape(linear[4:], (2, 1, 1))
    read = np.tensordot(inverse, np.indices((h, w)) - centre, axes=1) + centre - move
    if elastic is not None:
        field = _elastic_field(*elastic, h - 2 * margin, w - 2 * margin)
        read = read + np.pad(field, ((0, 0), (margin, margin), (margin, margin)), "edge")
    matrix = _bilinear(*(at.ravel().round(9) for at in read), h, w, border)
    return matrix if c == 1 else kron(matrix, eye_array(c, dtype=np.float32), format="csr")


def _elastic_field(alpha: float, sigma: float, seed: float, h: int, w: int) -> np.ndarray:
    """Displacements (2, h, w) in pixels: white noise smoothed by a Gaussian, of root mean square alpha."""
    noise = np.random.default_rng(int(seed)).uniform(-1, 1, (2, h, w))
    field = gaussian_filter(noise, (0, sigma, sigma), mode="reflect")
    return field * alpha / np.sqrt(np.mean(field**2))


def _bilinear(rows: np.ndarray, columns: np.ndarray, h: int, w: int, border: str) -> csr_array:
    """W (h w, h w) of the points (rows, columns) at which pixels are read: each of four neighbours by its nearness."""
    if border == "edge":
        rows, columns = rows.clip(0, h - 1), columns.clip(0, w - 1)
    r = np.floor(rows).astype(np.int32)[:, None] + CORNERS[0]
    s = np.floor(columns).astype(np.int32)[:, None] + CORNERS[1]
    share = (1 - abs(rows[:, None] - r)) * (1 - abs(columns[:, None] - s))
    used = (r >= 0) & (r < h) & (s >= 0) & (s < w) & (share > 0)
    begins = np.zeros(h * w + 1, np.int32)  # of each row's entries
    begins[1:] = np.cumsum(used)[3::4]
    return csr_array((share[used].astype(np.float32), (r * w + s)[used], begins), shape=(h * w, h * w))


def _apply_operator(matrix: csr_array, images: np.ndarray, paper: np.ndarray) -> np.ndarray:
    n, h, w, c = images.shape
    missing = (1 - matrix.sum(axis=1, dtype=np.float32)).reshape(h * w, c)
    out = np.empty((n, h * w * c), dtype=np.float32)
    for s in range(0, n, CHUNK):
        out[s : s + CHUNK] = (matrix @ images[s : s + CHUNK].reshape(-1, h * w * c).T).T
    if missing.any() and paper.any():
        out.reshape(n, h * w, c)[:] += missing * paper[:, None, :]
    return out.reshape(n, h, w, c)
