"""Without it: what becomes of the run's answers without one training example, or with another label of it."""

from pages.ui.example import evidence
from pages.ui.example.shown import Shown
from pages.ui.kit import parameters
from pages.ui.kit.words import short
from pages.ui.why import without
from pages.ui.why.ticks import Ticks
from svmcore.lab.experiment.without import why_not
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

PARAMS = ("instead",)
OUT = ""  # in place of another label


def offered(run: Run, machine: Machine, shown: Shown) -> bool:
    """Whether the example is one that the run was trained on, and can be retrained without."""
    return _row(shown) in run.train_index() and not why_not(run)


def panel(run: Run, machine: Machine, shown: Shown) -> None:
    """Draw what changes without the example."""
    row, names = _row(shown), evidence.class_names(run, machine)
    seen = evidence.class_of(run, machine, evidence.labels(run).seen[row])
    instead = parameters.choice(
        "instead",
        "The example is",
        [OUT, *(name for name in names if name != seen)],
        OUT,
        widget="selectbox",
        key=f"why_instead_{row}",
        format_func=lambda name: f"given the label {short(name)}" if name else "taken out",
        width=280,
        help="Taken out of the training set, or given another label there.",
    )
    ticks = Ticks(labels=((row, instead),)) if instead else Ticks(out=(row,))
    c = 0 if len(machine.bias) == 1 else names.index(seen)
    change = ticks.change(run, machine)
    without.effect_of(run, machine, change, "why_without")
    without.in_full(run, machine, c, change, "why_without")


def _row(shown: Shown) -> int:
    """The row of X_train that the example is; -1 where it is none."""
    _, split, index = [*shown.ref.rsplit("/", 2), "", ""][:3]
    return int(index) if split == "train" else -1
