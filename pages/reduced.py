"""Reduced sets: the machine of a run by fewer vectors; the errors by size, and what became of the decisions.

`run` is the run shown, `parent` the one whose machine is reduced: the run itself, or what a reduction grew out of.
"""

from dataclasses import replace

import streamlit as st

from pages.ui import reduction
from pages.ui.figures import reduction as figures
from pages.ui.figures.frame import show
from pages.ui.kit import parameters, present, state, view, ways, words
from pages.ui.kit.parameters import Form
from pages.ui.kit.ways import button
from pages.ui.recipe import data_set, starting
from pages.ui.run import card, exports, picker, stored, watch
from pages.ui.run.trained import another_run, finished, nothing
from svmcore.kernels import Precomputed
from svmcore.lab.forecast import estimate
from svmcore.lab.methods import METHODS
from svmcore.lab.methods.reduced import reduction_of
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.reducing import reducer
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run
from svmcore.lab.tasks import task_of

WHAT = (
    "Every prediction needs one kernel evaluation per support vector. A reduced set approximates the machine by "
    "fewer, constructed vectors (Burges and Schölkopf 1997). Fewer vectors mean faster predictions, but more "
    "predictions change. Press Start to see how many change at each size."
)
FIELDS = {field.name: field for field in METHODS["reduced"].fields if field.shown}
FIRST = ("n_vectors", "sizes", "allowed")  # fields above the fold
MOST_LISTED = 12  # reductions of one machine


# Which runs


def chosen() -> tuple[Run | None, Run | None]:
    """(parent, reduction) of the page; (None, None), and the reason on screen, if the run shown has no machine."""
    run = state.current_run()
    if run is not None and reduction.is_reduction(run):
        parent = card.parent_of(run)
        return (parent if parent is not None and parent.state == "done" else None), run
    if run is not None:
        present.about(words.summary(run.recipe))
        return (run if finished(run, list_machines, "Nothing to reduce.") else None), None
    if not st.session_state.get("run"):  # of a damaged one the picker says what is to be said
        nothing("**Nothing to reduce yet.** Train a model first.")
    return None, None


def reductions(store: list[Run], parent: Run | None = None) -> list[Run]:
    """Of these runs the reductions, or those of one parent."""
    return [run for run in store if reduction.is_reduction(run) and (parent is None or run.parent == parent.id)]


def list_machines() -> None:
    """Runs that have a machine, to choose one."""
    done = [run for run in runs.newest_first() if run.state == "done" and not reduction.is_reduction(run)][:6]
    if done:
        st.caption("Runs with a machine:")
    picker.ways_to("reduced", done, "compress")


# The form: its fields are those of the method, so that form, address and recipe agree


def fields(parent: Run) -> dict:
    """The fields, n_vectors bounded by what the machine has (of several parts the one that has the fewest)."""
    size, most = FIELDS["n_vectors"], max(1, task_of(parent.recipe).vectors(parent.result))

    def check(name, value):
        if size.kind.check(name, value) > most:
            raise RecipeError(name, value, f"1 to {most}, the number of vectors of the machine")
        return int(value)

    help = f"{size.help} At most {most:,}, the number of vectors of the machine."
    bounded = {"kind": size.kind._replace(check=check, high=most), "opens": f"{max(1, most // 10):,} (a tenth)"}
    return FIELDS | {"n_vectors": replace(size, help=help, **bounded)}


def set_up(parent: Run, heading: str = "") -> None:
    if heading:
        st.subheader(heading)
    if why := irreducible(parent.machine()):
        st.error(words.plain(why), title="This machine cannot be reduced", icon=":material/block:")
        list_machines()
        return
    head, form, own = st.container(), Form.of("reduction", fields(parent)), {"persist_state": None}
    values = {name: form.draw(form_field, **own) for name, form_field in fields(parent).items() if name in FIRST}
    with st.expander("Method", icon=":material/tune:"):
        values |= {name: form.draw(field, **own) for name, field in FIELDS.items() if name not in FIRST}
    form.write(values)
    try:
        recipe = titled(reduction_of(parent.recipe, **values), parent)
        reducer(recipe).check(parent.machine(), parent.result["n_train"])
    except ValueError as error:
        st.error(words.plain(error), icon=":material/block:")
        return
    with head:
        starting.start_button(estimate(recipe), "reduce_start", start, (recipe, parent), "Reduces")


def irreducible(machine) -> str:
    """Why a machine cannot be reduced; empty where it can."""
    kernel = machine.kernel
    if isinstance(kernel, Precomputed):
        return "Its kernel is precomputed, so there are no kernel values for new vectors."
    if not len(machine.support):
        return "It has no support vectors."
    if not kernel.differentiable and not kernel.definite:
        return f"Its kernel, {kernel.name}, has no gradient by which vectors could be constructed."
    return ""


def titled(recipe: Recipe, parent: Run) -> Recipe:
    """The recipe with a name that says what it reduces."""
    m = recipe.option("n_vectors")
    to = "a tenth" if m is None else f"{m:,} vectors"
    return recipe.replace(title=f"{words.short(parent.title, 90)}, reduced to {to}")


def start(recipe: Recipe, parent: Run) -> None:
    with starting.asking():
        run_id = starting.submit(recipe, parent=parent.id)
        state.show_run(run_id)
        starting.tell_started(run_id, "The reduction")
    st.rerun()


# What is shown


def before(parent: Run) -> None:
    """A machine that is not reduced yet, or whose reductions are runs of their own."""
    st.subheader(words.plain(parent.title))
    st.markdown(f"**{words.error_rate(parent.result)}**")
    reduction.cost_metrics(parent)
    st.info(WHAT, icon=":material/compress:")
    if known := reductions(runs.newest_first(), parent):
        st.markdown(f"**Reductions of this machine** ({len(known)})")
    picker.ways_to(
        "reduced", known[:MOST_LISTED], "compress",
        lambda run: words.error_rate(run.result) if run.result else run.state,
    )  # fmt: skip


def show_reduction(run: Run, parent: Run | None) -> None:
    if run.state != "done":
        watch.watch(run)
        return
    picker.heading(run)
    st.caption(words.summary(run.recipe))
    done(run, parent)


def done(run: Run, parent: Run | None) -> None:
    above, sides = st.container(), st.grid(2, min_column_width=400)
    parts = ["Errors by size", "Approximation", "Vectors", "Changed predictions", "Decisions"]
    if not task_of(run.recipe).answers:
        parts = parts[:2]
    places = [sides.cell() for _ in parts[:3]]
    if parts[3:]:  # below one another, beside the vectors
        side = sides.cell()
        places += [side.container() for _ in parts[3:]]
    places = present.parts(parts, places)
    with present.below(above):
        with st.container(key="reduce_cost"):
            reduction.cost_table(run, parent)
        if not run.sample:
            take_away(run)
    with places[0]:
        size = reduction.other_size(run)
        if size and parent is not None and not run.sample:
            options = run.recipe.options | {"n_vectors": size, "sizes": 1, "allowed": None}
            recipe = titled(reduction_of(parent.recipe, **options), parent)
            help = "Starts a run that constructs this size again, tests the machine, and stores it."
            button(f"Keep the machine of {size:,} vectors", "save", "reduce_keep", start, recipe, parent, help=help)
    with places[1]:
        show(figures.nearness(run.result["reduction"]["path"]), key="reduce_rho")
    if len(places) > 2:
        machine = reduction.shown_machine(run)
        with places[2]:
            reduction.vectors(run, parent, machine)
        with places[3]:
            reduction.changed_answers(run, parent)
        with places[4]:
            reduction.decisions(run, parent, machine)


def take_away(run: Run) -> None:
    """The machine to take away, and the pages that show more of it."""
    row, reasons = st.container(horizontal=True, vertical_alignment="top"), st.container()
    with row:
        exports.machine(run, reasons)
        card.to_compare(run)
        vectors = view.part(run.recipe, "vectors") or view.home_of(run.recipe)
        ways.link(vectors.link(run.id), icon=":material/arrow_forward:")


parameters.own(
    **{field.name: field for field in METHODS["reduced"].fields},
    machine=data_set.check_machine, changed=reduction.CHANGES, page=slice(1, None),
)  # fmt: skip
parent, run = chosen()
store = runs.newest_first()
if parent is not None:
    form = Form.of("reduction", fields(parent))
    form.seed(lambda: {name: field.default for name, field in FIELDS.items()})
    form.warn()  # first: what it says of an address is not folded away
if run is not None:
    another_run(run, "reduced", machine=None)
    if parent is None:
        st.caption("No finished run of the original machine is available, so other sizes cannot be tried.")
    elif not present.presenting():
        with st.expander("Another reduction of the same machine", icon=":material/tune:"):
            set_up(parent)
    show_reduction(run, parent)
elif parent is not None and present.presenting():  # a talk shows no empty page: the newest reduction, best of this one
    with present.form(f"Reduce {words.plain(words.short(parent.title, 60))}"):
        set_up(parent, "Reduce")
    made = [made for made in reductions(store) if made.state == "done"]
    if newest := max(made, key=lambda run: run.parent == parent.id, default=None):
        if newest.parent != parent.id:
            st.subheader(words.plain(newest.title))
        done(newest, card.parent_of(newest))
elif parent is not None:
    grid = st.grid(3, min_column_width=270)
    with grid.cell(), st.container(border=True):
        set_up(parent, "Reduce")
    with grid.cell(column_span=2):
        before(parent)
if run is None and not reductions(store) and (samples := reductions(runs.samples())):
    if not present.presenting():
        st.subheader(words.plain(samples[0].title))
    stored.say_samples(samples[:1], "Reduce a machine of your own to replace this sample.")
    done(samples[0], card.parent_of(samples[0]))
