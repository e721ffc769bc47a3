"""Jitter sets: named tuples of image transformations, applied to many images at once.

    apply(X)[j, i] = jitter j of image i,    j = 0 the identity

Symbols: X (n, d) float32, d = h w [c]; J = number of jitters; offset (dy, dx) = whole pixels down and to the right.

Reference: DeCoste and Schoelkopf, Machine Learning 46 (2002), sections 3.2-3.3.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from svmcore.jitter.language import Jitter, parse, without_shifts
from svmcore.jitter.warp import apply_parts, widen
from svmcore.preprocess import as_images, background


class Factors(NamedTuple):
    """A set taken apart: jitter j is the shift by offsets[j] after member index[j] of `rest`, which shifts nothing."""

    rest: "JitterSet"
    index: np.ndarray  # (J,) int64
    offsets: np.ndarray  # (J, 2) int64


@dataclass(frozen=True)
class JitterSet:
    """A set of jitters, the identity first, named by its text; equal and hashed by text and image shape.

    image_shape (h, w) or (h, w, c) says how rows of pixels are images; None for arrays that have their image shape.
    Raises ValueError when the text is not in the language (see svmcore.jitter.language).
    """

    text: str
    image_shape: tuple[int, ...] | None = None
    jitters: tuple[Jitter, ...] = field(init=False, repr=False, compare=False)
    border: str = field(init=False, repr=False, compare=False)

    def __post_init__(self):
        text = "".join(str(self.text).split()).lower()
        jitters, border = parse(text)
        shape = None if self.image_shape is None else tuple(int(s) for s in self.image_shape)
        for name, value in (("text", text), ("image_shape", shape), ("jitters", jitters), ("border", border)):
            object.__setattr__(self, name, value)

    @classmethod
    def parse(cls, text: "str | JitterSet", image_shape: tuple[int, ...] | None = None) -> "JitterSet":
        """The set that `text` names, for images of `image_shape`; a JitterSet that has a shape is taken as it is."""
        if isinstance(text, JitterSet) and (image_shape is None or text.image_shape is not None):
            return text
        return cls(str(text), image_shape)

    def __str__(self) -> str:
        return self.text

    def __len__(self) -> int:
        return len(self.jitters)

    @property
    def names(self) -> tuple[str, ...]:
        """Captions (J,) of the jitters, "identity" first."""
        return tuple(j.name for j in self.jitters)

    @cached_property
    def offsets(self) -> np.ndarray | None:
        """Translations (J, 2) int64 as (dy, dx), or None when some jitter is not a pure translation."""
        return None if any(j.parts for j in self.jitters) else self.factor().offsets

    @property
    def reach(self) -> int:
        """The furthest shift in pixels: padding by as much keeps all ink of a shifted image on the canvas."""
        return max(max(map(abs, j.offset)) for j in self.jitters)

    def factor(self) -> Factors:
        """The set as shifts after a set without shifts, which serves Gram matrices that depend on relative shifts."""
        rest = JitterSet(without_shifts(self.text), self.image_shape)
        position = {j.parts: r for r, j in enumerate(rest.jitters)}
        index = np.array([position[j.parts] for j in self.jitters])
        return Factors(rest, index, np.array([j.offset for j in self.jitters]))

    def apply(self, X: np.ndarray, pad: int = 0) -> np.ndarray:
        """All jittered forms (J, n, d) float32 of images X, identity first.

        X: (n, d) with the set's image_shape, or (n, h, w[, c]). With `pad` the images stand on canvases wider by as
        many pixels on each side, d = (h + 2 pad) (w + 2 pad) [c], so that no ink leaves. Raises ValueError when X does
        not fit the image shape, or has none.
        """
        stack = None
        for j, rows in enumerate(self.each(X, pad)):
            if stack is None:
                stack = np.empty((len(self), *rows.shape), dtype=np.float32)
            stack[j] = rows
        return stack

    def each(self, X: np.ndarray, pad: int = 0) -> Iterator[np.ndarray]:
        """The J arrays (n, d) of `apply` in turn, for when all of them at once would be too much; read only."""
        if np.ndim(X) == 2 and self.image_shape is None:
            raise ValueError(
                f"jitters '{self}' need images, not rows of shape {np.shape(X)}: allowed are (n, h, w), (n, h, w, c), "
                "or (n, d) with an image_shape"
            )
        images = as_images(X, self.image_shape)
        paper, reach = background(images), self.reach
        canvas = widen(images, pad, paper, self.border)
        n, h, w, _ = canvas.shape
        for parts, group in groupby(self.jitters, key=attrgetter("parts")):
            base = widen(apply_parts(canvas, parts, paper, self.border, pad), reach, paper, self.border)
            for jitter in group:
                top, left = reach - jitter.offset[0], reach - jitter.offset[1]
                yield base[:, top : top + h, left : left + w].reshape(n, -1)
