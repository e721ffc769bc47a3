"""The form of a recipe: one widget a field, those first that change most often.

`pages.ui.recipe.config` carries values between the widgets, the recipe and the address.
"""

from contextlib import suppress
from dataclasses import fields

import streamlit as st

from data import Entry, NotAtHand, UnknownDataset, catalogue
from pages.ui.figures import maps
from pages.ui.figures.frame import show
from pages.ui.kit import words
from pages.ui.recipe import config
from pages.ui.recipe.config import BASE, WRONG, key
from pages.ui.recipe.jitter_set import PRESETS
from pages.ui.recipe.widgets import KEEP, draw, draw_number
from svmcore.kernels import KERNELS, RBF, Kernel
from svmcore.lab.recipe.recipe import FIELDS, Recipe
from svmcore.lab.recipes import PRESET, RECIPES
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.registry.solvers import SOLVERS
from svmcore.lab.registry.tasks import TASKS
from svmcore.preprocess import STEPS, usage

TASK = "classify"  # what this form is for


def recipe_form() -> Recipe | None:
    """Draw the form; the Recipe that it shows, or None (and the reason on screen) when it shows an impossible one."""
    config.seed()
    if wrong := st.session_state[WRONG]:
        st.warning("\n\n".join(map(words.plain, wrong)), title="Ignored in the address", icon=":material/link_off:")
    try:
        entry, data = _data()
        chosen = data | {"kernel": _kernel(data)} | _solve() | _method(entry) | _more()
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


def _data() -> tuple[Entry, dict]:
    entries = {e.name: e for e in catalogue.entries()}
    with suppress(UnknownDataset):  # one of a family of which a few are listed
        entries.setdefault(st.session_state[key("dataset")], catalogue.entry(st.session_state[key("dataset")]))
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
    most = {"max_value": entry.n_train + entry.n_test}
    n_train = draw(
        FIELDS["n_train"], key("n_train"), train, **most, help=f"Empty for all there are ({entry.n_train:,})."
    )
    n_test = draw(FIELDS["n_test"], key("n_test"), test, **most, help="Empty for all that are left.")
    classes = st.multiselect(
        FIELDS["classes"].label,
        list(entry.classes),
        placeholder="all",
        key=key("classes"),
        help=FIELDS["classes"].help,
        **KEEP,
    )
    preprocess = st.multiselect(
        FIELDS["preprocess"].label,
        [usage(name) for name in STEPS],
        accept_new_options=True,
        placeholder="none",
        key=key("preprocess"),
        help=f"{FIELDS['preprocess'].help} Type one with a number of your own, such as smooth:1.5.",
        **KEEP,
    )
    return entry, {
        "dataset": dataset,
        "n_train": n_train,
        "n_test": n_test,
        "classes": classes,
        "preprocess": preprocess,
    }


def _kernel(data: dict) -> Kernel:
    given = st.session_state[BASE].kernel
    offered = {name: kind.title for name, kind in KERNELS.items() if kind.title}
    names = {given.name: given.name.capitalize()} | offered
    name = st.segmented_control(
        FIELDS["kernel"].label,
        sorted(names, key=list(KERNELS).index),
        format_func=names.get,
        required=True,
        key=key("kernel"),
        help=f"{FIELDS['kernel'].help} The picture below shows what its numbers do.",
        **KEEP,
    )
    if name not in offered:
        st.caption(f"`{FIELDS['kernel'].show(given)}`, as the recipe has it.")
        return given
    wanted, values = fields(KERNELS[name]), {}
    columns = iter(st.columns(3)) if wanted else None
    for field in wanted:
        where = st if isinstance(field.default, bool) else next(columns)
        values[field.name] = draw_number(field, key(f"{name}_{field.name}"), where)
    kernel = KERNELS[name](**values)
    if isinstance(kernel, RBF) and data["dataset"].startswith(catalogue.OWN_PREFIX):
        gamma = config.usual_gamma(data["dataset"], tuple(data["preprocess"]))
        st.caption(f"For these examples gamma = {gamma:g} is usual: 1 over the median of their squared distances.")
    show(maps.kernel_picture(kernel), key="kernel_picture")
    return kernel


def _solve() -> dict:
    left, right = st.columns(2)
    return {"C": draw(FIELDS["C"], key("C"), left), "tol": draw(FIELDS["tol"], key("tol"), right)}


def _method(entry: Entry) -> dict:
    """The method and the fields that belong to it, of those that the data set allows."""
    images = entry.kind == "images"
    allowed = [name for name, method in METHODS.items() if method.made and (images or not method.needs_images)]
    if st.session_state[key("method")] not in allowed:
        st.session_state[key("method")] = allowed[0]
    name = allowed[0] if len(allowed) == 1 else draw(FIELDS["method"], key("method"), options=allowed)
    method, chosen = METHODS[name], {"method": name, "jitters": ""}
    if method.help and len(allowed) > 1:
        st.caption(method.help)
    if method.uses_jitters:
        chosen["jitters"] = st.selectbox(
            FIELDS["jitters"].label,
            list(PRESETS),
            accept_new_options=True,
            key=key("jitters"),
            help="What leaves the class as it is. Pick a set or type one; the Jitters page draws it.",
            **KEEP,
        )
    base = st.session_state[BASE]
    kept = base.options if base.method == name else {}
    return chosen | {"options": dict(kept) | _options(name, method.fields)}


def _options(owner: str, own) -> dict:
    """The widgets of the fields that only this method or solver has, two numbers in a row; those without one stay as
    the recipe has them."""
    shown = [field for field in own if field.shown]
    numbers = [field for field in shown if field.kind.widget == "number"]
    others = [field for field in shown if field not in numbers]
    values = {field.name: draw(field, key(f"{owner}_{field.name}")) for field in others}
    columns = st.columns(2) if len(numbers) > 1 else [st]
    for at, field in enumerate(numbers):
        values[field.name] = draw(field, key(f"{owner}_{field.name}"), columns[at % len(columns)])
    return values


def _more() -> dict:
    with st.expander("More"):
        left, right = st.columns([2, 3])
        values = {
            "seed": draw(FIELDS["seed"], key("seed"), left),
            "solver": draw(FIELDS["solver"], key("solver"), right),
            "split": draw(FIELDS["split"], key("split")),
            "cache_mb": draw(FIELDS["cache_mb"], key("cache_mb")),
            "folds": draw(FIELDS["folds"], key("folds")),
        }
        own = _options(values["solver"], SOLVERS[values["solver"]].fields) | _options(TASK, TASKS[TASK].fields)
        balanced = st.checkbox(
            "Weigh classes by their rarity", key=key("balanced"), help="C of a class grows as it gets rarer.", **KEEP
        )
    slow = FIELDS["slow_motion"]
    values["slow_motion"] = st.toggle(slow.label, key=key("slow_motion"), help=slow.help, **KEEP)
    given = st.session_state[BASE].class_weight
    weight = given if isinstance(given, dict) else None
    return values | own | {"class_weight": "balanced" if balanced else weight}
