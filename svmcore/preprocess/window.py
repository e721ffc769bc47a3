"""What a window goes through before a face detector looks at it: an oval without corners, light evened, greys spread.

    oval        pixels (y, x) with ((y - y0) / 1.22 h)^2 + ((x - x0) / w)^2 at most r^2; r keeps 283 of 19 x 19
    plane       v(y, x) - a - b (x - x0) - c (y - y0),    a, b, c by least squares over the oval
    equalise    v_i -> 2 rank(v_i) / (m - 1) - 1,    rank 0 ... m - 1 by grey; tied pixels share their mean rank

As the oval is symmetric about its centre (y0, x0), the three columns of the fit are orthogonal, and each coefficient is
one quotient of sums. Sums over windows of whole greys are exact in any order: a step here and the same functions
inside a scan (`windows`) give the same numbers. Ranks are counted, not sorted: greys fall into the power of
two of bins that is at least 256 and at least m, and pixels of one bin are tied. So ranks are exact for whole greys of a
range up to 255; for others a pixel's is off by less than the number of pixels that share its bin (0.35 of 283 ranks in
the mean, on the CBCL windows).

Symbols: images (n, h, w, c) float32; spans (h, 2) int64, first pixel of each row in the oval and the one after the
last; m pixels in the oval.

References: Osuna, Freund and Girosi, MIT AI memo 1602 (1997), section 4; Sung and Poggio, MIT AI memo 1521
(1994).
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from svmcore._jit import greater, inner, lesser, native

KEPT = 283 / 361  # share of the pixels inside the oval
HIGHER = 1.22  # its height over its width, of a square image
FLAT = 1e-5  # of the largest grey: what is left of a window below it is rounding
STEPS = ("brightness-plane", "oval-mask", "equalise")  # that `windows` does where the windows lie
PIECE = 2048  # images that one native call works on


@cache
def oval(h: int, w: int) -> np.ndarray:
    """The mask (h, w) bool, read-only: 283 pixels of 19 x 19, and about that share of other sizes.

    Source: Osuna, Freund and Girosi (1997), section 4 (masking).
    """
    y, x = np.mgrid[:h, :w]
    r2 = ((y - (h - 1) / 2) / (HIGHER * h)) ** 2 + ((x - (w - 1) / 2) / w) ** 2
    mask = r2 <= np.sort(r2, axis=None)[round(KEPT * h * w) - 1] + 1e-9
    mask.setflags(write=False)
    return mask


@cache
def spans(h: int, w: int) -> np.ndarray:
    """The oval row by row: (h, 2) int64, read-only."""
    mask = oval(h, w)
    first, count = mask.argmax(axis=1), mask.sum(axis=1)
    bounds = np.stack([first, first + count], axis=1)
    bounds.setflags(write=False)
    return bounds


def brightness_plane(images: np.ndarray) -> np.ndarray:
    """Images (n, h, w, c) less the plane that fits them best inside the oval; what is flat but for a plane becomes 0.

    Source: Osuna, Freund and Girosi (1997), section 4 (illumination gradient correction); Sung and Poggio (1994).
    """
    n, h, w, c = images.shape
    flat = np.ascontiguousarray(images.transpose(0, 3, 1, 2)).reshape(n * c, h, w)
    out = np.empty_like(flat)
    for s in range(0, len(flat), PIECE):
        _level(flat[s : s + PIECE], spans(h, w), out[s : s + PIECE])
    return out.reshape(n, c, h, w).transpose(0, 2, 3, 1)


def oval_mask(images: np.ndarray) -> np.ndarray:
    """The pixels of the oval, in a row: (n, h, w, c) -> (n, 1, m, c)."""
    return images[:, oval(*images.shape[1:3])][:, None]


def oval_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of what `oval_mask` makes of images of this shape."""
    return (1, int(oval(*shape[:2]).sum()), *shape[2:])


def unmasked(pixels: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The images (h, w, ...) that `oval_mask` made, put back: (n, h, w, c), corners as dark as the darkest pixel."""
    out = np.empty((len(pixels), *shape[:2], pixels.shape[-1]), np.float32)
    out[:] = pixels.min(axis=(1, 2), keepdims=True, initial=np.inf) if len(pixels) else 0
    out[:, oval(*shape[:2])] = pixels[:, 0]
    return out


def equalise(images: np.ndarray) -> np.ndarray:
    """Each image's greys (n, h, w, c) replaced by their ranks, from -1 to 1, channel by channel; flat ones become 0.

    Source: Osuna, Freund and Girosi (1997), section 4 (histogram equalisation).
    """
    n, h, w, c = images.shape
    rows = np.ascontiguousarray(images.transpose(0, 3, 1, 2)).reshape(n * c, h * w)
    out = np.empty_like(rows)
    for s in range(0, len(rows), PIECE):
        _equalise(rows[s : s + PIECE], np.empty(bins(h * w) + h * w, np.int32), out[s : s + PIECE])
    return out.reshape(n, c, h, w).transpose(0, 2, 3, 1)


def windows(level: np.ndarray, side: int, unit: bool) -> Callable:
    """STEPS (and "unit-norm" with `unit`) of a level's windows (h, w) uint8: ys, xs (n,) -> (n, 1, m, 1) float32."""
    inside = spans(side, side)
    m = int((inside[:, 1] - inside[:, 0]).sum())

    def made(ys: np.ndarray, xs: np.ndarray) -> np.ndarray:
        out = np.empty((len(ys), m), np.float32)
        _windows(level, ys, xs, inside, np.empty(bins(m) + m, np.int32), unit, out)
        return out[:, None, :, None]

    return made


def bins(m: int) -> int:
    """Bins that m pixels are counted in."""
    return max(256, 1 << (m - 1).bit_length())


@inner(fastmath={"reassoc", "contract"})
def _row_sums(row, first, last, x0):  # (w,) float32 -> sum of v, sum of v (x - x0), largest |v|
    plain = np.float32(0)
    moment = np.float32(0)
    most = np.float32(0)
    part = row[first:last]
    left = np.float32(first) - x0
    for i in range(part.shape[0]):
        plain += part[i]
        moment += part[i] * (left + np.float32(i))
        most = greater(most, abs(part[i]))
    return plain, moment, most


@inner()
def fit_plane(image, spans, y, x):
    """Plane of the window of `image` whose corner is (y, x): (a, b, c, what counts as flat) float32.

    Sums of a row in float32, of the rows in float64. Sung and Poggio (1994).
    """
    h = spans.shape[0]
    y0, width = (h - 1) / 2, 0
    for r in range(h):
        width = max(width, spans[r, 1] + spans[r, 0])  # first + last + 1 of a row symmetric about x0
    x0 = (width - 1) / 2
    n = v = vx = vy = xx = yy = 0.0
    most = np.float32(0)
    for r in range(h):
        first, last = spans[r]
        plain, moment, large = _row_sums(image[y + r, x:], first, last, np.float32(x0))
        k = last - first
        n += k
        v += plain
        vx += moment
        vy += plain * (r - y0)
        xx += k * (k * k - 1) / 12
        yy += k * (r - y0) ** 2
        most = greater(most, large)
    b = vx / xx if xx > 0 else 0.0
    c = vy / yy if yy > 0 else 0.0
    return np.float32(v / n), np.float32(b), np.float32(c), np.float32(FLAT) * most


@native()
def _level(images, spans, out):  # (n, h, w), (h, 2), (n, h, w)
    n, h, w = images.shape
    y0, x0 = np.float32((h - 1) / 2), np.float32((w - 1) / 2)
    for i in range(n):
        a, b, c, flat = fit_plane(images[i], spans, 0, 0)
        most = np.float32(0)
        for y in range(h):
            base = a + c * (np.float32(y) - y0)
            for x in range(w):
                out[i, y, x] = images[i, y, x] - (base + b * (np.float32(x) - x0))
            for x in range(spans[y, 0], spans[y, 1]):
                most = greater(most, abs(out[i, y, x]))
        if most <= flat:
            out[i] = 0


@inner()
def window_pixels(image, spans, y, x, out):
    """The oval of the window of `image` at (y, x), less its plane, into out (m,): `brightness_plane`, then
    `oval_mask`."""
    h = spans.shape[0]
    a, b, c, flat = fit_plane(image, spans, y, x)
    y0 = np.float32((h - 1) / 2)
    x0 = np.float32((spans[h // 2, 0] + spans[h // 2, 1] - 1) / 2)
    at = 0
    most = np.float32(0)
    for r in range(h):
        first, last = spans[r]
        base = a + c * (np.float32(r) - y0)
        row, place = image[y + r, x + first : x + last], out[at : at + last - first]
        for i in range(row.shape[0]):
            place[i] = row[i] - (base + b * (np.float32(first + i) - x0))
            most = greater(most, abs(place[i]))
        at += last - first
    if most <= flat:
        out[:] = 0


@native()
def spread(values, scratch, out):
    """Ranks of values (m,) from -1 to 1 into out (m,), which may be `values`; scratch (bins + m,) int32."""
    m = values.shape[0]
    counts, places = scratch[: scratch.shape[0] - m], scratch[scratch.shape[0] - m :]
    k = counts.shape[0]
    low = high = values[0]
    for i in range(m):
        low = lesser(low, values[i])
        high = greater(high, values[i])
    if not high > low:
        out[:] = 0
        return
    scale = np.float32(k) / (high - low)
    for i in range(m):
        places[i] = max(np.int32(0), min(np.int32((values[i] - low) * scale), np.int32(k - 1)))  # NaN has no place
    counts[:] = 0
    for i in range(m):
        counts[places[i]] += 1
    below = 0
    for j in range(k):  # twice the mean rank of the pixels of bin j, less m - 1
        own = counts[j]
        counts[j] = 2 * below + own - m
        below += own
    unit = np.float32(1 / max(m - 1, 1))
    for i in range(m):
        out[i] = np.float32(counts[places[i]]) * unit


@native()
def _equalise(rows, scratch, out):  # (n, m), (bins + m,), (n, m)
    for i in range(rows.shape[0]):
        spread(rows[i], scratch, out[i])


@native()
def _windows(level, ys, xs, spans, scratch, unit, out):  # (h, w) uint8, (n,), (n,), (h', 2), (bins + m,), flag, (n, m)
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
