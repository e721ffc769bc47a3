"""A reduced set by its answers: gradient steps on what m shared vectors say about training examples.

    f_c(x) = sum_j gamma[c, j] K(z_j, x) + b_c                         c = 1 ... k machines over the same z_j
    loss   = mean of -log p_y(x),   p = softmax(tau f)                 two classes: tau (-f/2, f/2)

A machine so written is a network with one hidden layer of m units, and where its vectors are far fewer than the
support vectors that they replace, what it says matters more than how near it lies in feature space. Steps are Adam's on
small batches, its rate falling to 0 along a cosine; every batch is deformed anew where the examples are images. An
example that is right by a wide margin has no gradient to speak of and is left out of the second half of a step.

z_j = Q u_j lie in the span of the first principal directions Q (d, r) of the examples: x.z = (Q'x).u exactly, at r/d
of the work, and steps of one size for all coordinates of u are better conditioned than for pixels.

X (n, d) float32, label (n,) numbers of the classes; Z (m, d), gamma (k, m), bias (k,). Memory beside X: 4 bytes x
(3 x batch x m + 7 x m x r). Parts of a batch are computed side by side; how many does not depend on the computer, so
that a seed gives one result.

References: Burges and Schölkopf (1997), section 4, for the expansion; Kingma and Ba, Adam (2015).

Small random deformations of images: what leaves a digit the digit that it is, drawn anew for every step.

    out(r) = image(M r + t + a u(r)),    r a pixel's place from the middle, bilinear between pixels, edges go on outside

M rotates, shears and zooms a little, t shifts by a fraction of a pixel in every direction, u is a smooth random field
of unit size (elastic deformation). Rows keep their length where all have one, so that unit vectors stay unit vectors.

Reference: Simard, Steinkraus and Platt, Best practices for convolutional neural networks (ICDAR 2003), section 2.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter

from svmcore._jit import greater, lesser, native
from svmcore.estimator import one_vs_rest
from svmcore.gram.sources import Work
from svmcore.gram.threads import CORES, cut, side_by_side
from svmcore.kernels import squared_norms
from svmcore.kernels.apart import _finish_rows, all_near, as_columns
from svmcore.methods.reduced.expansion import Expansion, pieces
from svmcore.solvers.progress import Stopped

FIELDS, FEWEST = 1000, 50  # random fields for images of 28 x 28, drawn from for every image; of large images fewer
SMOOTH = 1 / 7  # of the image's height: the deviation of the Gaussian that smooths a field
SHIFT, ELASTIC = 1.0, 1.2  # pixels at most, at strength 1, of an image of 28 pixels
TURN, ZOOM = np.deg2rad(8.0), 0.06  # at most, at strength 1; shear as rotation
ONE_LENGTH = 1e-3  # relative spread of the squared lengths below which they count as one


class Drawn(NamedTuple):
    """Deformations of n images."""

    field: np.ndarray  # (n,) int64, number of the random field
    moved: np.ndarray  # (n, 7) float32: M row by row, t, a


class Deformations:
    """Deformations of rows X (n, d) as images of `shape`, (h, w[, c]). strength: times TURN, ZOOM, SHIFT and the
    elastic field. ValueError unless `shape` has d numbers."""

    def __init__(self, X, shape, strength: float, rng: np.random.Generator):
        if len(shape) not in (2, 3) or np.prod(shape) != X.shape[1]:
            raise ValueError(f"image_shape = {shape} for rows of {X.shape[1]} numbers; allowed: (h, w) or (h, w, c)")
        self.X, self.shape, self.strength, self.rng = X, (*shape, 1)[:3], strength, rng
        h, w = shape[:2]
        smooth, n = (0, 0, SMOOTH * h, SMOOTH * w), max(FEWEST, min(FIELDS, FIELDS * 28 * 28 // (h * w)))
        fields = gaussian_filter(rng.standard_normal((n, 2, h, w), np.float32), smooth, mode="constant")
        self.fields = fields / fields.std()
        squares = squared_norms(X[:: max(1, len(X) // 1000)].astype(np.float64))
        self.length = float(np.sqrt(squares.mean())) if np.ptp(squares) <= ONE_LENGTH * squares.mean() else 0.0

    def draw(self, n: int) -> Drawn:
        """Deformations of n images."""
        s, pixel = self.strength, self.shape[0] / 28
        turn, shear, high, wide, down, right, amount = (
            self.rng.uniform(-1, 1, (7, n))
            * s
            * np.array([TURN, TURN, ZOOM, ZOOM, SHIFT * pixel, SHIFT * pixel, 0])[:, None]
        )
        amount = s * ELASTIC * pixel * self.rng.uniform(0, 1, n)
        cos, sin = np.cos(turn), np.sin(turn)
        M = ((1 + high) * cos, -(1 + high) * sin, (1 + wide) * (sin + shear), (1 + wide) * cos)
        moved = np.stack([*M, down, right, amount], axis=1).astype(np.float32)
        return Drawn(self.rng.integers(0, len(self.fields), n), moved)

    def rows(self, idx, drawn: Drawn) -> np.ndarray:
        """The images idx (n,) deformed: (n, d) float32."""
        out = np.empty((len(idx), self.X.shape[1]), np.float32)
        _deform(self.X, idx, self.fields, drawn.field, drawn.moved, self.shape, np.float32(self.length), out)
        return out


@native(fastmath=True)
def _deform(X, idx, fields, number, moved, shape, length, out):
    h, w, channels = shape
    middle_y, middle_x = np.float32(0.5 * (h - 1)), np.float32(0.5 * (w - 1))
    last_y, last_x, none = np.float32(h - 1), np.float32(w - 1), np.uint64(0)
    row, column = np.uint64(w * channels), np.uint64(channels)  # unsigned indices need no check for negative ones
    for i in range(len(idx)):
        source, target, field, m = X[idx[i]], out[i], fields[number[i]], moved[i]
        square = np.float32(0)
        for r in range(h):
            y, down, right = np.float32(r) - middle_y, field[0, r], field[1, r]
            from_top, from_left = m[0] * y + m[4] + middle_y, m[2] * y + m[5] + middle_x
            line = target[r * w * channels : (r + 1) * w * channels]
            for k in range(np.uint64(channels)):
                for c in range(np.uint64(w)):
                    x = np.float32(c) - middle_x
                    from_y = lesser(greater(from_top + m[1] * x + m[6] * down[c], np.float32(0)), last_y)
                    from_x = lesser(greater(from_left + m[3] * x + m[6] * right[c], np.float32(0)), last_x)
                    top, left = np.floor(from_y), np.floor(from_x)
                    dy, dx = from_y - top, from_x - left
                    below, beside = row if top < last_y else none, column if left < last_x else none
                    at = np.uint64(top) * row + np.uint64(left) * column + k
                    upper = source[at] + dx * (source[at + beside] - source[at])
                    lower = source[at + below] + dx * (source[at + below + beside] - source[at + below])
                    value = upper + dy * (lower - upper)
                    line[c * column + k] = value
                    square += value * value
        if length > 0 and square > 0:
            scale = length / np.sqrt(square)
            for j in range(len(target)):
                target[j] *= scale


PARTS = 4  # of a batch, computed side by side
FLAT = 1e-3  # sum of |dloss/df| / tau of an example below which it is left out
MEAN, SQUARE = 0.9, 0.999  # Adam's memories
STEPS, LEAST = 50, 8  # few examples: so many steps an epoch, by smaller batches of at least so many
WARM = 50  # steps in which the rate rises


class Answers(NamedTuple):
    """How the gradient steps of a reduced set on its answers go.

    Parameters
    ----------
    epochs : int, default 320
        Passes over the training examples.
    batch : int, default 128
        Examples of a step.
    rate : float, default 5e-4
        Of steps of u, in lengths of a vector.
    weight_rate : float, default 5e-3
        Of steps of gamma and b, in means of |gamma|.
    sharpness : float, default 3.0
        tau of the softmax.
    directions : int, default 120
        r, principal directions of the examples in which the vectors lie.
    deform : float, default 1.2
        Strength of the deformations of images; 0 for none.
    by : {"labels", "machine"}, default "labels"
        Whose answers count as right: the examples' labels, or what the machine says about each, deformed as it is.

    Examples
    --------
    >>> from svmcore import Answers, ReducedSet
    >>> ReducedSet(500, method="answers", answers=Answers(epochs=40)).answers.epochs
    40
    """

    epochs: int = 320
    batch: int = 128
    rate: float = 5e-4
    weight_rate: float = 5e-3
    sharpness: float = 3.0
    directions: int = 120
    deform: float = 1.2
    by: str = "labels"

    def further(self, times: int) -> "Answers":
        """The steps after vectors were added so many times to those that such steps found: fewer and smaller ones."""
        slower = max(0.2, 1 - 0.2 * times)
        rates = {"rate": slower * self.rate, "weight_rate": slower * self.weight_rate}
        return self._replace(epochs=max(1, self.epochs // (6 * times)), batch=2 * self.batch, **rates)


class Answered(NamedTuple):
    """Where the steps have come to."""

    Z: np.ndarray  # (m, d) float32
    gamma: np.ndarray  # (k, m) float64
    bias: np.ndarray  # (k,) float64
    loss: float  # mean over the last epoch
    epochs: int
    ending: str = ""


def fit_answers(
    start: Expansion,
    bias,
    X,
    label,
    *,
    settings: Answers | None = None,
    image_shape=None,
    images=None,
    prepare=None,
    seed: int = 0,
    work: Work | None = None,
    teacher: Callable | None = None,
    seen: Callable[[Answered], None] | None = None,
) -> Answered:
    """Vectors, weights and biases after the settings' epochs, from those of `start` and bias (k,).

    X (n, d): training examples as the kernel sees them, label (n,) numbers of their classes; image_shape: of a row of
    X, which is then deformed; or of `images` (n, d'), of which the transformer `prepare` makes X: they are deformed
    before it. teacher(x): the numbers of the classes of examples x (t, d), in place of label. seen:
    called after every epoch. What `work.check` stops ends with what has been reached.
    ValueError for a kernel without a gradient.
    """
    work, settings, X = work or Work(), settings or Answers(), np.ascontiguousarray(X, np.float32)
    start.kernel.slopes(*np.ones((3, 1, 1), np.float32))  # says so where there are none
    try:
        given = Examples(X, np.asarray(label), X if images is None else images, image_shape, prepare)
        steps = Steps(start, bias, given, settings, seed, work, teacher)
    except Stopped:
        return Answered(start.vectors, start.coef, np.asarray(bias), np.nan, 0, "stopped")
    try:
        for _ in range(settings.epochs):
            steps.epoch(work)
            if seen:
                seen(steps.answered())
    except Stopped:
        return steps.answered("stopped")
    return steps.answered()


class Examples(NamedTuple):
    """Training examples; images that are deformed, and what makes examples of them."""

    X: np.ndarray  # (n, d) float32, as the kernel sees them
    label: np.ndarray  # (n,) numbers of the classes
    images: np.ndarray  # (n, d') float32; X itself where nothing is made of them
    image_shape: tuple[int, ...] | None
    prepare: object = None  # a fitted transformer


class Far(NamedTuple):
    """A part of a batch, and of it those s examples that have a gradient to speak of."""

    loss: float  # the sum over the whole part
    x: np.ndarray  # (s, r)
    K: np.ndarray  # (s, m)
    slope: np.ndarray  # (s, k), of the loss by f
    pull: np.ndarray  # (s, m), of the loss by each product x.u
    by_norm: np.ndarray | None  # (m,), of the loss by each u.u, of a kernel that has them

    def gradient(self, U, those: slice) -> tuple[np.ndarray, np.ndarray]:
        """By those of the u and gamma; by b it is the sum of `slope`."""
        by_u = self.pull[:, those].T @ self.x
        if self.by_norm is not None:
            by_u += 2 * self.by_norm[those, None] * U[those]
        return by_u, self.K[:, those].T @ self.slope


class Steps:
    """Adam on u, gamma and b."""

    def __init__(self, start: Expansion, bias, given: Examples, settings: Answers, seed: int, work, teacher=None):
        self.kernel, self.code, self.settings = start.kernel, start.kernel.code(), settings
        X, self.prepare = given.X, given.prepare
        self.X, self.label, self.rng, self.teacher = X, given.label, np.random.default_rng(seed), teacher
        self.Q = directions(X, settings.directions, work)
        gamma, bias = start.coef.T.astype(np.float32), np.asarray(bias, np.float32)
        self.k = gamma.shape[1]
        if self.k == 1:  # two columns: the classes' shares of the evidence
            gamma, bias = np.concatenate([-gamma, gamma], 1) / 2, np.concatenate([-bias, bias]) / 2
        U = start.vectors.astype(np.float32)
        self.values = [np.ascontiguousarray(U if self.Q is None else U @ self.Q), np.ascontiguousarray(gamma), bias]
        self.memories = [(np.zeros_like(v), np.zeros_like(v)) for v in self.values]
        length, size = np.sqrt(squared_norms(self.values[0]).mean()), np.abs(gamma).mean() + 1 / len(U)
        self.rates = (settings.rate * length, settings.weight_rate * size, settings.weight_rate * size)
        deformed = given.image_shape is not None and settings.deform > 0
        images = given.images, given.image_shape
        self.deform = Deformations(*images, settings.deform, self.rng) if deformed else None
        self.batch = min(settings.batch, max(LEAST, len(X) // STEPS))
        self.per_epoch, self.done, self.loss = max(1, len(X) // self.batch), 0, np.nan

    def epoch(self, work: Work) -> None:
        """One pass over the examples. Stopped where `work.check` says so."""
        order, losses = self.rng.permutation(len(self.X)), []
        for start in range(0, self.per_epoch * self.batch, self.batch):
            work.check()
            losses.append(self.step(order[start : start + self.batch]))
            work.count(evaluations=self.batch * len(self.values[0]))
        self.loss = float(np.mean(losses))

    def step(self, idx) -> float:
        """One step on the examples idx (B,): their mean loss."""
        drawn = self.deform.draw(len(idx)) if self.deform else None
        parts, far = np.array_split(np.arange(len(idx)), PARTS), [None] * PARTS
        U, vectors = self.values[0], cut(len(self.values[0]), PARTS)
        norms = squared_norms(U)

        def judge(*those):
            for i in those:
                rows = parts[i]
                if drawn is None:
                    x = self.X[idx[rows]]
                else:
                    x = self.deform.rows(idx[rows], type(drawn)(*(column[rows] for column in drawn)))
                    x = x if self.prepare is None else self.prepare.transform(x)
                far[i] = self._judge(x, self.teacher(x) if self.teacher else self.label[idx[rows]], norms)

        shares = np.array_split(np.arange(PARTS), min(PARTS, CORES))  # fewer calls wait less for one another
        side_by_side(judge, shares)
        self.done += 1
        total = self.settings.epochs * self.per_epoch
        rate = 0.5 * (1 + np.cos(np.pi * self.done / total)) * min(1, self.done / WARM)
        large, small = 1 / (1 - MEAN**self.done), 1 / (1 - SQUARE**self.done)

        def move(number, those, slope):
            own, memory = self.rates[number] * rate, (m[those] for m in self.memories[number])
            by = map(np.float32, (1 / len(idx), own, large, small))
            _adam(self.values[number][those].ravel(), slope.ravel(), *(m.ravel() for m in memory), *by)

        def pull(*those):
            for part in (vectors[i] for i in those):
                by_u, by_gamma = (sum(by) for by in zip(*(one.gradient(U, part) for one in far), strict=True))
                move(0, part, by_u)
                move(1, part, by_gamma)

        side_by_side(pull, shares)
        move(2, slice(None), sum(one.slope.sum(axis=0) for one in far))
        return sum(one.loss for one in far) / len(idx)

    def _judge(self, x, label, norms) -> Far:
        """What examples x (t, d) contribute to the loss and its gradient."""
        U, gamma, bias = self.values
        sx, tau = squared_norms(x), np.float32(self.settings.sharpness)
        x = x if self.Q is None else x @ self.Q
        dots, sx, norms = self.kernel.products(x, U, sx, norms)
        K = dots.copy()
        _finish_rows(self.code, K, all_near(sx[:, 0]), as_columns(all_near(norms[0])), 0)
        self.kernel.finish(K, sx[:, 0], norms[0])
        p = tau * (K @ gamma + bias)
        p -= p.max(axis=1, keepdims=True)
        np.exp(p, out=p)
        p /= p.sum(axis=1, keepdims=True)
        own = np.arange(len(x)), label
        loss = float(-np.log(np.maximum(p[own], 1e-12)).sum())
        p[own] -= 1
        far = np.flatnonzero(np.abs(p).sum(axis=1) > FLAT)
        slope = tau * p[far]
        _, pull, by_norm = self.kernel.slopes(dots[far], sx[far], norms)
        weight = slope @ gamma.T
        pull *= weight
        by_norm = None if by_norm is None else np.einsum("ij,ij->j", weight, by_norm)
        return Far(loss, x[far], K[far], slope, pull, by_norm)

    def answered(self, ending: str = "") -> Answered:
        """Vectors and weights as they stand."""
        U, gamma, bias = (value.astype(np.float64) for value in self.values)
        Z = U if self.Q is None else U @ self.Q.T
        if self.k == 1:
            gamma, bias = gamma[:, 1:] - gamma[:, :1], bias[1:] - bias[:1]
        return Answered(Z.astype(np.float32), gamma.T.copy(), bias, self.loss, self.done // self.per_epoch, ending)


def gathered(target: Expansion, Z, work: Work | None = None) -> Expansion:
    """A start for the steps: each z_j of Z (m, d) with the weights of the target's vectors nearest to it."""
    Z, work = np.asarray(Z, np.float32), work or Work()
    half, gamma = squared_norms(Z) / 2, np.zeros((len(Z), len(target.coef)))
    for rows in pieces(len(target.vectors), *Z.shape):
        work.check()
        np.add.at(gamma, (target.vectors[rows] @ Z.T - half).argmax(axis=1), target.coef[:, rows].T)
    return Expansion(target.kernel, Z, gamma.T.copy())


def drawn(machine, X, label, m: int, seed: int) -> Expansion:
    """A start without the machine's vectors: m random examples of X (n, d), each for its class with one weight."""
    rows = np.random.default_rng(seed).choice(len(X), min(m, len(X)), replace=False)
    return Expansion(machine.kernel, X[rows], one_vs_rest(label[rows], len(machine.classes)))


def grown(expansion: Expansion, Z) -> Expansion:
    """A start with more vectors: those found, and Z (m, d) with weight 0, which changes no decision value."""
    gamma = np.concatenate([expansion.coef, np.zeros((len(expansion.coef), len(Z)))], axis=1)
    return Expansion(expansion.kernel, np.concatenate([expansion.vectors, np.asarray(Z, np.float32)]), gamma)


def directions(X, r: int, work: Work):
    """The first r principal directions of X (n, d) about the origin: (d, r) float32, None for all; interruptible."""
    if X.shape[1] <= r:
        return None
    scatter = np.zeros((X.shape[1], X.shape[1]))
    for rows in pieces(len(X), X.shape[1], X.shape[1]):
        work.check()
        scatter += X[rows].T @ X[rows]
    return np.ascontiguousarray(np.linalg.eigh(scatter)[1][:, ::-1][:, :r], np.float32)


@native(fastmath=True)
def _adam(value, slope, mean, square, share, rate, large, small):
    for i in range(len(value)):
        one = share * slope[i]
        mean[i] += np.float32(1 - MEAN) * (one - mean[i])
        square[i] += np.float32(1 - SQUARE) * (one * one - square[i])
        value[i] -= rate * large * mean[i] / (np.sqrt(small * square[i]) + np.float32(1e-12))
