"""The steps of preprocessing: what each is, its parameters and what it does to shapes, in the registry that names them.

What is no function of a step, its words and parameters, is in steps.toml.

Symbols: images (n, h, w, c) float32; plain features come as (n, 1, d, 1), float32 or float64.
"""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from svmcore.preprocess import arithmetic, window
from svmcore.preprocess.cells import Cells, Colours, Gradients, Patterns
from svmcore.preprocess.upright import deslant


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


def _in_cells(name: str, kind: type[Cells]) -> dict[str, Callable]:
    """What the step of this name does, which makes histograms of a kind."""

    def of(values) -> Cells:
        return kind(**{one["name"]: value for one, value in zip(_DECLARED[name]["parameters"], values, strict=True)})

    return {
        "apply": lambda images, *values: of(values).features(images),
        "shape": lambda shape, *values: of(values).shape(shape),
        "windows": lambda level, side, run, *values: of(values).windows(level, side, run),
        "show": lambda features, shape, *values: of(values).drawings(features),
    }


_DECLARED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_FUNCTIONS: dict[str, dict[str, Callable]] = {  # step -> what of it is a function
    "scale01": {
        "apply": lambda images, low, high: (images - low) / (high - low or 1),
        "learn": lambda images: (min(float(images.min()), 0.0), float(images.max())),
    },
    "smooth": {"apply": arithmetic.smooth},
    "deslant": {"apply": deslant},
    "deslant-pixels": {"apply": lambda images: deslant(images, whole=True)},
    "crop": {
        "apply": arithmetic.crop,
        "shape": lambda shape, margin: (shape[0] - 2 * int(margin), shape[1] - 2 * int(margin), *shape[2:]),
    },
    "brightness-plane": {"apply": window.brightness_plane},
    "oval-mask": {"apply": window.oval_mask, "shape": window.oval_shape, "show": window.unmasked},
    "equalise": {"apply": window.equalise},
    "standardise": {"apply": arithmetic.standardise},
    "unit-norm": {"apply": arithmetic.unit_norm},
    "zscore": {
        "apply": lambda images, mean, deviation: arithmetic.divided(arithmetic.centred(images, mean), deviation),
        "learn": arithmetic.mean_and_deviation,
    },
    "centre": {"apply": arithmetic.centred, "learn": lambda images: (arithmetic.mean_of(images),)},
    "gradients": _in_cells("gradients", Gradients),
    "patterns": _in_cells("patterns", Patterns),
    "colours": _in_cells("colours", Colours),
    "pca": {
        "apply": arithmetic.project, "learn": arithmetic.principal_components, "shape": arithmetic.components_shape,
        "show": arithmetic.reconstruct, "examples": lambda components, whiten: components,
    },
    "scramble": {"apply": arithmetic.scramble},
}  # fmt: skip
STEPS: dict[str, Step] = {
    name: Step(**_FUNCTIONS[name], **fields | {"parameters": tuple(Parameter(**one) for one in parameters)})
    for name, fields in _DECLARED.items()
    for parameters in [fields.get("parameters", ())]
}
MOST_SEEDS = STEPS["scramble"].parameters[0].high
