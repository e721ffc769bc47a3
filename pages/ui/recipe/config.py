"""A recipe between the address and the widgets of its form.

    address  ->  Recipe  ->  widgets  ->  Recipe  ->  address          (fields and options as in `Recipe.to_query`)

The form starts from the recipe that the address spells out, or from the preset, and writes what it shows back into
the address, so that a copied link is the recipe. A field of the address that cannot be is said and left out.
"""

from collections.abc import Callable
from contextlib import contextmanager, suppress

import streamlit as st

from data import DataError, catalogue, revisions
from pages.ui.kit import parameters, state, view, words
from pages.ui.kit.parameters import Form
from svmcore.kernels import RBF
from svmcore.lab import jobs
from svmcore.lab.experiment import advice, repeats
from svmcore.lab.recipe.recipe import FIELDS, Recipe, RecipeError
from svmcore.lab.recipes import PRESET, RECIPES, named
from svmcore.lab.registry.fields import numerals
from svmcore.lab.registry.method import JITTERS_DEFAULT
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.registry.options import option_fields
from svmcore.lab.registry.solvers import SOLVERS
from svmcore.lab.registry.tasks import TASKS
from svmcore.lab.store import runs
from svmcore.lab.store.runs import ACTIVE, UnknownRun

FOLDED = "recipe_folded"  # in the session: whether the form has given its place to the run that was started
CLICK = 2.0  # seconds in which the same recipe, asked for again, is a second click and no second run
SPREAD = ("name", "title", "kernel", "jitters", "options")  # over widgets that show a part each


def names() -> list[str]:
    """The parameters of an address that spell a recipe."""
    return [*FIELDS, *option_fields()]


def submit(recipe: Recipe, **how) -> str:
    """Queue a run for a click, once however often the click comes; its id. `how` and errors as in `jobs.submit`."""
    return jobs.submit(recipe, once_in=CLICK, **how)


@contextmanager
def asking(otherwise: str = "Not started."):
    """Around `submit` in a callback: what cannot be queued is said, with these words before the reason."""
    try:
        yield
    except (jobs.QueueFull, UnknownRun, ValueError, OSError) as error:
        state.tell_later(f":material/block: {otherwise} {words.plain(error)}")


def fold():
    """Give the form's place to a run that was just asked for."""
    st.session_state[FOLDED] = True
    st.session_state.pop("machine", None)  # the one at work, not the one that was looked at before


def start(recipe: Recipe, parent: str | None = None, times: int = 1, broken_off: str | None = None):
    """Callback: queue the run, make it the current one, fold the form away, and draw the whole page anew. parent: id
    of the run that it grew out of; times: with so many seeds, one run each; broken_off: of one to go on from."""
    with asking():
        (first, *others), group = repeats.repeated(recipe, times)
        run_id = submit(first, parent=parent, group=group, broken_off=broken_off)
        for again in others:
            submit(again, parent=parent, group=group, looks=False)
        fold()
        FORM.clear()
        state.show_run(run_id)
        tell_started(run_id)
    st.rerun()


def start_and_open(
    page: str, make: Callable[[], Recipe], parent: str, then: Callable[[str], None] = lambda run_id: None
) -> None:
    """After a press: queue the run of `make()`, and open it on a page that shows it, after `then(its id)`; where it
    cannot be, say why. parent: id of the run that it grew out of."""
    with asking():
        run_id = submit(make(), parent=parent)
        then(run_id)
        st.switch_page(page, query_params={"run": run_id})
    st.rerun()


def tell_started(run_id: str, name: str = "") -> None:
    """Say that a run was asked for, by its title or as what; how far it is is looked up as it is said, as one of a
    second is done by then."""
    does = {"queued": "waits for its turn", "running": "is at work in the background", "done": "is there already"}

    def told() -> str:
        what = words.plain(name or runs.get(run_id).title)
        return f":material/play_circle: {what} {does.get(jobs.status(run_id).state, 'was started')}."

    state.tell_later(told)


def folded(run) -> bool:
    """Whether `run` has the page: after Start, or when it is found at work; not when the address asks for a recipe."""
    if run is None or FORM.asked():
        st.session_state[FOLDED] = False
    return st.session_state.setdefault(FOLDED, run is not None and run.state in ACTIVE)


@state.callback
def unfold(run=None):
    """Callback: draw the form again, filled with what this run was asked, and the whole page with it."""
    st.session_state[FOLDED] = False
    if fits(run):
        FORM.fill(run.recipe)
    st.rerun()


def fits(run) -> bool:
    """Whether this form can show what a run was asked."""
    return run is not None and not run.damage and view.form_of(run.recipe) == view.TRAIN


def link(recipe: Recipe) -> dict[str, str]:
    """The query parameters that open the form with this recipe."""
    query = recipe.replace(name="custom", title="").to_query()
    return query | ({"kernel": FIELDS["kernel"].show(recipe.kernel)} if query.keys() == {"dataset"} else {})


def suggestion(name: str) -> Recipe:
    """Where to start on a data set: its first named recipe, or a Gaussian machine on scaled values; on the reader's
    own one as wide as its examples lie apart. On a revision as on its base."""
    if (base := revisions.base_of(name)) != name:
        return suggestion(base).replace(name="custom", title="", dataset=name)
    if named := next((r for r in RECIPES.values() if r.dataset == name and view.form_of(r) == view.TRAIN), None):
        return named
    if name.startswith(catalogue.OWN_PREFIX):
        with suppress(DataError):  # the page says what is wrong with it
            steps = advice.usual_steps(catalogue.entry(name).load())
            return Recipe(dataset=name, preprocess=steps, kernel=RBF(usual_gamma(name, steps)))
    shape = catalogue.entry(name).shape
    steps = ("unit-norm",) if len(shape) > 1 else ("zscore",)
    width = 2.0 if len(shape) > 1 else round(1 / max(shape[0], 1), 4)
    return Recipe(dataset=name, preprocess=steps, kernel=RBF(width))


def usual_gamma(name: str, steps: tuple[str, ...]) -> float:
    """The gamma to begin with on a data set that is at hand, after these steps. DataError where it cannot be read."""
    dataset = catalogue.entry(name).load()
    return _usual_gamma(dataset.content_hash, steps, dataset)


def unlike(name: str) -> tuple[str, float, str, float] | None:
    """`advice.unlike` of a data set that is at hand. DataError where it cannot be read."""
    dataset = catalogue.entry(name).load()
    return _unlike(dataset.content_hash, dataset)


@st.cache_data(max_entries=64, show_spinner=False)
def _unlike(content_hash: str, _dataset) -> tuple[str, float, str, float] | None:
    return advice.unlike(_dataset)


def scale(name: str, steps: tuple[str, ...]) -> None:
    """Callback: put the columns of a table on one scale before the other steps, and a Gaussian at the width that is
    usual then."""
    steps = (advice.SCALE, *steps)
    st.session_state[FORM.key("preprocess")] = list(steps)
    with suppress(DataError):
        st.session_state[FORM.key(f"{RBF.name}_gamma")] = usual_gamma(name, steps)


@st.cache_data(max_entries=64, show_spinner=False)
def _usual_gamma(content_hash: str, steps: tuple[str, ...], _dataset) -> float:
    return advice.usual_gamma(_dataset, steps)


def seed():
    """Fill the widgets: from an address that this form did not write; at first from the run shown, or the preset."""
    base = FORM.base
    FORM.seed(_first, unless=lambda given: base is not None and given == {"dataset": [base.dataset]})


def _first() -> Recipe:
    run = state.current_run()
    return run.recipe if fits(run) else RECIPES[PRESET]


def spread(recipe: Recipe) -> dict:
    """What each widget of a recipe shows: those of its fields, of the numbers of its kernel (`poly_degree`), and of the
    options that its task, method and solver have (`vsv_scope`)."""
    shown = {n: parameters.shown(field, getattr(recipe, n)) for n, field in FIELDS.items() if n not in SPREAD}
    kernel = recipe.kernel
    shown |= {f"{kernel.name}_{n.name}": type(n.default)(getattr(kernel, n.name)) for n in numerals(type(kernel))}
    owners = ((recipe.task, TASKS), (recipe.method, METHODS), (recipe.solver, SOLVERS))
    for owner, known in owners:
        own = known[owner].fields
        shown |= {f"{owner}_{field.name}": parameters.shown(field, recipe.option(field.name)) for field in own}
    weight = recipe.class_weight
    shown["weight"] = weight.get("1", 1.0) if isinstance(weight, dict) else 1.0
    return shown | {"kernel": kernel.name, "jitters": recipe.jitters or JITTERS_DEFAULT}


def read(given: dict[str, list[str]]) -> tuple[Recipe, list[str]]:
    """The recipe of the address, and what was wrong with it, field by field."""
    asked, recipe, wrong = {name: texts[-1] for name, texts in given.items()}, Recipe(), []
    try:
        catalogue.entry(asked.get("dataset", recipe.dataset))
    except ValueError as error:
        wrong.append(str(error))
        asked.pop("dataset")
    if asked.keys() == {"dataset"}:
        return suggestion(asked["dataset"]), wrong
    with suppress(RecipeError):  # a task and a method that go with each other alone
        both = recipe.with_texts({name: asked[name] for name in ("task", "method") if name in asked})
        recipe = both if view.form_of(both) == view.TRAIN else recipe
    return with_texts(recipe, {name: asked[name] for name in names() if name in asked}, wrong, _refuse)


def with_texts(recipe: Recipe, texts: dict[str, str], wrong: list[str], refuse=lambda name, text, recipe: None):
    """The recipe with what an address has of it, and what was wrong: what cannot be, or what `refuse` raises over.

    What cannot be is tried again once the others are there: draws may be asked for before what they are drawn from."""
    left = dict(texts)
    while left:
        failed = {}
        for name, text in left.items():
            try:
                changed = recipe.with_text(name, text)
                refuse(name, text, changed)
                recipe = changed
            except RecipeError as error:
                failed[name] = str(error)
        if len(failed) == len(left):
            return recipe, [*wrong, *failed.values()]
        left = {name: left[name] for name in failed}
    return recipe, wrong


def _refuse(name: str, text: str, recipe: Recipe) -> None:
    if (form := view.form_of(recipe)) != view.TRAIN:
        raise RecipeError(name, text, f"another on this page; {form.title} has its form")


FORM = Form("recipe", names, read, link, spread)


def called(recipe: Recipe) -> Recipe:
    """The recipe under the name of the one in the list that is the same, or under its own."""
    return named(recipe, words.title(recipe))


def times() -> int:
    """How many runs Start asks for, each with another seed."""
    field = parameters.number(
        "repeats", "Repeats", 1, repeats.MAX_REPEATS, 1, width=110,
        help="So many runs, each with another seed, which draws other examples or windows. How far their results "
        "scatter, and those of two recipes seed by seed, then stands on Compare, or on Detect.",
    )  # fmt: skip
    return int(field)


def start_button(need, key: str, on_click, args: tuple, help: str, times: int = 1) -> None:
    """Start, or Queue while something is at work, and what the run, or so many of them, will need."""
    st.button(
        "Queue" if jobs.active() else "Start",
        type="primary",
        icon=":material/play_arrow:",
        width="stretch",
        key=key,
        on_click=on_click,
        args=args,
        disabled=not need.fits,
        help=help,
    )
    if need.fits:
        many = f"{times} runs: about" if times > 1 else "About"
        about = f"{many} {words.duration(times * need.seconds)} and {words.megabytes(need.memory_mb)} of memory"
        st.caption(f"{about}; {words.FIRST_TIME}." if need.first else f"{about}.")
    else:
        st.warning(words.plain(need.advice), title="This run does not fit", icon=":material/memory:")
