"""The steps of preprocessing, each a function of images, and the registry that names them.

Symbols: images (n, h, w, c) float32; plain features come as (n, 1, d, 1), float32 or float64.

A step is written name, name:number or name:number,field=number,...; features of several steps side by side are written
a+0.5*b, each scaled to length 1 and multiplied by its weight, so that u.v = u_a.v_a + 0.25 u_b.v_b.

Scrambling gives pixel p of the result what pixel pi(p) of the image shows, by one permutation pi of all h w pixels for
every image: u'.v' = sum_p u_pi(p) v_pi(p) = u.v, so that a kernel of inner products or distances cannot notice.
"""

import math
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d
from sklearn.decomposition import PCA

from svmcore.preprocess import window
from svmcore.preprocess.cells import Cells, Colours, Gradients, Patterns
from svmcore.preprocess.upright import deslant
from svmcore.rows import lost_columns

MOST_SEEDS = 2**32 - 1
WEIGHT = 100  # of features beside others, at most
FLAT = 1e-6  # of the largest deviation: what a whitened component with less is would be noise
BLOCK = 1024  # examples that are taken in double precision at a time
CHUNK = 2048  # images that one native call works on, so that no call lasts long


@dataclass(frozen=True)
class Parameter:
    """A number of a step, for forms: what it is, its default and the range allowed. A step with several parameters
    writes each as name=value."""

    label: str
    default: float
    low: float
    high: float
    whole: bool = False
    name: str = ""

    @property
    def is_switch(self) -> bool:
        """Whether it is on (1) or off (0)."""
        return self.whole and (self.low, self.high) == (0, 1)

    def checked(self, text: str, value: float) -> float:
        """The value, an int where it is whole. ValueError for one of the step `text` that is not allowed."""
        if not self.low <= value <= self.high or (self.whole and value != int(value)):
            kind = "whole number" if self.whole else "number"
            said = f"{self.name}, {self.label}," if self.name else self.label
            raise ValueError(
                f"preprocessing step '{text}': {said} must be a {kind} from {self.low:g} to {self.high:.10g}"
            )
        return int(value) if self.whole else value


@dataclass(frozen=True)
class Step:
    """One kind of step.

    apply(images, *values): (n, h, w, c) to the same; values are the parameters, or what `learn(images, *parameters)`
    found on the training set. images_only: has no meaning for plain features. first: must stand before all others.
    after: the step that must stand before it.
    last: looks at the whole vector or removes the border, so it belongs after a jitter, not before (see
    `Preprocessor.split`). shape(shape, *parameters): shape of what comes out for images of `shape`, if another.
    windows(level, side, run, *values): what comes out for windows of a whole picture, where these share work (see
    `Preprocessor.windows`). show(images, shape, *values): those put back as images of `shape`. features: what comes out
    is (1, d, 1) and no image; `show` then draws it, as `drawing` says, in a size of its own. examples(*parameters):
    training examples that it needs at least. fewer: times the support vectors without it, for a forecast; steady:
    whether a shift of the image changes what comes out only by ink that it clips. formula: in LaTeX; source: where it
    is described.
    """

    title: str
    help: str
    apply: Callable
    parameters: tuple[Parameter, ...] = ()
    learn: Callable | None = None
    images_only: bool = False
    first: bool = False
    after: str = ""
    last: bool = False
    shape: Callable = lambda shape, *parameters: shape
    windows: Callable | None = None
    show: Callable = lambda images, shape, *values: images
    features: bool = False
    drawing: str = ""
    examples: Callable = lambda *parameters: 0
    fewer: float = 1.0
    steady: bool = False
    formula: str = ""
    source: str = ""


class Parsed(NamedTuple):
    """A step as it was asked for: its name, or the whole text of several side by side; its kind, and its parameters."""

    name: str
    step: Step
    values: tuple[float, ...]


def parse_step(text: str) -> Parsed:
    """ "smooth:0.75" -> name "smooth", values (0.75,); "gradients:9,power=1" -> all values of the step, in its order.

    Raises ValueError naming the step and the allowed ones, or the parameter and its range.
    """
    terms = re.split(r"\+(?=(?:[0-9.]+\*)?[a-z])", str(text))
    if len(terms) > 1 or "*" in terms[0]:
        return Parsed(str(text), _side_by_side(str(text), terms), ())
    name, colon, rest = str(text).partition(":")
    if name not in STEPS:
        raise ValueError(f"preprocessing step '{text}' is unknown; allowed: {', '.join(map(usage, STEPS))}")
    wanted = STEPS[name].parameters
    if not wanted:
        if colon:
            raise ValueError(f"preprocessing step '{text}' takes no parameter; allowed: '{name}'")
        return Parsed(name, STEPS[name], ())
    values = {parameter.name: parameter.default for parameter in wanted}
    for at, part in enumerate(rest.split(",") if colon else ()):
        key, equals, number = part.strip().rpartition("=")
        if not equals and not at:
            key = wanted[0].name
        if key not in values or (equals and not key):
            allowed = ", ".join(f"{parameter.name}={parameter.default:g}" for parameter in wanted if parameter.name)
            raise ValueError(
                f"preprocessing step '{text}' has no parameter '{key or part}'; allowed: {allowed or usage(name)}"
            )
        try:
            values[key] = float(number)
        except ValueError:
            values[key] = math.nan
    return Parsed(name, STEPS[name], tuple(parameter.checked(text, values[parameter.name]) for parameter in wanted))


def written(name: str, values: Iterable[float]) -> str:
    """The text of a step with these values of its parameters; all but the first only where they are not usual."""
    first, *others = zip(STEPS[name].parameters, values, strict=True)
    changed = (f"{wanted.name}={value:g}" for wanted, value in others if value != wanted.default)
    return ",".join([f"{name}:{first[1]:g}", *changed])


def split_steps(text: str) -> list[str]:
    """The steps of a text with commas between them; one before `field=` belongs to the step before it."""
    return [step for step in re.split(r",(?!\s*[a-z]+=)", text) if step]


def check_order(steps: Iterable[str], whole: bool = True) -> None:
    """ValueError for a step that must come first, or after another one, and does not, that needs images where there are
    only features, or for one that is unknown or out of range. whole: whether no steps come before these."""
    made_by, before = "", set()
    for at, text in enumerate(steps):
        name, step, _ = parse_step(text)
        if step.first and at:
            raise ValueError(f"preprocessing step '{text}' must be the first step")
        if step.images_only and made_by:
            raise ValueError(
                f"preprocessing step '{text}' needs images, but '{made_by}' before it makes features; allowed: "
                f"'{text}' before '{made_by}'"
            )
        if whole and step.after and step.after not in before:
            raise ValueError(f"preprocessing step '{text}' needs '{step.after}'; allowed: '{step.after}' before it")
        made_by = text if step.features else made_by
        before.add(name)


def usage(name: str) -> str:
    """How a step is written, with its default: "smooth:0.75"."""
    parameters = STEPS[name].parameters
    return f"{name}:{parameters[0].default:g}" if parameters else name


def _side_by_side(text: str, terms: list[str]) -> Step:
    """The step that puts the features of several side by side, with weights."""
    weights, parts = [], []
    for term in terms:
        weight, star, one = term.rpartition("*")
        try:
            weights.append(float(weight) if star else 1.0)
        except ValueError:
            weights.append(math.nan)
        if not 0 < weights[-1] <= WEIGHT:
            raise ValueError(f"preprocessing step '{text}': a weight must be a number above 0, up to {WEIGHT:g}")
        parts.append(parse_step(one))
        if not parts[-1].step.features or parts[-1].step.learn:
            allowed = ", ".join(name for name, step in STEPS.items() if step.features and not step.learn)
            raise ValueError(f"preprocessing step '{text}': '{one}' does not make features of a picture alone; allowed "
            f"with +: {allowed}")  # fmt: skip

    def beside(made):
        return np.concatenate([w * unit_norm(one) for w, one in zip(weights, made, strict=True)], axis=2)

    def apply(images):
        return beside([part.step.apply(images, *part.values) for part in parts])

    def windows(level, side, run):
        each = [part.step.windows(level, side, run, *part.values) for part in parts]
        return lambda ys, xs: beside([one(ys, xs) for one in each])

    def shape(shape):
        return 1, sum(part.step.shape(shape, *part.values)[1] for part in parts), 1

    def show(features, shape):
        """The drawings beside each other, each as bright as its own largest value."""
        sizes = [part.step.shape(shape, *part.values)[1] for part in parts]
        columns = np.split(features, np.cumsum(sizes)[:-1], axis=2)
        drawn = [part.step.show(column, shape, *part.values) for part, column in zip(parts, columns, strict=True)]
        height, channels = (max(one.shape[axis] for one in drawn) for axis in (1, 3))
        grown = [np.repeat(one, channels // one.shape[3], axis=3) for one in drawn]
        return np.concatenate([np.pad(g, ((0, 0), (0, height - g.shape[1]), (0, 0), (0, 0))) for g in grown], axis=2)

    titles = " and ".join(part.step.title.lower() for part in parts)
    return Step(
        titles.capitalize(),
        "Features of several steps side by side, each scaled to length 1 and multiplied by its weight.",
        apply,
        images_only=True,
        last=True,
        shape=shape,
        windows=windows,
        show=show,
        features=True,
        after=next((part.step.after for part in parts if part.step.after), ""),
        drawing="Drawn side by side.",
        fewer=min(part.step.fewer for part in parts),
        formula=r"(w_1 u_1 / \|u_1\|, \; w_2 u_2 / \|u_2\|, \ldots)",
    )


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
    """(n, 1, K, 1) float32: examples less the mean, along each axis."""
    centred = _centred(images.reshape(len(images), mean.size), mean.ravel())
    return (centred @ axes.T)[:, None, :, None]


def reconstruct(features: np.ndarray, shape: tuple[int, ...], mean: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """The examples of `shape` that have these components (n, 1, K, 1) and no others."""
    squares = np.square(axes).sum(axis=1)
    back = features.reshape(len(features), -1) / np.where(squares > 0, squares, 1) @ axes + mean.ravel()
    return back.reshape(len(features), *shape).astype(np.float32)


def _switch(label: str, default: int, name: str) -> Parameter:
    return Parameter(label, default, 0, 1, whole=True, name=name)


def _in_cells(kind: type[Cells], title: str, help: str, cells: int, *others: Parameter, **more) -> Step:
    """The step that makes histograms of this kind. cells: per side, usually; more: other attributes of the step."""
    parameters = (Parameter("the number of cells per side", cells, 1, 64, whole=True, name="cells"), *others)

    def of(values) -> Cells:
        return kind(**{parameter.name: value for parameter, value in zip(parameters, values, strict=True)})

    return Step(
        title,
        f"In each cell of a grid: {help}",
        lambda images, *values: of(values).features(images),
        parameters,
        images_only=True,
        last=True,
        shape=lambda shape, *values: of(values).shape(shape),
        windows=lambda level, side, run, *values: of(values).windows(level, side, run),
        show=lambda features, shape, *values: of(values).drawings(features),
        features=True,
        **more,
    )


STEPS: dict[str, Step] = {
    "scale01": Step(
        "Scale to 0-1",
        "Divides by the largest value of the training set, after shifting negative values so that the smallest is 0.",
        lambda images, low, high: (images - low) / (high - low or 1),
        learn=lambda images: (min(float(images.min()), 0.0), float(images.max())),
        steady=True,
    ),
    "smooth": Step(
        "Smooth",
        "Blurs with a Gaussian, so that strokes shifted by a pixel still match (0.75 pixels is usual for USPS).",
        smooth,
        (Parameter("the width of the Gaussian in pixels", 0.75, 0.1, 10),),
        images_only=True,
    ),
    "deslant": Step(
        "Deslant",
        "Shifts rows sideways until the principal axis of the ink is vertical.",
        lambda images: deslant(images),
        images_only=True,
        fewer=0.65,
    ),
    "deslant-pixels": Step(
        "Deslant by whole pixels",
        "Shifts each row sideways by whole pixels, as far as a rotation that makes the principal axis vertical would.",
        lambda images: deslant(images, whole=True),
        images_only=True,
    ),
    "crop": Step(
        "Crop",
        "Removes the border, and with it the pixels that a shift brought in from outside.",
        crop,
        (Parameter("the number of pixels removed on each side", 1, 1, 16),),
        images_only=True,
        last=True,
        shape=lambda shape, margin: (shape[0] - 2 * int(margin), shape[1] - 2 * int(margin), *shape[2:]),
    ),
    "brightness-plane": Step(
        "Even light",
        "Subtracts the best-fitting plane of grey values inside an oval: removes light from one side.",
        lambda images: window.brightness_plane(images),
        images_only=True,
        last=True,
    ),
    "oval-mask": Step(
        "Oval",
        "Removes the corners, which show the background of a face: 283 of 19 x 19 pixels remain.",
        lambda images: window.oval_mask(images),
        images_only=True,
        last=True,
        shape=lambda shape: window.oval_shape(shape),
        show=window.unmasked,
    ),
    "equalise": Step(
        "Equalise greys",
        "Replaces each grey value by its rank within the image, from -1 for the darkest to 1: removes contrast.",
        lambda images: window.equalise(images),
        images_only=True,
        last=True,
    ),
    "standardise": Step(
        "Zero mean, unit deviation",
        "For each example: subtracts its mean and divides by its standard deviation (removes brightness and contrast).",
        lambda images: standardise(images),
        last=True,
    ),
    "unit-norm": Step(
        "Unit length",
        "Divides each example by its 2-norm, so that K(x, x) is the same for all examples.",
        lambda images: unit_norm(images),
        last=True,
        steady=True,
    ),
    "zscore": Step(
        "Standardise features",
        "For each feature: subtracts the mean and divides by the standard deviation over the training set.",
        lambda images, mean, deviation: _divide(_centred(images, mean), deviation),
        learn=lambda images: _mean_and_deviation(images),
        last=True,
    ),
    "centre": Step(
        "Centre features",
        "For each feature: subtracts the mean over the training set.",
        lambda images, mean: _centred(images, mean),
        learn=lambda images: (_mean(images),),
        last=True,
    ),
    "gradients": _in_cells(
        Gradients,
        "Gradient histograms",
        "how strong the edges are, by their direction (an orientation histogram).",
        7,
        Parameter("the number of directions", 8, 2, 36, whole=True, name="directions"),
        Parameter("the width of a cell's Gaussian, in cells (0: cells with hard edges)", 0.45, 0, 2, name="smoothing"),
        Parameter("the power that each value is raised to", 0.5, 0.1, 2, name="power"),
        Parameter("the number of cells per side that are normalised together (0: none)", 0, 0, 8, True, "block"),
        Parameter("the pixels of background added on each side", 0, 0, 64, whole=True, name="margin"),
        _switch("whether dark to light differs from light to dark (1) or not (0)", 1, "signed"),
        _switch("Sobel (1) or plain differences of neighbours (0)", 1, "sobel"),
        _switch("whether two directions share a pixel (1) or the nearer below has it (0)", 1, "shared"),
        drawing="Drawn: in each cell a petal towards each direction in which the picture becomes lighter, longer where "
        "more changes.",
        fewer=0.29,
        formula=r"F_{abk} = \big(\sum_p G_{ab}(p) \, |\nabla x| \, s_k(p)\big)^{power}",
        source="Liu, Nakashima, Sako and Fujisawa, Pattern Recognition 36 (2003); Dalal and Triggs, CVPR (2005)",
    ),
    "patterns": _in_cells(
        Patterns,
        "Local binary patterns",
        "how often each pattern of lighter and darker neighbours occurs (texture).",
        4,
        Parameter("the number of neighbours on the circle", 8, 4, 24, whole=True, name="points"),
        Parameter("the radius of the circle in pixels", 1, 1, 16, name="radius"),
        drawing="Drawn: in each cell a bar for each pattern, from few to many lighter neighbours, the others last.",
        formula=r"F_{abk} = \text{share of the pixels of cell } (a, b) \text{ whose uniform pattern is } k",
        source="Ojala, Pietikäinen and Mäenpää, IEEE PAMI 24 (2002)",
    ),
    "colours": _in_cells(
        Colours,
        "Colour histograms",
        "how often each colour occurs, in a space where distances are as the eye sees them (CIELAB). Needs scale01 "
        "before it.",
        2,
        Parameter("the number of levels of each coordinate", 4, 2, 8, whole=True, name="levels"),
        after="scale01",
        drawing="Drawn: each cell in stripes of its colours, as wide as their shares.",
        formula=r"F_{abk} = \text{share of the pixels of cell } (a, b) \text{ of colour } k",
        source="Swain and Ballard, International Journal of Computer Vision 7 (1991)",
    ),
    "pca": Step(
        "Principal components",
        "Keeps the directions in which the training examples differ most, and centres the examples.",
        project,
        (
            Parameter("the number of components", 40, 1, 10_000, whole=True, name="components"),
            _switch("whether each component is divided by its standard deviation (1) or not (0)", 0, "whiten"),
        ),
        learn=principal_components,
        last=True,
        shape=components_shape,
        show=reconstruct,
        features=True,
        drawing="Drawn: what these components describe of the example.",
        examples=lambda components, whiten: components,
        formula=r"u = V^\top (x - \bar x), \quad V \text{ the first eigenvectors of the covariance}",
        source="Hotelling (1933); scikit-learn, PCA",
    ),
    "scramble": Step(
        "Scramble",
        "Permutes all pixels in one random order, the same for every image; affects only methods that use the "
        "positions of pixels. The number is the seed of the order.",
        scramble,
        (Parameter("the seed of the order", 0, 0, MOST_SEEDS, whole=True),),
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
