"""All ways of editing a training set, by name; one more is a Rule, and a line below."""

from collections.abc import Mapping
from dataclasses import fields

import numpy as np
from sklearn.base import clone

from svmcore.allowed import require
from svmcore.estimator import rows_for
from svmcore.methods.editing.crossing import ByCrossTraining
from svmcore.methods.editing.neighbours import Condense, EditedNearest, Multiedit, MultieditBySVM, MultieditCondense
from svmcore.methods.editing.roles import Edited
from svmcore.methods.editing.rule import Given, Rule
from svmcore.methods.editing.trimmed import Trimmed
from svmcore.solvers.progress import Standing
from svmcore.solvers.session import Session
from svmcore.svc import SVC

RULES: dict[str, type[Rule]] = {
    rule.name: rule
    for rule in (EditedNearest, Multiedit, MultieditBySVM, Condense, MultieditCondense, Trimmed, ByCrossTraining)
}


def edit(
    rule: str | Rule,
    X,
    y,
    *,
    seed=0,
    estimator: SVC | None = None,
    monitor=None,
    **settings,
) -> Edited:
    """Which of the examples a rule keeps, and the role that it gives each.

    Parameters
    ----------
    rule : str or Rule
        "edited-nn", "multiedit", "multiedit-svm", "condense", "multiedit+condense", "trimmed" or "cross-training"; or a
        rule with its settings, instead of those that follow.
    X : array-like (n, d)
        Examples in rows.
    y : array-like (n,)
        Labels.
    seed : int, default 0
        Of everything drawn.
    estimator : SVC or None, default None
        The machine inside "multiedit-svm", "trimmed" and "cross-training".
    monitor : callable or None, default None
        As for SVC.fit.
    **settings
        Those of the rule, by the names that EditingSVC has for them.

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
    rule = rule_of(rule, settings)
    with Session(monitor) as session:
        rows = rows_for((estimator or SVC())._kernel_for, X)[2]  # neighbours are the same wherever examples are moved
        return edited(rule, rows, np.asarray(y), session, seed=seed, estimator=estimator)


SETTINGS = ("n_neighbors", "n_splits", "patience", "below", "n_subsets", "subset_size", "balance")


def rule_of(rule: str | Rule, settings: Mapping) -> Rule:
    """A rule itself, or the one of that name with its settings. ValueError for an unknown rule or setting."""
    if isinstance(rule, Rule):
        return rule
    require(rule in RULES, "rule", rule, ", ".join(RULES))
    if unknown := settings.keys() - set(SETTINGS):
        raise ValueError(f"{min(unknown)} is not a setting of a rule; allowed: {', '.join(SETTINGS)}")
    return RULES[rule](**{own.name: settings[own.name] for own in fields(RULES[rule]) if own.name in settings})


def edited(rule: Rule, X, y, session: Session, *, seed, estimator: SVC | None) -> Edited:
    """As `edit`, of checked rows, as part of a session."""
    classes, label = np.unique(y, return_inverse=True)
    rng, svc = np.random.RandomState(seed), SVC() if estimator is None else estimator
    svc = clone(svc).set_params(kernel=svc._kernel_for(X))
    if len(classes) != 2 and rule.two_classes:
        raise ValueError(f"rule = {rule.name!r} with {len(classes)} classes; allowed: two classes, or another rule")
    session.begin("editing", lambda: Standing((), 0.0, 0, 0, None))
    return Edited.of(rule.role(Given(X, y, label, session, rng, svc)))
