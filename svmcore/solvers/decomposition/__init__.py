"""All one-vs-rest machines of one dataset solved together, on working sets of their own over one Gram source.

state      what is known of the machines; all that follows are functions on it, by idea
sample     whether the whole Gram matrix takes less than rounds
sets       which examples a machine is solved on next
square     the Gram matrix of a working set, kept from round to round
inner      one machine on its set: pairs, and steps on the free set where pairs crawl
look       f of all examples after it, and the gaps
interior   machines that are those of a larger C, too
reports, trace       how machines stand, and what was done

Strategies hold a state, and say in what order:

rounds     the library's own: sets as large as memory allows, f of all examples kept up to date
nu         the same for nu-SVC, which look for the scale of C as they go
bounded    the same solver with the settings of Osuna, Freund and Girosi (1997): |B|, new points, lookahead, ...
settings, pricing    what may be asked of it; which examples it looks at for violators, and in what order
"""

from contextlib import ExitStack

from svmcore.gram.sources import Gram
from svmcore.gram.threads import one_blas_thread
from svmcore.solvers.decomposition.bounded import Bounded
from svmcore.solvers.decomposition.interior import Interior
from svmcore.solvers.decomposition.look import standing
from svmcore.solvers.decomposition.nu import NuRounds
from svmcore.solvers.decomposition.rounds import Rounds
from svmcore.solvers.decomposition.settings import CHOICES, Decomposition
from svmcore.solvers.decomposition.state import State
from svmcore.solvers.decomposition.trace import Round, Trace
from svmcore.solvers.progress import Solution, Stopped
from svmcore.solvers.session import Session

__all__ = ["CHOICES", "Decomposition", "Interior", "Round", "Trace", "solve"]


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
    start=None,
    like=None,
    interior: Interior | None = None,
) -> Solution:
    """Solve the k machines with labels Y (k, n) of +1 and -1 and box C (k, n); returns a Solution.

    `square_bytes` is what the Gram matrices of working sets may take at a time. The session is told how the machines
    stand under the name `stage`; `whole(standing)` makes that of these machines one of all machines of the fit. With
    `settings` the session also keeps a Trace. hold: where a sample tells that it pays, and `square_bytes` suffice, the
    whole Gram matrix is computed and kept. nu: that of a nu-SVC, which scales C until its margin is 1 and leaves
    it in the Solution. start: feasible alpha (k, n) to go on from, and f (k, n) there, in place of zeros. like (k,):
    numbers, the same of machines that have the same labels and nearly the same examples. interior: machines of other C
    on this source, which holds all of K.
    """
    with one_blas_thread, ExitStack() as memory:
        trace = session.trace = None if settings is None else Trace(len(Y[0]), gram.nbytes)
        apart = nu is not None
        state = State(gram, session, Y, C, tol, square_bytes, seed, memory, hold, apart, trace, start)
        state.exact.like = like
        session.begin(stage, lambda: whole(standing(state)) if whole else standing(state))
        if settings is not None and not settings.usual:
            return _run(state, Bounded(state, settings))
        if nu is not None:
            return _run(state, NuRounds(state, nu))
        return _run(state, Rounds(state, interior=interior if start is None else None))


def _run(state: State, strategy: Rounds | Bounded | NuRounds) -> Solution:
    """To the end, or to the stop that someone asks for."""
    why = "stopped"
    try:
        strategy.solve()
        why = strategy.ending()
    except Stopped:
        state.gaps[:], state.bias[:] = zip(*((seen.gap, seen.bias) for seen in state.seen), strict=True)
    else:
        state.session.report()
    return Solution(state.alpha, state.bias, state.gaps, not why, state.iterations, why, state.C, state.f)
