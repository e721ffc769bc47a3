"""Edit, then train: any rule of rules.py before an SVC."""

from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from svmcore.estimator import MachineEstimator, Targets, checked, seed_of
from svmcore.methods.editing.beside import of_part
from svmcore.methods.editing.estimator import check_estimators, settled
from svmcore.methods.editing.roles import KEPT, Edited
from svmcore.methods.editing.rule import Rule
from svmcore.methods.editing.rules import SETTINGS, edited, rule_of
from svmcore.rows import double_rows
from svmcore.solvers.progress import Stopped
from svmcore.solvers.session import Session
from svmcore.svc import SVC


@dataclass(eq=False, repr=False)
class EditingSVC(MachineEstimator):
    """An SVC trained on what an editing rule leaves of the training set.

    Parameters
    ----------
    estimator : SVC or None, default None
        What is trained in the end, also inside rules that need one. Several classes: each against the rest, where the
        rule takes several.
    rule : str or Rule, default "multiedit"
        As of `edit`.
    n_neighbors, n_splits, patience, below, n_subsets, subset_size, balance : as of `edit`
        The rule's settings.
    random_state : int, RandomState or None, default None
        Of everything drawn.

    Attributes
    ----------
    role_ : ndarray (n,) int8
        What became of each example, by the codes of roles.py.
    kept_ : ndarray (m,)
        Training indices of what was left; all other attributes as of SVC, `support_` in the training set.

    References
    ----------
    Bakir, Bottou and Weston (2004), section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from svmcore import EditingSVC
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> edited = EditingSVC(random_state=0).fit(X, (X[:, 0] > 0) ^ (rng.random(400) < 0.1))
    >>> 0 < len(edited.kept_) < 400
    True
    """

    estimator: SVC | None = None
    _: KW_ONLY
    rule: str | Rule = "multiedit"
    n_neighbors: int = 1
    n_splits: int = 3
    patience: int = 3
    below: float = -1.0
    n_subsets: int = 5
    subset_size: int | None = None
    balance: bool = True
    random_state: int | np.random.RandomState | None = None

    def fit(self, X, y, *, monitor=None) -> "EditingSVC":
        """Edit the training set and train on what is left.

        Parameters
        ----------
        X : array-like (n, d)
            Examples in rows.
        y : array-like (n,)
            Labels.
        monitor : callable or None, default None
            As for SVC. One that ends training while examples are edited leaves f = 0 everywhere, and everything kept.

        Returns
        -------
        EditingSVC
            The fitted estimator.

        Raises
        ------
        ValueError
            Naming the parameter and what is allowed, or saying that the rule left a class without examples.
        """
        check_estimators(estimator=self.estimator)
        rule = rule_of(self.rule, {name: getattr(self, name) for name in SETTINGS})
        X, y = checked(self, X, y)
        targets, (prepare, rows, (svc,)) = Targets(X, y), settled([self.estimator], X)
        with Session(monitor) as session:
            try:
                result = edited(rule, rows, y, session, seed=seed_of(self.random_state), estimator=svc)
            except Stopped:
                result = Edited.of(np.full(len(y), KEPT))
            kept = result.kept
            for name in np.setdiff1d(targets.classes, y[kept]).tolist():
                raise ValueError(
                    f"rule = {rule.name!r} leaves no example of class {name!r}; allowed: another rule or settings"
                )
            svc._fit(rows[kept], Targets(rows[kept], y[kept]), session, "final", whole=of_part(kept))
        self.role_, self.kept_ = result.role, kept
        machine = replace(svc.machine_, support=kept[svc.machine_.support], prepare=prepare)
        ends = {"gaps": svc.gap_, "iterations": svc.n_iter_, "ending": svc.ending_}
        self._publish(machine, session, label=targets.label, **ends)
        self.support_vectors_ = machine.support_vectors if prepare is None else double_rows(X, machine.support)
        return self
