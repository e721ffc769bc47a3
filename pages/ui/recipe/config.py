"""A recipe between the address and the widgets of its form.

    address  ->  Recipe  ->  widgets  ->  Recipe  ->  address          (fields and options as in `Recipe.to_query`)

The form starts from the recipe that the address spells out, or from the preset, and writes what it shows back into
the address, so that a copied link is the recipe. A field of the address that cannot be is said and left out.
"""

from contextlib import contextmanager, suppress

import streamlit as st

from data import DataError, catalogue
from pages.ui.kit import parameters, state, words
from svmcore.kernels import RBF
from svmcore.lab import jobs
from svmcore.lab.experiment import advice
from svmcore.lab.recipe.recipe import FIELDS, Recipe, RecipeError
from svmcore.lab.recipes import PRESET, RECIPES
from svmcore.lab.registry.method import JITTERS_DEFAULT
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.registry.options import option_fields
from svmcore.lab.registry.solvers import SOLVERS
from svmcore.lab.registry.tasks import TASKS
from svmcore.lab.store.runs import ACTIVE, UnknownRun

# Session state beside the widgets' own: what the form was filled with, what it showed last, what the address had wrong.
BASE, SHOWN, WRONG = "recipe_base", "recipe_shown", "recipe_wrong"
FOLDED = "recipe_folded"  # whether the form has given its place to the run that was started
CLICK = 2.0  # seconds in which the same recipe, asked for again, is a second click and no second run
ELSEWHERE = ("detect",)  # tasks that have a form of their own, on the page Detect
OTHERWISE = ("name", "title", "kernel", "class_weight", "jitters", "options")  # fields whose widgets hold other values


def key(name: str) -> str:
    """Key of the widget of a field, of a kernel's parameter (`poly_degree`), or of a method's option (`vsv_scope`)."""
    return f"recipe_{name}"


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


def start(recipe: Recipe, parent: str | None = None):
    """Callback: queue the run, make it the current one, fold the form away, and draw the whole page anew. parent: id
    of the run that it grew out of."""
    st.session_state[WRONG] = []
    with asking():
        run_id = submit(recipe, parent=parent)
        fold()
        parameters.write("recipe", names(), {})
        state.show_run(run_id)
        waits = jobs.status(run_id).state == "queued"
        does = "waits for its turn" if waits else "trains in the background"
        state.tell_later(f":material/play_circle: {words.plain(recipe.title or recipe.name)} {does}.")
    st.rerun()


def folded(run) -> bool:
    """Whether `run` has the page: after Start, or when it is found at work; not when the address asks for a recipe."""
    if run is None or parameters.asked("recipe", names()):
        st.session_state[FOLDED] = False
    return st.session_state.setdefault(FOLDED, run is not None and run.state in ACTIVE)


@state.callback
def unfold(run=None):
    """Callback: draw the form again, filled with what this run was asked, and the whole page with it."""
    st.session_state[FOLDED] = False
    if fits(run):
        fill(run.recipe)
    st.rerun()


def fits(run) -> bool:
    """Whether this form can show what a run was asked."""
    return run is not None and not run.damage and not elsewhere(run.recipe)


def elsewhere(recipe: Recipe) -> str:
    """The page that has the form of this recipe, where it is not Train; else nothing."""
    if not METHODS[recipe.method].made:
        return "Reduced sets"
    return "Detect" if recipe.task in ELSEWHERE else ""


def link(recipe: Recipe) -> dict[str, str]:
    """The query parameters that open the form with this recipe."""
    query = recipe.replace(name="custom", title="").to_query()
    return query | ({"kernel": FIELDS["kernel"].show(recipe.kernel)} if query.keys() == {"dataset"} else {})


def suggestion(name: str) -> Recipe:
    """Where to start on a data set: its first named recipe, or a Gaussian machine on scaled values; on the reader's
    own one as wide as its examples lie apart."""
    if named := next((r for r in RECIPES.values() if r.dataset == name and not elsewhere(r)), None):
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


@st.cache_data(max_entries=64, show_spinner=False)
def _usual_gamma(content_hash: str, steps: tuple[str, ...], _dataset) -> float:
    return advice.usual_gamma(_dataset, steps)


def seed():
    """Fill the widgets: from an address that this form did not write; at first from the run shown, or the preset."""
    asked = {name: texts[-1] for name, texts in parameters.asked("recipe", names()).items()}
    base = st.session_state.get(BASE)
    if base is None and not asked:
        run = state.current_run()
        fill(run.recipe if fits(run) else RECIPES[PRESET])
    elif asked and not (asked.keys() == {"dataset"} and base and base.dataset == asked["dataset"]):
        fill(*read(asked))


def fill(recipe: Recipe, wrong=()):
    """Put a recipe's values into the widgets; `wrong`: what is to be said of the address that it came from."""
    values = st.session_state
    values[BASE], values[SHOWN], values[WRONG] = recipe, None, list(wrong)
    for name in (name for name in FIELDS if name not in OTHERWISE):
        value = getattr(recipe, name)
        values[key(name)] = list(value) if isinstance(value, tuple) else value
    kernel = recipe.kernel.to_dict()
    values[key("kernel")] = recipe.kernel.name
    values.update({key(f"{recipe.kernel.name}_{name}"): value for name, value in kernel.items()})
    owners = ((recipe.task, TASKS), (recipe.method, METHODS), (recipe.solver, SOLVERS))
    for owner, own in ((name, known[name]) for name, known in owners):
        values.update({key(f"{owner}_{field.name}"): recipe.option(field.name) for field in own.fields})
    values[key("balanced")] = recipe.class_weight == "balanced"
    values[key("jitters")] = recipe.jitters or JITTERS_DEFAULT


def write(recipe: Recipe):
    """Make the address spell the recipe that the form shows."""
    values = st.session_state
    if values[SHOWN] not in (None, recipe):
        values[WRONG] = []
    values[SHOWN] = recipe
    parameters.write("recipe", names(), link(recipe))


def read(asked: dict[str, str]) -> tuple[Recipe, list[str]]:
    """The recipe of the address, and what was wrong with it, field by field."""
    recipe, wrong = Recipe(), []
    try:
        catalogue.entry(asked.get("dataset", recipe.dataset))
    except ValueError as error:
        wrong.append(str(error))
        asked = {name: text for name, text in asked.items() if name != "dataset"}
    if asked.keys() == {"dataset"}:
        return suggestion(asked["dataset"]), wrong
    for name in (name for name in names() if name in asked):
        try:
            changed = recipe.with_text(name, asked[name])
            if not METHODS[changed.method].made:
                raise RecipeError("method", changed.method, "another on this page; Reduced sets has its form")
            if changed.task in ELSEWHERE:
                raise RecipeError("task", changed.task, "classify on this page; the page Detect looks for objects")
            recipe = changed
        except RecipeError as error:
            wrong.append(str(error))
    return recipe, wrong
