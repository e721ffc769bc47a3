"""Digestion: the paper's solver with and without it on one tape, on the same examples and the same cache of rows."""

import streamlit as st

from data import DataError, catalogue
from pages.digestion import race
from pages.ui.figures import comparison
from pages.ui.figures.frame import show
from pages.ui.kit import numbers, parameters, present, state, ways, words
from pages.ui.recipe import data_set
from pages.ui.run import polling, stored
from svmcore.lab.forecast import estimate
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs, titles
from svmcore.lab.store.runs import Group
from svmcore.solvers.digestion import Digestion

SIDES = {"With digestion": {"on": True}, "Without digestion": {"on": False}}
ONE_PASS = {"One pass": {"on": False, "one_pass": True, "second_order": False}}
OPENING, FEW = "digits-8x8", "0"  # where digestion wins, by measuring: a class of few support vectors, and copies
COPIES = {"none": 2000, "plus:1": 500, "box:1": 300}  # jitter set -> examples at first
ROWS, MOST_ROWS = (10, 50, 100, 150, 200, 250, 300, 400, 500, 700, 1000, 2000), 20_000
RULES = ("wait", "force", "patience", "new_svs_when_full", "new_svs")  # the paper's order of priority
USUAL = Digestion()
MAX_RULE = 10**9
SOON = 3.0  # seconds that the page waits for a training before it says that it does


def settings() -> tuple[Recipe, dict]:
    """The widgets but for the cache's rows: the recipe without a solver's settings, and the rules."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = data_set.field(data_set.at_hand(), "Any dataset that is available on this computer.", OPENING)
        entry = catalogue.entry(name)
        copies = "none"
        if len(entry.shape) > 1:
            copies = parameters.choice("digestion.copies", COPIES, "box:1")
        classes = ()
        if entry.n_classes > 2:
            labels = [str(label) for label in entry.classes]
            first = FEW if copies != "none" else "8"
            label = parameters.choice(
                "digestion.against", labels, first if first in labels else None, key=f"class_{name}_{copies}"
            )
            classes = (entry.classes[labels.index(label)],)
        most = entry.n_train - (0 if entry.n_test else entry.n_train // 5)
        n_train = parameters.number("digestion.n", 10, most, min(COPIES[copies], most), 100, key=f"n_{name}_{copies}")
        rules = {}
        with st.popover("Digestion rules", icon=":material/tune:"):
            seed = parameters.number("digestion.seed", 0, 2**32 - 1, 0, key="digestion_seed")
            for rule in RULES:
                usual = getattr(USUAL, rule)
                low, high = type(usual)(0), type(usual)(MAX_RULE)
                rules[rule] = parameters.number(f"digestion.{rule}", low, high, usual, key=f"rule_{rule}")
    base = data_set.suggestion(name).replace(
        n_train=n_train, n_test=None, split="stratified", classes=classes, solver="smo-digestion", seed=seed,
        name="custom",
    )  # fmt: skip
    if copies != "none":
        base = base.replace(method="vsv", jitters=copies, options=base.options | {"scope": "all"})
    return base, rules


def cache() -> tuple[int, list[int]]:
    """The slider of the cache's rows: what it shows, and all that it offers."""
    text = st.query_params.get("rows", "")
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else None
    asked = {st.session_state.get("rows"), number}
    offered = sorted({*ROWS, *(n for n in asked if n and 1 <= n <= MOST_ROWS)})
    rows = parameters.choice("digestion.rows", offered, 250)
    return rows, offered


def beside(base: Recipe, rules: dict, rows: int, sides: dict[str, dict]) -> dict[str, Recipe]:
    """The recipe of each solver; they differ in its settings alone."""
    named = {"With digestion": "digestion", "Without digestion": "no digestion", "One pass": "one pass"}
    return {
        side: base.replace(digestion={"rows": rows} | rules | how, title=f"{titles.of_recipe(base)}, {named[side]}")
        for side, how in sides.items()
    }


def tape(courses: dict[str, race.Course], rows: int):
    """A sentence on the two, one on a single pass, and the tape of all."""
    if all(course.state == "done" for course in courses.values()):
        said = verdict(*(courses[side] for side in SIDES))
        if once := courses.get("One pass"):
            said += f" {of_one_pass(courses['With digestion'].lines[-1], once.lines[-1])}"
        st.markdown(said)
    race.draw(courses, rows)


def verdict(on: race.Course, off: race.Course) -> str:
    evals = [course.lines[-1]["kernel_evals"] for course in (on, off)]
    ratio = evals[0] / evals[1]
    fewer, sooner = ratio < 1, on.seconds < off.seconds
    took, without = words.duration(on.seconds), words.duration(off.seconds)
    if words.percent(ratio) == "100 %":
        evaluated = f"{words.count(evals[0])} kernel evaluations"
        return f"Here digestion **changes nothing**: {evaluated} with and without it, in {took} and {without}."
    said = (
        f"saves {words.percent(1 - ratio)} of the kernel evaluations"
        if fewer
        else f"costs {words.percent(ratio - 1)} more kernel evaluations"
    )
    counted = f"{words.count(evals[0])} instead of {words.count(evals[1])}"
    if took == without:
        return f"Here digestion **{said}**, {counted}, and takes as long: {took}."
    joined, time = "and" if fewer == sooner else "but", "less" if sooner else "more"
    return f"Here digestion **{said}**, {counted}, {joined} takes {time} time: {took} instead of {without}."


def of_one_pass(exact: dict, once: dict) -> str:
    """What a single pass comes to, beside the optimum."""
    values, dual = (once[name] / exact[name] for name in ("kernel_evals", "dual"))
    return (
        f"A single pass takes {words.percent(values)} of the kernel evaluations that digestion needs. It reaches "
        f"{words.percent(dual)} of the dual objective, with {once['n_sv']:,} support vectors instead of "
        f"{exact['n_sv']:,}."
    )


def counts(courses: dict[str, race.Course]):
    with st.container(key="digestion_told"):
        columns = dict.fromkeys(("Peak SVs", "SVs", "Steps"), numbers.count())
        columns["Hit rate"] = numbers.number(1, label="Hit rate, %")
        rows = [_row(side, course) for side, course in courses.items() if course.lines]
        alt = "Kernel evaluations, support vectors, cache hits and time with and without digestion"
        numbers.table(rows, alt, "digestion_table", columns)


def _row(side: str, course: race.Course) -> dict:
    last = course.lines[-1]
    looked = last["cache_hits"] + last["cache_misses"]
    return {
        "Solver": side,
        "State": course.state,
        "Kernel evaluations": words.count(last["kernel_evals"]),
        "Peak SVs": max(line["n_sv"] for line in course.lines),
        "SVs": last["n_sv"],
        "Steps": last["iterations"],
        "Hit rate": 100 * last["cache_hits"] / max(looked, 1),
        "Time": words.duration(course.seconds),
        "Dual objective": f"{last['dual']:.4f}",
    }


def by_rows(base: Recipe, rules: dict, rows: int, offered: list[int]):
    """The gain at every size of the cache that was measured, and a button for the others."""
    recipes = {size: beside(base, rules, size, SIDES).values() for size in offered}
    left = [size for size, two in recipes.items() if not all(map(race.known, two))]
    asked = bool(left) and st.button(
        f"Measure {words.many(len(left), 'other cache size')}",
        key="digestion_sizes", icon=":material/stacked_line_chart:",
        help="Trains both solvers with each cache size. The slider then shows them one by one.",
    )  # fmt: skip
    if asked:
        bar = st.progress(0.0, "Training")
        for done, size in enumerate(left):
            bar.progress(done / len(left), f"Training with both solvers, {size:,} rows in the cache")
            for recipe in recipes[size]:
                race.soon(recipe, None)
        st.rerun()
    points = []
    for size, two in recipes.items():
        if all(courses := [race.known(recipe) for recipe in two]):
            on, off = (course.lines[-1] for course in courses)
            points.append((size, on["kernel_evals"], off["kernel_evals"]))
            svs = on["n_sv"], max(line["n_sv"] for line in courses[1].lines)
    show(comparison.gain_by_rows(points, rows, *svs), "digestion_gain")


def as_runs(recipes: dict[str, Recipe], rows: int):
    """Two runs of the queue, for what takes longer."""
    found = dict(zip(recipes, runs.stored(recipes.values()), strict=True))
    with st.container(horizontal=True, vertical_alignment="center"):
        plain = recipes["Without digestion"]
        group = Group.of("digestion", f"Digestion · {titles.of_recipe(plain)}", plain.digest())
        stored.buttons(
            recipes.values(),
            list(found.values()),
            "Run both solvers" if len(recipes) == 2 else "Run all three solvers",
            "Trains with each solver in a run of its own, one after the other.",
            group=group,
        )
        if not any(found.values()):
            seconds = sum(estimate(recipe).seconds for recipe in recipes.values())
            st.caption(
                f"Takes at least {words.duration(seconds)}, because this solver computes one kernel value at a time.",
                width="content",
            )
    there = {side: run for side, run in found.items() if run}

    def look(statuses):
        courses = {side: race.of_run(run, status) for (side, run), status in zip(there.items(), statuses, strict=True)}
        if any(course.lines and course.lines[-1]["kernel_evals"] for course in courses.values()):
            tape(courses, rows)
            counts(courses)
        else:
            st.caption(words.plain(" · ".join(filter(None, (status.message for status in statuses)))))

    polling.poll_all([run.id for run in there.values()], look)


def main():
    try:
        with present.form():
            base, rules = settings()
        figure, slider = st.container(), st.container()
        with slider:
            rows, offered = cache()
            once = parameters.flag("digestion.one_pass")
        recipes = beside(base, rules, rows, SIDES | ONE_PASS if once else SIDES)
        if not race.small(base, catalogue.entry(base.dataset).shape):
            with figure:
                as_runs(recipes, rows)
            return
        with figure, st.spinner("Training with each solver, a second or two"):
            courses = {side: race.soon(recipe, SOON) for side, recipe in recipes.items()}
        if not all(courses.values()):
            said = "Training with each solver. The first run also compiles them, which takes half a minute."
            with figure:
                pending = lambda: any(map(race.pending, recipes.values()))  # noqa: E731
                state.watch(True, pending, lambda: st.caption(f":material/hourglass_top: {said}"), polling.PERIOD)
            return
        with figure:
            tape(courses, rows)
        by_rows(base, rules, rows, offered)
        counts(courses)
    except (DataError, ValueError) as error:
        st.error(words.plain(error), icon=":material/block:")
        return
    st.caption(
        "In the paper, digestion made some MNIST machines over 5 times as fast to train, with an 800 MB cache. The "
        "gain is largest if few examples are support vectors and the cache has room for nearly all of these. With far "
        "fewer rows, both solvers compute nearly every kernel value again. With rows for all support vectors, "
        "digestion still helps: each decision value is a sum over fewer support vectors. Each time is measured in one "
        "training, and other work on this computer lengthens it."
    )
    ways.to("paper", "The study on 60,000 digits", "show_chart", {"paper": "decoste", "show": "digestion"})


main()
