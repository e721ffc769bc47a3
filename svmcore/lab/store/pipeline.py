"""A run's machine as scikit-learn alone trains it: a script, and beside it the examples that it reads.

    steps of preprocessing                                 transformers that do the same
    ((gamma u.v + coef0) / (gamma + coef0)) ^ degree       poly with gamma / (gamma + coef0), coef0 / (gamma + coef0)
    u.v,  exp(-gamma |u - v|^2),  tanh(gamma u.v + coef0)  linear, rbf, sigmoid with the same numbers
    one machine, or one for each class against the rest    SVC, or OneVsRestClassifier(SVC)

Kernel values are the same, so C is. What is left between both is what two solvers that stop at tol leave.
"""

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from data.dataset import Arrays, DataError
from svmcore.kernels import RBF, Kernel, Linear, Poly, Sigmoid
from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import Recipe
from svmcore.lab.store.made_with import versions
from svmcore.lab.tasks import task_of
from svmcore.preprocess import Preprocessor
from svmcore.preprocess.language import parse_step

SCRIPT = Path(__file__).with_suffix(".txt").read_text("utf-8")  # with fields of `str.format`


class Part(NamedTuple):
    """A step in the words of scikit-learn: how it is called, what is imported and what is defined for that."""

    call: str
    imports: tuple[str, ...] = ()
    definition: str = ""


ALONE = ("numpy", "scipy", "scikit-learn")  # all that it runs with
FUNCTION = "from sklearn.preprocessing import FunctionTransformer"
SCALE01 = '''class Scale01(TransformerMixin, BaseEstimator):
    """Divides by the largest value of the training set, after moving its smallest, if negative, to 0."""

    def fit(self, X, y=None):
        self.low_, self.high_ = min(X.min(), 0), X.max()
        return self

    def transform(self, X):
        return (X - self.low_) / ((self.high_ - self.low_) or 1)
'''
STANDARDISE = """def standardise(X):
    centred = X - X.mean(axis=1, keepdims=True)
    deviation = centred.std(axis=1, keepdims=True)
    return centred / np.where(deviation > 0, deviation, 1)
"""


def _of_images(name: str, shape: tuple[int, ...], made: str, *imports: str) -> Part:
    """A function of images, which rows become and are made of."""
    definition = f"def {name}(X):\n    images = X.reshape(-1, {', '.join(map(str, shape))})\n    return {made}\n"
    return Part(f"FunctionTransformer({name})", (FUNCTION, *imports), definition)


def _smooth(shape: tuple[int, ...], sigma: float) -> Part:
    made = f'gaussian_filter(images, (0, {sigma}, {sigma}, 0), mode="nearest").reshape(len(X), -1)'
    return _of_images("smooth", shape, made, "from scipy.ndimage import gaussian_filter")


def _crop(shape: tuple[int, ...], margin: float) -> Part:
    m = int(margin)
    return _of_images("crop", shape, f"images[:, {m}:-{m}, {m}:-{m}].reshape(len(X), -1)")


def _scramble(shape: tuple[int, ...], seed: float) -> Part:
    h, w, c = shape
    order = f'np.argsort(np.random.PCG64({int(seed)}).random_raw({h * w}), kind="stable")'
    return _of_images("scramble", (h * w, c), f"images[:, {order}].reshape(len(X), -1)")


def _pca(shape: tuple[int, ...], components: float, whiten: float) -> Part:
    call = f"PCA({int(components)}, whiten={bool(whiten)}, random_state=0)"
    return Part(call, ("from sklearn.decomposition import PCA",))


STEPS: Mapping[str, Callable[..., Part]] = {  # of its images' shape, and its numbers
    "scale01": lambda shape: Part("Scale01()", ("from sklearn.base import BaseEstimator, TransformerMixin",), SCALE01),
    "smooth": _smooth,
    "crop": _crop,
    "standardise": lambda shape: Part("FunctionTransformer(standardise)", (FUNCTION,), STANDARDISE),
    "unit-norm": lambda shape: Part("Normalizer()", ("from sklearn.preprocessing import Normalizer",)),
    "zscore": lambda shape: Part("StandardScaler()", ("from sklearn.preprocessing import StandardScaler",)),
    "centre": lambda shape: Part(
        "StandardScaler(with_std=False)", ("from sklearn.preprocessing import StandardScaler",)
    ),
    "scramble": _scramble,
    "pca": _pca,
}


def _poly(kernel: Poly) -> dict:
    unit = kernel.gamma + kernel.coef0 if kernel.normalised else 1
    return {"kernel": "poly", "degree": int(kernel.degree), "gamma": kernel.gamma / unit, "coef0": kernel.coef0 / unit}


KERNELS: Mapping[type[Kernel], Callable[[Kernel], dict]] = {
    Linear: lambda kernel: {"kernel": "linear"},
    Poly: _poly,
    RBF: lambda kernel: {"kernel": "rbf", "gamma": kernel.gamma},
    Sigmoid: lambda kernel: {"kernel": "sigmoid", "gamma": kernel.gamma, "coef0": kernel.coef0},
}


def obstacle(recipe: Recipe) -> str:
    """Why scikit-learn alone cannot train the machine of a recipe; empty where it can."""
    if not METHODS[recipe.method].plain or not task_of(recipe).answers:
        plain = ", ".join(name for name, method in METHODS.items() if method.plain)
        allowed = f"the methods {plain}, for the task classify"
        return f"scikit-learn trains only on the examples themselves; allowed: {allowed}"
    if why := METHODS[recipe.method].out_of_reach(recipe):
        return why
    if type(recipe.kernel) not in KERNELS:
        return f"scikit-learn has no kernel {recipe.kernel.name}; allowed: {', '.join(kind.name for kind in KERNELS)}"
    strange = [step for step in recipe.preprocess if step.partition(":")[0] not in STEPS]
    if strange:
        return f"scikit-learn has no preprocessing step '{strange[0]}'; allowed: {', '.join(STEPS)}"
    try:
        if recipe.class_weight is not None:
            n_classes = len(recipe.classes) or task_of(recipe).entry(recipe.dataset).n_classes
            if n_classes > 2:
                return "scikit-learn has no class weights in one-vs-rest; allowed: two classes, or no class weights"
        return task_of(recipe).out_of_reach(recipe)
    except DataError as error:
        return str(error)


def archive(recipe: Recipe, result: dict) -> bytes:
    """The script and its examples as a zip. ValueError if scikit-learn cannot train it; DataError if the dataset is
    gone or was replaced."""
    if why := obstacle(recipe):
        raise ValueError(why)
    if result.get("data_hash") not in (None, task_of(recipe).content_hash(recipe)):
        raise DataError(f"{recipe.dataset} was replaced since this run was trained on it")
    examples = task_of(recipe).examples(recipe)
    packed, made = io.BytesIO(), io.BytesIO()
    np.savez_compressed(packed, **examples._asdict())
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("train.py", script(recipe, result, examples))
        file.writestr(zipfile.ZipInfo("examples.npz"), packed.getvalue())  # compressed already
    return made.getvalue()


def script(recipe: Recipe, result: dict, examples: Arrays) -> str:
    """The script, for a run of these examples."""
    parts = [
        *_steps(recipe, examples.X_train.shape[1:]),
        _machine(recipe, result, np.unique(examples.y_train).tolist()),
    ]
    imports = {line for part in parts for line in part.imports} | {"from sklearn.pipeline import make_pipeline"}
    noise = recipe.options.get("noise")
    return SCRIPT.format(
        title=" ".join((recipe.title or recipe.name).replace("\\", "").replace('"', "'").split()),
        noise=f", {100 * noise:.0f} % of the training labels swapped" if noise else "",
        dataset=recipe.dataset,
        made_with=", ".join(f"{name} {version}" for name, version in versions().items() if name in ALONE),
        tol=recipe.tol,
        found=f"\nIn the lab: {task_of(recipe).headline(result)}.\n" if result else "",
        imports="\n".join(sorted(imports)),
        definitions="".join(f"\n{text}\n\n" for text in dict.fromkeys(part.definition for part in parts) if text),
        steps="\n".join(f"    {part.call}," for part in parts),
    )


def _steps(recipe: Recipe, shape: tuple[int, ...]) -> list[Part]:
    """The transformers, for examples of this shape."""
    image_shape = shape if len(shape) > 1 else None
    found = []
    for at, (name, _, values) in enumerate(map(parse_step, recipe.preprocess)):
        before = Preprocessor(*recipe.preprocess[:at], image_shape=image_shape)
        given = before.output_shape((*shape, 1)[:3]) if image_shape else (1, *shape, 1)
        found.append(STEPS[name](given, *values))
    return found


def _machine(recipe: Recipe, result: dict, classes: list) -> Part:
    """The classifier, with what a search has chosen."""
    by_nu = recipe.method == "nu-sv"
    kind, parameter = ("NuSVC", "nu") if by_nu else ("SVC", "C")
    asked = recipe.option("nu") if by_nu else recipe.C
    numbers = KERNELS[type(recipe.kernel)](recipe.kernel) | {parameter: (result.get("chosen") or [asked])[0]}
    if isinstance(recipe.class_weight, dict):
        numbers["class_weight"] = {label: recipe.class_weight.get(str(label), 1.0) for label in classes}
    elif recipe.class_weight:
        numbers["class_weight"] = recipe.class_weight
    numbers |= {"tol": recipe.tol, "cache_size": 1000}
    spelled = (
        f'{name}="{value}"' if isinstance(value, str) else f"{name}={value!r}" for name, value in numbers.items()
    )
    call = f"{kind}({', '.join(spelled)})"
    imports = (f"from sklearn.svm import {kind}",)
    if len(classes) == 2:
        return Part(call, imports)
    return Part(f"OneVsRestClassifier({call})", (*imports, "from sklearn.multiclass import OneVsRestClassifier"))
