"""nu-SVC: the share of examples on the wrong side of the margin is asked for, instead of what each of them costs.

    min_w,b,rho  1/2 |w|^2 - nu rho + 1/n sum_i max(0, rho - y_i (w.phi(x_i) + b)),    rho >= 0

    max_alpha  -1/2 sum_ij alpha_i alpha_j y_i y_j K_ij
    s.t. 0 <= alpha_i <= 1/n,  sum_i alpha_i y_i = 0,  sum_i alpha_i = nu

At most nu n examples have a margin below rho, and at least nu n are support vectors. Divided by rho it is the machine
of the C-SVC with C = 1 / (n rho), which is how it is trained (decomposition/nu.py) and published.

Schölkopf, Smola, Williamson and Bartlett, Neural Computation 12 (2000); Chang and Lin, Neural Computation 13 (2001).
"""

from dataclasses import dataclass, field, replace

import numpy as np

from svmcore.allowed import above, check
from svmcore.model import Machine
from svmcore.solvers.decomposition import Decomposition
from svmcore.solvers.digestion import Digestion
from svmcore.solvers.general import General
from svmcore.svc import SVC

SOLVERS = ("auto", "smo", "decomposition")


@dataclass(eq=False, repr=False)
class NuSVC(SVC):
    """Support vector classifier by nu: several classes are each separated from the rest.

    Parameters
    ----------
    kernel, degree, gamma, coef0 : as of SVC
        The kernel, or its name and its numbers.
    class_weight : dict, "balanced" or None, default None
        Factors of what an example may weigh, 1/n, by class.
    tol : float, default 1e-3
        The largest KKT gap left, in double precision, of the C-SVC with the same machine.
    max_iter, cache_mb : as of SVC
        Limits of what training may take.
    solver : {"auto", "smo", "decomposition"}, default "auto"
        As of SVC.
    random_state : as of SVC
        The same seed gives the same machine.
    nu : float, default 0.5
        Above 0, and at most twice the share of the smaller class, in each machine.

    Attributes
    ----------
    C_ : ndarray (k,)
        C of the C-SVC with the same machine, of which all other attributes are: those of SVC.

    References
    ----------
    Schölkopf, Smola, Williamson and Bartlett (2000), Neural Computation 12.
    Chang and Lin (2001), Neural Computation 13.

    Examples
    --------
    >>> import numpy as np
    >>> from svmcore import NuSVC
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> machine = NuSVC(nu=0.3, random_state=0).fit(X, X[:, 0] + X[:, 1] > 0)
    >>> len(machine.support_) >= 0.3 * len(X) * 0.98
    True
    """

    C: float = field(default=1.0, init=False)  # no parameter: its scale is found
    loss: str = field(default="hinge", init=False)
    nu: float = field(default=0.5, kw_only=True)

    @property
    def _nu(self) -> float:
        return float(self.nu)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check(self, nu=above(0, 1))
        bounded = isinstance(self.solver, Decomposition) and not self.solver.usual
        if bounded or isinstance(self._settings, Digestion | General):
            raise ValueError(f"solver = {self.solver!r}; allowed for nu-SVC: {', '.join(SOLVERS)}")

    def _solve(self, rows, kernel, Y, C, *arguments, **named):
        """As of SVC, where nu can be had."""
        smaller = np.minimum((C * (Y > 0)).sum(axis=1), (C * (Y < 0)).sum(axis=1))
        most = float((2 * smaller / C.sum(axis=1)).min())
        if self.nu > most * (1 + 1e-12):
            raise ValueError(
                f"nu = {self.nu!r} is infeasible; allowed: at most {most:.4g}, twice the share of the smaller class"
                + (" (the smallest against the rest)" if len(Y) > 1 else "")
            )
        return super()._solve(rows, kernel, Y, C, *arguments, **named)

    def _machine(self, rows, kernel, targets, box, solution) -> Machine:
        used = box[0] > 0
        self.C_ = (solution.C / np.where(used, box, np.inf)).max(axis=1)
        machine = super()._machine(rows, kernel, targets, solution.C, solution)
        return replace(machine, C=float(self.C_.max()), meta={"nu": float(self.nu)})
