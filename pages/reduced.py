"""Reduced sets: the machine of a run by fewer vectors; the errors by size, and what became of the decisions."""

import streamlit as st

from pages.ui.kit import present, view, ways, words
from pages.ui.reduce import chosen, course, form, shown
from pages.ui.run import card, exports, line, picker, polling, stored, watch
from pages.ui.run.trained import another_run
from svmcore.lab.registry.methods.reduced import reduction_of
from svmcore.lab.registry.tasks import task_of
from svmcore.lab.store.runs import ACTIVE

WHAT = (
    "Every decision costs a kernel value for each support vector. A reduced set keeps the decisions by fewer vectors: "
    "they are constructed, not taken from the examples (Burges and Schölkopf 1997). The fewer there are, the faster a "
    "decision, and the more answers change: Start shows how many at each size."
)


def set_up(about):
    """The settings, what it will need, and Start."""
    if about.reduction is None:
        st.subheader("Reduce")
    why = chosen.reducible(about.of.machine())
    if why:
        st.error(words.plain(why), title="This machine cannot be reduced", icon=":material/block:")
        chosen.picker_hint()
        return
    head = st.container()
    recipe = form.form(about.of)
    if recipe is not None:
        with head:
            form.start_button(recipe, about.of)


def before(about):
    """A machine that is not reduced yet, or whose reductions are runs of their own."""
    st.subheader(words.plain(about.of.title))
    st.markdown(f"**{words.error_rate(about.of.result)}**")
    shown.cost(about.of)
    st.info(WHAT, icon=":material/compress:")
    if known := chosen.reductions(about.of):
        st.markdown(f"**Its reductions** ({len(known)})")
    for run in known[:12]:
        told = words.error_rate(run.result) if run.result else run.state
        label = f"{words.plain(words.short(run.title, 70))}: {words.plain(told)}"
        ways.to("reduced", label, "compress", {"run": run.id})


def look(about):
    """A reduction, whatever its state."""
    run = about.reduction
    picker.heading(run)
    st.caption(words.summary(run.recipe))
    polling.poll(run.id, lambda status: at_work(run, status))
    if run.state == "done":
        done(run, about.of)


def at_work(run, status):
    """A reduction that is queued or at work, or that ended early."""
    if status.state == "done":
        return
    if status.state in ACTIVE:
        watch.controls(run, status)
    else:
        watch.ended(run, status)
    if status.state == "queued":
        st.info(line.place(status), icon=":material/schedule:")
    if status.progress:
        course.numbers(run, status.progress, status)
        course.curves(run, run.progress(), "reduce")


def done(run, of):
    """What became of it."""
    above = st.container()
    parts = ["Errors by size", "How near", "Vectors", "Answers that changed", "Decisions"]
    if not task_of(run.recipe).answers:
        parts = parts[:2]
    sides = st.grid(2, min_column_width=400)
    places = [sides.cell() for _ in parts[:3]]
    if parts[3:]:  # below one another, beside the vectors
        side = sides.cell()
        places += [side.container() for _ in parts[3:]]
    places = present.parts(parts, places)
    with present.below(above):
        shown.numbers(run, of)
        if not run.sample:
            _ways_on(run)
    with places[0]:
        other = shown.sizes(run)
        if other and of is not None and not run.sample:
            recipe = reduction_of(of.recipe, **run.recipe.options | {"n_vectors": other, "sizes": 1, "allowed": None})
            st.button(
                f"Keep the machine of {other:,} vectors", icon=":material/save:", key="reduce_keep",
                on_click=form.start, args=(form.titled(recipe, of), of),
                help="Makes it again as a run of its own, asks it about the test examples, and keeps it.",
            )  # fmt: skip
    with places[1]:
        shown.nearness(run)
    if len(places) > 2:
        machine = shown.which(run)
        with places[2]:
            shown.vectors(run, of, machine)
        with places[3]:
            shown.changed(run, of)
        with places[4]:
            shown.decisions(run, of, machine)


def _ways_on(run):
    """The machine to take away, and the pages that show more of it."""
    row, reasons = st.container(horizontal=True, vertical_alignment="top"), st.container()
    with row:
        exports.machine(run, reasons)
        card.to_compare(run)
        vectors = view.part(run.recipe, "vectors") or view.home_of(run.recipe)
        st.page_link(**vectors.link(run.id), icon=":material/arrow_forward:")


st.title("Reduced sets")
about = chosen.chosen()
if about is not None and about.reduction is not None:
    another_run(about.reduction, "reduced", machine=None)
    if about.of is None:
        st.caption("The run of its machine is gone, so that no other size can be tried from here.")
    elif not present.presenting():
        form.seed(about.of)  # what it says of an address is not folded away
        with st.expander("Another reduction of the same machine", icon=":material/tune:"):
            set_up(about)
    look(about)
elif about is not None and present.presenting():
    form.seed(about.of)
    with present.form(f"Reduce {words.plain(words.short(about.of.title, 60))}"):
        set_up(about)
    if newest := chosen.newest(about.of):
        if newest.reduction.parent != about.of.id:
            st.subheader(words.plain(newest.reduction.title))
        done(newest.reduction, newest.of)
elif about is not None:
    form.seed(about.of)
    grid = st.grid(3, min_column_width=270)
    with grid.cell(), st.container(border=True):
        set_up(about)
    with grid.cell(column_span=2):
        before(about)
if (about is None or about.reduction is None) and (sample := chosen.sample()):
    if not present.presenting():
        st.subheader(words.plain(sample.reduction.title))
    stored.say_samples([sample.reduction], "Start, on a machine of your own, puts yours in its place.")
    done(sample.reduction, sample.of)
