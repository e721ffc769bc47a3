"""What became of a reduction: in numbers before and after, its vectors beside those that they stand for, and whose
answer changed."""

import numpy as np
import streamlit as st

from pages.ui.example import evidence, plane
from pages.ui.figures import reduction as figures
from pages.ui.figures.frame import show
from pages.ui.kit import parameters, walk, words
from pages.ui.kit.gallery import SIDES, Tile, gallery, reference
from pages.ui.kit.numbers import count, number, table, text
from pages.ui.kit.paging import paged
from pages.ui.reduce import course
from svmcore.explain import nearest
from svmcore.lab.store.runs import Run
from svmcore.metrics import OUTCOMES, outcomes, paired_test
from svmcore.model import multiply_adds

PICTURED, BESIDE, PER_PAGE = 8, 4, 60  # vectors, support vectors beside each; examples on a page
PRECISION = {"double": "double precision", "dense": "single precision", "sparse": "single precision"}
COLUMNS = {
    "Vectors": count("Distinct ones: kernel values that an example costs, all machines together."),
    "Multiply-adds": text("Of one decision, all machines."),
    "10,000 take": number(
        2, "Both machines in turns, on the same examples, once compiled: the median of five.", "10,000 take, s"
    ),
}
KINDS = {"mended": "fixed", "broken": "broken", "wrong otherwise": "both wrong"}


def numbers(run: Run, of: Run | None) -> None:
    """Errors, vectors and what a decision costs, before and after."""
    found, result = run.result["reduction"], run.result
    take = found.get("take", (None, None))
    rows = [_row("After", result, found["multiply_adds"][1], take[1])]
    if of is not None:
        rows.insert(0, _row("Before", of.result, found["multiply_adds"][0], take[0]))
    table(rows, "Errors, vectors, multiplications and seconds before and after the reduction", columns=COLUMNS)
    parts = run.parts()
    of_parts = f" The figures below are of the first of {parts} parts." if parts > 1 else ""
    st.markdown(f"{_less(found)}{_near(found)}{of_parts}")


def _near(found: dict) -> str:
    """How far apart the machines before and after are, and which of two numbers the figure has: rho as a share of the
    length is the mean of the machines', or that of all machines taken as one."""
    if None in (*found["rho"], *found["rho_start"]):
        return ""
    left, first = (words.percent(float(np.mean(np.sqrt(found[name]))), 1) for name in ("rho", "rho_start"))
    if len(found["rho"]) == 1:
        return f" The distance rho is {left} of the machine's length |Ψ|; at first {first}."
    said = f" The distance rho is {left} of a machine's length |Ψ|, in the mean of the machines; at first {first}."
    together = {m: rho2 for m, rho2, *_ in found["path"]}.get(found["n_after"])
    if together is not None:
        said += f" Of all machines taken as one, as in the figure, {words.percent(together**0.5, 1)}."
    return said


def _less(found: dict) -> str:
    """Vectors, multiply-adds and time, by how much there is less; and why time falls by less than they do."""
    counts = (found["n_before"], found["n_after"]), found["multiply_adds"], found.get("take", ())
    words = "**{:.1f} times fewer vectors**", "{:.1f} times fewer multiply-adds", "{:.1f} times less time"
    said = ", ".join(text.format(of[0] / (of[1] or 1)) for text, of in zip(words, counts, strict=True) if of) + "."
    before, after = found.get("products", ("", ""))
    if before == "whole" and after in PRECISION:
        said += (
            " Time falls by less: grey values are whole numbers, of which 64 are multiplied at a time and zeros left "
            f"out; constructed vectors have real digits in every pixel, and are multiplied in {PRECISION[after]}."
        )
    return said


def _outcome(result: dict) -> str:
    """What came out, in a cell of a table."""
    if "machines" not in result:
        return words.error_rate(result)
    machine = result["machines"]["machine"]
    return "–" if machine["score"] is None else f"mean rate {machine['score']:.2f}"


def _row(name: str, result: dict, cost: float, take: float | None) -> dict:
    row = {
        "": name,
        "Test examples": _outcome(result),
        "Vectors": result["n_union"],
        "Multiply-adds": words.count(cost),
    }
    return row | ({} if take is None else {"10,000 take": take})


def sizes(run: Run) -> int | None:
    """The curve, and a size of it that is not the one kept, to be kept instead; None for none."""
    found = run.result["reduction"]
    show(course.sizes(run, []), key="reduce_sizes")
    others = {int(point[0]): point[2] for point in found["path"] if point[0] != found["n_after"]}
    if not others:
        return None
    tell = lambda m: f"{m:,} vectors: {others[m]:,.0f} of {found['aside']:,} wrong aside"  # noqa: E731
    return st.selectbox(
        "Another size of the curve", [None, *others], format_func=lambda m: "–" if m is None else tell(m),
        key="reduce_other", width=360, help="Its machine was not kept, nor asked about test examples: a run makes it.",
    )  # fmt: skip


def nearness(run: Run) -> None:
    """How near the machine of each size comes: in feature space, and in f."""
    show(figures.nearness(run.result["reduction"]["path"]), key="reduce_rho")


def which(run: Run) -> int:
    """The machine, of several, whose vectors and f are shown; chosen where its vectors are."""
    names = evidence.machine_names(run, run.machine())
    chosen = st.session_state.get("machine", st.query_params.get("machine"))
    return names.index(chosen) if chosen in names else 0


def vectors(run: Run, of: Run | None, c: int) -> None:
    """The heaviest vectors of one machine, each followed by the support vectors that it stands nearest to."""
    machine = run.machine()
    names = evidence.machine_names(run, machine)
    name = names[c]
    parameters.choice(
        "machine", "Machine", names, widget="selectbox", alone=False, width=200,
        help="Whose heaviest vectors stand here, and whose f before and after is drawn.",
    )  # fmt: skip
    if plane.is_plane(run):
        plane.plane(run, machine, "reduce_plane")
        return
    chosen = evidence.take(evidence.supports(run, machine, c), slice(PICTURED))
    tiles = evidence.support_tiles(run.recipe.dataset, chosen, chosen.alpha * chosen.sign)
    if of is None:
        gallery(evidence.support_pictures(run, machine, chosen), tiles, key="reduce_z", alt=f"Vectors of {name}")
        st.caption(f"The heaviest vectors of *{words.plain(name)}*, weight below. The machine reduced is gone.")
        return
    _beside(run, of, machine, chosen, tiles, name)


def _beside(run, of, machine, chosen, tiles, name) -> None:
    before = of.machine()
    position, cosines = nearest.by_angle(machine.kernel, before, machine.support_vectors[chosen.position], BESIDE)
    at = evidence.at(of, before, 0, position.ravel())
    drawn, laid = [], []
    pictures = evidence.seen_pictures(of, before.support_vectors[at.position])
    own, dataset = evidence.support_pictures(run, machine, chosen), evidence.data_of(of)
    for i, tile in enumerate(tiles):
        drawn += [own[i : i + 1], pictures[i * BESIDE : (i + 1) * BESIDE]]
        laid.append(tile)
        for j in range(i * BESIDE, (i + 1) * BESIDE):
            cosine = cosines.ravel()[j]
            label = at.label[j]
            laid.append(
                Tile(
                    "" if at.row[j] < 0 else reference(of.recipe.dataset, "train", at.row[j]),
                    f"Support vector of class {label}, cosine {cosine:.2f} with the vector before it",
                    upper=evidence.brief(dataset, label),
                    lower=f"{cosine:.2f}",
                    linked=j == i * BESIDE,
                )
            )
    gallery(
        np.concatenate(drawn), laid, key="reduce_z", size=48, rows=[f"z {p:,}" for p in chosen.position],
        alt=f"The heaviest vectors of {name}, each followed by the {BESIDE} support vectors nearest to it",
    )  # fmt: skip
    st.caption(
        f"First in each row a vector of *{words.plain(name)}*, its weight below ({SIDES}); then the {BESIDE} support "
        "vectors nearest to it in feature space, with the cosine of the angle between them. Click a support vector. "
        "A vector of the reduced set is no example: where it has values below 0, its ground is not white."
    )


def decisions(run: Run, of: Run | None, c: int) -> None:
    """f before and after on the test examples."""
    if (both := _both(run, of)) is None:
        return
    before, after = both
    names = evidence.machine_names(run, run.machine())
    changed = before.y_pred != after.y_pred
    show(figures.before_after(before.decision[:, c], after.decision[:, c], changed, names[c]), key="reduce_f")


def changed(run: Run, of: Run | None) -> None:
    """The test examples whose answer changed, as pictures."""
    if (both := _both(run, of)) is None:
        return
    before, after = both
    wrong = before.y_pred != before.y_true, after.y_pred != after.y_true
    kind = outcomes(*wrong)
    differs = before.y_pred != after.y_pred
    rows = {name: np.flatnonzero(differs & (kind == OUTCOMES.index(was))) for name, was in KINDS.items()}
    test = paired_test(*wrong)
    st.markdown(
        f"**{differs.sum():,} of {len(differs):,} answers changed**: {len(rows['broken']):,} broken, "
        f"{len(rows['mended']):,} mended (exact McNemar test p = {words.small(test.p_value)})."
    )
    there = [name for name in ("broken", "mended", "wrong otherwise") if len(rows[name])]
    if not there:
        return
    shown = parameters.choice(
        "changed", "Answers", there, help="Broken: right before, wrong after. Mended: the other way round."
    )
    _pictures(run, before, after, rows[shown], shown)


def _pictures(run, before, after, rows, shown) -> None:
    dataset = evidence.data_of(run)
    walk.over((reference(run.recipe.dataset, after.split, i) for i in after.index[rows]), f"answers {shown}")
    page = rows[paged(len(rows), PER_PAGE, key="reduce_page", of=(run.id, shown))]
    tiles = [
        Tile(
            reference(run.recipe.dataset, after.split, after.index[i]),
            f"{words.test_example(after.split, after.index[i])}, class {after.y_true[i]}: "
            f"{before.y_pred[i]} before, {after.y_pred[i]} after",
            " → ".join(evidence.brief(dataset, answers.y_pred[i]) for answers in (before, after)),
            f"{after.index[i]}",
            cross=bool(after.y_pred[i] != after.y_true[i]),
        )
        for i in page
    ]
    gallery(
        evidence.example_pictures(dataset, after.split, after.index[page]), tiles, key="reduce_changed",
        alt=f"{len(page)} test examples whose answer the reduction changed: {shown}",
    )  # fmt: skip
    st.caption("Upper right: the answer before → after; lower left: the number in the data set. Click one to see why.")


def _both(run: Run, of: Run | None):
    """What both runs said of the test examples; None, and why on screen, where they cannot be laid side by side."""
    if of is None:
        st.caption("The run of the machine that was reduced is gone: nothing to lay beside this one.")
        return None
    before, after = of.test(), run.test()
    if len(before.index) != len(after.index) or np.any(before.index != after.index) or before.split != after.split:
        st.caption("The two runs were tested on different examples.")
        return None
    return before, after


def cost(of: Run) -> None:
    """What a decision of a machine costs before it is reduced."""
    machine, result = of.machine(), of.result
    with st.container(horizontal=True):
        st.metric("Vectors", f"{result['n_union']:,}", help="Distinct ones: kernel values that an example costs.")
        st.metric("Multiply-adds", words.count(multiply_adds(machine)), help="Of one decision, all machines.")
        if "errors" in result:
            seconds = 1e4 * result["predict_seconds"] / max(result["n_test"], 1)
            help = "As measured when the run was tested, its first decision among them; compiling apart."
            st.metric("10,000 take", words.duration(seconds), help=help)
