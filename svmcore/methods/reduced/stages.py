"""What a fit of ReducedSet does, stage by stage: parts of machines, their reduced sets, and the one machine they make.

    part        machines that share their vectors: all of them, or each one a part of its own
    simplify    exact.py, where a feature space has fewer dimensions than there are support vectors
    start       first vectors (start.py), or eigenvectors (quadratic.py)
    reduce      one by one (search.py), all vectors at once (joint.py), or by training examples: by their answers
                (answers.py), by the SVM's objective (direct.py)
    threshold   the bias on training examples (threshold.py)

A part that a stop finds unfinished has the best that was seen; one not begun keeps the support vectors that it had. So
what a stop leaves is a machine that decides, always.
"""

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from svmcore.gram.threads import CORES
from svmcore.methods.reduced.answers import Answers, drawn, fit_answers, gathered, grown
from svmcore.methods.reduced.checks import BY_EXAMPLES
from svmcore.methods.reduced.direct import Direct
from svmcore.methods.reduced.exact import by_distance, dimensions, pivots
from svmcore.methods.reduced.expansion import Expansion
from svmcore.methods.reduced.joint import Reduced, optimise
from svmcore.methods.reduced.quadratic import eigenvectors
from svmcore.methods.reduced.search import SEARCHES, one_by_one
from svmcore.methods.reduced.start import EXAMPLES, first_vectors
from svmcore.methods.reduced.threshold import best_thresholds
from svmcore.model import Machine, labels
from svmcore.solvers.progress import Snapshot, Standing
from svmcore.solvers.session import Session

FIRST = 2000  # vectors, about, that a path of answers begins with: many more at once are slow to move from afar
KEPT = 1400  # vectors that such a path keeps for its next step: FIRST, rounded down


@dataclass
class Part:
    """Machines that share their vectors."""

    machines: np.ndarray  # (s,) which of the k
    target: Expansion  # of these s
    norms: np.ndarray | None = None  # (s,) |Psi|^2
    found: Reduced | None = None  # the best seen
    start: np.ndarray | None = None  # (s,) rho^2 of the first vectors

    @property
    def now(self) -> tuple[np.ndarray, np.ndarray]:
        """Vectors (m, d) and weights (s, m), as they stand."""
        return (self.target.vectors, self.target.coef) if self.found is None else self.found[:2]

    @property
    def shares(self) -> np.ndarray:
        """rho^2 of each machine as a share of its |Psi|^2: (s,)."""
        if self.found is None or self.norms is None:
            return np.zeros(len(self.machines))
        return self.found.rho2 / np.maximum(self.norms, np.finfo(float).tiny)


class Stages:
    """One fit of a ReducedSet, `owner`, on a machine."""

    def __init__(self, owner, machine: Machine, method: str, session: Session):
        self.owner, self.machine, self.method, self.session = owner, machine, method, session
        self.parts = [Part(machines, target) for machines, target in targets(machine, owner.shared)]
        self.bias, self.loss, self.grown = machine.bias, 0.0, 0
        self.deformed = None  # images (n, d') of the examples, and what prepares them, where features are made of them
        self.first = owner.start if owner.start != "auto" else "k-means" if method == "answers" else "greedy"

    def reduce(self, counts, seed: int) -> None:
        """Every part to so many vectors, counts (number of parts,); those that stand already are begun anew."""
        self.bias = self.machine.bias
        self.session.begin("reduce", self.standing)
        threads = 1 if len(self.parts) == 1 else CORES
        tasks = [(part, m, seed + c) for c, (part, m) in enumerate(zip(self.parts, counts, strict=True))]
        self.session.side_by_side(self._one, tasks, threads)

    def _one(self, part: Part, m: int, seed: int) -> None:
        session, owner = self.session, self.owner
        if part.norms is None:
            part.target = simplified(part.target, session)
            part.norms = np.maximum(part.target.norms(session), 0)
        if self.method == "quadratic":
            self._eigenvectors(part, m)
            return
        part.found = None

        def seen(reduced: Reduced) -> None:
            def news():
                part.found = reduced
                part.start = reduced.rho2 if part.start is None or not reduced.iterations else part.start

            session.see(1, news)

        m = min(m, len(part.target.vectors))
        Z = first_vectors(part.target, m, self.first, seed, session)
        how = {"iterations": owner.iterations, "tol": owner.tol, "max_rho": owner.max_rho or 0.0}
        if self.method in SEARCHES:
            Z, how["by"] = one_by_one(part.target, Z, part.norms, self.method, session, seen), "CG"
        result = optimise(part.target, Z, part.norms, session, seen=seen, **how)
        session.check()
        gamma = part.target.weights(result.Z, self.session)  # in double precision
        rho2 = part.target.rho2(result.Z, gamma, self.session, part.norms)
        self.session.see(0, lambda: setattr(part, "found", result._replace(gamma=gamma, rho2=rho2)))

    def _eigenvectors(self, part: Part, m: int) -> None:
        exact = eigenvectors(part.target, self.session)
        reduced = Reduced(exact.Z[:m].astype(np.float32), exact.gamma[None, :m], exact.rho2[[min(m, len(exact.Z))]])
        part.start = reduced.rho2
        self.session.see(1, lambda: setattr(part, "found", reduced))

    def answers(self, m: int, X, y, seed: int) -> None:
        """The only part to m vectors and new biases, by what they say about examples X (n, d) with labels y (n,).
        Vectors that an earlier step of the path found are kept and moved on, where they are KEPT at least: fewer have
        learnt to answer without those to come."""
        self.session.begin("start", self.standing)
        (part,), owner, machine, session = self.parts, self.owner, self.machine, self.session
        settings, known = owner.answers or Answers(), len(part.found.Z) if part.found else 0
        known = known if known >= KEPT else 0
        label, bias = np.searchsorted(machine.classes, y), self.bias if known else machine.bias
        if self.first == EXAMPLES:
            fresh, bias = drawn(machine, X, label, m - known, seed), self.bias if known else np.zeros(len(machine.bias))
            Z = fresh.vectors
        else:
            Z = first_vectors(part.target, m - known, self.first, seed, session)
        if known:
            self.grown += 1
            start, settings = grown(Expansion(machine.kernel, *part.found[:2]), Z), settings.further(self.grown)
        else:
            start = fresh if self.first == EXAMPLES else gathered(part.target, Z, session)
        session.begin("answers", self.standing)

        def seen(answered) -> None:
            unknown = np.full(len(machine.bias), np.nan)  # rho is not what it goes by
            result = Reduced(answered.Z, answered.gamma, unknown, answered.epochs, answered.ending)

            def news():
                part.found, self.bias, self.loss = result, answered.bias, answered.loss

            session.see(1, news)

        images, prepare = self.deformed or (X, None)
        shape = owner.image_shape or machine.meta.get("image_shape") or ()
        shape = tuple(shape) if shape and prod(shape) == images.shape[1] else None  # cropped ones are images no more
        if prepare is None and getattr(machine.prepare, "makes_features", False):
            shape = None
        how = {"settings": settings, "image_shape": shape, "seed": seed}
        how |= {"images": images, "prepare": prepare} if prepare is not None else {}
        if settings.by == "machine":
            predicted = lambda x: labels(machine.classes, machine.decision_values(x, session.check))  # noqa: E731
            how["teacher"] = lambda x: np.searchsorted(machine.classes, predicted(x))
        seen(fit_answers(start, bias, X, label, work=session, seen=seen, **how))
        session.check()

    def direct(self, counts, X, y, seed: int) -> None:
        """Parts reduced by the SVM objective on X (n, d), y (n,), with new biases: Wu, Schölkopf and Bakır (2006)."""
        self.session.begin("direct", self.standing)
        classes, self.bias = self.machine.classes, self.machine.bias.copy()
        label = np.searchsorted(classes, y)
        Y = np.where(label == np.arange(len(classes))[:, None], 1.0, -1.0)[-len(self.bias) :]
        how = {"iterations": self.owner.iterations, "tol": self.owner.tol}
        for number, (part, m) in enumerate(zip(self.parts, counts, strict=True)):
            part.found, own = None, Y[part.machines]
            Z = first_vectors(part.target, m, self.first, seed + number, self.session)
            fun = Direct(self.machine.kernel, self.machine.C, X, own, Z, self.session)

            def seen(reduced: Reduced, part=part, fun=fun) -> None:
                def news():
                    part.found = reduced._replace(rho2=np.full(len(reduced.rho2), np.nan))
                    self.bias[part.machines], self.loss = fun.bias, float(reduced.rho2.sum())

                self.session.see(1, news)

            optimise(None, Z, np.zeros(len(own)), self.session, seen=seen, fun=fun, **how)
            self.session.check()

    def simplify(self, tol: float) -> Machine:
        """The machine on those of its vectors that the others depend on, decisions unchanged."""
        self.session.begin("simplify", self.standing)
        machine, coef = self.machine, np.zeros((len(self.machine.bias), len(self.machine.support)))
        for part in self.parts:
            at = np.flatnonzero((machine.coef[part.machines] != 0).any(axis=0))
            most = min(len(at), dimensions(machine.kernel, part.target.vectors.shape[1]))
            basis = pivots(part.target, by_distance, int(most), tol, self.session)
            part.norms = part.target.norms(self.session)
            rho2 = basis.rho2[-1] if len(basis.rho2) else part.norms
            part.found = Reduced(part.target.vectors[basis.chosen], basis.gamma, rho2)
            part.start = part.found.rho2
            coef[np.ix_(part.machines, at[basis.chosen])] = basis.gamma
        used = np.flatnonzero((coef != 0).any(axis=0))
        rows = {
            name: None if getattr(machine, name) is None else getattr(machine, name)[used]
            for name in ("support", "support_vectors", "parent", "jitter")
        }
        return replace(machine, coef=coef[:, used], bound=np.zeros((len(coef), len(used)), bool), **rows)

    def threshold(self, X, y, slack: float) -> None:
        """Each machine's bias with the fewest errors on X (n, d), y (n,), or nearly so: slack of threshold.py."""
        self.session.begin("threshold", self.standing)
        decision = self.assemble().decision_values(X, self.session.check)
        self.bias = self.bias + best_thresholds(decision, y, self.machine.classes, slack)

    @property
    def share(self) -> float:
        """rho^2 of all machines as a share of the sum of |Psi|^2."""
        return float(self.gather("rho2").sum() / max(self.gather("norms").sum(), np.finfo(float).tiny))

    @property
    def ending(self) -> str:
        """Why a part ended before progress was slow; empty where none did."""
        return next((part.found.ending for part in self.parts if part.found and part.found.ending), "")

    def assemble(self) -> Machine:
        """One machine of all parts as they stand."""
        snapshot, machine = self.snapshot(), self.machine
        return Machine(
            kernel=machine.kernel,
            classes=machine.classes,
            support=snapshot.support,
            support_vectors=snapshot.vectors,
            coef=snapshot.coef,
            bias=snapshot.bias,
            C=machine.C,
            bound=snapshot.bound,
            meta={key: value for key, value in machine.meta.items() if key != "jitters"},
            prepare=machine.prepare,
        )

    def snapshot(self) -> Snapshot:
        """All parts as they stand, their vectors in the order of the parts."""
        standing = [part.now for part in self.parts]
        sizes = np.cumsum([0, *(len(Z) for Z, _ in standing)])
        coef = np.zeros((len(self.bias), sizes[-1]))
        for part, (_, gamma), start, stop in zip(self.parts, standing, sizes[:-1], sizes[1:], strict=True):
            coef[part.machines, start:stop] = gamma
        vectors = np.concatenate([Z for Z, _ in standing])
        support, bound = np.full(len(vectors), -1), np.zeros(coef.shape, bool)
        return Snapshot(support, coef, self.bias, bound, vectors, self.machine.kernel)

    def standing(self) -> Standing:
        """gaps: rho^2 of each machine as a share of its |Psi|^2; dual: the sum of all rho^2; n_sv: vectors. While
        examples are gone by: no gaps; dual: the loss."""
        shares = np.zeros(len(self.bias))
        for part in self.parts:
            shares[part.machines] = part.shares
        rho2 = sum(float(part.found.rho2.sum()) for part in self.parts if part.found is not None)
        n_sv = sum(len(part.now[0]) for part in self.parts)
        if self.method in BY_EXAMPLES:
            return Standing((), self.loss, n_sv, 0, self.snapshot)
        return Standing(tuple(map(float, shares)), rho2, n_sv, 0, self.snapshot)

    def gather(self, name: str) -> np.ndarray:
        """rho^2, start or norms of every machine (k,); NaN where a stop came before."""
        values = np.full(len(self.bias), np.nan)
        for part in self.parts:
            value = getattr(part, name) if name != "rho2" else part.found and part.found.rho2
            if value is not None:
                values[part.machines] = value
        return values


def targets(machine: Machine, shared: bool) -> list[tuple[np.ndarray, Expansion]]:
    """The machines (s,) of each part and their expansion; none of those that are their bias alone, unless shared."""
    whole = Expansion.of(machine)
    if not shared:
        return [(np.array([c]), whole.machine(c)) for c in np.flatnonzero(whole.coef.any(axis=1))]
    used = whole.used
    if len(used) < len(whole.vectors):
        whole = Expansion(whole.kernel, whole.vectors[used], whole.coef[:, used])
    return [(np.arange(len(whole.coef)), whole)]


def errors(machine: Machine, X, y, session: Session) -> float:
    """Share of prepared rows X (n, d) that get another label than y (n,)."""
    return float(np.mean(labels(machine.classes, machine.decision_values(X, session.check)) != y))


def simplified(target: Expansion, session: Session) -> Expansion:
    """The same Psi over fewer examples, where the kernel's space has fewer dimensions than there are examples."""
    n, d = target.vectors.shape
    if (most := dimensions(target.kernel, d)) >= n:
        return target
    basis = pivots(target, by_distance, int(most), work=session)
    return Expansion(target.kernel, target.vectors[basis.chosen], basis.gamma) if len(basis.chosen) else target
