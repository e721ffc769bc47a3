"""The steps of preprocessing: what each is, its parameters and what it does to shapes, in the registry that names them.

Symbols: images (n, h, w, c) float32; plain features come as (n, 1, d, 1), float32 or float64.
"""

from collections.abc import Callable
from dataclasses import dataclass

from svmcore.preprocess import arithmetic, window
from svmcore.preprocess.cells import Cells, Colours, Gradients, Patterns
from svmcore.preprocess.upright import deslant

MOST_SEEDS = 2**32 - 1


@dataclass(frozen=True)
class Parameter:
    """A number of a step: its label, default and range. A step with several writes each as name=value."""

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
        learn=lambda images: (min(float(images.min()), 0.0), float(images.max())), steady=True,
    ),
    "smooth": Step(
        "Smooth",
        "Blurs with a Gaussian, so that strokes shifted by a pixel still match (0.75 pixels is usual for USPS).",
        arithmetic.smooth, (Parameter("the width of the Gaussian in pixels", 0.75, 0.1, 10),), images_only=True,
    ),
    "deslant": Step(
        "Deslant", "Shifts rows sideways until the principal axis of the ink is vertical.", deslant, images_only=True,
        fewer=0.65,
    ),
    "deslant-pixels": Step(
        "Deslant by whole pixels",
        "Shifts each row sideways by whole pixels, as far as a rotation that makes the principal axis vertical would.",
        lambda images: deslant(images, whole=True), images_only=True,
    ),
    "crop": Step(
        "Crop", "Removes the border, and with it the pixels that a shift brought in from outside.", arithmetic.crop,
        (Parameter("the number of pixels removed on each side", 1, 1, 16),), images_only=True, last=True,
        shape=lambda shape, margin: (shape[0] - 2 * int(margin), shape[1] - 2 * int(margin), *shape[2:]),
    ),
    "brightness-plane": Step(
        "Even light", "Subtracts the best-fitting plane of grey values inside an oval: removes light from one side.",
        window.brightness_plane, images_only=True, last=True,
    ),
    "oval-mask": Step(
        "Oval", "Removes the corners, which show the background of a face: 283 of 19 x 19 pixels remain.",
        window.oval_mask, images_only=True, last=True, shape=window.oval_shape, show=window.unmasked,
    ),
    "equalise": Step(
        "Equalise greys",
        "Replaces each grey value by its rank within the image, from -1 for the darkest to 1: removes contrast.",
        window.equalise, images_only=True, last=True,
    ),
    "standardise": Step(
        "Zero mean, unit deviation",
        "For each example: subtracts its mean and divides by its standard deviation (removes brightness and contrast).",
        arithmetic.standardise, last=True,
    ),
    "unit-norm": Step(
        "Unit length", "Divides each example by its 2-norm, so that K(x, x) is the same for all examples.",
        arithmetic.unit_norm, last=True, steady=True,
    ),
    "zscore": Step(
        "Standardise features",
        "For each feature: subtracts the mean and divides by the standard deviation over the training set.",
        lambda images, mean, deviation: arithmetic.divided(arithmetic.centred(images, mean), deviation),
        learn=arithmetic.mean_and_deviation, last=True,
    ),
    "centre": Step(
        "Centre features", "For each feature: subtracts the mean over the training set.", arithmetic.centred,
        learn=lambda images: (arithmetic.mean_of(images),), last=True,
    ),
    "gradients": _in_cells(
        Gradients, "Gradient histograms", "how strong the edges are, by their direction (an orientation histogram).", 7,
        Parameter("the number of directions", 8, 2, 36, whole=True, name="directions"),
        Parameter("the width of a cell's Gaussian, in cells (0: cells with hard edges)", 0.45, 0, 2, name="smoothing"),
        Parameter("the power that each value is raised to", 0.5, 0.1, 2, name="power"),
        Parameter("the number of cells per side that are normalised together (0: none)", 0, 0, 8, True, "block"),
        Parameter("the pixels of background added on each side", 0, 0, 64, whole=True, name="margin"),
        _switch("whether dark to light differs from light to dark (1) or not (0)", 1, "signed"),
        _switch("Sobel (1) or plain differences of neighbours (0)", 1, "sobel"),
        _switch("whether two directions share a pixel (1) or the nearer below has it (0)", 1, "shared"),
        drawing="Drawn: in each cell a petal towards each direction in which the picture becomes lighter, longer where "
        "more changes.", fewer=0.29, formula=r"F_{abk} = \big(\sum_p G_{ab}(p) \, |\nabla x| \, s_k(p)\big)^{power}",
        source="Liu, Nakashima, Sako and Fujisawa, Pattern Recognition 36 (2003); Dalal and Triggs, CVPR (2005)",
    ),
    "patterns": _in_cells(
        Patterns, "Local binary patterns", "how often each pattern of lighter and darker neighbours occurs (texture).",
        4, Parameter("the number of neighbours on the circle", 8, 4, 24, whole=True, name="points"),
        Parameter("the radius of the circle in pixels", 1, 1, 16, name="radius"),
        drawing="Drawn: in each cell a bar for each pattern, from few to many lighter neighbours, the others last.",
        formula=r"F_{abk} = \text{share of the pixels of cell } (a, b) \text{ whose uniform pattern is } k",
        source="Ojala, Pietikäinen and Mäenpää, IEEE PAMI 24 (2002)",
    ),
    "colours": _in_cells(
        Colours, "Colour histograms",
        "how often each colour occurs, in a space where distances are as the eye sees them (CIELAB). Needs scale01 "
        "before it.", 2, Parameter("the number of levels of each coordinate", 4, 2, 8, whole=True, name="levels"),
        after="scale01", drawing="Drawn: each cell in stripes of its colours, as wide as their shares.",
        formula=r"F_{abk} = \text{share of the pixels of cell } (a, b) \text{ of colour } k",
        source="Swain and Ballard, International Journal of Computer Vision 7 (1991)",
    ),
    "pca": Step(
        "Principal components",
        "Keeps the directions in which the training examples differ most, and centres the examples.",
        arithmetic.project,
        (
            Parameter("the number of components", 40, 1, 10_000, whole=True, name="components"),
            _switch("whether each component is divided by its standard deviation (1) or not (0)", 0, "whiten"),
        ),
        learn=arithmetic.principal_components, last=True, shape=arithmetic.components_shape,
        show=arithmetic.reconstruct, features=True, drawing="Drawn: what these components describe of the example.",
        examples=lambda components, whiten: components,
        formula=r"u = V^\top (x - \bar x), \quad V \text{ the first eigenvectors of the covariance}",
        source="Hotelling (1933); scikit-learn, PCA",
    ),
    "scramble": Step(
        "Scramble",
        "Permutes all pixels in one random order, the same for every image; affects only methods that use the "
        "positions of pixels. The number is the seed of the order.", arithmetic.scramble,
        (Parameter("the seed of the order", 0, 0, MOST_SEEDS, whole=True),), images_only=True, first=True,
    ),
}  # fmt: skip
