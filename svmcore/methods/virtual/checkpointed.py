"""Checkpoints of a fit with draws: a fit that was interrupted continues after its last round.

    after each round      examples held (parent, jitter), alpha, f and bias of all machines, counts; the base machine
    the next fit          the same examples and settings, by their digest: it takes these up, and draws what would have
                          been drawn next, as the seed and the number of the round decide it

f is kept as it was added up, not made afresh, so that no sum differs: the machine is that of a fit that was never
broken off, bit for bit, as long as it has as much memory (cache_mb), by which working sets are cut.

n examples, k machines, p examples held, s support vectors of the base machine.
"""

from hashlib import blake2b

import numpy as np
from sklearn.base import clone

from svmcore.files import Checkpoint
from svmcore.methods.virtual.draws import Round
from svmcore.model import Machine

ARRAYS = {  # name -> kinds of number, dimensions
    "parent": ("i", "p"), "jitter": ("i", "p"), "idle": ("i", "p"), "alpha": ("f", "kp"), "f": ("f", "kp"),
    "bias": ("f", "k"), "gaps": ("f", "k"), "iterations": ("i", "k"), "rounds": ("i", "r5"), "ending": ("U", ""),
    "counts": ("i", "5"), "seconds": ("f", ""), "ceiling": ("i", ""),
    "base_support": ("i", "s"), "base_alpha": ("f", "ks"), "base_bias": ("f", "k"), "base_bound": ("b", "ks"),
    "base_iterations": ("i", "k"), "base_gap": ("f", ""), "base_ending": ("U", ""),
}  # fmt: skip
STANDING = ("parent", "jitter", "idle", "alpha", "f", "bias", "gaps", "iterations")  # of the draws
FORMAT = 1  # another one whenever rounds go another way, or other arrays are left
COUNTS = ("evaluations", "hits", "misses", "iterations", "second_order")  # of the session


class DrawsCheckpoint:
    """The checkpoint of the drawn stage of a fit, `stages`. arrays: its content from an earlier fit, None without one.

    message: where it goes on, or why it cannot; empty without one."""

    def __init__(self, checkpoint: Checkpoint, stages):
        self.checkpoint, self.stages, self.key = checkpoint, stages, _digest(stages)
        self.arrays, self.message, self.before = None, "", 0.0
        try:
            arrays = checkpoint.read(self.key)
            if arrays is not None:
                self._check(arrays)
        except ValueError as error:
            why = f"the checkpoint {checkpoint.path.name} cannot be used: {error}"
            self.message = f"training started again, because {why}"
            return
        if arrays is not None:
            self.arrays, self.before = arrays, float(arrays["seconds"])
            drawn, rounds = (arrays["rounds"][-1, 0] if len(arrays["rounds"]) else 0), len(arrays["rounds"])
            done = f"{rounds} round{'s' * (rounds != 1)}, {drawn:,} copies drawn, {self.before:.1f} s of training"
            self.message = f"training continued from a checkpoint ({done})"

    def write(self, draws) -> None:
        """Leave how the draws stand. OSError when the disk refuses."""
        session, base = self.stages.session, self.stages.base
        arrays = {name: getattr(draws, name) for name in (*STANDING, "ending")}
        arrays |= {"rounds": np.array(draws.rounds, np.int64).reshape(-1, 5), "ceiling": self.stages.ceiling}
        arrays |= {"counts": [getattr(session, name) for name in COUNTS], "seconds": self.before + session.seconds}
        arrays |= {f"base_{name}": getattr(base.machine_, name) for name in ("support", "alpha", "bias", "bound")}
        arrays |= {"base_iterations": base.n_iter_, "base_gap": base.gap_, "base_ending": base.ending_}
        self.checkpoint.write(self.key, {name: np.asarray(value) for name, value in arrays.items()})

    def base(self, rows):
        """The base machine that was found, of the examples `rows` (n, d)."""
        stages, arrays = self.stages, self.arrays
        svc, targets, support = clone(stages.first), stages.targets, arrays["base_support"]
        machine = Machine(
            kernel=svc._kernel_for(rows), classes=targets.classes, support=support, support_vectors=rows[support],
            coef=arrays["base_alpha"] * targets.Y[:, support], bias=arrays["base_bias"], C=float(svc.C),
            bound=arrays["base_bound"],
        )  # fmt: skip
        gaps = np.full(len(targets.Y), float(arrays["base_gap"]))
        ends = {"gaps": gaps, "iterations": arrays["base_iterations"], "ending": ""}
        svc._publish(machine, stages.session, label=targets.label, **ends)
        svc.ending_, svc.converged_ = str(arrays["base_ending"]), not str(arrays["base_ending"])
        return svc

    def restore(self, draws) -> None:
        """Let the draws stand as they were found."""
        arrays, session = self.arrays, self.stages.session
        for name in STANDING:
            setattr(draws, name, arrays[name])
        draws.rounds = [Round(*row) for row in arrays["rounds"].tolist()]
        draws.ending, draws.drawn = str(arrays["ending"]), draws.rounds[-1].drawn if draws.rounds else 0
        draws.stage = f"virtual, continuing after {draws.drawn:,} drawn copies"
        self.stages.ceiling = min(self.stages.ceiling, int(arrays["ceiling"]))
        evaluations, hits, misses, iterations, second_order = arrays["counts"].tolist()
        session.count(evaluations, hits, misses, iterations=iterations, second_order=second_order)

    def _check(self, arrays) -> None:
        """ValueError for what is no such state."""
        sizes = {"k": len(self.stages.Y), "5": 5}
        for name, (kinds, dimensions) in ARRAYS.items():
            if name not in arrays:
                raise ValueError(f"it has no array {name}")
            array = arrays[name]
            if array.dtype.kind not in kinds or array.ndim != len(dimensions):
                raise ValueError(f"{name} has the type {array.dtype} and the shape {array.shape}")
            for letter, size in zip(dimensions, array.shape, strict=True):
                if sizes.setdefault(letter, size) != size:
                    raise ValueError(f"{name} has the shape {array.shape}, but others have the size {sizes[letter]}")
            if "f" in kinds and not np.isfinite(array).all():
                raise ValueError(f"{name} has missing or infinite values")
        n, box = len(self.stages.X), self.stages.box
        _within("parent", arrays["parent"], n - 1)
        _within("base_support", arrays["base_support"], n - 1)
        _within("jitter", arrays["jitter"], len(self.stages.single) - 1)
        _within("alpha", arrays["alpha"], box[arrays["parent"]])


def _within(name: str, array, most) -> None:
    """ValueError where numbers are below 0 or above `most`."""
    if (array < 0).any() or (array > most).any():
        raise ValueError(f"{name} has invalid values")


def _digest(stages) -> str:
    """Of all that decides the fit, but for memory."""
    settings = {
        name: type(value).__name__ if hasattr(value, "get_params") else repr(value)
        for name, value in stages.owner.get_params().items()
        if not name.endswith("cache_mb")
    }
    text = repr((FORMAT, stages.X.shape, str(stages.single), sorted(settings.items())))
    digest = blake2b(text.encode(), digest_size=16)
    for array in (stages.X, stages.Y, stages.box, stages.first._box(stages.targets)):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
