"""All ways of editing a training set, by name: what each throws away, and why."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from svmcore.estimator import Targets, float32_rows, is_whole
from svmcore.gram.threads import one_openmp_thread
from svmcore.methods.editing.beside import of_part
from svmcore.methods.editing.crossing import Crossing
from svmcore.methods.editing.neighbours import Classify, condense, edited_nn, multiedit
from svmcore.methods.editing.roles import EASY, KEPT, WRONG_SIDE, Edited
from svmcore.methods.editing.trimmed import trimmed
from svmcore.solvers.progress import Standing
from svmcore.solvers.session import Session
from svmcore.svc import SVC


class Rule(NamedTuple):
    """A way of editing, as a reader is told of it."""

    title: str
    why: str  # why it throws an example away, in one sentence
    uses: tuple[str, ...] = ()  # settings of `edit` that it listens to
    source: str = ""


RULES = {
    "edited-nn": Rule(
        "Edited nearest neighbour",
        "An example goes when its nearest neighbours are of another class.",
        ("n_neighbors",),
        "Wilson (1972)",
    ),
    "multiedit": Rule(
        "MULTIEDIT",
        "An example goes when its nearest neighbour in another random part of the set is of another class; again and "
        "again, until nothing goes.",
        ("n_splits", "patience"),
        "Devijver and Kittler (1982), section 3.11",
    ),
    "multiedit-svm": Rule(
        "MULTIEDIT with an SVM",
        "An example goes when a machine trained on another random part of the set misclassifies it; again and again, "
        "until nothing goes.",
        ("n_splits", "patience"),
        "Bakir, Bottou and Weston (2004), section 2.4",
    ),
    "condense": Rule(
        "CONDENSE",
        "An example goes when those kept so far already classify it rightly by their nearest: only what lies near "
        "another class is kept.",
        (),
        "Hart (1968)",
    ),
    "multiedit+condense": Rule(
        "MULTIEDIT, then CONDENSE",
        "First the wrong side goes, then all that is not near the boundary.",
        ("n_splits", "patience"),
        "Devijver and Kittler (1982), section 3.11",
    ),
    "trimmed": Rule(
        "Trimmed loss",
        "An example goes when the machine trained without it still has it far on the wrong side.",
        ("below",),
        "Collobert, Sinz, Weston and Bottou (2006)",
    ),
    "cross-training": Rule(
        "Cross-training",
        "An example goes when machines trained on small subsets agree that it lies on the wrong side, or that it lies "
        "safely beyond the margin.",
        ("n_subsets", "subset_size"),
        "Bakir, Bottou and Weston (2004), Algorithm 3",
    ),
}


def edit(
    rule: str,
    X,
    y,
    *,
    seed=0,
    estimator: SVC | None = None,
    n_neighbors: int = 1,
    n_splits: int = 3,
    patience: int = 3,
    below: float = -1.0,
    n_subsets: int = 5,
    subset_size: int | None = None,
    balance: bool = True,
    monitor=None,
) -> Edited:
    """Which of the examples a rule keeps, and the role that it gives each.

    Parameters
    ----------
    rule : str
        "edited-nn", "multiedit", "multiedit-svm", "condense", "multiedit+condense", "trimmed" or "cross-training".
    X : array-like (n, d)
        Examples in rows.
    y : array-like (n,)
        Labels.
    seed : int, default 0
        Of everything drawn.
    estimator : SVC or None, default None
        The machine inside "multiedit-svm", "trimmed" and "cross-training".
    n_neighbors : int, default 1
        k of "edited-nn".
    n_splits : int, default 3
        s of MULTIEDIT.
    patience : int, default 3
        T of MULTIEDIT: rounds without a change before it ends.
    below : float, default -1.0
        s of the ramp loss of "trimmed", at most 0.
    n_subsets : int, default 5
        As for CrossTrainingSVC.
    subset_size : int or None, default None
        As for CrossTrainingSVC.
    balance : bool, default True
        As for CrossTrainingSVC.
    monitor : callable or None, default None
        As for SVC.fit.

    Returns
    -------
    Edited
        The kept indices, and the role of each example by the codes of roles.py.

    Raises
    ------
    ValueError
        Naming the setting and what is allowed.
    Stopped
        Where the monitor asks for an end.

    References
    ----------
    Bakir, Bottou and Weston (2004), section 2; Devijver and Kittler (1982), section 3.11; Hart (1968); Wilson (1972).

    Examples
    --------
    >>> import numpy as np
    >>> from svmcore import edit
    >>> X = np.array([[0.0], [0.1], [0.2], [0.15], [1.0], [1.1], [1.2]])
    >>> edit("edited-nn", X, [0, 0, 0, 1, 1, 1, 1]).kept.tolist()
    [0, 4, 5, 6]
    """
    X, y = float32_rows(X), np.asarray(y)
    settings = {name: value for name, value in locals().items() if name in SETTINGS}
    with Session(monitor) as session:
        return edited(rule, X, y, session, seed=seed, estimator=estimator, **settings)


SETTINGS = ("n_neighbors", "n_splits", "patience", "below", "n_subsets", "subset_size", "balance")


def edited(rule: str, X, y, session: Session, *, seed, estimator: SVC | None, **settings) -> Edited:
    """As `edit`, of checked rows, as part of a session."""
    check_settings(rule, **settings)
    classes, label = np.unique(y, return_inverse=True)
    rng, svc = np.random.RandomState(seed), SVC() if estimator is None else estimator
    svc = clone(svc).set_params(kernel=svc._kernel_for(X))
    if len(classes) != 2 and rule in ("trimmed", "cross-training"):
        raise ValueError(f"rule = {rule!r} with {len(classes)} classes; allowed: two classes, or another rule")
    session.begin("editing", lambda: Standing((), 0.0, 0, 0, None))
    if rule == "cross-training":
        crossing = Crossing(X, y, label, session)
        crossing.draw(settings["n_subsets"], settings["subset_size"], None, rng)
        crossing.train(svc, [{}], None)
        crossing.judge()
        crossing.discard(settings["balance"])
        return Edited.of(crossing.role)
    if rule == "trimmed":
        role = np.where(trimmed(X, y, svc, session, settings["below"]), KEPT, WRONG_SIDE)
        return Edited.of(role)
    with one_openmp_thread:
        return _by_neighbours(rule, X, label, session, rng, svc, settings)


def _by_neighbours(rule: str, X, label, session: Session, rng, svc: SVC, settings: dict) -> Edited:
    """Wilson's, Devijver and Kittler's, and Hart's."""
    role = np.full(len(X), KEPT, np.int8)
    if rule == "edited-nn":
        role[~edited_nn(X, label, session, settings["n_neighbors"])] = WRONG_SIDE
    if rule.startswith("multiedit"):
        how = {"n_splits": settings["n_splits"], "patience": settings["patience"]}
        if rule == "multiedit-svm":
            how["classify"] = _by_machine(svc, session)
        role[~multiedit(X, label, session, rng, **how)] = WRONG_SIDE
    if rule.endswith("condense"):
        left = np.flatnonzero(role == KEPT)
        if len(left):
            role[left[~condense(X[left], label[left], session, rng)]] = EASY
    return Edited.of(role)


def check_settings(rule: str, **settings) -> None:
    """ValueError naming a rule or a setting that is not allowed."""
    if rule not in RULES:
        raise ValueError(f"rule = {rule!r}; allowed: {', '.join(RULES)}")
    for name, least in (("n_neighbors", 1), ("n_splits", 2), ("patience", 1), ("n_subsets", 2)):
        if not is_whole(value := settings[name], least):
            raise ValueError(f"{name} = {value!r}; allowed: a whole number from {least}")
    below = settings["below"]
    if not isinstance(below, int | float | np.number) or not np.isfinite(below) or below > 0:
        raise ValueError(f"below = {below!r}; allowed: a number up to 0")


def _by_machine(svc: SVC, session: Session) -> Classify:
    """The classifier of MULTIEDIT with an SVM inside; its fits are stages of the session."""

    def classify(X, label):
        machine = clone(svc)._fit(X, Targets(X, label), session, "editing", whole=of_part(None)).machine_
        session.check()
        return machine.predict

    return classify
