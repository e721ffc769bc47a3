"""All one-vs-rest machines of one data set solved together, on working sets of their own over one Gram source.

rounds     the library's own: sets as large as memory allows, f of all examples kept up to date
bounded    the same solver with the settings of Osuna, Freund and Girosi (1997): |B|, new points, lookahead, ...
nu         the same rounds for nu-SVC, which look for the scale of C as they go
inner      one machine on one set: pairs, and steps on the free set where pairs crawl
strategy   whether the whole Gram matrix takes less than rounds
square     the Gram matrix of a working set, kept from round to round
pricing    which examples are looked at for violators, and in what order
settings, trace      what may be asked for, and what was done
"""

from __future__ import annotations

from contextlib import ExitStack

from svmcore.gram.sources import Gram
from svmcore.gram.threads import one_blas_thread
from svmcore.solvers.decomposition.bounded import Bounded
from svmcore.solvers.decomposition.nu import NuRounds
from svmcore.solvers.decomposition.rounds import Rounds
from svmcore.solvers.decomposition.settings import CHOICES, Decomposition
from svmcore.solvers.decomposition.trace import Round, Trace
from svmcore.solvers.progress import Solution
from svmcore.solvers.session import Session

__all__ = ["CHOICES", "Decomposition", "Round", "Trace", "solve"]


def solve(
    gram: Gram,
    Y,
    C,
    session: Session,
    *,
    tol=1e-3,
    stage="train",
    whole=None,
    square_bytes=2**30,
    seed=0,
    settings: Decomposition | None = None,
    nu: float | None = None,
    hold: bool = False,
) -> Solution:
    """Solve the k machines with labels Y (k, n) of +1 and -1 and box C (k, n); returns a Solution.

    `square_bytes` is what the Gram matrices of working sets may take at a time. The session is told how the machines
    stand under the name `stage`; `whole(standing)` makes that of these machines one of all machines of the fit. With
    `settings` the session also keeps a Trace. hold: where a sample tells that it pays, and `square_bytes` suffice, the
    whole Gram matrix is computed and kept. nu: that of a nu-SVC, which scales C until its margin is 1 and leaves
    it in the Solution.
    """
    with one_blas_thread, ExitStack() as memory:
        problem = gram, Y, C, session, tol, stage, whole, square_bytes, seed, memory, settings, hold
        if settings is not None and not settings.usual:
            return Bounded(*problem[:-1]).run()
        return (Rounds(*problem) if nu is None else NuRounds(*problem, nu)).run()
