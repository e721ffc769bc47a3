"""Digestion: the paper's solver with and without it, on the same examples and the same cache of kernel rows."""

import streamlit as st

from data import DataError, catalogue
from pages.ui.figures import comparison
from pages.ui.figures.frame import show
from pages.ui.kit import parameters, present, words
from pages.ui.recipe import config, data_set
from pages.ui.run import picker, polling, stored
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipe.recipe import Recipe, RecipeError
from svmcore.lab.store.runs import Group, Run
from svmcore.solvers.digestion import Digestion

SIDES = {"digestion": True, "without": False}
RULES = {  # setting -> (label, help); the paper's order of priority
    "wait": ("No digestion before", "New kernel values since the last return to the full pass."),
    "force": ("Digestion after", "So many new kernel values, whatever the other rules say."),
    "patience": ("Patience", "None before this many times the kernel values of the last inbounds pass."),
    "new_svs_when_full": ("New SVs, cache full", "Digestion at so many new SVs while there are more than rows."),
    "new_svs": ("New SVs", "Digestion at so many new SVs in any case."),
}
USUAL = Digestion()
SECTION = "DeCoste and Schoelkopf 2002, section 4.2."


def settings() -> dict[str, Recipe]:
    """The widgets; the two recipes, which differ in digestion alone."""
    sets = [e.name for e in catalogue.entries() if e.at_hand]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = data_set.field(sets, catalogue.DEFAULT, "Sets that are at hand.")
        entry = catalogue.entry(name)
        classes = ()
        if entry.n_classes > 2:
            labels = [str(label) for label in entry.classes]
            usual = "8" if "8" in labels else labels[0]
            label = st.selectbox(
                "Against the rest", labels, labels.index(usual), key=f"class_{name}", width=140, help="The class +1."
            )
            classes = (entry.classes[labels.index(label)],)
        most = entry.n_train - (0 if entry.n_test else entry.n_train // 5)
        usual = min(2000, most)
        n_train = parameters.number(
            "n", "Training examples", 10, most, usual, 500, key=f"n_{name}", width=160, help="Drawn by the seed."
        )
        rows = parameters.number(
            "rows",
            "Rows in the cache",
            1,
            20_000,
            200,
            100,
            width=160,
            help="R: so many support vectors have their kernel values kept; interesting below the number of SVs "
            "(DeCoste and Schoelkopf 2002, section 4.1).",
        )
        rules = {"rows": rows}
        with st.popover("Rules", icon=":material/tune:"):
            seed = parameters.number("seed", "Seed", 0, 2**32 - 1, 0, key="digestion_seed", help="Draws the examples.")
            for rule, (label, text) in RULES.items():
                usual = getattr(USUAL, rule)
                rules[rule] = st.number_input(
                    label, min_value=type(usual)(0), value=usual, key=f"rule_{rule}", help=f"{text} {SECTION}"
                )
    base = config.suggestion(name).replace(
        n_train=n_train, n_test=None, split="stratified", classes=classes, solver="smo-digestion", seed=seed,
        name="custom",
    )  # fmt: skip
    return {
        side: base.replace(
            digestion=rules | {"on": on},
            title=f"{words.title(base)}, {'digestion' if on else 'no digestion'}",
        )
        for side, on in SIDES.items()
    }


def look(found: dict[str, Run | None], statuses):
    """What both runs have done by now: the SV bulge, and the counts under it."""
    states = {run.id: status for run, status in zip(filter(None, found.values()), statuses, strict=True)}
    progress = {side: run.progress() if run else [] for side, run in found.items()}
    for side, run in found.items():
        if run and (now := states[run.id].progress) and (not progress[side] or now != progress[side][-1]):
            progress[side].append(now)
    if not any(lines and lines[-1]["kernel_evals"] for lines in progress.values()):
        st.caption(words.plain(" · ".join(filter(None, (status.message for status in statuses)))))
        return
    show(comparison.bulge(progress), "bulge")
    st.dataframe(
        [_row(side, found[side], states[found[side].id].state, lines) for side, lines in progress.items() if lines],
        hide_index=True,
        key="digestion_table",
        column_config={"Hit rate": st.column_config.NumberColumn(format="percent")},
        alt="Kernel values, support vectors, cache hits and time with digestion and without",
    )


def _row(side: str, run: Run, run_state: str, lines: list[dict]) -> dict:
    last = lines[-1]
    seconds = words.training_seconds(run.result) if run.result else last["seconds"]
    looked = last["cache_hits"] + last["cache_misses"]
    return {
        "Solver": side,
        "State": picker.STATES[run_state][2],
        "Kernel values": words.count(last["kernel_evals"]),
        "Most SVs at once": max(line["n_sv"] for line in lines),
        "SVs": last["n_sv"],
        "Hit rate": last["cache_hits"] / max(looked, 1),
        "Time": words.duration(seconds),
        "Dual objective": f"{last['dual']:.4f}",
    }


def verdict(found: dict[str, Run | None]):
    """What was measured here, and what the paper says of its own, far larger, problem."""
    if not all(run and run.result for run in found.values()):
        return
    on, off = (found[side].result for side in SIDES)
    ratio = on["kernel_evals"] / off["kernel_evals"]
    said = f"saves {1 - ratio:.0%} of the kernel values" if ratio < 1 else f"costs {ratio - 1:.0%} more kernel values"
    took, instead = (words.training_seconds(result) for result in (on, off))
    times = f"it takes {took:.1f} s instead of {instead:.1f} s"
    st.markdown(f"Here digestion **{said}**; {times}. Both end at the same dual objective.")
    st.caption(
        "The paper reports over 5 times less time on some of its MNIST machines, with an 800 MB cache. Digestion keeps "
        "the support vectors few, at the price of more inbounds passes. It gains most where few examples are support "
        "vectors and the cache holds nearly all of these; on small problems raise *Digestion after* and lower *New "
        "SVs*, as the published numbers are meant for larger ones. Time includes whatever else this machine was doing."
    )


st.title("Digestion")
st.caption("During a full pass support vectors bulge beyond their final number; digestion leaves the pass early.")
try:
    with present.form():
        recipes = settings()
except (DataError, RecipeError) as error:
    st.error(words.plain(error), icon=":material/block:")
    st.stop()
found = dict(zip(recipes, stored.stored(recipes.values()), strict=True))
with st.container(horizontal=True, vertical_alignment="center"):
    plain = recipes["without"]
    group = Group.of("digestion", f"Digestion · {words.title(plain)}", plain.digest())
    both = list(found.values())
    stored.buttons(recipes.values(), both, "Run both", "Two ordinary runs, one after the other.", group=group)
    if not any(found.values()):
        seconds = sum(estimate(recipe).seconds for recipe in recipes.values())
        st.caption(
            f"At least {words.duration(seconds)}: this solver asks for one kernel value at a time.", width="content"
        )
polling.poll_all([run.id for run in found.values() if run], lambda statuses: look(found, statuses))
verdict(found)
