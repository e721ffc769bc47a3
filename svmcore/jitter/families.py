"""The words of the language of jitter sets: what each is called, how it is written, its jitters, and their pixels.

A jitter is a translation after other parts: x -> T_offset(parts(x)). So is a product of jitters by definition: the
parts follow each other in the order written, the offsets add up, and neighbouring linear maps become one matrix. That
makes compositions of translations, rotations, scalings, shears and mirrorings exact, and duplicates are recognised.

References: DeCoste and Schölkopf, Machine Learning 46 (2002), sections 3.2-3.3 and Figure 4; moved contours after
Drucker, Schapire and Simard, NIPS 5 (1993); elastic distortions after Simard, Steinkraus and Platt, ICDAR (2003).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from svmcore.jitter.warp import contour, deform, distort, thicken, transform

MOST = 4096  # jitters in a set

Part = tuple[str, tuple[float, ...]]  # ("linear", 2x2 matrix row by row) | ("thick", s) | ...


@dataclass(frozen=True)
class Jitter:
    """One image transformation: `parts` in turn, then a move down and right by the whole pixels of `offset`.

    A linear part moves what lies at (row, column) from the image's centre to matrix @ (row, column).
    """

    parts: tuple[Part, ...] = ()
    offset: tuple[int, int] = (0, 0)
    labels: tuple[str, ...] = ()

    @property
    def key(self) -> tuple:
        """What it does, whatever it is called: equal for jitters that do the same."""
        return self.parts, self.offset

    @property
    def name(self) -> str:
        """For captions: "identity", "shift -1,+2", "turn +8° · thicker 0.5"."""
        moved = () if self.offset == (0, 0) else (f"shift {self.offset[0]:+d},{self.offset[1]:+d}",)
        return " · ".join(self.labels + moved) or "identity"

    def then(self, other: "Jitter") -> "Jitter":
        """The product: this jitter's parts, the other's parts, both translations."""
        parts = self.parts
        for part in other.parts:
            if part[0] == "linear" and parts and parts[-1][0] == "linear":
                parts = parts[:-1] + _linear(_multiply(part[1], parts[-1][1]))
            else:
                parts += (part,)
        offset = (self.offset[0] + other.offset[0], self.offset[1] + other.offset[1])
        return Jitter(parts, offset, self.labels + other.labels if parts else ())


@dataclass(frozen=True)
class Family:
    """One word of the language. make(values text) -> jitters beside the identity; raises ValueError with the reason.

    pixels: what the parts of its jitters do, kind -> function (see `svmcore.jitter.warp`); shifts: they are whole-pixel
    translations, and have no parts.
    """

    usage: str
    help: str
    make: Callable[[str], list[Jitter]]
    pixels: Mapping[str, Callable] = field(default_factory=dict)
    shifts: bool = False


def pixel_operation(kind: str) -> Callable:
    """What a part of this kind does to images: the function that some family brings."""
    return next(family.pixels[kind] for family in FAMILIES.values() if kind in family.pixels)


def _numbers(text: str, low: float, high: float, kind: type = float) -> list:
    """Comma-separated numbers within a range."""
    try:
        values = [kind(v) for v in text.split(",")]
    except ValueError:
        values = [math.nan]
    if not all(low <= v <= high for v in values):
        what = "whole numbers" if kind is int else "numbers"
        raise ValueError(f"'{text}' is invalid; allowed: {what} from {low:g} to {high:g}, separated by commas")
    return values


def _shifts(offsets) -> list[Jitter]:
    return [Jitter(offset=o) for o in offsets]


def _box(text: str) -> list[Jitter]:
    (r,) = _one(text, 0, 31)
    return _shifts(product(range(-r, r + 1), repeat=2))


def _plus(text: str) -> list[Jitter]:
    (r,) = _one(text, 0, 31)
    return _shifts(o for k in range(1, r + 1) for o in ((-k, 0), (k, 0), (0, -k), (0, k)))


def _one(text: str, low: int, high: int) -> list[int]:
    values = _numbers(text, low, high, int)
    if len(values) != 1:
        raise ValueError(f"'{text}' is invalid; allowed: one number")
    return values


def _shift(text: str) -> list[Jitter]:
    pairs = [_numbers(pair, -255, 255, int) for pair in text.split(";")]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"'{text}' is invalid; allowed: pairs of rows,columns separated by ';'")
    return _shifts(map(tuple, pairs))


def _multiply(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, ...]:
    return (a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3])


def _linear(matrix: tuple[float, ...]) -> tuple[Part, ...]:
    """A linear part, rounded so that equal products compare equal; none for the identity."""
    rounded = tuple(round(v, 9) + 0.0 for v in matrix)
    return () if rounded == (1, 0, 0, 1) else (("linear", rounded),)


def _linears(label: str, values: list, matrix: Callable) -> list[Jitter]:
    return [Jitter(parts, labels=(label.format(v),)) for v in values if (parts := _linear(matrix(v)))]


def _rotations(text: str) -> list[Jitter]:
    def matrix(degrees):
        c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        return c, -s, s, c

    return _linears("turn {:+g}°", _numbers(text, -180, 180), matrix)


def _scalings(text: str) -> list[Jitter]:
    return _linears("scale {:g}", _numbers(text, 0.25, 4), lambda s: (s, 0, 0, s))


def _shears(text: str) -> list[Jitter]:
    return _linears("shear {:+g}", _numbers(text, -2, 2), lambda k: (1, 0, -k, 1))


def _flips(text: str) -> list[Jitter]:
    axes = text.split(",")
    if not set(axes) <= {"h", "v"}:
        raise ValueError(f"'{text}' is invalid; allowed: h (left-right), v (top-bottom), or h,v")
    return _linears("flip {}", axes, lambda axis: (1, 0, 0, -1) if axis == "h" else (-1, 0, 0, 1))


def _thicknesses(kind: str, most: float, unit: str = "") -> Callable[[str], list[Jitter]]:
    """Lines thicker and thinner by each strength of up to `most`."""

    def make(text: str) -> list[Jitter]:
        strengths = [s for s in _numbers(text, 0, most) if s > 0]
        both = (("thicker", 1), ("thinner", -1))
        return [
            Jitter(((kind, (sign * s,)),), labels=(f"{word} {s:g}{unit}",)) for word, sign in both for s in strengths
        ]

    return make


def _elastics(text: str) -> list[Jitter]:
    numbers = text.split(",")
    if len(numbers) not in (3, 4):
        raise ValueError(f"'{text}' is invalid; allowed: three or four numbers")
    (alpha,), (sigma,) = _numbers(numbers[0], 0, 100), _numbers(numbers[1], 0.5, 50)
    (count,) = _numbers(numbers[2], 1, 500, int)
    (seed,) = _numbers(numbers[3], 0, 2**31, int) if len(numbers) == 4 else (0,)
    seeds = range(seed, seed + count)
    return [Jitter((("elastic", (alpha, sigma, float(s))),), labels=(f"elastic {s}",)) for s in seeds]


def _randoms(text: str) -> list[Jitter]:
    """COUNT deformations, each a linear map, a move and a field of its own, drawn by its number and the seed alone."""
    count, *named = text.split(",")
    (count,), most = _numbers(count, 1, MOST - 1, int), dict(RANDOM)
    for part in named:
        name, _, value = part.partition("=")
        if name not in LIMITS:
            raise ValueError(f"'{part}' is invalid; allowed: NAME=NUMBER, with a NAME of {', '.join(LIMITS)}")
        (most[name],) = _numbers(value, *LIMITS[name])
    return [_random(number, most) for number in range(count)]


def _random(number: int, most: Mapping[str, float]) -> Jitter:
    rng = np.random.default_rng([int(most["seed"]), number])
    turn, shear, high, wide, down, right = rng.uniform(-1, 1, 6) * [
        math.radians(most["rot"]), most["shear"], most["scale"], most["scale"], most["shift"], most["shift"]
    ]  # fmt: skip
    c, s = math.cos(turn), math.sin(turn)
    matrix = _multiply((c, -s, s, c), _multiply((1, 0, -shear, 1), (1 + high, 0, 0, 1 + wide)))
    elastic = (most["elastic"] * rng.uniform(), most["smooth"], float(rng.integers(2**31)))
    return Jitter((("random", (*matrix, down, right, *elastic)),), labels=(f"random {number}",))


LINEAR = {"linear": transform}
RANDOM = {"shift": 1.0, "rot": 8.0, "shear": 0.14, "scale": 0.06, "elastic": 0.7, "smooth": 4.0, "seed": 0}
LIMITS = {"shift": (0, 31), "rot": (0, 180), "shear": (0, 2), "scale": (0, 0.75), "elastic": (0, 100),
          "smooth": (0.5, 50), "seed": (0, 2**31)}  # fmt: skip
FAMILIES: dict[str, Family] = {
    "none": Family("none", "The identity only.", lambda _: []),
    "box": Family("box:R", "All shifts of up to R pixels in rows and columns.", _box, shifts=True),
    "plus": Family("plus:R", "Shifts of up to R pixels along one axis.", _plus, shifts=True),
    "shift": Family(
        "shift:DY,DX;DY,DX;...", "The listed shifts: rows downwards, columns to the right.", _shift, shifts=True
    ),
    "vsv2": Family(
        "vsv2",
        "13 shifts, as in DeCoste and Schölkopf (2002): box:1+plus:2.",
        lambda _: _box("1") + _plus("2"),
        shifts=True,
    ),
    "rot": Family("rot:DEGREES,...", "Rotations about the centre; positive turns anticlockwise.", _rotations, LINEAR),
    "scale": Family("scale:FACTOR,...", "Scalings about the centre.", _scalings, LINEAR),
    "shear": Family(
        "shear:SLOPE,...", "Slants by SLOPE columns per row; a positive SLOPE leans to the right.", _shears, LINEAR
    ),
    "thick": Family(
        "thick:STRENGTH,...",
        "Thicker and thinner lines: mixes the image with its dilated and its eroded form. STRENGTH is from 0 to 1.",
        _thicknesses("thick", 1),
        {"thick": thicken},
    ),
    "contour": Family(
        "contour:PIXELS,...",
        "Thicker and thinner lines: shifts contours along the image gradient. The shift is PIXELS times the change of "
        "ink per pixel, about half of PIXELS at a sharp edge.",
        _thicknesses("contour", 4, " px"),
        {"contour": contour},
    ),
    "flip": Family("flip:h or flip:v or flip:h,v", "Mirror images.", _flips, LINEAR),
    "elastic": Family(
        "elastic:ALPHA,SIGMA,COUNT[,SEED]",
        "COUNT random elastic distortions. The shifts of the pixels along each axis have a root mean square of ALPHA "
        "pixels and are smoothed over SIGMA pixels.",
        _elastics,
        {"elastic": distort},
    ),
    "random": Family(
        "random:COUNT[,shift=1][,rot=8][,shear=0.14][,scale=0.06][,elastic=0.7][,smooth=4][,seed=0]",
        "COUNT random deformations. Each one shifts, rotates, slants, scales and distorts by random amounts up to the "
        "given ones (pixels, degrees, slope, fraction, pixels). The seed determines them.",
        _randoms,
        {"random": deform},
    ),
}
