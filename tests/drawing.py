"""Fits to virtual examples that are drawn, small ones; also for processes that are killed over them, which import the
library alone, as that takes longer than their fits."""

from sklearn.datasets import load_digits

from svmcore.kernels import RBF, Poly
from svmcore.methods.virtual import VirtualSVC
from svmcore.preprocess import Preprocessor
from svmcore.svc import SVC

UNIT = Preprocessor("unit-norm")
KINDS = {"ten": (10, "random:300", Poly(5, 1, 1), 1.0), "two": (2, "random:300", RBF(0.5), 1.0),
         "dark": (3, "random:100", Poly(5, 1, 1), 255.0)}  # fmt: skip
DRAWS = 6000  # of each kind three rounds


def digits(classes, n=120):
    X, y = load_digits(return_X_y=True)
    X, y = X.reshape(-1, 8, 8)[y < classes], y[y < classes]
    return X[:n], y[:n], X[n : n + 200]


def virtual(jitters="plus:1", *, draws=0, kernel=None, seed=0, keep=1.0, rank="margin", **how):
    first = SVC(kernel or Poly(5, 1, 1), **{"C": 2.0, "tol": 1e-4, "random_state": seed} | how)
    return VirtualSVC(first, jitters=jitters, prepare=UNIT, scope="union", draws=draws, keep=keep, rank=rank)


def fitted(kind, seed=0, checkpoint=None, monitor=None, draws=DRAWS):
    classes, jitters, kernel, scale = KINDS[kind]
    X, y, _ = digits(classes, 150)
    return virtual(jitters, draws=draws, kernel=kernel, seed=seed).fit(
        scale * X, y, monitor=monitor, checkpoint=checkpoint
    )
