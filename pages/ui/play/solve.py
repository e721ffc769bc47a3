"""The machines of the Playground: fitted by the library's own solver, kept for as long as someone goes back and forth.

    f(x) = sum_i alpha_i y_i K(x_i, x) + b        y_i = +1 on the first of Setting.sides, -1 on the other

Of three colours there are three machines, one against the rest, as those of SVC with three classes; each is fitted by
itself, so that whatever is drawn of a machine of two classes is drawn of these too. Only what the picture needs is kept
of a machine: its few support vectors. The browser computes f on its grid from them.
"""

import warnings
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from data import plane
from pages.ui.play.setting import ALONG, INNER, Setting, points
from pages.ui.play.solved import Picture, Solved
from svmcore import RBF, SVC, General, Linear, PointJitters, Poly, Sigmoid, VirtualSVC
from svmcore.explain import tape as tapes
from svmcore.kernels import Kernel

MAX_PAIRS = 200_000  # that a machine may move: a second or so
FRESH = 400  # other points that a machine is tried on
QUIET = partial(warnings.catch_warnings, action="ignore", category=ConvergenceWarning)  # said on the page
TIE = 1e-6  # values of f that differ by less are equal, and the first machine decides; as in picture.js


def estimator(setting: Setting) -> SVC | VirtualSVC:
    svc = SVC(kernel(setting), C=setting.C, max_iter=MAX_PAIRS)
    return VirtualSVC(svc, jitters=jitters(setting)) if setting.virtual else svc


def kernel(setting: Setting) -> Kernel:
    return {
        "linear": lambda: Linear(),
        "poly": lambda: Poly(setting.degree, 1, 1),
        "rbf": lambda: RBF(setting.gamma),
        "sigmoid": lambda: Sigmoid(setting.gamma, setting.coef0),
    }[setting.kernel]()


def jitters(setting: Setting) -> PointJitters:
    """The moves that make copies: the problem's own where it is asked for its own invariance."""
    own = plane.PROBLEMS[setting.problem]
    return PointJitters(setting.by, own.amounts if setting.by == own.jitter else plane.MOVES[setting.by])


def signs(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """X (n, 2) and y (n,) of +1 and -1: what the machine of a setting is fitted to; of several the first one."""
    given = points(setting)
    return given.X, np.where(given.y == next(iter(setting.sides), 0), 1, -1)


@lru_cache(maxsize=64)
def fitted(setting: Setting) -> SVC | VirtualSVC:
    """The estimator of a setting (its tape and layer apart), fitted. ValueError where one colour alone is left."""
    with QUIET():
        return estimator(setting).fit(*signs(setting))


@lru_cache(maxsize=64)
def solve(setting: Setting) -> Solved:
    """The machine of a setting (its tape and layer apart). ValueError where one colour alone is left."""
    (X, y), machine = signs(setting), fitted(setting)
    keys = _examples(setting, machine, len(y))
    alpha, bound = np.zeros(len(keys)), np.zeros(len(keys), bool)
    trained, number = machine.machine_, {key: at for at, key in enumerate(keys)}
    jitter = np.zeros(len(trained.support), int) if trained.jitter is None else trained.jitter
    at = [number[key] for key in zip(jitter.tolist(), trained.support.tolist(), strict=True)]
    alpha[at], bound[at] = trained.alpha[0], trained.bound[0]
    which, parent = np.array(keys).T
    X = jitters(setting).pick(X[parent], which) if which.any() else X
    K = None if kernel(setting).definite else kernel(setting).exact(X, X)
    return Solved(
        X=X,
        sign=y[parent],
        parent=parent,
        copy=which > 0,
        alpha=alpha,
        bound=bound,
        bias=float(trained.bias[0]),
        ending=machine.ending_,
        lowest=None if K is None else float(np.linalg.eigvalsh(K)[0]),
    )


@lru_cache(maxsize=64)
def picture(setting: Setting) -> Picture:
    """What a setting (its tape and layer apart) shows. ValueError where one colour alone is left."""
    machines, given, own = tuple(map(solve, setting.machines)), points(setting), plane.PROBLEMS[setting.problem]
    names = setting.sides if len(machines) == 1 else setting.colours
    labels = np.array(list(names))

    def decided(X):  # places in `names`, and f that decides; as plane.js has it
        f = np.array([values(setting, one, X) for one in machines])
        largest = f.max(axis=0)
        return np.argmax(f >= largest - TIE, axis=0) if len(f) > 1 else np.where(f[0] > 0, 0, 1), largest

    def wrong(X, y):
        return np.flatnonzero(labels[decided(X)[0]] != np.where(np.isin(y, labels) | (labels != 0).all(), y, 0))

    question = None
    if setting.question:
        (at,), (f,) = decided(np.array([setting.question], np.float32))
        question = list(names.values())[at], float(f)
    fresh = own.make and own.question is None
    fresh_wrong = len(wrong(*own.fresh(FRESH, setting.seed))) if fresh else None
    return Picture(machines, wrong(given.X, given.y), fresh_wrong, question)


def values(setting: Setting, solved: Solved, X) -> np.ndarray:
    """(n,) float64: f of a machine at X (n, 2)."""
    return kernel(setting).exact(X, solved.X) @ (solved.alpha * solved.sign) + solved.bias


@lru_cache(maxsize=12)
def tape(setting: Setting) -> tapes.Tape:
    """What the tape of a setting (its frame and layer apart) goes along: every step of its fit, the machines of its
    examples at each C of its path, or the rounds of a decomposition with its inner solver. Examples as of `solve`."""
    with QUIET():
        if setting.along == "steps":
            return tapes.record(estimator(setting), *signs(setting))
        if setting.along == "C":
            return tapes.path(fitted(setting.still), *signs(setting), setting.costs)
        inner = None if setting.inner == next(iter(INNER)) else General(setting.inner)
        return tapes.rounds(fitted(setting.still), *signs(setting), inner=inner)


def frames(setting: Setting) -> dict:
    """The tape as plain lists for the browser: one entry a frame. trained: the frame that is the setting's machine;
    of a path also C, the width of the margin 2 / |w| in the kernel's space (None where it has none), and errors on the
    training points; of a decomposition the working set of each round."""
    along_C, in_rounds = (setting.along == one for one in ALONG[1:])
    shown = tape(replace(setting.still, along=setting.along, inner=setting.inner))
    kept = shown.frames
    figures = _of_path(setting, shown) if along_C else {"trained": len(kept) - 1}
    if in_rounds:
        figures["inside"] = [frame.inside.tolist() for frame in kept]
    return figures | {
        "stage": [frame.stage for frame in kept],
        "step": [frame.step for frame in kept],
        "pair": [list(frame.pair) for frame in kept],
        "violation": [round(frame.violation, 6) for frame in kept],
        "gap": [min(round(float(frame.gap), 6), 1e6) for frame in kept],
        "bias": [frame.bias for frame in kept],
        "changed": [frame.changed.tolist() for frame in kept],
        "alpha": [(_digits(frame.alpha) if along_C else frame.alpha).tolist() for frame in kept],
        "steps": list(shown.steps),
    }


def _of_path(setting: Setting, shown: tapes.Tape) -> dict:
    K, n = kernel(setting).exact(shown.X, shown.X), len(points(setting).y)
    alpha, margins, wrong = np.zeros(len(shown.y)), [], []
    for frame in shown.frames:
        alpha[frame.changed] = frame.alpha
        f = K @ (alpha * shown.y)
        squared = float((alpha * shown.y) @ f)  # of an indefinite kernel it may be negative
        margins.append(2 / np.sqrt(squared) if squared > 0 else None)
        wrong.append(int(np.count_nonzero((f[:n] + frame.bias) * shown.y[:n] <= 0)))
    costs = _digits([frame.C for frame in shown.frames]).tolist()
    return {"trained": setting.trained, "C": costs, "margin": margins, "wrong": wrong}


def _digits(values) -> np.ndarray:
    """As many digits as a picture needs; what was equal stays equal, as an alpha at C."""
    return np.array([float(f"{value:.7g}") for value in values])


def _examples(setting: Setting, machine, n: int) -> list[tuple[int, int]]:
    """(jitter, parent) of the training points, and then of the copies of the first machine's support vectors."""
    own = [(0, p) for p in range(n)]
    if not setting.virtual:
        return own
    copies = {(j, p) for p in machine.base_.machine_.support.tolist() for j in range(1, len(machine.jitters_))}
    return own + sorted(copies)
