"""Compare methods: one pair of classes, learned by every method from the same few examples."""

import streamlit as st

from data import DataError
from pages.ui.compare import brief
from pages.ui.example import evidence, families
from pages.ui.figures import comparison
from pages.ui.figures.frame import show
from pages.ui.kit import numbers, parameters, present, words
from pages.ui.paper import lambdas, pair, triangle
from pages.ui.run import polling, stored
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipe.recipe import RecipeError
from svmcore.lab.registry.methods import METHODS

FAMILIES = 8  # parents shown with their virtual support vectors


def table(found, statuses):
    """What is known of each method by now."""
    rows = []
    states = {run.id: status.state for run, status in zip(filter(None, found), statuses, strict=True)}
    for title, run in zip(pair.contenders(), found, strict=True):
        result = run.result if run else None
        row = {"Method": title, "State": states[run.id] if run else "not run yet"}
        if result:
            row |= {
                "Wrong": result["errors"],
                "Rate (95 %)": words.rate(result),
                "SVs": result["n_union"],
                "of": max(result.get("n_virtual", [result["n_train"]])),
                "Train": words.training_seconds(result),
                "Test": result["predict_seconds"],
            }
        rows.append(row)
    columns = {name: numbers.number(2, label=f"{name}, s") for name in ("Train", "Test")}
    columns |= {name: numbers.count() for name in ("Wrong", "SVs")}
    columns["of"] = numbers.count("It was trained on so many, virtual ones among them.", "of examples")
    numbers.table(rows, "Errors, support vectors and times of each method", "methods_table", columns)


def verdict(found):
    """Error intervals, where two methods disagree, and the virtual support vectors, of what is done."""
    done = {title: run for title, run in zip(pair.contenders(), found, strict=True) if run and run.result}
    if not done:
        return
    results = [run.result for run in done.values()]
    known = pair.published([run.recipe for run in done.values()])
    rates = [n and 100 * n / result["n_test"] for n, result in zip(known, results, strict=True)]
    show(comparison.error_intervals(list(done), results, rates), "intervals")
    st.subheader("Who gets which digit right")
    with st.container(horizontal=True):
        names = list(pair.contenders())
        left = parameters.choice("left", "Left", names, widget="selectbox", width=240, help="One method.")
        right = parameters.choice("right", "Right", names, names[1], widget="selectbox", width=240, help="Another one.")
    if waiting := {left, right} - done.keys():
        st.caption(f"Not done yet: {' and '.join(sorted(waiting))}.")
    elif left != right:
        brief.disagreement(done[left], done[right])
    for title, result in zip(done, results, strict=True):
        if said := METHODS[result["method"]].words(result):
            st.caption(f"{title}: {words.plain(said)}")
    triangle.note()
    if virtual := next((run for run in done.values() if "n_virtual" in run.result), None):
        st.subheader("Virtual support vectors and their parents")
        machine = virtual.machine()
        families.draw(virtual, machine, evidence.supports(virtual, machine, 0), FAMILIES, key="families")


st.title("Compare methods")
present.about(
    "The same few examples, learned by every method (Table 10 of the paper). All are tested on the same examples."
)
form = present.form()
try:
    with form:
        recipes = pair.settings()
except (DataError, RecipeError) as error:
    st.error(words.plain(error), icon=":material/block:")
    st.stop()
if recipes is None:
    st.info("Choose two classes and a jitter set.", icon=":material/arrow_upward:")
    st.stop()
found = stored.stored(recipes.values())
with form, st.container(horizontal=True, vertical_alignment="center"):
    seconds = sum(estimate(r).seconds for r, run in zip(recipes.values(), found, strict=True) if run is None)
    stored.buttons(
        recipes.values(), found, "Run the missing", "One ordinary run a method; each is kept and can be inspected.",
        of="methods", group=pair.together(recipes),
    )  # fmt: skip
    if seconds:
        st.caption(f"About {words.duration(seconds)} for those not run yet.", width="content")
found = stored.or_samples(recipes.values(), found)
above, below = st.container(), st.container()
rates, in_numbers = present.parts(("Rates", "In numbers"), (below, above)) if any(found) else (below, above)
with in_numbers:
    polling.poll_all([run.id for run in found if run], lambda statuses: table(found, statuses))
with rates:
    verdict(found)
lambdas.panel(recipes)
