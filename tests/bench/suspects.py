"""How many wrong labels are among as many suspects: `python -m tests.bench.suspects [--seeds 5] [--sets SET ...]`.

Of each set 5, 10 and 20 % of the labels are flipped: "any" to a class at random, "near" to the class that the example
is likest but its own, by machines out of five folds that saw clean labels. Recall among as many suspects as labels were
flipped, the mean over seeds; all columns of a row up to `odds` are of the same decision values out of five folds:

    margin      -f of the label's own machine
    lead        the largest f of another class, less f of its own
    softmax     cleanlab's normalised margin, max_{c != z} P_c - P_z, by softmax(2 f); where cleanlab is installed its
                own function is asked, which gives the same numbers
    platt       the same by logistic regression of f out of folds
    odds        explain/suspects.py
    twice       the same where the folds are trained once more without the labels that are likely wrong
    ten         as `twice`, out of ten folds: what the lab asks for (analyses/suspects.py)

"of peers": what is missed, 1 - recall, by `ten`, against the least of the first four columns; "twice": by `twice`.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from data import load
from data.dataset import NotAtHand
from svmcore import RBF, SVC
from svmcore.explain.suspects import Doubts, doubts, leads
from svmcore.kernels import Kernel
from svmcore.lab.analyses.unsure import probabilities
from svmcore.preprocess import Preprocessor
from tests.bench.sets import NINE

SHARES, FOLDS, MOST = (0.05, 0.1, 0.2), 5, 4000
COLUMNS = ("margin", "lead", "softmax", "platt", "odds", "twice", "ten")
FIRST_SEED = 2000  # those below have seen the search for the score


class Set(NamedTuple):
    kernel: Kernel
    C: float
    step: str


SETS = {
    "mnist-5k": Set(NINE, 2.0, "unit-norm"),
    "usps": Set(NINE, 2.0, "unit-norm"),
    "digits-8x8": Set(NINE, 2.0, "unit-norm"),
    "a9a": Set(RBF(0.05), 1.0, ""),
    "waveform": Set(RBF(0.02), 1.0, "zscore"),
    "banana": Set(RBF(1.0), 1.0, "zscore"),
    "made": Set(RBF(0.1), 1.0, "zscore"),
}


def examples(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) prepared and classes (n,), at most MOST of them, drawn by the seed."""
    rng = np.random.default_rng([seed, 0])
    if name == "made":  # six clouds in ten dimensions, the last with 2 % of the examples
        y = rng.choice(6, 3000, p=[0.3, 0.3, 0.2, 0.1, 0.08, 0.02])
        X = 1.6 * rng.normal(size=(6, 10))[y] + rng.normal(size=(3000, 10))
    else:
        known = load(name)
        chosen = rng.permutation(len(known.X_train))[:MOST]
        X, y = known.X_train[chosen], known.y_train[chosen]
    steps = Preprocessor(*filter(None, [SETS[name].step]))
    return steps.fit_transform(X.astype(np.float32)), np.unique(y, return_inverse=True)[1]


def out_of_folds(X, y, of: Set, seed: int, left_out=None, folds: int = FOLDS) -> np.ndarray:
    """f (n, k) of each example by the machine of the other folds, which has not seen those left out either."""
    k = y.max() + 1
    f = np.zeros((len(y), 1 if k == 2 else k))
    for others, held in StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y):
        rows = others if left_out is None else others[~left_out[others]]
        f[held] = SVC(of.kernel, C=of.C).fit(X[rows], y[rows]).decision_function(X[held]).reshape(len(held), -1)
    return f


def flipped(y, share: float, how: str, rival, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels with a share of them wrong, and which; rival (n,) the class that each is likest but its own."""
    rng, k = np.random.default_rng([seed, 1]), y.max() + 1
    wrong = np.zeros(len(y), bool)
    wrong[rng.permutation(len(y))[: round(share * len(y))]] = True
    other = (y + rng.integers(1, k, len(y))) % k if how == "any" else rival
    return np.where(wrong, other, y), wrong


def normalised(P: np.ndarray, given: np.ndarray) -> np.ndarray:
    """cleanlab's doubt of each label."""
    try:
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        own, other, _ = leads(P, given, P.shape[1])
        return other - own
    return -get_label_quality_scores(given, P, method="normalized_margin")


def scores(f: np.ndarray, given: np.ndarray) -> dict[str, np.ndarray]:
    k = given.max() + 1
    own, other, _ = leads(f, given, k)
    both = np.hstack((-f, f)) if f.shape[1] == 1 else f
    soft = np.exp(2 * (both - both.max(1, keepdims=True)))
    return {
        "margin": -own,
        "lead": other - own,
        "softmax": normalised(soft / soft.sum(1, keepdims=True), given),
        "platt": normalised(probabilities(f, given, k), given),
    }


def measure(name: str, seed: int) -> dict[tuple, list[float]]:
    """(how, share) -> recall of each of COLUMNS, then seconds of `twice` and of `ten`, and r."""
    of, found = SETS[name], {}
    X, y = examples(name, seed)
    _, _, rival = leads(out_of_folds(X, y, of, seed), y, y.max() + 1)
    for how in ("any", "near") if y.max() > 1 else ("any",):
        for share in SHARES:
            given, wrong = flipped(y, share, how, rival, seed)
            started = time.perf_counter()
            f, odds, twice = both_times(X, given, of, seed, FOLDS)
            middle = time.perf_counter()
            _, _, ten = both_times(X, given, of, seed, 2 * FOLDS)
            seconds = middle - started, time.perf_counter() - middle
            all_scores = scores(f, given) | {"odds": odds.score, "twice": twice.score, "ten": ten.score}
            found[how, share] = [recall(all_scores[column], wrong) for column in COLUMNS] + [*seconds, ten.rate]
    return found


def both_times(X, given, of: Set, seed: int, folds: int) -> tuple[np.ndarray, Doubts, Doubts]:
    """f of the first time, and the odds of the first and of the second."""
    k = given.max() + 1
    f = out_of_folds(X, given, of, seed, folds=folds)
    odds = doubts(f, given, k)
    return f, odds, doubts(out_of_folds(X, given, of, seed, odds.likely, folds), given, k)


def recall(score: np.ndarray, wrong: np.ndarray) -> float:
    return float(wrong[np.argsort(-score, kind="stable")[: wrong.sum()]].mean())


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.suspects", description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    options = parser.parse_args(argv)
    print(
        f"{'set':11}{'labels':13}"
        + "".join(f"{c:>9}" for c in COLUMNS)
        + "  of peers: twice, ten   s twice  s ten  r said"
    )
    for name in options.sets:
        try:
            runs = [measure(name, FIRST_SEED + seed) for seed in range(options.seeds)]
        except NotAtHand as error:
            print(f"{name:11}{error}")
            continue
        for how, share in runs[0]:
            mean = np.mean([run[how, share] for run in runs], axis=0)
            twice, ten = (1 - mean[5:7]) / (1 - mean[:4].max())
            recalls = "".join(f"{value:9.3f}" for value in mean[:7])
            rest = f"{twice:16.2f}{ten:6.2f}{mean[7]:10.1f}{mean[8]:7.1f}{mean[9]:8.3f}"
            print(f"{name:11}{f'{share:.0%} {how}':13}{recalls}{rest}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
