"""Edit, then train: any rule of rules.py before an SVC."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import validate_data

from svmcore.estimator import MachineEstimator, Targets, float32_rows, seed_of
from svmcore.methods.editing.beside import of_part
from svmcore.methods.editing.estimator import check_estimators, settled
from svmcore.methods.editing.roles import KEPT, Edited
from svmcore.methods.editing.rules import SETTINGS, check_settings, edited
from svmcore.solvers.progress import Stopped
from svmcore.solvers.session import Session
from svmcore.svc import SVC


class EditingSVC(MachineEstimator):
    """An SVC trained on what an editing rule leaves of the training set.

    estimator: the SVC, also the one inside rules that need one. rule and the other settings: as of `edit`. Several
    classes: each against the rest, where the rule takes several.

    Attributes after fit, as of SVC where not said otherwise, support_ in the training set: machine_, kernel_, history_,
    converged_, ending_, kernel_evals_, role_ (n,) int8 codes of roles.py, kept_ (m,) training indices. A monitor that
    ends training while examples are edited leaves f = 0 everywhere, and everything kept.
    """

    def __init__(
        self,
        estimator: SVC | None = None,
        *,
        rule: str = "multiedit",
        n_neighbors: int = 1,
        n_splits: int = 3,
        patience: int = 3,
        below: float = -1.0,
        n_subsets: int = 5,
        subset_size: int | None = None,
        balance: bool = True,
        random_state=None,
    ):
        self.estimator = estimator
        self.rule = rule
        self.n_neighbors = n_neighbors
        self.n_splits = n_splits
        self.patience = patience
        self.below = below
        self.n_subsets = n_subsets
        self.subset_size = subset_size
        self.balance = balance
        self.random_state = random_state

    def fit(self, X, y, *, monitor=None) -> EditingSVC:
        """Train on X (n, d) and labels y (n,). ValueError names the parameter and what is allowed, or says that the
        rule left a class without examples."""
        check_estimators(estimator=self.estimator)
        settings = {name: getattr(self, name) for name in SETTINGS}
        check_settings(self.rule, **settings)
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], accept_sparse="csr")
        targets, rows = Targets(X, y), float32_rows(X)
        svc = settled(self.estimator, rows)
        with Session(monitor) as session:
            try:
                found = edited(self.rule, rows, y, session, seed=seed_of(self.random_state), estimator=svc, **settings)
            except Stopped:
                found = Edited.of(np.full(len(y), KEPT))
            kept = found.kept
            for name in np.setdiff1d(targets.classes, y[kept]).tolist():
                raise ValueError(
                    f"rule = {self.rule!r} leaves no example of class {name!r}; allowed: another rule or settings"
                )
            svc._fit(rows[kept], Targets(rows[kept], y[kept]), session, "final", whole=of_part(kept))
        self.role_, self.kept_ = found.role, kept
        machine = replace(svc.machine_, support=kept[svc.machine_.support])
        ends = {"gaps": svc.gap_, "iterations": svc.n_iter_, "ending": svc.ending_}
        self._publish(machine, session, label=targets.label, **ends)
        return self
