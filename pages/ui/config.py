"""A recipe as a form, and the form as a URL.

    URL  ->  Recipe  ->  widgets  ->  Recipe  ->  URL          (fields as in `Recipe.to_query`)

The form starts from the recipe that the address spells out, or from the preset, and writes what it shows back into
the address, so that a copied link is the recipe. A field of the address that cannot be is said and left out.
"""

from dataclasses import fields

import streamlit as st

from data import catalogue
from pages.ui import figures, figures_plane, state, words
from svmcore.kernels import KERNELS, RBF
from svmcore.lab import jobs
from svmcore.lab.estimate import BudgetError
from svmcore.lab.recipe import FIELDS, METHODS, SCOPES, SOLVERS, SPLITS, Recipe, RecipeError
from svmcore.lab.recipes import PRESET, RECIPES
from svmcore.preprocess import STEPS, usage

# Session state beside the widgets' own: what the form was filled with, what it showed last, what the address had wrong.
BASE, SHOWN_LAST, WRONG = "recipe_base", "recipe_shown", "recipe_wrong"
KEEP = {"persist_state": "session"}
SHOWN = (
    "slow_motion",
    "dataset",
    "n_train",
    "n_test",
    "classes",
    "preprocess",
    "C",
    "tol",
    "seed",
    "split",
    "solver",
    "cache_mb",
)
INVARIANCE = ("method", "jitters", "scope", "rounds")
KERNEL_NAMES = {"poly": "Poly", "rbf": "RBF", "linear": "Linear", "sigmoid": "Sigmoid"}
KERNEL_FIELDS = {
    "degree": {"label": "degree", "min_value": 0, "max_value": 64, "step": 1},
    "gamma": {"label": "gamma", "min_value": 1e-6, "step": 0.1, "format": "%g"},
    "coef0": {"label": "coef0", "step": 0.5, "format": "%g"},
    "normalised": {"label": "Normalise", "help": "Divide by (gamma + coef0)^degree: unit vectors give at most 1."},
}


def recipe_form() -> Recipe | None:
    """Draw the form; the Recipe that it shows, or None (and the reason on screen) when it shows an impossible one."""
    _seed()
    if wrong := st.session_state.get(WRONG):
        st.warning("\n\n".join(wrong), title="Ignored in the address", icon=":material/link_off:")
    try:
        chosen = _data() | {"kernel": _kernel()} | _solve() | _method() | _more()
        recipe = st.session_state[BASE].replace(**chosen)
    except (RecipeError, ValueError) as error:
        st.error(str(error), icon=":material/block:")
        return None
    named = next((r for r in RECIPES.values() if r.digest() == recipe.digest()), None)
    name, title = (named.name, named.title) if named else ("custom", words.title(recipe))
    recipe = recipe.replace(name=name, title=title)
    _write(recipe)
    return recipe


def recipe_menu():
    """The named recipes; choosing one fills the form. Draw it before the form."""
    st.menu_button(
        "Recipes",
        list(RECIPES),
        format_func=lambda name: RECIPES[name].title,
        key="recipe_pick",
        icon=":material/menu_book:",
        help="Fill the form with a named experiment.",
        on_click=lambda: _fill(RECIPES[st.session_state["recipe_pick"]]),
    )


def start(recipe: Recipe):
    """Callback: queue the run, make it the current one, and draw the whole page anew."""
    st.session_state[WRONG] = []
    try:
        st.session_state["run"] = jobs.submit(recipe)
        state.tell_later(f":material/play_circle: {recipe.title or recipe.name} trains in the background.")
    except (BudgetError, jobs.QueueFull, ValueError, OSError) as error:
        state.tell_later(f":material/block: Not started. {error}")
    st.rerun()


def link(recipe: Recipe) -> dict[str, str]:
    """The query parameters that open the form with this recipe."""
    query = recipe.replace(name="custom", title="").to_query()
    return query | ({"kernel": FIELDS["kernel"].show(recipe.kernel)} if query.keys() == {"dataset"} else {})


def suggestion(name: str) -> Recipe:
    """Where to start on a data set: its first named recipe, or a Gaussian machine on scaled values."""
    if named := next((r for r in RECIPES.values() if r.dataset == name), None):
        return named
    shape = catalogue.entry(name).shape
    steps = ("unit-norm",) if len(shape) > 1 else ("zscore",)
    width = 2.0 if len(shape) > 1 else round(1 / max(shape[0], 1), 4)
    return Recipe(dataset=name, preprocess=steps, kernel=RBF(width))


def _seed():
    asked = {name: texts[-1] for name, texts in state.asked("recipe", FIELDS).items()}
    base = st.session_state.get(BASE)
    if base is None and not asked:
        _fill(RECIPES[PRESET])
    elif asked and not (asked.keys() == {"dataset"} and base and base.dataset == asked["dataset"]):
        _fill(*_read(asked))


def _read(asked):
    """The recipe of the address, and what was wrong with it, field by field."""
    recipe, wrong = Recipe(), []
    try:
        catalogue.entry(asked.get("dataset", recipe.dataset))
    except ValueError as error:
        wrong.append(str(error))
        asked = {name: text for name, text in asked.items() if name != "dataset"}
    if asked.keys() == {"dataset"}:
        return suggestion(asked["dataset"]), wrong
    for name, text in asked.items():
        try:
            recipe = recipe.with_text(name, text)
        except RecipeError as error:
            wrong.append(str(error))
    if recipe.kernel.name not in KERNEL_NAMES:
        wrong.append(f"kernel = {recipe.kernel.name}; allowed in this form: {', '.join(KERNEL_NAMES)}")
        recipe = recipe.replace(kernel=Recipe().kernel)
    return recipe, wrong


def _fill(recipe, wrong=()):
    """Put a recipe's values into the widgets."""
    values = st.session_state
    values[BASE], values[SHOWN_LAST], values[WRONG] = recipe, None, list(wrong)
    for name in (*SHOWN, *INVARIANCE):
        value = getattr(recipe, name)
        values[_key(name)] = list(value) if isinstance(value, tuple) else value
    values[_key("kernel")] = recipe.kernel.name
    for name, value in recipe.kernel.to_dict().items():
        values[_key(f"{recipe.kernel.name}_{name}")] = value
    values[_key("balanced")] = recipe.class_weight == "balanced"


def _write(recipe):
    values = st.session_state
    if values[SHOWN_LAST] not in (None, recipe):
        values[WRONG] = []
    values[SHOWN_LAST] = recipe
    state.write("recipe", FIELDS, link(recipe))


def _key(name):
    return f"recipe_{name}"


def _data():
    entries = {e.name: e for e in catalogue.entries() if e.at_hand}
    dataset = st.selectbox(
        "Data set",
        list(entries),
        format_func=lambda name: entries[name].title,
        key=_key("dataset"),
        on_change=lambda: _fill(suggestion(st.session_state[_key("dataset")])),
        help="Sets that are on this machine. The Datasets page fetches others and takes your own.",
        **KEEP,
    )
    entry = entries[dataset]
    train, test = st.columns(2)
    n_train = train.number_input(
        "Training examples",
        min_value=2,
        max_value=entry.n_train + entry.n_test,
        value=None,
        placeholder="all",
        key=_key("n_train"),
        help=f"Empty for all there are ({entry.n_train:,}).",
        **KEEP,
    )
    n_test = test.number_input(
        "Test examples",
        min_value=1,
        max_value=entry.n_train + entry.n_test,
        value=None,
        placeholder="all",
        key=_key("n_test"),
        help="Empty for all that are left.",
        **KEEP,
    )
    classes = st.multiselect(
        "Classes",
        list(entry.classes),
        placeholder="all, each against the rest",
        key=_key("classes"),
        help="None for all. One for that class against the rest. Several to use only those.",
        **KEEP,
    )
    preprocess = st.multiselect(
        "Preprocessing",
        [usage(name) for name in STEPS],
        accept_new_options=True,
        placeholder="none",
        key=_key("preprocess"),
        help="Steps from left to right. Type one with a number of your own, such as smooth:1.5.",
        **KEEP,
    )
    return {"dataset": dataset, "n_train": n_train, "n_test": n_test, "classes": classes, "preprocess": preprocess}


def _kernel():
    name = st.segmented_control(
        "Kernel",
        list(KERNEL_NAMES),
        format_func=KERNEL_NAMES.get,
        required=True,
        key=_key("kernel"),
        help="How alike two examples are; the picture below shows what its numbers do.",
        **KEEP,
    )
    wanted = fields(KERNELS[name])
    values = {}
    columns = iter(st.columns(3)) if wanted else None
    for field in wanted:
        settings, key = KERNEL_FIELDS[field.name], _key(f"{name}_{field.name}")
        st.session_state.setdefault(key, field.default)
        if isinstance(field.default, bool):
            values[field.name] = st.checkbox(**settings, key=key, **KEEP)
        else:
            values[field.name] = next(columns).number_input(**settings, key=key, **KEEP)
    kernel = KERNELS[name](**values)
    figures.show(figures_plane.kernel_picture(kernel), key="kernel_picture")
    return kernel


def _solve():
    left, right = st.columns(2)
    C = left.number_input(
        "C",
        min_value=1e-6,
        step=1.0,
        format="%g",
        key=_key("C"),
        help="The largest alpha of an example: how much one error may count against the margin.",
        **KEEP,
    )
    tol = right.number_input(
        "tol",
        min_value=1e-8,
        max_value=1.0,
        step=1e-3,
        format="%g",
        key=_key("tol"),
        help="Training stops when the KKT gap is at most tol.",
        **KEEP,
    )
    return {"C": C, "tol": tol}


def _method():
    """The fields of the methods that use invariances; nothing to choose while support vectors are the only one."""
    if len(METHODS) == 1:
        return {}
    method = st.selectbox("Method", list(METHODS), format_func=METHODS.get, key=_key("method"), **KEEP)
    if method == "sv":
        return {"method": method}
    jitters = st.text_input("Jitters", placeholder="box:1", key=_key("jitters"), **KEEP)
    scope = st.selectbox("Jittered examples", list(SCOPES), format_func=SCOPES.get, key=_key("scope"), **KEEP)
    rounds = st.number_input("Rounds", min_value=1, max_value=5, key=_key("rounds"), **KEEP)
    return {"method": method, "jitters": jitters, "scope": scope, "rounds": rounds}


def _more():
    with st.expander("More"):
        left, right = st.columns(2)
        seed = left.number_input("Seed", min_value=0, step=1, key=_key("seed"), help="Decides the split.", **KEEP)
        solver = right.selectbox("Solver", SOLVERS, key=_key("solver"), help="auto picks by size.", **KEEP)
        split = st.selectbox("Split", list(SPLITS), format_func=SPLITS.get, key=_key("split"), **KEEP)
        cache = st.number_input(
            "Kernel rows kept, MB",
            min_value=1.0,
            step=100.0,
            format="%g",
            value=None,
            placeholder="a third of the free memory",
            key=_key("cache_mb"),
            help="A ceiling for the rows of the kernel matrix that are kept at once.",
            **KEEP,
        )
        balanced = st.checkbox(
            "Weigh classes by their rarity", key=_key("balanced"), help="C of a class grows as it gets rarer.", **KEEP
        )
    slow = st.toggle(
        "Slow motion", key=_key("slow_motion"), help="Rest between bursts, so that a short run can be watched.", **KEEP
    )
    weight = "balanced" if balanced else None
    return {"seed": seed, "solver": solver, "split": split, "class_weight": weight} | {
        "cache_mb": cache,
        "slow_motion": slow,
    }
