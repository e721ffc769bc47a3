"""Preprocessing steps composed by name, applied from left to right.

    Preprocessor("deslant", "unit-norm")     x -> deslanted image -> x / |x|

Symbols: images (n, h, w[, c]) of any number type; X (n, d) float32, d = h w c.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator
from functools import reduce

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from svmcore.preprocess import window
from svmcore.preprocess.arithmetic import as_images
from svmcore.preprocess.language import Parsed, check_order, parse_step
from svmcore.preprocess.sliding import cut

MOST = 1 << 16  # pixels that an image described in a file has in a row; features of an image
LARGEST = 1e15  # a pixel, so that float32 holds the sum of the squares of an image's pixels


def _one_by_one(kernel: Callable, calls: list) -> None:
    for call in calls:
        kernel(*call)


class Preprocessor(TransformerMixin, BaseEstimator):
    """Steps that prepare examples, with the API of a scikit-learn transformer.

    Parameters
    ----------
    *steps : str
        From left to right, such as "smooth:0.75", "unit-norm"; `svmcore.preprocess.STEPS` lists them.
    image_shape : tuple of int or None, default None
        (h, w) or (h, w, c) of rows (n, d); None for plain features, and for arrays (n, h, w[, c]).

    Raises
    ------
    ValueError
        For an unknown step, a parameter out of range, or shapes that do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from svmcore import Preprocessor
    >>> prepared = Preprocessor("unit-norm").fit_transform(np.array([[3.0, 4.0]]))
    >>> prepared.round(1).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """

    def __init__(self, *steps: str, image_shape: tuple[int, ...] | None = None):
        self.steps = steps
        self.image_shape = image_shape
        check_order(steps, whole=False)  # of `split` they may be the rest

    def fit(self, X: np.ndarray, y=None) -> "Preprocessor":
        """Learn what `scale01`, `centre`, `zscore` and `pca` need from the training set; other steps learn nothing.

        Parameters
        ----------
        X : array-like (n, d) or (n, h, w[, c])
            Training examples.
        y : object, default None
            Not looked at.

        Returns
        -------
        Preprocessor
            The fitted transformer.
        """
        self.fit_transform(X)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Apply all steps -> (n, d) float32, C-order. Raises NotFittedError when a step needs `fit` first."""
        learned = self._learned()
        return _last(self._run(self._checked(X, reset=False), learned))

    def fit_transform(self, X: np.ndarray, y=None) -> np.ndarray:
        """`fit` and `transform` in one pass -> (n, d) float32."""
        learned = {}
        result = _last(self._run(self._checked(X, reset=True), learned))
        self.learned_ = learned
        return result

    def stages(self, images: np.ndarray) -> list[tuple[str, np.ndarray]]:
        """The images after each step, [(step, (n, h, w[, c]) float32)], omitted pixels dark; else like `transform`."""
        grey = np.ndim(images) == 3 or len(self.image_shape or ()) == 2
        before, *arrays = self._run(images, self._learned())
        views = [self._as_shown(after + 1, array, before.shape[1:]) for after, array in enumerate(arrays)]
        return list(zip(self.steps, [_flat(a, grey or self.makes_features) for a in views], strict=True))

    def pictures(self, X: np.ndarray, image_shape: tuple[int, ...]) -> np.ndarray:
        """Rows X (n, d) made of images of this shape, as images (n, h, w[, c]) to look at: as the last of `stages`."""
        shape = self.output_shape((*image_shape, 1)[:3])
        views = self._as_shown(len(self.steps), np.asarray(X).reshape(len(X), *shape), (*image_shape, 1)[:3])
        return _flat(views, len(image_shape) == 2 or self.makes_features)

    def windows(self, level: np.ndarray, side: int, run: Callable = _one_by_one) -> Callable:
        """A function of corners ys, xs (n,) that gives the windows of side x side pixels of a level (h, w) uint8 of a
        picture as `transform` gives them cut out, (n, d) float32, to rounding: what the first steps make of several
        windows alike is computed once. run(kernel, calls): calls it with each of several arguments, as it likes.
        ValueError for a side that the steps do not fit."""
        self.output_shape(as_images(np.empty((0, side, side)), self.image_shape).shape[1:])
        parsed, evened = self._parsed, self.steps[: len(window.STEPS)] == window.STEPS
        if evened:
            taken = len(window.STEPS) + (self.steps[len(window.STEPS) :][:1] == ("unit-norm",))
            made = window.windows(level, side, unit=taken > len(window.STEPS))
        elif parsed and parsed[0].step.windows:
            taken, made = 1, parsed[0].step.windows(level, side, run, *self._values(0))
        else:
            return lambda ys, xs: self.transform(cut(level, ys, xs, side))

        others = [(parsed[at].step.apply, self._values(at)) for at in range(taken, len(parsed))]
        return lambda ys, xs: _rows(reduce(lambda images, other: other[0](images, *other[1]), others, made(ys, xs)))

    def output_shape(self, image_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of the images that come out when images of `image_shape` go in."""
        return self._shapes(image_shape)[-1]

    def described_steps(self, shape: tuple[int, ...]) -> list[tuple[str, tuple, tuple[int, ...]]]:
        """Of each step its name, its numbers or what it learned, and the shape (h, w, c) of what it is given, where the
        first is given an example of `shape`: (h, w[, c]) or (d,)."""
        before = as_images(np.empty((0, *shape)), self.image_shape).shape[1:]
        shapes = zip(self._parsed, self._shapes(before), strict=False)
        return [(one.name, self._values(at), given) for at, (one, given) in enumerate(shapes)]

    @property
    def makes_features(self) -> bool:
        """Whether what comes out of images is no image, so that nothing can transform it as one."""
        return any(one.step.features for one in self._parsed)

    @property
    def images_only(self) -> list[str]:
        """Those of the steps that have no meaning for plain features."""
        return [text for text, one in zip(self.steps, self._parsed, strict=True) if one.step.images_only]

    @property
    def examples_needed(self) -> int:
        """Training examples that `fit` needs at least."""
        return max((one.step.examples(*one.values) for one in self._parsed), default=0)

    def split(self) -> tuple["Preprocessor", "Preprocessor"]:
        """The steps before a jitter, and those after it (from the first normalisation or crop), fitted if these are."""
        cut = next((at for at, one in enumerate(self._parsed) if one.step.last), len(self.steps))
        head = Preprocessor(*self.steps[:cut], image_shape=self.image_shape)
        shape = self.image_shape and head.output_shape(self.image_shape)
        rest = Preprocessor(*self.steps[cut:], image_shape=shape)
        if hasattr(self, "learned_"):
            head.learned_ = {at: values for at, values in self.learned_.items() if at < cut}
            rest.learned_ = {at - cut: values for at, values in self.learned_.items() if at >= cut}
        return head, rest

    def then(self, other: "Preprocessor") -> "Preprocessor":
        """Both in turn, fitted where both are."""
        both = Preprocessor(*self.steps, *other.steps, image_shape=self.image_shape)
        if self.__sklearn_is_fitted__() and other.__sklearn_is_fitted__():
            both.learned_ = self._learned() | {len(self.steps) + at: values for at, values in other._learned().items()}
        return both

    def get_params(self, deep: bool = True) -> dict:
        """The constructor's arguments; `steps` as one tuple."""
        return {"steps": self.steps, "image_shape": self.image_shape}

    def set_params(self, **params) -> "Preprocessor":
        """Replace some of the constructor's arguments; what other steps had learned is forgotten."""
        if unknown := params.keys() - self.get_params().keys():
            raise ValueError(f"Preprocessor has no parameter {min(unknown)!r}; allowed: steps, image_shape")
        merged = self.get_params() | params
        vars(self).pop("learned_", None)
        self.__init__(*merged.pop("steps"), **merged)
        return self

    def to_dict(self) -> dict:
        """Description that `from_dict` reads back; what steps learned as arrays, which `save` keeps apart."""
        learned = {str(at): [np.asarray(part) for part in values] for at, values in self._learned().items()}
        learned = {at: {str(i): part for i, part in enumerate(parts)} for at, parts in learned.items()}
        shape = None if self.image_shape is None else list(self.image_shape)
        return {"steps": list(self.steps), "image_shape": shape, "learned": learned}

    @classmethod
    def from_dict(cls, description: dict) -> "Preprocessor":
        """The fitted preprocessor of a description. ValueError for one that cannot be."""
        steps, shape, learned = (description.get(name) for name in ("steps", "image_shape", "learned"))
        if not isinstance(steps, list) or not isinstance(learned, dict) or not isinstance(shape, list | None):
            raise ValueError("its preprocessing lacks steps, image_shape or learned values")
        if shape is not None and not (len(shape) in (2, 3) and all(type(s) is int and 0 < s < MOST for s in shape)):
            raise ValueError(f"its preprocessing has image_shape = {shape}; allowed: (height, width[, channels])")
        made = cls(*steps, image_shape=shape and tuple(shape))
        wanted = {str(at) for at, one in enumerate(made._parsed) if one.step.learn}
        if learned.keys() != wanted:
            raise ValueError(
                f"its preprocessing has learned values of the steps {sorted(learned)}; allowed: {sorted(wanted)}"
            )
        for at, parts in learned.items():
            values = [np.asarray(parts[str(i)]) for i in range(len(parts))]
            if not all(np.isfinite(part).all() for part in values):
                raise ValueError("its preprocessing has learned values that are not finite")
            learned[at] = tuple(part.item() if part.ndim == 0 else part for part in values)
        made.learned_ = {int(at): parts for at, parts in learned.items()}
        return made

    def __sklearn_clone__(self) -> "Preprocessor":
        return Preprocessor(*self.steps, image_shape=self.image_shape)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learned_") or not any(one.step.learn for one in self._parsed)

    def __repr__(self) -> str:
        shape = [] if self.image_shape is None else [f"image_shape={self.image_shape}"]
        return f"Preprocessor({', '.join([*map(repr, self.steps), *shape])})"

    @property
    def _parsed(self) -> list[Parsed]:
        """The steps by their texts: what they are is not pickled with the preprocessor."""
        return [parse_step(text) for text in self.steps]

    def _checked(self, X, reset: bool) -> np.ndarray:
        """Finite numbers, (n, d) or images; rows of as many features as `fit` had."""
        if not hasattr(X, "toarray") and np.asarray(X).ndim >= 3:
            return np.asarray(X)  # images, which scikit-learn does not check
        return validate_data(self, X, reset=reset, allow_nd=True, dtype="numeric")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = not self.__sklearn_is_fitted__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def _learned(self) -> dict[int, tuple]:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"{self!r} has a step that learns from the training set; call fit first")
        return getattr(self, "learned_", {})

    def _values(self, at: int) -> tuple:
        """What a step is given beside images: what it learned, or its numbers."""
        return self._learned().get(at, self._parsed[at].values)

    def _shapes(self, image_shape: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Of images before the first and after each step."""
        shapes = [tuple(image_shape)]
        for one in self._parsed:
            shapes.append(_shape_made(one, shapes[-1]))
        return shapes

    def _as_shown(self, after: int, images: np.ndarray, image_shape: tuple[int, ...]) -> np.ndarray:
        """What came out of the first `after` steps, (n, h, w, c), with the pixels that a step left out in their place,
        and features drawn; the first was given images of `image_shape` (h, w, c)."""
        shapes = self._shapes(image_shape)
        for at in reversed(range(after)):
            step = self._parsed[at].step
            images = step.show(images, shapes[at], *self._values(at))
            if step.features and images.shape[1:] != shapes[at]:
                break  # a drawing: nothing to put back where it was
        return images

    def _run(self, X: np.ndarray, learned: dict[int, object]) -> Iterator[np.ndarray]:
        """The images (n, h, w, c) before the first and after each step; what a step learns is added to `learned`."""
        X = np.asarray(X)
        if X.ndim > 2 or self.image_shape is not None:
            _require_pixels(X)
        images = as_images(X, self.image_shape)
        yield images
        for at, one in enumerate(self._parsed):
            name, step, values = one
            if step.images_only and X.ndim == 2 and self.image_shape is None:
                raise ValueError(
                    f"preprocessing step '{name}' needs images, but X has shape {X.shape}; allowed: "
                    "(n, h, w), (n, h, w, c), or (n, d) with an image_shape"
                )
            _shape_made(one, images.shape[1:])
            if step.learn:
                if at not in learned:
                    learned[at] = step.learn(images, *values)
                values = learned[at]
            images = step.apply(images, *values)
            yield images


def _shape_made(one: Parsed, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that a step makes of images of `shape`. ValueError for unfit images, and for too many features."""
    made = one.step.shape(shape, *one.values)
    if one.step.features and (d := math.prod(made)) > MOST:
        said = f"preprocessing step '{one.name}': it makes {d:,} features of an image of {shape[0]} x {shape[1]}"
        raise ValueError(f"{said}; allowed: up to {MOST:,}, with fewer cells or smaller blocks")
    return made


def _flat(images: np.ndarray, grey: bool) -> np.ndarray:
    """Images (n, h, w, c), grey ones of a single channel without its axis."""
    return images[..., 0] if grey and images.shape[-1] == 1 else images


def _require_pixels(X: np.ndarray) -> None:
    """ValueError for images that compiled steps cannot count on: NaN, infinite or beyond LARGEST."""
    if X.dtype.kind == "c":
        raise ValueError(f"X has pixels of type {X.dtype}; allowed: real numbers")
    if X.dtype.kind != "u" and not (X.max(initial=0) <= LARGEST and X.min(initial=0) >= -LARGEST):
        raise ValueError(
            f"X has missing or infinite pixels, or pixels beyond ±{LARGEST:g}; allowed: finite values of magnitude at "
            f"most {LARGEST:g}"
        )


def _last(stages: Iterator[np.ndarray]) -> np.ndarray:
    return _rows(deque(stages, maxlen=1)[0])


def _rows(images: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(images.reshape(len(images), math.prod(images.shape[1:])), dtype=np.float32)
