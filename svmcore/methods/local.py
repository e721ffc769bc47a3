"""The local kernel: correlations of nearby pixels, weighted by pyramidal receptive fields.

    z = u v                                     product of two images, pixel by pixel (and added over channels)
    z_p = sum_q w(p - q) z_q                    seen through a field w centred at every pixel p
    K(u, v) = (mean_p z_p^inner)^outer          inner: products within a field; outer: products between fields

w is a pyramid of `width` pixels, w(dy, dx) = t(dy) t(dx) with t falling linearly from the centre, of sum 1. With
`cosine` the value is divided by sqrt(K(u, u) K(v, v)), so that the diagonal is 1.

Symbols: images (h, w, c) as rows (d,) float32, d = h w c; a tile holds TILE examples pixel by pixel, (d, TILE).

Reference: Schölkopf, Simard, Smola and Vapnik, NIPS 10 (1998), "Prior knowledge in support vector kernels".
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from svmcore._jit import inner, native
from svmcore.allowed import Allowed, whole
from svmcore.gram.products import Operand
from svmcore.gram.threads import side_by_side
from svmcore.kernels import register
from svmcore.methods.blockwise import BlockwiseKernel, image_shape_for

TILE = 32  # examples worked on together, pixel by pixel: their product images lie in L2
CALL = 4e6  # pixels of product images that one native call works on, so that no call lasts long


@register("local-poly")
@dataclass(frozen=True)
class LocalPoly(BlockwiseKernel):
    """Polynomial kernel of nearby pixels: products within a field first, then of fields.

    Parameters
    ----------
    image_shape : tuple of int or None, default None
        (h, w) or (h, w, c) of the rows; it must be given.
    inner : int, default 2
        Degree within a field.
    outer : int, default 2
        Degree of the sum over fields.
    width : int, default 9
        Of the fields, odd, in pixels.
    cosine : bool, default True
        Whether values are divided by the lengths, so that K(u, u) = 1.

    Raises
    ------
    ValueError
        Naming a field that is not allowed.

    References
    ----------
    DeCoste and Schölkopf (2002), Table 2, "local kernel", and section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from svmcore import LocalPoly
    >>> u = np.random.default_rng(0).random((1, 64), np.float32)
    >>> LocalPoly((8, 8), width=3).block(u, u).round(4).tolist()
    [[1.0]]
    """

    image_shape: tuple[int, ...] | None = None
    inner: int = 2
    outer: int = 2
    width: int = 9
    cosine: bool = True
    work: ClassVar[float] = 30  # plain kernel values that take as long as one of this kernel

    def __post_init__(self):
        shape = image_shape_for(self, self.image_shape)
        object.__setattr__(self, "image_shape", shape)
        self.require(inner=whole(1, 16), outer=whole(1, 16), width=whole(1, 2 * max(shape) + 1))
        self.require(width=Allowed("an odd number of pixels", lambda width: width % 2))

    @property
    def formula(self) -> str:
        return rf"\left(\textstyle\frac{{1}}{{d}}\sum_p (w * u v)_p^{{{self.inner}}}\right)^{{{self.outer}}}"

    def diag(self, A) -> np.ndarray:
        """K(u, u) of every row u of A (m, d): (m,) float32."""
        own = self._own(self._images(A))
        return (own > 0).astype(np.float32) if self.cosine else own

    def fill(self, operand: Operand, A, sq, cols: slice, out) -> None:
        """Kernel values (m, n') of the rows of A against the operand's examples `cols`, into `out`."""
        tiles = operand.derived((self, "tiles"), lambda: _tiled(self._images(operand.X)))
        rows, field = self._images(A), self._field()
        first, last = cols.start // TILE, -(-cols.stop // TILE)
        step = max(1, int(CALL / (operand.d * TILE * len(rows))))
        calls = [
            (rows, tiles[t : min(t + step, last)], field, self.inner, self.outer, t * TILE - cols.start, out)
            for t in range(first, last, step)
        ]
        side_by_side(_local_block, calls)
        if self.cosine:
            own = operand.derived((self, "own"), lambda: self._own(self._images(operand.X)))
            norms = np.sqrt(np.outer(self._own(rows), own[cols]))
            np.divide(out, norms, out=out, where=norms > 0)

    def _images(self, A) -> np.ndarray:
        """Rows (m, d) as images (m, h, w, c)."""
        A = np.ascontiguousarray(A, np.float32)
        shape = (*self.image_shape, 1)[:3]
        if A.shape[1] != np.prod(shape):
            raise ValueError(
                f"kernel local-poly: rows of {A.shape[1]} values do not fit image_shape = {self.image_shape}"
            )
        return A.reshape(len(A), *shape)

    def _field(self) -> np.ndarray:
        reach = self.width // 2
        tent = 1 - abs(np.arange(-reach, reach + 1)) / (reach + 1)
        return (tent / tent.sum()).astype(np.float32)

    def _own(self, images) -> np.ndarray:
        """K(u, u) before any division: (m,) float32, for images (m, h, w, c)."""
        out = np.empty(len(images), np.float32)
        for t, tile in enumerate(_tiled(images)):
            _local_own(tile, self._field(), self.inner, self.outer, out[t * TILE : (t + 1) * TILE])
        return out


def _tiled(images) -> np.ndarray:
    """Images (n, h, w, c) as tiles (n / TILE, c, h, w TILE), pixel by pixel; the last is filled up with zeros."""
    n, h, w, c = images.shape
    full = np.zeros((-(-n // TILE) * TILE, h, w, c), np.float32)
    full[:n] = images
    return np.ascontiguousarray(full.reshape(-1, TILE, h, w, c).transpose(0, 4, 2, 3, 1)).reshape(-1, c, h, w * TILE)


@native()
def _local_block(rows, tiles, field, inner, outer, at, out):
    """Columns of out (m, n') from `at` on, as far as they exist, for the examples of tiles (t, c, h, w TILE)."""
    m, h, w, c = rows.shape
    spread = np.empty((c, h, w * TILE), np.float32)
    z, across = np.empty((h, w * TILE), np.float32), np.empty((h, w * TILE), np.float32)
    values = np.empty(TILE, np.float32)
    for i in range(m):
        for k in range(c):
            for y in range(h):
                for x in range(w):
                    spread[k, y, x * TILE : (x + 1) * TILE] = rows[i, y, x, k]
        for t in range(tiles.shape[0]):
            z[:] = 0
            for k in range(c):
                for y in range(h):
                    _add_product(spread[k, y], tiles[t, k, y], z[y])
            _through_fields(z, across, field, inner, outer, values)
            left = at + t * TILE
            first, last = max(left, 0), min(left + TILE, out.shape[1])
            out[i, first:last] = values[first - left : last - left]


@native()
def _local_own(tile, field, inner, outer, out):
    """K(u, u) (up to TILE,) of the examples of a tile (c, h, w TILE)."""
    c, h, width = tile.shape
    z, values = np.zeros((h, width), np.float32), np.empty(TILE, np.float32)
    for k in range(c):
        for y in range(h):
            _add_product(tile[k, y], tile[k, y], z[y])
    _through_fields(z, np.empty_like(z), field, inner, outer, values)
    out[:] = values[: out.shape[0]]


@inner()
def _through_fields(z, across, field, inner, outer, values):
    """values (TILE,) = (mean_p z_p^inner)^outer of product images z (h, w TILE); `across` is room to work in."""
    h, n = z.shape
    reach = field.shape[0] // 2
    seen, power = np.empty(n, np.float32), np.empty(n, np.float32)
    across[:] = 0
    for y in range(h):
        for s in range(-reach, reach + 1):
            first, last = max(0, -s * TILE), min(n, n - s * TILE)
            if first < last:
                _add(field[s + reach], z[y, first + s * TILE : last + s * TILE], across[y, first:last])
    values[:] = 0
    share = np.float32(TILE / (h * n))
    for y in range(h):
        seen[:] = 0
        for r in range(max(-reach, -y), min(reach, h - 1 - y) + 1):
            _add(field[r + reach], across[y + r], seen)
        power[:] = seen
        for _ in range(inner - 1):
            _multiply(seen, power)
        for x in range(0, n, TILE):
            _add(share, power[x : x + TILE], values)
    power[:TILE] = values
    for _ in range(outer - 1):
        _multiply(power[:TILE], values)


@inner()
def _add(factor, line, total):
    for t in range(total.shape[0]):
        total[t] += factor * line[t]


@inner()
def _add_product(a, b, total):
    for t in range(total.shape[0]):
        total[t] += a[t] * b[t]


@inner()
def _multiply(line, total):
    for t in range(total.shape[0]):
        total[t] *= line[t]
