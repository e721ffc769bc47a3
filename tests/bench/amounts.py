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
from svmcore.lab.analyses.sweep import Z95, PowerLaw, sweep
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
    print(f"{'':26}{'n':>6}{'half':>9}{'expected':>10}{'interval':>18}{'truth':>8}")
    for name, (recipe, n) in SETS.items():
        for seed in range(asked.seeds):
            amounts = [n // 16, n // 8, n // 4, n // 2, n]
            known = recipe.replace(seed=seed, n_test=100)
            points = sweep(known, "n_train", map(str, amounts), asked.folds)
            errors = [sum(point.fold_errors) for point in points]
            law = PowerLaw.fitted(amounts[:-1], errors[:-1], amounts[:-1])
            if law is None:
                print(f"{name:26}{n:6}: too few errors")
                continue
            expected, low, high = law.at(n)
            truth, of_law = errors[-1] / n, np.log(high / low) / (2 * Z95)
            held += abs(np.log(truth / expected)) <= Z95 * np.hypot(of_law, errors[-1] ** -0.5)
            made += 1
            told = f"{100 * low:.2f} to {100 * high:.2f}"
            print(f"{name:26}{n:6}{200 * errors[-2] / n:9.2f}{100 * expected:10.2f}{told:>18}{100 * truth:8.2f}")
    print(f"{held} of {made} predictions hold")
    worth(asked.folds)


FEW, MORE = (250, 500, 1000, 2000), (3000, 4000, 5500, 7291)


def worth(folds: int) -> None:
    """What 2,000 digits with virtual examples are worth, by the laws and by counting."""
    recipe, laws = RECIPES["usps-vsv"].replace(n_test=100), {}
    for jitters in ("none", "box:1"):
        points = sweep(recipe.replace(jitters=jitters), "n_train", map(str, FEW), folds)
        laws[jitters] = PowerLaw.fitted(FEW, [sum(point.fold_errors) for point in points], FEW)
    wanted = points[-1].validation[0]
    more = sweep(recipe.replace(jitters="none"), "n_train", map(str, MORE), folds)
    rates = [point.validation[0] for point in more]
    truth = np.exp(np.interp(-np.log(wanted), -np.log(rates), np.log(MORE)))
    expected, low, high = laws["none"].as_good_as(laws["box:1"], FEW[-1])
    print(f"USPS: {FEW[-1]} digits with box:1 ({100 * wanted:.2f} % wrong) are worth {expected:.0f} without", end=" ")
    print(f"({low:.0f} to {high:.0f}); counted: {truth:.0f}")


if __name__ == "__main__":
    main()
