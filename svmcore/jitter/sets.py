"""Jitter sets: named tuples of image transformations, applied to many images at once.

    apply(X)[j, i] = jitter j of image i,    j = 0 the identity

Symbols: X (n, d) float32, d = h w [c]; J = number of jitters; offset (dy, dx) = whole pixels down and to the right.

Reference: DeCoste and Schölkopf, Machine Learning 46 (2002), sections 3.2-3.3.

The small language that names jitter sets: its grammar. The words stand in families.py.

    set     = product {"+" product} ["@" border]        union
    product = factor {"*" factor}                       every combination, one from each factor
    factor  = family [":" values] | "(" set ")"

Every set contains the identity, as its first member.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import groupby, product
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from svmcore.jitter.families import FAMILIES, MOST, Jitter, pixel_operation
from svmcore.jitter.warp import widen
from svmcore.preprocess import as_images, background

APART = 500  # fields of `elastic` that one seed may draw
BORDERS = ("background", "edge", "zero")  # what a move brings in from outside


@lru_cache(maxsize=16)  # a form, its forecast and its run read the same few texts again and again
def parse(text: str) -> tuple[tuple[Jitter, ...], str]:
    """Jitters and border of a set such as "box:1*thick:0.5@edge": no duplicates, the identity first, all shifts of the
    same parts together.

    Raises ValueError that quotes the text and says what is allowed.
    """
    body, at, border = text.partition("@")
    if at and border not in BORDERS:
        raise ValueError(f"jitters '{text}': border '{border}' is unknown; allowed: @{', @'.join(BORDERS)}")
    reader = _Reader(body)
    try:
        jitters = reader.read_set()
        if reader.peek():
            raise ValueError(f"'{reader.peek()}' is out of place; allowed: '+' (union) or '*' (product) between sets")
    except ValueError as error:
        raise ValueError(f"jitters '{text}': {error}") from None
    first_seen = {parts: place for place, parts in enumerate(dict.fromkeys(j.parts for j in jitters))}
    return tuple(sorted(jitters, key=lambda j: first_seen[j.parts])), border or BORDERS[0]


def power(text: str, exponent: int) -> str:
    """The product of a set with itself: "box:1@edge", 2 -> "(box:1)*(box:1)@edge"; "none" for exponent 0."""
    body, at, border = text.partition("@")
    return ("*".join([f"({body})"] * exponent) or "none") + at + border


def seeded(text: str, seed: int) -> str:
    """The same expression with a seed for each family of random deformations that states none; as it is for seed 0."""
    if seed:
        text = re.sub(r"\brandom:(?![^+*()@]*seed=)[^+*()@]+", rf"\g<0>,seed={seed % 2**31}", text)
        text = re.sub(r"\belastic:[^,+*()@]+,[^,+*()@]+,[^,+*()@]+(?![^+*()@])", rf"\g<0>,{APART * seed % 2**31}", text)
    return text


class _Reader:
    """Recursive descent over the tokens of an expression."""

    def __init__(self, text: str):
        self.tokens = re.findall(r"[()+*]|[^()+*]+", text)

    def peek(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def read_set(self) -> tuple[Jitter, ...]:
        jitters = self._read_product()
        while self.peek() == "+":
            self.tokens.pop(0)
            jitters = _distinct(jitters + self._read_product())
        return jitters

    def _read_product(self) -> tuple[Jitter, ...]:
        jitters = self._read_factor()
        while self.peek() == "*":
            self.tokens.pop(0)
            factor = self._read_factor()
            if len(jitters) * len(factor) > MOST:
                raise ValueError(f"the product has {len(jitters) * len(factor)} jitters; allowed: at most {MOST}")
            jitters = _distinct(a.then(b) for a, b in product(jitters, factor))
        return jitters

    def _read_factor(self) -> tuple[Jitter, ...]:
        token = self.tokens.pop(0) if self.tokens else "nothing"
        if token == "(":
            jitters = self.read_set()
            if self.peek() != ")":
                raise ValueError("a closing ')' is missing")
            self.tokens.pop(0)
            return jitters
        name, _, values = token.partition(":")
        if name not in FAMILIES:
            raise ValueError(f"'{token}' is unknown; allowed: {', '.join(f.usage for f in FAMILIES.values())}")
        try:
            return _distinct([Jitter(), *FAMILIES[name].make(values)])
        except ValueError as error:
            raise ValueError(f"'{token}': {error}; the form is {FAMILIES[name].usage}") from None


def _distinct(jitters: Iterable[Jitter]) -> tuple[Jitter, ...]:
    first = {}
    for jitter in jitters:
        first.setdefault(jitter.key, jitter)
    return tuple(first.values())


class Factors(NamedTuple):
    """A set taken apart: jitter j is the shift by offsets[j] after member index[j] of `rest`, which shifts nothing."""

    rest: "JitterSet"
    index: np.ndarray  # (J,) int64
    offsets: np.ndarray  # (J, 2) int64


@dataclass(frozen=True)
class JitterSet:
    """A set of jitters, the identity first, named by its text; equal and hashed by text and image shape.

    Parameters
    ----------
    text : str
        In the language above, such as "box:1", "plus:2+rot:-8,8" or "vsv2*thick:0.5".
    image_shape : tuple of int or None, default None
        (h, w) or (h, w, c): how rows of pixels are images; None for arrays that have their image shape.

    Raises
    ------
    ValueError
        Where the text is not in the language.

    References
    ----------
    DeCoste and Schölkopf (2002), Figure 4 and section 3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from svmcore import JitterSet
    >>> jitters = JitterSet.parse("box:1", image_shape=(3, 3))
    >>> len(jitters), jitters.apply(np.eye(9, dtype=np.float32)[4:5]).shape
    (9, (9, 1, 9))
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

    @cached_property
    def reach(self) -> int:
        """The furthest shift in pixels: padding by as much keeps all ink of a shifted image on the canvas."""
        return max(max(map(abs, j.offset)) for j in self.jitters)

    def factor(self) -> Factors:
        """The set as shifts after a set without shifts, which serves Gram matrices that depend on relative shifts."""
        shifts = "|".join(name for name, family in FAMILIES.items() if family.shifts)
        text = re.sub(rf"(?<![^+*(\s])({shifts})(:[^+*()@]*)?(?=[+*()@\s]|$)", "none", self.text)
        rest = JitterSet(text, self.image_shape)
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
        canvas, paper = self._canvas(X, pad)
        for parts, group in groupby(self.jitters, key=attrgetter("parts")):
            base = widen(self._after(parts, canvas, paper, pad), self.reach, paper, self.border)
            for jitter in group:
                yield self._moved(base, jitter)

    def pick(self, X: np.ndarray, which: np.ndarray, pad: int = 0) -> np.ndarray:
        """One form of each image, (n, d) float32: row i is jitter which[i] of image i; X and pad as for `apply`."""
        canvas, paper = self._canvas(X, pad)
        out = np.empty((len(canvas), math.prod(canvas.shape[1:])), dtype=np.float32)
        for parts, group in groupby(enumerate(self.jitters), key=lambda numbered: numbered[1].parts):
            members = dict(group)
            rows = np.flatnonzero(np.isin(which, list(members)))
            base = self._after(parts, canvas[rows], paper[rows], pad)
            base = widen(base, self.reach, paper[rows], self.border)
            for number, jitter in members.items():
                mine = np.flatnonzero(which[rows] == number)
                out[rows[mine]] = self._moved(base[mine], jitter)
        return out

    def with_border(self, border: str) -> "JitterSet":
        """The same jitters, which bring in `border` from outside."""
        return JitterSet(f"{self.text.partition('@')[0]}@{border}", self.image_shape)

    def power(self, exponent: int) -> "JitterSet":
        """The set of all jitters made of `exponent` jitters of this one; the identity alone for 0."""
        return JitterSet(power(self.text, exponent), self.image_shape)

    def after(self, first: "JitterSet", second: "JitterSet") -> np.ndarray:
        """Numbers (len(first), len(second)) int64 that the products first[a] then second[b] have in this set.

        Raises KeyError when a product is not in this set.
        """
        number = {j.key: at for at, j in enumerate(self.jitters)}
        products = [[a.then(b) for b in second.jitters] for a in first.jitters]
        return np.array([[number[j.key] for j in row] for row in products])

    def _canvas(self, X: np.ndarray, pad: int) -> tuple[np.ndarray, np.ndarray]:
        """Images (n, h + 2 pad, w + 2 pad, c) and their background's colour (n, c)."""
        if np.ndim(X) == 2 and self.image_shape is None:
            raise ValueError(
                f"jitters '{self}' need images, but X has shape {np.shape(X)}; allowed: (n, h, w), (n, h, w, c), "
                "or (n, d) with an image_shape"
            )
        images = as_images(X, self.image_shape)
        paper = np.zeros_like(images[:, 0, 0]) if self.border == "zero" else background(images)
        return widen(images, pad, paper, self.border), paper

    def _after(self, parts, images: np.ndarray, paper: np.ndarray, pad: int) -> np.ndarray:
        """Images on a canvas padded by `pad` after all parts in turn."""
        for kind, values in parts:
            images = pixel_operation(kind)(images, values, paper, self.border, pad)
        return images

    def _moved(self, base: np.ndarray, jitter: Jitter) -> np.ndarray:
        """Rows (n, d) of images that stand on a canvas widened by the reach, after the jitter's translation."""
        n, height, width, c = base.shape
        h, w = height - 2 * self.reach, width - 2 * self.reach
        top, left = self.reach - jitter.offset[0], self.reach - jitter.offset[1]
        return base[:, top : top + h, left : left + w].reshape(n, h * w * c)
