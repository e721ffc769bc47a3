"""What to say, and to try, when a machine is no better than guessing or keeps nearly all examples as support vectors.

    guess     error of always naming the class that most test examples have        1 - majority share
    verdict   the 95 % interval of the error reaches up to guess, or SVs / examples >= CROWDED
    spread    median of |u - v|^2 over pairs of training examples, as the machine sees them
    gamma     1 / spread: K(u, v) of a typical pair is then 1 / e, neither all ones nor all zeros

A Gaussian far too narrow makes K the identity, so that every example is a free support vector; far too wide, K is all
ones, and every alpha ends at C. Reference: Caputo, Sim, Furesjo and Smola, Appearance-based object recognition using
SVMs: which kernel should I use? (2002), where gamma lies between quantiles of 1 / |u - v|^2.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

from data import Dataset
from svmcore.kernels import RBF
from svmcore.lab.recipe import Recipe
from svmcore.metrics import rate_text
from svmcore.preprocess import Preprocessor

CROWDED = 0.9  # share of the examples that are support vectors, of the mean machine
LEAST = 20  # examples below which nothing is said of that share
SAMPLE = 400  # examples whose distances are taken
DIFFERENCES = 500_000_000  # numbers that are subtracted for them at most, in about half a second
FAR = 2.0  # times the usual gamma, or a fraction of it, that is called far
UNLIKE = 10.0  # times the range of one column that another one has, from which the wide ones decide alone
AT_C = 0.8  # share of support vectors at C that asks for a larger one
APART = 10.0  # times the median length of a standardised row that their root mean square is, so that few rows decide it
SCALE, LENGTH = "zscore", "unit-norm"  # the steps that put the columns, and the rows, of a table on one scale
USUAL = {"images": ((LENGTH,), ("standardise", LENGTH)), "features": ((SCALE,),)}


class Try(NamedTuple):
    """Something to try: in a few words, why, and as a recipe."""

    words: str
    why: str
    recipe: Recipe


class Advice(NamedTuple):
    """title and text: what is wrong, in a few words and with its figures; tries: the likeliest remedies first."""

    title: str
    text: str
    tries: tuple[Try, ...]


def spread(X: np.ndarray) -> float:
    """Median squared distance between two of the examples X (n, d), of an even sample of them; 0 where all agree."""
    rows = np.asarray(X[:: max(1, len(X) // SAMPLE)][:SAMPLE], np.float64)
    return float(np.median(pdist(rows, "sqeuclidean"))) if len(rows) > 1 else 0.0


def usual_gamma(dataset: Dataset, steps: tuple[str, ...]) -> float:
    """1 / spread of a dataset's training examples after preprocessing, to two digits; 1 where they do not differ. Of
    fewer of them, drawn from an even sample, where they have many features."""
    prepare, X = Preprocessor(*steps, image_shape=dataset.image_shape), dataset.X_train
    size = max(SAMPLE, prepare.examples_needed)
    rows = np.arange(len(X))[:: max(1, len(X) // size)][:size]
    few = max(int((2 * DIFFERENCES / max(X[0].size, 1)) ** 0.5), prepare.examples_needed)
    rows = np.sort(np.random.default_rng(0).permutation(rows)[:few])
    found = spread(prepare.fit_transform(X[rows]))
    return float(f"{1 / found:.2g}") if found > 1e-12 else 1.0


def usual_steps(dataset: Dataset) -> tuple[str, ...]:
    """The usual steps: features on one scale; strokes at unit length; photographs without brightness and contrast."""
    if dataset.image_shape is None:
        return USUAL["features"][0]
    return USUAL["images"][0 if dataset.entry.ink else 1]


def unlike_rows(dataset: Dataset) -> tuple[int, float] | None:
    """The training example of a table that lies farthest from the mean after `zscore`, and that distance divided by
    the median one. None for images, and unless a few examples lie so far out that all others nearly coincide."""
    if dataset.image_shape is not None:
        return None
    scaled = Preprocessor(SCALE).fit_transform(dataset.X_train)
    squares = np.einsum("ij,ij->i", scaled, scaled, dtype=np.float64)
    middle = float(np.median(squares))
    if not middle or squares.mean() < APART**2 * middle:
        return None
    return int(squares.argmax()), float((squares.max() / middle) ** 0.5)


def unlike(dataset: Dataset) -> tuple[str, float, str, float] | None:
    """The columns of a table that range most widely and least, each with its range, where these are so unlike that
    distances are the first one's; None where they are not, and for images. Columns of one value are passed over."""
    if dataset.image_shape is not None:
        return None
    ranges = np.ptp(dataset.X_train.astype(np.float64), axis=0)
    varies = np.flatnonzero(ranges > 0)
    if len(varies) < 2:
        return None
    wide, narrow = varies[ranges[varies].argmax()], varies[ranges[varies].argmin()]
    names = dataset.feature_names
    alike = ranges[wide] < UNLIKE * ranges[narrow]
    return None if alike else (names[wide], float(ranges[wide]), names[narrow], float(ranges[narrow]))


def advice(
    recipe: Recipe, result: dict, majority: float, images: bool, gamma: Callable[[tuple[str, ...]], float]
) -> Advice | None:
    """What to say of a finished run that tells classes apart, None where nothing is.

    majority : share of the test examples that have the commonest class
    images : whether the examples are images
    gamma : the usual gamma after preprocessing steps; asked only where there is something to say
    """
    guess, upper = 1 - majority, result["interval"][1]
    share = float(np.mean(result["n_sv"])) / result["n_train"]
    made = "n_virtual" in result or "reduction" in result  # of support vectors, most of which stay so
    crowded = result["n_train"] >= LEAST and share >= CROWDED and not made
    if upper < guess and not crowded:
        return None
    kept = f"{100 * share:.0f} % of the training examples are support vectors"
    if upper < guess:
        title, text = "Nearly every example is a support vector", f"{kept}: the machine memorises more than it learns."
    else:
        title = f"{'No' if result['error_rate'] >= guess else 'Not clearly'} better than guessing"
        text = (
            f"Error: {rate_text(result['error_rate'], result['interval'])}; always predicting the most frequent class "
            f"would give {100 * guess:.2f} % errors." + (f" {kept}." if crowded else "")
        )
    return Advice(title, text, tuple(_tries(recipe, result, images, gamma)))


def _tries(recipe: Recipe, result: dict, images: bool, gamma: Callable[[tuple[str, ...]], float]) -> list[Try]:
    """The kernel's scale, a preprocessing step, C; the step first where there is none."""
    found, steps = [], recipe.preprocess
    usual, median = gamma(steps), "1 over the median squared distance between training examples"
    if not isinstance(recipe.kernel, RBF):
        found.append(Try(f"RBF, gamma = {usual:g}", f"Gamma is {median}.", _set(recipe, kernel=RBF(usual))))
    elif not 1 / FAR <= recipe.kernel.gamma / usual <= FAR:
        words = f"gamma = {usual:g} instead of {recipe.kernel.gamma:g}"
        found.append(Try(words, f"The new gamma is {median}.", _set(recipe, kernel=RBF(usual))))
    for other in USUAL["images" if images else "features"]:
        if other != steps:
            gauss = RBF(gamma(other))
            words = f"{', '.join(other)}; gamma = {gauss.gamma:g}"
            why = f"Changes the preprocessing. Gamma is then {median}."
            found.append(Try(words, why, _set(recipe, preprocess=other, kernel=gauss)))
    bound, svs = sum(result["n_bound"]), sum(result["n_sv"])
    if bound >= AT_C * svs:
        why = f"{bound:,} of {svs:,} alphas are bounded (alpha = C)."
        found.append(Try(f"C = {10 * recipe.C:g} instead of {recipe.C:g}", why, _set(recipe, C=10 * recipe.C)))
    if not steps:
        found.append(found.pop(0))  # raw values: their scale is the first thing to mend
    return found[:3]


def _set(recipe: Recipe, **changes) -> Recipe:
    return recipe.replace(name="custom", title="", **changes)
