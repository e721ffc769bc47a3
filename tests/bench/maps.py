"""A map of ten values of C by ten of gamma, five folds each, beside scikit-learn's searches over its SVC.

    python -m tests.bench.maps [DATASET] [--train N]     mnist-5k with 4,000 examples if left out

    ours, halved      `svmcore.lab.jobs.sweeping.sweep`, one rung and three: runs in a home of their own, as those of
                      the page *Choose* and of the command line
    grid, halving     GridSearchCV and HalvingGridSearchCV over SVC of scikit-learn-intelex where it is installed

All see the same examples and, but for HalvingGridSearchCV, the same folds; ours has a machine of all examples and its
test errors beside each cell, scikit-learn's one for the best. GridSearchCV takes minutes.
"""

import argparse
import os
import tempfile
import time

import numpy as np
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, StratifiedKFold

from svmcore.kernels import RBF
from svmcore.lab.analyses.sweep import chosen
from svmcore.lab.jobs.sweeping import sweep
from svmcore.lab.recipe import Recipe
from svmcore.lab.train import KEPT, prepare

try:
    from sklearnex.svm import SVC
except ImportError:
    from sklearn.svm import SVC

FOLDS = 5
CS = [2.0**k for k in range(-2, 8)]
GAMMAS = {"mnist-5k": [2.0**k for k in range(-6, 4)], "a9a": [2.0**k for k in range(-10, 0)]}
RECIPES = {
    "mnist-5k": Recipe(dataset="mnist-5k", n_train=4000, n_test=1000, kernel=RBF(2.0)),
    "a9a": Recipe(dataset="a9a", preprocess=(), n_train=4000, kernel=RBF(0.05)),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.maps", description=__doc__.split("\n")[0])
    parser.add_argument("dataset", nargs="?", default="mnist-5k", choices=RECIPES)
    parser.add_argument("--train", type=int, metavar="N")
    asked = parser.parse_args()
    recipe, gammas = RECIPES[asked.dataset], GAMMAS[asked.dataset]
    recipe = recipe.replace(n_train=asked.train or recipe.n_train)
    problem = prepare(recipe)
    X, y = problem.X_train, problem.y_train
    texts = [[f"{number:.10g}" for number in numbers] for numbers in (CS, gammas)]
    sweep(recipe.replace(n_train=100), "C", ["1", "2"], FOLDS)  # compiled code is read
    for called, rungs in (("ours", 1), ("halved", 3)):
        os.environ["SVMLAB_HOME"] = tempfile.mkdtemp(prefix="svmlab-")
        KEPT.clear()
        started, worked = time.perf_counter(), time.process_time()
        points = sweep(recipe, "C", texts[0], FOLDS, "kernel.gamma", texts[1], rungs)
        took, worked = time.perf_counter() - started, time.process_time() - worked
        errors = {p.value: p.validation[0] for p in points if p.n_test is not None}
        best = chosen(errors)
        print(f"{called:8} {took:7.1f} s  {100 * errors[best]:.2f} % at {best}  ({worked:.1f} processor s)", flush=True)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=recipe.seed)
    grid = {"C": CS, "gamma": gammas}
    searches = {
        "halving": HalvingGridSearchCV(SVC(), grid, cv=folds, n_jobs=2),
        "grid": GridSearchCV(SVC(), grid, cv=folds, n_jobs=2),
    }
    for called, search in searches.items():
        started = time.perf_counter()
        search.fit(X.astype(np.float64), y)
        took = time.perf_counter() - started
        best = " × ".join(f"{search.best_params_[name]:.10g}" for name in grid)
        print(f"{called:8} {took:7.1f} s  {100 * (1 - search.best_score_):.2f} % at {best}", flush=True)


if __name__ == "__main__":
    main()
