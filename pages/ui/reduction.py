"""A reduced set on screen: its progress, its cost before and after, the errors by size, its vectors, changed answers.

`parent` is the run of the machine that was reduced, None where that is gone.
"""

import numpy as np
import streamlit as st

from pages.ui.example import decision_plane, evidence
from pages.ui.figures import reduction as figures
from pages.ui.figures.frame import show
from pages.ui.kit import numbers, parameters, present, walk, words
from pages.ui.kit.gallery import SIDES, Tile, gallery, one_size, reference
from pages.ui.kit.walk import paged
from svmcore.explain import nearest
from svmcore.lab.methods import METHODS
from svmcore.lab.store.runs import ACTIVE, Run
from svmcore.metrics import OUTCOMES, class_positions, outcomes, paired_test
from svmcore.model import multiply_adds

N_VECTORS, N_NEAREST, PER_PAGE = 8, 4, 60  # vectors, support vectors beside each; examples on a page
RHO = "Rho is the distance in feature space between an original machine and its reduced machine."
PRECISION = {"double": "double precision", "dense": "single precision", "sparse": "single precision"}
SECONDS = (
    "Time for 10,000 predictions. Both machines predict the same examples five times; the median is scaled to 10,000."
)
COLUMNS = {
    "Vectors": numbers.count("Distinct vectors of all machines. A prediction evaluates the kernel with each of them."),
    "Multiply-adds": numbers.text("For one prediction, over all machines."),
    "10,000 take": numbers.number(2, SECONDS, "10,000 predictions, s"),
}
CHANGES = {"broken": "broken", "mended": "fixed", "wrong otherwise": "both wrong"}  # in the address -> outcome


def is_reduction(run: Run) -> bool:
    """Whether a run begins with the machine of another."""
    return not METHODS[run.recipe.method].made


def progress_metrics(run: Run, last: dict, status) -> None:
    """What a reduction at work has come to; rho is of the machine that is farthest off."""
    rho = {"Steps": f"{last['iterations']:,}"}
    if last.get("gaps"):  # all 0 until the first vectors stand
        rho = {"rho, worst machine": words.percent(last["gap"] ** 0.5, 1) if any(last["gaps"]) else "–"}
    shown = {"Current size": f"{last.get('n_vectors', last['n_sv']):,}", "Sizes done": f"{len(last.get('path') or [])}"}
    shown |= rho | {"Time": words.duration(last["seconds"])}
    numbers.metrics(shown | (words.left_metric(status) if status.state in ACTIVE else {}))


def curves(run: Run, progress: list[dict], key: str) -> None:
    """The errors by size as far as they are known, and how rho fell."""
    known = run.result or (progress and progress[-1].get("path"))
    drawn = {"Errors by size": lambda: size_curve(run, progress)} if known else {}
    drawn |= {"Course": lambda: figures.trace(progress)} if figures.falls(progress) else {}
    if not drawn and run.state in ACTIVE:
        st.caption("The first figures appear when the first vectors are ready.")
    for name, place in zip(drawn, present.parts(list(drawn), st.columns(len(drawn))) if drawn else (), strict=True):
        with place:
            show(drawn[name](), key=f"{key}_{name.split()[0].lower()}")


def size_curve(run: Run, progress: list[dict]):
    """The figure of errors by size, of a run that is done or at work."""
    result = run.result
    found = result["reduction"] if result else progress[-1]
    chosen = run.recipe.option("sizes") > 1 or run.recipe.option("allowed") is not None
    where = "training examples not used to fit the vectors" if chosen else "training examples"
    where = figures.UNSEEN if found["unseen"] else where
    if result:
        test = (result["error_rate"], result["interval"]) if "error_rate" in result else None
        ends = {"kept": found["n_after"], "test": test}
    else:
        ends = {"at_work": found["n_vectors"]}
    counts = found["path"], found["aside"], found["machine_errors"], found["n_before"]
    return figures.size_curve(*counts, where, **ends)


def cost_table(run: Run, parent: Run | None) -> None:
    """Errors, vectors and what a decision costs, before and after."""
    found, rows = run.result["reduction"], []
    for i, (name, of) in enumerate({"Before": parent, "After": run}.items()):
        if of is not None:
            row = {"": name, "Test examples": _outcome(of.result), "Vectors": of.result["n_union"]}
            row |= {"Multiply-adds": words.count(found["multiply_adds"][i])}
            rows.append(row | ({"10,000 take": found["take"][i]} if "take" in found else {}))
    alt = "Errors, vectors, multiplications and seconds before and after the reduction"
    numbers.table(rows, alt, columns=COLUMNS)
    parts = run.parts()
    of_parts = f" The figures below show the first of {parts} splits." if parts > 1 else ""
    st.markdown(f"{savings(found)}{distance(found)}{of_parts}")


def _outcome(result: dict) -> str:
    if "machines" not in result:
        return words.error_rate(result)
    score = result["machines"]["machine"]["score"]
    return "–" if score is None else f"mean detection rate {score:.2f}"


def savings(found: dict) -> str:
    """By what factor there are fewer vectors and multiply-adds, and less time; and why time falls by less."""
    counts = (found["n_before"], found["n_after"]), found["multiply_adds"], found.get("take", ())
    texts = "**{:.1f} times fewer vectors**", "{:.1f} times fewer multiply-adds", "{:.1f} times as fast"
    said = ", ".join(text.format(of[0] / (of[1] or 1)) for text, of in zip(texts, counts, strict=True) if of) + "."
    before, after = found.get("products", ("", ""))
    if before == "whole" and after in PRECISION:
        said += (
            " The time does not fall in proportion. Grey values of examples are whole numbers: 64 are multiplied at a "
            "time, and zeros are skipped. Constructed vectors have real numbers in every pixel, and are multiplied in "
            f"{PRECISION[after]}."
        )
    return said


def distance(found: dict) -> str:
    """rho, as a share of the length |Ψ|, in the mean of the machines; and of all taken as one, as the figure has it."""
    if None in (*found["rho"], *found["rho_start"]):
        return ""
    last, first = (words.percent(float(np.mean(np.sqrt(found[name]))), 1) for name in ("rho", "rho_start"))
    if len(found["rho"]) == 1:
        return f" {RHO} It is {last} of the original's length |Ψ|; initially it was {first}."
    said = f" {RHO} On average it is {last} of the original's length |Ψ|; initially it was {first}."
    together = {m: rho2 for m, rho2, *_ in found["path"]}.get(found["n_after"])
    if together is not None:
        said += (
            f" For all machines taken together, as in the figure, the distance is {words.percent(together**0.5, 1)}."
        )
    return said


def cost_metrics(run: Run) -> None:
    """What a decision of a machine costs before it is reduced."""
    result = run.result
    with st.container(horizontal=True):
        help = "Distinct vectors. A prediction evaluates the kernel with each of them."
        st.metric("Vectors", f"{result['n_union']:,}", help=help)
        st.metric(
            "Multiply-adds", words.count(multiply_adds(run.machine())), help="For one prediction, over all machines."
        )
        if "errors" in result:
            seconds = 1e4 * result["predict_seconds"] / max(result["n_test"], 1)
            help = "Measured when the run was tested, including its first prediction; without compiling."
            st.metric("10,000 predictions", words.duration(seconds), help=help)


def other_size(run: Run) -> int | None:
    """The curve, and a size of it that is not the one kept, chosen to be kept instead."""
    found = run.result["reduction"]
    show(size_curve(run, []), key="reduce_sizes")
    errors = {int(m): wrong for m, _, wrong, *_ in found["path"] if m != found["n_after"]}
    if not errors:
        return None
    return st.selectbox(
        "Another size from the curve", [None, *errors], key="reduce_other", width=360,
        format_func=lambda m: f"{m:,} vectors: {errors[m]:,.0f} of {found['aside']:,} wrong" if m else "–",
        help="The machine of this size was neither saved nor tested. Start a run to construct it.",
    )  # fmt: skip


def shown_machine(run: Run) -> int:
    """The machine, of several, whose vectors and f are shown; it is chosen where its vectors are."""
    names = evidence.machine_names(run, run.machine())
    chosen = st.session_state.get("machine", st.query_params.get("machine"))
    return names.index(chosen) if chosen in names else 0


def vectors(run: Run, parent: Run | None, c: int) -> None:
    """The heaviest vectors of machine c, each followed by the support vectors nearest to it."""
    machine, names = run.machine(), evidence.machine_names(run, run.machine())
    help = "The machine whose vectors are shown, largest weights first, and whose f is compared before and after."
    evidence.choose_machine(names, help, alone=False)
    if decision_plane.is_plane(run):
        decision_plane.plane(run, machine, "reduce_plane")
        return
    chosen = evidence.take(evidence.supports(run, machine, c), slice(N_VECTORS))
    tiles = evidence.support_tiles(run.recipe.dataset, chosen, chosen.alpha * chosen.sign)
    pictures = evidence.support_pictures(run, machine, chosen)
    alt = f"The vectors with the largest weights of {names[c]}"
    of_machine = f"of *{words.plain(names[c])}*"
    if parent is None:
        gallery(pictures, tiles, key="reduce_z", alt=alt)
        st.caption(
            f"The vectors with the largest weights {of_machine}, weight below. The original machine was deleted."
        )
        return
    pictures, tiles = _with_nearest(parent, machine, chosen, pictures, tiles)
    alt += f", each followed by the {N_NEAREST} support vectors nearest to it"
    gallery(pictures, tiles, key="reduce_z", size=48, rows=[f"z {p:,}" for p in chosen.position], alt=alt)
    st.caption(
        f"Each row starts with a vector {of_machine}, its weight below ({SIDES}). Then come the {N_NEAREST} support "
        "vectors nearest to it in feature space, with the cosine of the angle between them. Click a support vector to "
        "open it. A constructed vector is not an example. "
        f"{evidence.drawing(run) or 'If it has values below 0, its background is not white.'}"
    )


def _with_nearest(parent: Run, machine, chosen, own: np.ndarray, tiles: list[Tile]) -> tuple[np.ndarray, list[Tile]]:
    """Pictures and tiles of vectors, each with the support vectors of the parent nearest in angle behind it."""
    before, dataset, name = parent.machine(), evidence.data_of(parent), parent.recipe.dataset
    position, cosines = nearest.by_angle(machine.kernel, before, machine.support_vectors[chosen.position], N_NEAREST)
    at = evidence.supports_at(parent, before, 0, position.ravel())
    own, theirs = one_size(own, evidence.support_pictures(parent, before, at))
    theirs = theirs.reshape(len(own), N_NEAREST, *theirs.shape[1:])
    laid = []
    for j, (row, label, cosine) in enumerate(zip(at.row, at.label, cosines.ravel(), strict=True)):
        laid += [tiles[j // N_NEAREST]] if j % N_NEAREST == 0 else []
        spoken = f"Support vector of class {label}, cosine {cosine:.2f} with the reduced set vector"
        ref = "" if row < 0 else reference(name, "train", row)
        linked = j % N_NEAREST == 0
        laid.append(Tile(ref, spoken, evidence.brief(dataset, label), f"{cosine:.2f}", linked=linked))
    return np.concatenate([own[:, None], theirs], axis=1).reshape(-1, *own.shape[1:]), laid


def both_answers(run: Run, parent: Run | None):
    """What both runs said of the test examples; None, and why on screen, where they cannot be laid side by side."""
    if parent is None:
        st.caption("The original model was deleted, so there is nothing to compare.")
        return None
    before, after = parent.test(), run.test()
    if before.split != after.split or not np.array_equal(before.index, after.index):
        st.caption("The two runs were tested on different examples.")
        return None
    return before, after


def decisions(run: Run, parent: Run | None, c: int) -> None:
    """f of machine c before and after on the test examples."""
    if both := both_answers(run, parent):
        before, after = both
        f, name = (test.decision[:, c] for test in both), evidence.machine_names(run, run.machine())[c]
        show(figures.before_after(*f, before.y_pred != after.y_pred, name), key="reduce_f")


def changed_answers(run: Run, parent: Run | None) -> None:
    if not (both := both_answers(run, parent)):
        return
    before, after = both
    wrong = [test.wrong for test in both]
    kind, differs = outcomes(*wrong), before.y_pred != after.y_pred
    rows = {name: np.flatnonzero(differs & (kind == OUTCOMES.index(was))) for name, was in CHANGES.items()}
    chance = words.small(paired_test(*wrong, before.groups).p_value)
    st.markdown(
        f"**{differs.sum():,} of {len(differs):,} predictions changed**: {len(rows['broken']):,} broken, "
        f"{len(rows['mended']):,} fixed (exact McNemar test p = {chance})."
    )
    if not (there := [name for name in rows if len(rows[name])]):
        return
    called = {name: f"{CHANGES[name]} ({len(rows[name]):,})" for name in there}
    shown = parameters.choice("reduction.changed", there, format_func=called.get)
    which = f"predictions {CHANGES[shown]}"
    walk.over((reference(run.recipe.dataset, after.split, i) for i in after.index[rows[shown]]), which)
    page = rows[shown][paged(len(rows[shown]), PER_PAGE, key="reduce_page", of=(run.id, shown))]
    machine, labels = run.machine(), {"true": after.y_true, "before": before.y_pred, "after": after.y_pred}
    said = {what: class_positions(y, machine.classes) for what, y in labels.items()}
    alt = f"{len(page)} test examples with another prediction after the reduction; outcome: {CHANGES[shown]}"
    evidence.answer_gallery(run, machine, page, said, key="reduce_changed", alt=alt)
    st.caption(
        "Upper right: prediction before → after; lower left: the number in the dataset. Click an example to see why."
    )
