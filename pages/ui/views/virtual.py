"""vsv: where copies were drawn, how many of them still told something stands below the course of the training."""

from pages.ui.figures import curves
from pages.ui.figures.frame import show
from pages.ui.kit.view import View
from pages.ui.run import watch
from pages.ui.run.report import marks

HEAD = ("drawn", "in this round", "violate", "held", "support vectors")


def _curves(run, progress: list[dict], key: str) -> None:
    watch.curves_over_time(run, progress, key)
    if run.result and "drawn" in run.result:
        show(curves.by_draws(run.result["drawn"]), key=f"{key}_drawn")


def _rounds(run) -> str:
    rounds = run.result.get("drawn")
    if not rounds:
        return ""
    rows = [[f"{number:,}" for number in one] for one in rounds]
    said = (
        "Virtual copies that violate the margin are added to the training set; examples that have stopped "
        "being support vectors are dropped."
    )
    return marks.section("Copies drawn", marks.table(list(HEAD), rows, said))


VIEW = View(curves=_curves, report={"Copies drawn": _rounds})
