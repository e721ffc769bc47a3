"""Would more examples help? What a power law through small training sets expects of twice as many, beside the truth.

    python -m tests.bench.amounts [--folds 5] [--seeds 2]

For each dataset and seed, errors by cross-validation with an eighth, a quarter and a half of n examples, and with a
sixteenth; the law through these expects the error with n, which is then counted in the same way. A prediction holds if
the truth, which has an error of counting of its own, is within 1.96 standard deviations of both.

Then: how many real examples are virtual ones worth? The laws of both recipes on up to 2,000 digits of USPS say with how
many digits the one without virtual examples is as good; the truth is where its errors with more digits come to that
rate, by interpolation of their logarithms.
"""

import argparse

import numpy as np

from svmcore.kernels import RBF
from svmcore.lab.analyses.amounts import curves, fitted, sentences
from svmcore.lab.analyses.sweep import AMOUNT, BY, Z95, Sweep
from svmcore.lab.jobs.sweeping import sweep
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe

DIGITS = RECIPES["mnist-5k-rbf"]
SETS = {  # what is learned -> recipe, and n
    "MNIST digits": (DIGITS, 4000),
    "MNIST digits, gradients": (RECIPES["mnist-5k-gradients"], 4000),
    "USPS digits": (RECIPES["usps-sv"], 4000),
    "8x8 digits": (RECIPES["digits-8x8-sv"], 1200),
    "waveform": (Recipe(dataset="waveform", preprocess=("zscore",), kernel=RBF(0.02), C=1.0), 4000),
    "banana": (Recipe(dataset="banana", preprocess=(), kernel=RBF(1.0), C=10.0), 4000),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=2)
    asked = parser.parse_args()
    held = made = 0
    for name, (recipe, n) in SETS.items():
        for seed in range(asked.seeds):
            said, law, _, truth = told(recipe.replace(seed=seed), [n // 16, n // 8, n // 4, n // 2], [n], asked.folds)
            print(f"{name}: {said[0]} Truth: {100 * truth[n]:.2f} %.")
            if law is not None:
                expected, low, high = law.at(n)
                of_law, of_truth = np.log(high / low) / (2 * Z95), (truth[n] * n) ** -0.5
                held += abs(np.log(truth[n] / expected)) <= Z95 * np.hypot(of_law, of_truth)
                made += 1
    print(f"{held} of {made} predictions hold")
    few, more = [250, 500, 1000, 2000], [3000, 4000, 5500, 7291]
    said, _, known, truth = told(RECIPES["usps-vsv"], few, more, asked.folds, ("none", "box:1"))
    counted = np.exp(np.interp(-np.log(known[f"2000{BY}box:1"]), -np.log([*truth.values()]), np.log(more)))
    print(" ".join(said), f"Counted: {counted:.0f}.")


def told(recipe, few: list[int], more: list[int], folds: int, jitters: tuple[str, ...] = ()):
    """What the learning curves by `few` examples say, of each of the jitter sets, where there are some; the law of the
    first; the error rates of these cells, and those of the first curve with `more` examples."""
    recipe = recipe.replace(n_test=100, folds=folds, **({"jitters": jitters[0]} if jitters else {}))
    second = ("jitters", jitters) if jitters else ("", ())
    points = sweep(recipe, AMOUNT, map(str, few), folds, *second)
    checks = {point.value: (sum(point.fold_errors), point.n_train) for point in points}
    found = curves(Sweep(recipe, AMOUNT, tuple(map(str, few)), *second), checks)
    rates = {point.value: point.validation[0] for point in points}
    truth = {int(point.value): point.validation[0] for point in sweep(recipe, AMOUNT, map(str, more), folds)}
    return sentences(found, checks, second[0]), fitted(found[0], checks), rates, truth


if __name__ == "__main__":
    main()
