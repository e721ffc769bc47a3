"""The machines of the plane: trained on everything, and on what each editing rule leaves; kept while someone moves a
slider to and fro."""

import time
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from data import load
from pages.ui.edit.setting import Sample, Setting, sample
from pages.ui.figures.maps import grid
from svmcore import RBF, SVC
from svmcore.methods.editing import CrossTrainingSVC, EditingSVC
from svmcore.methods.editing.roles import KEPT

PLAIN, CROSS = "plain", "cross-training"
MAX_PAIRS = 200_000  # that a machine may move: a second or so
SIDE = 80  # nodes of the grid along an axis


class Trained(NamedTuple):
    """A machine and what it was trained on; rows count in the Sample."""

    role: np.ndarray  # (n,) of each training example (svmcore.methods.editing.roles); all KEPT for the plain machine
    support: np.ndarray  # (m,) rows that are support vectors
    bound: np.ndarray  # rows of them at C
    right: np.ndarray  # (tests,) bool, by the labels as they are
    right_noisy: np.ndarray  # (tests,) bool, by labels as noisy as those that trained
    seconds: float  # of training, editing included
    field: tuple  # xs, ys, f
    ending: str  # why training ended above tol, if it did
    margins: np.ndarray | None = None  # (s, n) y f of each machine of the first stage, of cross-training alone
    mean: np.ndarray | None = None  # (n,) of the margins
    variance: np.ndarray | None = None  # (n,)


def trained(setting: Setting, rule: str = PLAIN) -> Trained:
    """The machine of all examples, or of what a rule leaves. DataError where the sample cannot be had, ValueError for
    what cannot be (a subset larger than a class)."""
    return _trained(load(setting.dataset).content_hash, setting, rule)


@lru_cache(maxsize=512)
def _trained(content_hash: str, setting: Setting, rule: str) -> Trained:
    """content_hash: the reader's own sets can be replaced under their name."""
    given, estimator = sample(setting), _estimator(setting, rule)
    _warm()
    begun = time.perf_counter()
    estimator.fit(given.X, given.y)
    seconds = time.perf_counter() - begun
    role = np.full(len(given.y), KEPT, np.int8) if rule == PLAIN else estimator.role_
    found = _judged(estimator, given, role, seconds)
    if rule != CROSS:
        return found
    margins = given.y * np.stack([machine.decision_values(given.X)[:, 0] for machine in estimator.first_stage_])
    return found._replace(margins=margins, mean=estimator.margin_mean_, variance=estimator.margin_variance_)


@lru_cache(maxsize=1)
def _warm() -> None:
    """The first fit of a process compiles, or reads what was compiled: no part of what a machine takes."""
    X, y = np.random.default_rng(0).normal(size=(200, 2)), np.arange(200) % 2
    CrossTrainingSVC(SVC(RBF(1.0)), n_jobs=1, random_state=0).fit(X, y)


def _estimator(setting: Setting, rule: str):
    svc = SVC(RBF(setting.gamma), C=setting.C, max_iter=MAX_PAIRS)
    if rule == PLAIN:
        return svc
    if rule == CROSS:
        return CrossTrainingSVC(
            svc, n_subsets=setting.subsets, subset_size=setting.size, random_state=setting.seed, n_jobs=1
        )
    return EditingSVC(svc, rule=rule, random_state=setting.seed)


def _judged(estimator, given: Sample, role: np.ndarray, seconds: float) -> Trained:
    machine = estimator.machine_
    right = np.where(machine.decision_values(given.X_test)[:, 0] > 0, 1, -1) == given.y_test
    xs, ys, nodes = grid(given.X, SIDE, 0.06)
    f = machine.decision_values(nodes.astype(np.float32))[:, 0].reshape(SIDE, SIDE)
    used, bound = machine.coef[0] != 0, machine.bound[0]
    noisy, field = right != given.flipped_test, (xs, ys, f)
    return Trained(role, machine.support[used], machine.support[bound], right, noisy, seconds, field, estimator.ending_)
