"""Train: set up a run on the left, watch the chosen one on the right; one just started has the page to itself."""

from contextlib import suppress

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from data import DataError, Entry, catalogue, load
from pages.ui import reduction
from pages.ui.figures import maps
from pages.ui.figures.frame import show
from pages.ui.kit import parameters, present, state, view, ways, words
from pages.ui.kit.parameters.form import NUMBER
from pages.ui.kit.ways import button
from pages.ui.recipe import config, data_set, presets, starting, steps
from pages.ui.recipe.config import FORM
from pages.ui.run import watch
from svmcore.kernels import KERNELS, RBF, Kernel
from svmcore.lab.analyses import advice
from svmcore.lab.analyses.repeats import MAX_REPEATS
from svmcore.lab.fields import check_weights, numerals
from svmcore.lab.forecast import estimate
from svmcore.lab.presets import PRESET, RECIPES
from svmcore.lab.recipe import FIELDS, Recipe, option_fields
from svmcore.lab.solvers import SOLVERS
from svmcore.lab.tasks import TASKS
from svmcore.preprocess import STEPS, usage


def recipe_form(near_start: DeltaGenerator, in_its_place: DeltaGenerator) -> Recipe | None:
    """Draw the form; the Recipe that it shows, or None (and the reason on screen) when it shows an impossible one.

    near_start: where the switch for slow motion goes; in_its_place: where Start would be, for the reason.
    """
    config.seed()
    FORM.warn()
    return config.drawn(FORM, lambda: _recipe(near_start), in_its_place, _as_called_here)


def _recipe(near_start: DeltaGenerator) -> Recipe:
    """The recipe that the widgets show. ValueError for an impossible one."""
    entry, data = _data()
    chosen = data | {"kernel": _kernel(data)} | FORM.draw_row([FIELDS["C"], FIELDS["tol"]])
    chosen |= config.method_fields(FORM, data["task"], entry.kind == "images", entry.groups > 0) | _more(data["task"])
    if classes := data["classes"] or entry.classes:
        check_weights(chosen["class_weight"], ["1", "-1"] if len(classes) == 1 else map(str, classes))
    chosen["slow_motion"] = FORM.draw(FIELDS["slow_motion"], where=near_start, widget="toggle")
    return config.called(FORM.base.replace(**chosen))


def _as_called_here(error: ValueError) -> str:
    """What cannot be, with the field and its choices by the names that they have in the form."""
    field = (FIELDS | option_fields()).get(getattr(error, "field", None))
    if field is None or not field.label:
        return words.plain(error)
    first, gap, rest = error.allowed.partition(" ")
    value, first = map(field.called, (str(error.value), first))
    return f"*{words.plain(field.label)}* is {words.plain(value)}; allowed: {words.plain(f'{first}{gap}{rest}')}"


def _data() -> tuple[Entry, dict]:
    offered = [name for name in TASKS if view.TASKS.get(name, view.View()).form is None]
    task = FORM.draw(FIELDS["task"], options=offered) if len(offered) > 1 else offered[0]
    entries, key = {e.name: e for e in catalogue.entries()}, FORM.key("dataset")
    with suppress(DataError):  # one of a family of which a few are listed, or a state of a revision
        entries.setdefault(st.session_state[key], catalogue.entry(st.session_state[key]))
    if st.session_state[key] not in entries:  # the reader's own, deleted since
        FORM.fill(RECIPES[PRESET])
    entry = data_set.of_form(FORM, entries, data_set.suggestion)
    grid = st.grid(2, min_column_width=NUMBER)
    values = {"task": task, "dataset": entry.name, **data_set.sizes(FORM, entry, grid.cell(), grid.cell())}
    values["classes"] = FORM.draw(FIELDS["classes"], options=list(entry.classes), placeholder="all")
    values["preprocess"] = FORM.draw(
        FIELDS["preprocess"], options=list(map(usage, STEPS)), accept_new_options=True, placeholder="none",
        help=f"{FIELDS['preprocess'].help} You can type a step with a number of your own, such as smooth:1.5, or "
        "join two sets of features, such as gradients+0.5*patterns.",
    )  # fmt: skip
    steps.fields(FORM.key("preprocess"), values["preprocess"])
    if entry.kind == "features":
        _say_unlike(entry, tuple(values["preprocess"]))
    return entry, values


def _say_unlike(entry: Entry, chosen: tuple[str, ...]) -> None:
    """Whether few rows of a table, or one column, decide all distances, and the way out."""
    if advice.LENGTH not in chosen and (rows := data_set.unlike_rows(entry.load())):
        row, times = rows
        st.warning(
            f"Training example {row:,} lies {times:,.0f} times as far from the mean as the median example. "
            f"After `{advice.SCALE}` most other examples nearly coincide, and only a very large gamma separates them. "
            "Exclude such examples if they are mistakes. If only the proportions within a row matter, begin with "
            f"`{advice.LENGTH}`.",
            title="Rows of different scales",
            icon=":material/straighten:",
        )
        help = "Scales each row to length 1, then each column to mean 0 and standard deviation 1."
        begun = advice.LENGTH, *dict.fromkeys((advice.SCALE, *chosen))
        button(f"Begin with {advice.LENGTH}", "straighten", "recipe_length", _begin, entry.name, begun, help=help)
    elif advice.SCALE not in chosen and (columns := data_set.unlike(entry.load())):
        wide, most, narrow, least = columns
        st.warning(
            f"Column *{words.plain(words.short(wide))}* has a range of {most:.3g}, but column "
            f"*{words.plain(words.short(narrow))}* only {least:.3g}. Distances depend almost only on the first column.",
            title="Columns of different scales",
            icon=":material/straighten:",
        )
        help = "Scales each column to mean 0 and standard deviation 1, and gives a Gaussian kernel its usual width."
        begun = advice.SCALE, *chosen
        button(f"Begin with {advice.SCALE}", "straighten", "recipe_scale", _begin, entry.name, begun, help=help)


def _begin(name: str, steps: tuple[str, ...]) -> None:
    """Callback: take these steps, and a Gaussian at the width that is usual after them."""
    st.session_state[FORM.key("preprocess")] = list(steps)
    with suppress(DataError):
        st.session_state[FORM.key(f"{RBF.name}_gamma")] = data_set.gamma(load(name), steps)


def _kernel(data: dict) -> Kernel:
    given = FORM.base.kernel
    offered = {name: kind.title for name, kind in KERNELS.items() if kind.title}
    names = {given.name: given.name.capitalize()} | offered
    name = FORM.draw(
        FIELDS["kernel"], widget="segmented_control", options=sorted(names, key=list(KERNELS).index),
        format_func=names.get, help=f"{FIELDS['kernel'].help} The picture below shows the effect of its parameters.",
    )  # fmt: skip
    if name not in offered:
        st.caption(f"This recipe has the kernel `{FIELDS['kernel'].show(given)}`. The form cannot change its settings.")
        return given
    wanted, values = numerals(KERNELS[name]), {}
    columns = iter(st.columns(3)) if wanted else None
    for field in wanted:
        values[field.name] = FORM.draw(field, name, st if field.kind.widget == "flag" else next(columns))
    kernel = KERNELS[name](**values)
    if isinstance(kernel, RBF) and data["dataset"].startswith(catalogue.OWN_PREFIX):
        gamma = data_set.gamma(load(data["dataset"]), tuple(data["preprocess"]))
        said = f"gamma = {words.small(gamma)} is usual: 1 over the median of their squared distances."
        st.caption(f"For these examples {said}")
    show(maps.kernel_picture(kernel), key="kernel_picture")
    return kernel


def _more(task: str) -> dict:
    with st.expander("More"):
        values = FORM.draw_row([FIELDS["seed"], FIELDS["solver"]], [2, 3])
        for name in ("class_weight", "split", "cache_mb", "folds"):
            values[name] = FORM.draw(FIELDS[name])
        own = FORM.draw_all(SOLVERS[values["solver"]].fields, values["solver"])
        own |= FORM.draw_all(TASKS[task].fields, task)
    return values | own


@state.fragment
def set_up():
    st.subheader("New run")
    menu, head = st.container(), st.container()
    beside = st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute")
    recipe = recipe_form(beside, head)
    with menu:
        presets.menu(recipe)
    if recipe is None:
        return
    need = estimate(recipe)
    with head:
        start = st.container()
        with beside:
            times = starting.times()
        with start:
            starting.start_button(need, "start", starting.start, (recipe, None, times), times=times)
        if need.fits:
            ways.to("sweep", "Choose by cross-validation", "tune", config.link(recipe))
        presets.standing(recipe)  # below Start, which keeps its place


parameters.own(
    **config.fields(), repeats=slice(1, MAX_REPEATS), machine=data_set.check_machine, changed=reduction.CHANGES,
    page=slice(1, None),
)  # fmt: skip
run = state.current_run()
alone = starting.folded(run) or (run is not None and present.presenting())
# Both layouts are a grid of two cells: what a run's fragment still sends while the page changes has a place to go.
grid = st.grid(3, min_column_width=270)
with grid.cell(column_span=3 if alone else 1):
    if present.presenting() and run:
        pass
    elif alone:
        button("New run", "add", "new_run", starting.unfold, run, help="Opens the form with the settings of this run.")
    else:
        with st.container(border=True):
            set_up()
with grid.cell(column_span=3 if alone else 2):
    if run:
        watch.watch(run)
    else:
        st.info(
            "Choose dataset, kernel and C on the left and press Start. Support vectors and errors appear here while "
            "the machine converges.",
            title="Nothing trained yet",
            icon=":material/play_circle:",
        )
