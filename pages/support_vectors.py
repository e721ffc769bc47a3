"""Support vectors: the examples that hold one machine up, and how hard each of them pulls.

Leave-one-out influence: the support vectors whose removal helps, and those whose removal harms, by validation.

Every support vector is left out in turn and its machines are retrained without it, exactly, beside the runs
(svmcore/lab/jobs/analyses.py); the list is here as far as it has come.
"""

import numpy as np
import streamlit as st

from data import load
from pages.ui.example import decision_plane, evidence, parents
from pages.ui.figures import decisions
from pages.ui.figures.frame import show
from pages.ui.kit import parameters, present, state, walk
from pages.ui.kit.gallery import RINGS, SIDES, VIRTUAL_RINGS, gallery, open_digit, reference
from pages.ui.kit.text import with_sign
from pages.ui.kit.walk import paged
from pages.ui.kit.ways import button
from pages.ui.kit.words import many, percent, plain
from pages.ui.recipe import data_set
from pages.ui.run.trained import another_run, to_labels, trained_run
from pages.ui.why import ticks, without
from pages.ui.why.working import Work, watched
from svmcore.explain.value import Values
from svmcore.lab.analyses.without import FOLDS, Worth, why_not
from svmcore.lab.jobs import analyses
from svmcore.lab.jobs.background import TaskStatus
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

SHOWN = 24  # of each list
TICKED = 10  # that a button ticks
WHOSE = {"one": "this machine's", "all": "all machines'"}
WHAT = (
    "Each support vector is left out in turn, and the machines that use it are retrained exactly. The lists count the "
    "validation errors that this fixes and adds; the change of the mean margin breaks ties. Validation examples are "
    f"training examples that the run did not use, or {FOLDS} folds of those that it used; the test set is not used. "
    "Influences do not add up, because each is measured with all other examples present. A difference of one or two "
    "errors may be chance."
)


def what_each_is_worth(run: Run, machine: Machine, c: int) -> None:
    """The list, how far it is, or the button that begins it."""
    st.subheader("Leave-one-out influence")
    of = "all"
    if len(machine.bias) > 1:
        of = parameters.choice("support_vectors.worth", WHOSE, format_func=WHOSE.__getitem__)
    whose = None if of == "all" else c
    work = Work(
        analyses.VALUED, (run.id, whose), "worth", _bar, "The influence could not be computed",
        begin="Compute influence", again="Start again", icon="balance",
        help="Leaves out every support vector in turn, in the background. Results appear as they come.",
    )  # fmt: skip
    watched(work, lambda now: _lists(run, now.result, now.state) if now.result else None)
    st.caption(WHAT)


def _bar(now: TaskStatus) -> tuple[str, float]:
    found: Worth | None = now.result
    doing = "Waiting" if now.state == "waiting" else "Leaving out one support vector at a time"
    doing += f": {now.message}" if now.message else ""
    return (f"{doing} · {found.asked:,} validation predictions made", found.share) if found else (doing, 0.0)


def _lists(run: Run, found: Worth, now: str) -> None:
    values, how = found.values, "not used by the run" if found.parts == 1 else f"in {found.parts} folds"
    asked = f"{many(found.asked, 'validation example')} {how}"
    if now != "done":
        asked += " (not finished yet)" if now != "stopped" else " (stopped early)"
    st.caption(
        "Above each example: its class. Below: validation errors fixed (+) and added (−) without it. If there are "
        "none: the change of the mean margin, times 1,000."
    )
    sides = st.grid(2, min_column_width=340)
    for title, rows, key in (("Removal helps", values.helps(), "helps"), ("Removal harms", values.harms(), "harms")):
        with sides.cell():
            st.markdown(f"**{title}**: {many(len(rows), 'support vector')}, measured on {asked}")
            if len(rows):
                _list(run, values, rows[:SHOWN], title, key)
                if key == "helps":
                    _tick(run, rows[:TICKED])


def _list(run: Run, values: Values, positions: np.ndarray, title: str, key: str) -> None:
    rows = ticks.rows_of(positions, run)
    seen, dataset = evidence.labels(run).seen[rows].tolist(), load(run.recipe.dataset)
    labels, lower = [], []
    for i, row, label in zip(positions.tolist(), rows.tolist(), seen):
        won, lost, margin = int(values.won[i]), int(values.lost[i]), with_sign(1000 * values.mean_margin[i])
        effect = f"fixes {many(won, 'error')}, adds {lost}, and changes the mean margin by {margin} thousandths"
        labels.append(f"Training example {row}, class {label}: leaving it out {effect}")
        lower.append(f"+{won} −{lost}" if won or lost else margin)
    marks = {"upper": [evidence.brief(dataset, label) for label in seen], "lower": lower}
    alt = f"{title}: {len(rows)} training examples"
    evidence.example_gallery(dataset, "train", rows, labels, **marks, key=f"worth_{key}", alt=alt)


def _tick(run: Run, positions: np.ndarray) -> None:
    """The way from the list to what it does together: values do not add up."""
    rows = ticks.rows_of(positions, run).tolist()
    help = "Ticks these examples above. The machines are retrained without all of them."
    button(f"Exclude the first {len(rows)}", "check_box", "worth_tick", _ticked, run.id, rows, help=help)


@state.callback
def _ticked(run_id: str, rows: list[int]) -> None:
    """Callback: tick these, and no others."""
    ticks.keep(run_id, ticks.Ticks(tuple(rows)))
    st.rerun()


PER_PAGE = 96
KINDS = ("All", "Free", "Bound", "Virtual")
ORDERS = ("Largest alpha", "Smallest alpha", "Index")
FAMILIES = "By parent"  # the order of machines that have virtual support vectors


def one_by_one(run, machine, chosen, name, of, ticked, on_pick):
    """A gallery of support vectors in their order, page by page; those ticked are marked."""
    shown = evidence.take(chosen, paged(len(chosen.row), PER_PAGE, key="sv_page", of=of))
    legend = (
        f"{len(chosen.row):,} constructed vectors of *{plain(name)}*. They are not examples and cannot be opened. "
        f"Above each: the class with its largest weight. Below: its weight in this machine; {SIDES}. "
        f"{evidence.drawing(run)}"
    )
    if not evidence.constructed(machine):
        legend = (
            f"{many(len(chosen.row), 'support vector')} of *{plain(name)}*. Above each: its class. Below: its alpha. "
            f"{RINGS if machine.jitter is None else VIRTUAL_RINGS}; {SIDES}. Click one to open it."
            + (f" {evidence.SWAPPED}." if any(shown.given) else "")
        )
    tiles = evidence.support_tiles(run.recipe.dataset, shown, shown.alpha)
    gallery(
        evidence.support_pictures(run, machine, shown),
        [ticked.marked(tile, row) for tile, row in zip(tiles, shown.row.tolist())], key="support_gallery",
        alt=f"Support vectors of the machine {name}", on_pick=on_pick, legend=legend,
    )  # fmt: skip


parameters.own(
    take_out=ticks.check_rows, another=ticks.check_labels,
    machine=data_set.check_machine, sv=KINDS, order=(*ORDERS, FAMILIES), classes_shown=data_set.check_class,
    worth=WHOSE, click=ticks.CLICKS, given=data_set.check_class, page=slice(1, None),
)  # fmt: skip
run = trained_run()
if run:
    machine = run.machine()
    dataset = evidence.data_of(run)
    names = evidence.machine_names(run, machine)
    constructed = evidence.constructed(machine)  # the vectors of a reduced set: no examples, and bounded by nothing
    kinds, orders = (KINDS, (*ORDERS, FAMILIES)) if machine.jitter is not None else (KINDS[:3], ORDERS)
    kinds = KINDS[:1] if constructed else kinds
    another_run(run, "support_vectors", machine=names[0], classes_shown=[])

    with present.form("Which support vectors"), st.container(horizontal=True):
        help = "With several classes, each has its own machine: that class (blue, +1) against all others (orange, −1)."
        name = names[c := evidence.choose_machine(names, help)]
        kind = parameters.choice(
            "support_vectors.sv", kinds, format_func=lambda kind: {"Bound": "Bounded"}.get(kind, kind)
        )
        order = parameters.choice("support_vectors.order", orders)
        wanted = parameters.several("support_vectors.classes_shown", map(str, dataset.classes))
        reason, on_pick = why_not(run), open_digit
    ticked = ticks.Ticks() if reason else ticks.read(run, machine)

    everything = evidence.supports(run, machine, c)
    at_bound = machine.bound[c, everything.position]
    mask = {"Free": ~at_bound, "Bound": at_bound, "Virtual": everything.virtual}.get(kind, at_bound | ~at_bound)
    if wanted:
        mask &= np.isin(everything.label.astype(str), wanted)
    chosen = evidence.take(everything, mask)
    if order in ("Smallest alpha", "Index"):
        by = chosen.alpha if order == "Smallest alpha" else chosen.row
        chosen = evidence.take(chosen, np.argsort(by, kind="stable"))
    examples = chosen.row[chosen.row >= 0]
    walk.over((reference(run.recipe.dataset, "train", row) for row in examples), f"support vectors of {name}")

    sides = st.grid(4, min_column_width=200)
    left, right = present.parts(("Alphas", "Support vectors"), (sides.cell(), sides.cell(column_span=3)))
    with left:
        if constructed:
            found = run.result["reduction"]
            with st.container(horizontal=True):
                help = "Distinct vectors of all machines after reduction."
                st.metric("Vectors", f"{found['n_after']:,}", help=help)
                help = "Distinct support vectors of the machine that was reduced."
                st.metric("Before", f"{found['n_before']:,}", help=help)
            show(decisions.weight_histogram(everything.alpha * everything.sign), "weights")
        else:
            total = len(run.train_index())
            share = len(everything.row) / total
            above, figure, below = (st.container() for _ in range(3))
            with below if present.presenting() else above, st.container(horizontal=True, key="sv_numbers"):
                said = f"Their number is {percent(share, 1)} of the number of training examples, {total:,}."
                if not reason and not everything.virtual.any():  # else an example takes copies with it, or more
                    said += (
                        " Leaving out any other example changes nothing, so leave-one-out misclassifies at most this "
                        "share: a loose bound on the error. *Choose* computes tighter bounds."
                    )
                st.metric("Support vectors", f"{len(everything.row):,}", help=said)
                said = "Bounded support vectors: alpha = C, inside the margin or misclassified."
                st.metric("Bounded (α = C)", f"{np.sum(at_bound):,}", help=said)
            C = evidence.one_bound(run, machine)
            histogram = decisions.alpha_histogram(everything.alpha, everything.sign, C, at_bound, run.recipe.dataset)
            with figure:
                show(histogram, "alphas")
                to_labels(run, "train")
        if reason:
            st.markdown("**Without these examples**")
            st.caption(f"No example can be excluded here. {plain(reason)}")
        else:
            without.in_short(run, machine, ticked)
    with right:
        if not reason and not constructed:
            with st.container(horizontal=True):
                on_pick = ticks.a_click(run, machine)
        if decision_plane.is_plane(run):
            decision_plane.plane(run, machine, "plane")
        if not len(chosen.row):
            st.info("No support vector passes these filters.", icon=":material/filter_alt_off:")
        elif order == FAMILIES:
            legend = (
                f"{parents.SEE} {many(len(chosen.row), 'support vector')} of *{plain(name)}* in "
                f"{len(np.unique(chosen.row)):,} families, those with the largest alphas first."
            )
            parents.draw(run, machine, chosen, PER_PAGE // parents.LONGEST, key="families", legend=legend)
        else:
            one_by_one(run, machine, chosen, name, (run.id, name, kind, order, wanted), ticked, on_pick)
    if not reason:
        if ticked.rows:
            without.in_full(run, machine, c, ticked.change(run, machine), "without", "Without these examples")
        what_each_is_worth(run, machine, c)
