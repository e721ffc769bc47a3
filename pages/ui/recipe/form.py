"""The form of a recipe: one widget a field, those first that change most often.

`pages.ui.recipe.config` carries values between the widgets, the recipe and the address.
"""

from dataclasses import fields

import streamlit as st

from data import Entry, NotAtHand, catalogue
from pages.ui.figures import maps
from pages.ui.figures.frame import show
from pages.ui.kit import words
from pages.ui.recipe import config
from pages.ui.recipe.config import BASE, WRONG, key
from pages.ui.recipe.jitter_set import PRESETS
from svmcore.kernels import KERNELS, Kernel
from svmcore.lab.experiment.problem import LAMBDA
from svmcore.lab.recipe.recipe import FIELDS, METHODS, SCOPES, SOLVERS, SPLITS, Recipe
from svmcore.lab.recipes import PRESET, RECIPES
from svmcore.preprocess import STEPS, usage

KEEP = {"persist_state": "session"}
KERNEL_NAMES = {"poly": "Poly", "rbf": "RBF", "linear": "Linear", "sigmoid": "Sigmoid"}
KERNEL_FIELDS = {
    "degree": {
        "label": "degree",
        "min_value": 0,
        "max_value": 64,
        "step": 1,
        "help": "How many pixels may act together.",
    },
    "gamma": {
        "label": "gamma",
        "min_value": 1e-6,
        "step": 0.1,
        "format": "%g",
        "help": "Factor of the inner product or of the squared distance; larger is more local.",
    },
    "coef0": {"label": "coef0", "step": 0.5, "format": "%g", "help": "Added to the inner product."},
    "normalised": {"label": "Normalise", "help": "Divide by (gamma + coef0)^degree: unit vectors give at most 1."},
}


def recipe_form() -> Recipe | None:
    """Draw the form; the Recipe that it shows, or None (and the reason on screen) when it shows an impossible one."""
    config.seed()
    if wrong := st.session_state[WRONG]:
        st.warning("\n\n".join(map(words.plain, wrong)), title="Ignored in the address", icon=":material/link_off:")
    try:
        entry, data = _data()
        chosen = data | {"kernel": _kernel()} | _solve() | _method(entry) | _more()
        recipe = st.session_state[BASE].replace(**chosen)
    except NotAtHand as error:
        st.warning(words.plain(error), icon=":material/cloud_download:")
        return None
    except ValueError as error:
        st.error(words.plain(error), icon=":material/block:")
        return None
    named = next((r for r in RECIPES.values() if r.digest() == recipe.digest()), None)
    name, title = (named.name, named.title) if named else ("custom", words.title(recipe))
    recipe = recipe.replace(name=name, title=title)
    config.write(recipe)
    return recipe


def recipe_menu(recipe: Recipe | None):
    """The named recipes: says which of them the form shows, if any; choosing one fills the form."""
    named = recipe is not None and recipe.name in RECIPES
    st.session_state["recipe_pick"] = recipe.name if named else None
    st.selectbox(
        "Recipe",
        list(RECIPES),
        format_func=lambda name: RECIPES[name].title,
        key="recipe_pick",
        placeholder="your own, or pick a named one",
        on_change=_fill_picked,
        help="A named experiment fills the form.",
    )


def _fill_picked():
    if name := st.session_state["recipe_pick"]:
        config.fill(RECIPES[name])


def _data() -> tuple[Entry, dict]:
    entries = {e.name: e for e in catalogue.entries()}
    if st.session_state[key("dataset")] not in entries:  # the reader's own, deleted since
        config.fill(RECIPES[PRESET])
    dataset = st.selectbox(
        "Data set",
        list(entries),
        format_func=lambda name: entries[name].title,
        key=key("dataset"),
        on_change=lambda: config.fill(config.suggestion(st.session_state[key("dataset")])),
        help="The Datasets page shows what is in each, fetches sets and takes your own.",
        **KEEP,
    )
    entry = entries[dataset]
    if not entry.at_hand:
        st.page_link(
            "pages/datasets.py",
            label=f"Fetch it on the Datasets page ({entry.size_mb:.2g} MB)",
            icon=":material/download:",
            query_params={"set": dataset},
        )
        raise NotAtHand(f"{entry.title} is not on this machine yet")
    train, test = st.columns(2)
    most = {"max_value": entry.n_train + entry.n_test, "value": None, "placeholder": "all", **KEEP}
    n_train = train.number_input(
        "Training examples", 2, key=key("n_train"), help=f"Empty for all there are ({entry.n_train:,}).", **most
    )
    n_test = test.number_input("Test examples", 1, key=key("n_test"), help="Empty for all that are left.", **most)
    classes = st.multiselect(
        "Classes",
        list(entry.classes),
        placeholder="all, each against the rest",
        key=key("classes"),
        help="None for all. One for that class against the rest. Several to use only those.",
        **KEEP,
    )
    preprocess = st.multiselect(
        "Preprocessing",
        [usage(name) for name in STEPS],
        accept_new_options=True,
        placeholder="none",
        key=key("preprocess"),
        help="Steps from left to right. Type one with a number of your own, such as smooth:1.5.",
        **KEEP,
    )
    return entry, {
        "dataset": dataset,
        "n_train": n_train,
        "n_test": n_test,
        "classes": classes,
        "preprocess": preprocess,
    }


def _kernel() -> Kernel:
    given = st.session_state[BASE].kernel
    names = KERNEL_NAMES if given.name in KERNEL_NAMES else KERNEL_NAMES | {given.name: given.name.capitalize()}
    name = st.segmented_control(
        "Kernel",
        list(names),
        format_func=names.get,
        required=True,
        key=key("kernel"),
        help="How alike two examples are; the picture below shows what its numbers do.",
        **KEEP,
    )
    if name not in KERNEL_NAMES:
        st.caption(f"`{FIELDS['kernel'].show(given)}`, as the recipe has it.")
        return given
    wanted, values = fields(KERNELS[name]), {}
    columns = iter(st.columns(3)) if wanted else None
    for field in wanted:
        settings, widget = KERNEL_FIELDS[field.name], key(f"{name}_{field.name}")
        st.session_state.setdefault(widget, field.default)
        if isinstance(field.default, bool):
            values[field.name] = st.checkbox(**settings, key=widget, **KEEP)
        else:
            values[field.name] = next(columns).number_input(**settings, key=widget, **KEEP)
    kernel = KERNELS[name](**values)
    show(maps.kernel_picture(kernel), key="kernel_picture")
    return kernel


def _solve() -> dict:
    left, right = st.columns(2)
    C = left.number_input(
        "C",
        min_value=1e-6,
        step=1.0,
        format="%g",
        key=key("C"),
        help="The largest alpha of an example: how much one error may count against the margin.",
        **KEEP,
    )
    tol = right.number_input(
        "tol",
        min_value=1e-8,
        max_value=1.0,
        step=1e-3,
        format="%g",
        key=key("tol"),
        help="Training stops when the KKT gap is at most tol.",
        **KEEP,
    )
    return {"C": C, "tol": tol}


def _method(entry: Entry) -> dict:
    """The method and the fields that belong to it; only images can be transformed."""
    plain = {"method": "sv", "jitters": "", "scope": "machine", "rounds": 1, "options": {}}
    if entry.kind != "images":
        return plain
    method = st.selectbox(
        "Method",
        list(METHODS),
        format_func=METHODS.get,
        key=key("method"),
        help="How what is known of invariances enters: not at all, by virtual examples, or by the kernel.",
        **KEEP,
    )
    if method == "sv":
        return plain
    chosen = plain | {"method": method, "options": _options(method)}
    chosen["jitters"] = st.selectbox(
        "Jitter set",
        list(PRESETS),
        accept_new_options=True,
        key=key("jitters"),
        help="What leaves the class as it is. Pick a set or type one; the Jitters page draws it.",
        **KEEP,
    )
    if method == "vsv":
        left, right = st.columns([3, 2])
        chosen["scope"] = left.selectbox(
            "Made from", list(SCOPES), format_func=SCOPES.get, key=key("scope"), help="What is transformed.", **KEEP
        )
        chosen["rounds"] = right.number_input(
            "Rounds", 1, 5, key=key("rounds"), help="How often, each time from the new support vectors.", **KEEP
        )
    return chosen


def _options(method: str) -> dict:
    """What only one method asks; options without a field here stay as the recipe has them."""
    base = st.session_state[BASE]
    options = dict(base.options) if base.method == method else {}
    if method == "tangent":
        st.session_state.setdefault(key("lam"), LAMBDA)
        options["lam"] = st.slider(
            "lambda",
            0.01,
            1.0,
            step=0.01,
            key=key("lam"),
            help="1 is the plain kernel; towards 0 a move along a tangent counts ever less.",
            **KEEP,
        )
    return options


def _more() -> dict:
    with st.expander("More"):
        left, right = st.columns(2)
        seed = left.number_input("Seed", min_value=0, step=1, key=key("seed"), help="Decides the split.", **KEEP)
        solver = right.selectbox("Solver", SOLVERS, key=key("solver"), help="auto picks by size.", **KEEP)
        split = st.selectbox(
            "Split", list(SPLITS), format_func=SPLITS.get, key=key("split"), help="Which examples train.", **KEEP
        )
        cache_mb = st.number_input(
            "Kernel rows kept, MB",
            min_value=1.0,
            step=100.0,
            format="%g",
            value=None,
            placeholder="a third of the free memory",
            key=key("cache_mb"),
            help="A ceiling for the rows of the kernel matrix that are kept at once.",
            **KEEP,
        )
        folds = st.number_input(
            "Folds",
            min_value=2,
            max_value=100,
            value=None,
            placeholder="no cross-validation",
            key=key("folds"),
            help="Parts of the training set, each held out once for a machine of the others. The run takes longer.",
            **KEEP,
        )
        balanced = st.checkbox(
            "Weigh classes by their rarity", key=key("balanced"), help="C of a class grows as it gets rarer.", **KEEP
        )
    slow_motion = st.toggle(
        "Slow motion", key=key("slow_motion"), help="Rest between bursts, so that a short run can be watched.", **KEEP
    )
    given = st.session_state[BASE].class_weight
    weight = given if isinstance(given, dict) else None
    return {
        "seed": seed,
        "solver": solver,
        "split": split,
        "cache_mb": cache_mb,
        "folds": folds,
        "class_weight": "balanced" if balanced else weight,
        "slow_motion": slow_motion,
    }
