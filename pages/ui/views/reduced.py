"""reduced: the machine of another run by fewer vectors; the sizes tried take the place of the course of a training."""

from pages.ui import reduction
from pages.ui.kit.view import Look, View
from pages.ui.kit.words import percent
from pages.ui.run.report import marks

FORM = Look("reduced", "See what the reduction changed", "Reduced sets", ":material/compress:")


def _sizes(run) -> str:
    """The sizes that a reduction tried, in its report."""
    found = run.result["reduction"]
    rows = [
        [*(f"{n:,.0f}" for n in (m, wrong, changed)), f"{apart:.3g}", "–" if rho2 is None else percent(rho2**0.5, 1)]
        for m, rho2, wrong, changed, apart, _ in found["path"]
    ]
    where = "are in neither the training nor the test set" if found["unseen"] else "are among the training examples"
    said = (
        f"On {found['aside']:,} examples that {where}, of which the machine of {found['n_before']:,} vectors gets "
        f"{found['machine_errors']:,} wrong; rho as a share of the machines' length."
    )
    head = ["vectors", "wrong", "predictions changed", "difference of f, root mean square", "rho"]
    return marks.section("Sizes tried", marks.table(head, rows, said))


VIEW = View(
    form=FORM,
    numbers=reduction.progress_metrics,
    curves=reduction.curves,
    looks=lambda run, others: [FORM, *others],
    course=_sizes,
)
