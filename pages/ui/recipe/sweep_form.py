"""What a sweep goes over: a recipe in short form, one of its fields, and the values of it.

address  ->  Sweep  ->  widgets  ->  Sweep  ->  address      (fields as in `Recipe.to_query`, and over, value)
"""

import streamlit as st

from data import catalogue
from pages.ui.kit import words
from pages.ui.kit.parameters import KEEP, Form
from pages.ui.recipe import config
from svmcore.kernels import RBF
from svmcore.lab.experiment.sweep import Sweep
from svmcore.lab.recipe.recipe import FIELDS, Recipe, RecipeError
from svmcore.lab.recipes import PRESET, RECIPES
from svmcore.lab.registry.fields import Field, choice, numerals
from svmcore.lab.registry.methods import METHODS

USUAL = {  # values to begin with
    "C": ("0.02", "0.1", "0.5", "2", "10"),
    "kernel.degree": ("1", "2", "3", "5", "7", "9"),
    "kernel.gamma": ("0.2", "0.5", "1", "2", "5"),
    "jitters": ("none", "plus:1", "box:1", "box:2"),
}
FOLDS = 5
OVER = Field("over", choice(USUAL), "C", "Over", "The field that takes one value after the other.")
JITTERING = "vsv"  # the method of a sweep over jitter sets whose recipe uses none
_SMALL = RECIPES[PRESET].replace(n_train=1000, n_test=1000, folds=FOLDS)
_TURNED = _SMALL.replace(method="vsv", classes=(6, 9), n_train=200, n_test=800)
EXAMPLES = {  # name -> (label, what it asks, the sweep)
    "C": ("C for ten digits", "How much one error may count.", Sweep(_SMALL, "C", USUAL["C"])),
    "width": (
        "Width of a Gaussian",
        "How local a machine may be.",
        Sweep(_SMALL.replace(kernel=RBF(1.0)), "kernel.gamma", USUAL["kernel.gamma"]),
    ),
    "capacity": (
        "Degree, and what it costs",
        "Structural risk: with the degree the sets of machines grow, the examples wrong fall, what capacity may hide "
        "grows (Osuna, Freund and Girosi 1997, sections 1 and 2.1).",
        Sweep(_SMALL.replace(n_train=400, bounds=True), "kernel.degree", USUAL["kernel.degree"]),
    ),
    "turned": (
        "A 6 turned toward a 9",
        "The open question of the paper, section 6: does cross-validation warn when invariance is pushed too far?",
        Sweep(
            _TURNED,
            "jitters",
            ("none", "rot:-20,20", "rot:-60,60", "rot:-120,120", "rot:-120,-60,60,120,180"),
        ),
    ),
}


def fields_of(recipe: Recipe) -> dict[str, str]:
    """What can be swept over -> what it is called: C, the kernel's numbers, jitter sets, the method's own numbers."""
    numbers = [field for field in numerals(type(recipe.kernel)) if field.kind.widget == "number"]
    own = [field for field in METHODS[recipe.method].fields if field.shown and field.kind.widget == "number"]
    images = {"jitters": "jitter set"} if catalogue.entry(recipe.dataset).kind == "images" else {}
    of_kernel = {f"kernel.{field.name}": field.label for field in numbers}
    return {"C": "C"} | of_kernel | images | {field.name: field.label for field in own}


def sweep_form() -> Sweep | None:
    """Draw the form; the Sweep that it shows, or None (and the reason on screen) when it shows an impossible one."""
    FORM.seed(lambda: EXAMPLES["C"][2])
    _examples()
    FORM.warn()
    with st.container(border=True):
        try:
            base = _base()
            with st.container(horizontal=True):
                over = _over(base)
                values = _values(over)
            if over == "jitters" and not METHODS[base.method].uses_jitters:
                base = base.replace(method=JITTERING)
            sweep = Sweep(base, over, tuple(values))
            sweep.recipes()
        except ValueError as error:
            st.error(words.plain(error), icon=":material/block:")
            return None
        st.caption(f"Base: {words.summary(base)}")
    FORM.write(sweep)
    return sweep


def _spread(sweep: Sweep) -> dict:
    base = sweep.base
    classes = [c for c in catalogue.entry(base.dataset).classes if str(c) in map(str, base.classes)]
    sizes = {"n_train": base.n_train, "n_test": base.n_test, "folds": base.folds or FOLDS}
    sizes["bounds"] = base.bounds
    return sizes | {"classes": classes, "over": sweep.field, f"values_{sweep.field}": list(sweep.values)}


def link(sweep: Sweep) -> dict[str, str | list[str]]:
    """The query parameters that open the form with this sweep."""
    return config.link(sweep.base) | {"over": sweep.field, "value": list(sweep.values)}


def _read(given: dict[str, list[str]]) -> tuple[Sweep, list[str]]:
    """The sweep of the address, and what was wrong with it."""
    recipe, wrong = config.read({name: texts for name, texts in given.items() if name in config.names()})
    over = given.get("over", ["C"])[-1]
    if over not in fields_of(recipe):
        wrong.append(str(RecipeError("over", over, ", ".join(fields_of(recipe)))))
        over = "C"
    return Sweep(recipe, over, tuple(given.get("value", USUAL.get(over, ())))), wrong


FORM = Form("sweep", lambda: [*config.names(), "over", "value"], _read, link, _spread)


def _examples():
    with st.container(horizontal=True):
        for name, (label, asks, sweep) in EXAMPLES.items():
            st.button(
                label, icon=":material/lightbulb:", key=f"example_{name}", on_click=FORM.fill, args=(sweep,), help=asks
            )


def _base() -> Recipe:
    """The recipe, of which data set, classes and sizes can be changed here; the rest is as it came."""
    base = FORM.base.base
    at_hand = [entry.name for entry in catalogue.entries() if entry.at_hand]
    st.session_state[FORM.key("dataset")] = base.dataset
    with st.container(horizontal=True, vertical_alignment="bottom"):
        FORM.draw(
            FIELDS["dataset"],
            widget="selectbox",
            options=at_hand if base.dataset in at_hand else [base.dataset, *at_hand],
            format_func=lambda name: catalogue.entry(name).title,
            on_change=lambda: FORM.fill(_usual(st.session_state[FORM.key("dataset")])),
            width=190,
            persist_state=None,
            help="Brings the recipe that is usual for it; any other comes from the form of the Train page.",
        )
        entry = catalogue.entry(base.dataset)
        classes = FORM.draw(
            FIELDS["classes"], options=list(entry.classes), placeholder="all", width=130, help="None for all of them."
        )
        most = {"max_value": entry.n_train + entry.n_test, "width": 145}
        all_of_them = f"Empty for all there are ({entry.n_train:,})."
        n_train = FORM.draw(FIELDS["n_train"], help=all_of_them, **most)
        n_test = FORM.draw(FIELDS["n_test"], help="Empty for all that are left.", **most)
        folds = st.number_input(
            "Folds", 2, 20, key="sweep_folds", width=75, help="Parts of the training set, each held out once.", **KEEP
        )
        bounds = FORM.draw(FIELDS["bounds"])
    return base.replace(
        name="custom",
        title="",
        classes=classes,
        n_train=n_train,
        n_test=n_test,
        folds=folds,
        bounds=bounds,
        slow_motion=False,
    )


def _usual(dataset: str) -> Sweep:
    usual = config.suggestion(dataset)
    size = min(usual.n_train or 1000, 1000)
    return Sweep(usual.replace(n_train=size, n_test=min(usual.n_test or 1000, 1000), folds=FOLDS), "C", USUAL["C"])


def _over(base: Recipe) -> str:
    """Which field; only those that the recipe's kernel and data have."""
    names = fields_of(base)
    return FORM.draw(OVER, widget="segmented_control", options=list(names), format_func=names.get)


def _values(field: str) -> list[str]:
    key = f"sweep_values_{field}"
    st.session_state.setdefault(key, list(USUAL.get(field, ())))
    values = st.multiselect(
        "Values",
        list(USUAL.get(field, ())),
        accept_new_options=True,
        key=key,
        width=480,  # on a narrow page on a line of its own
        help="Type another one and press Enter. Jitter sets are written as on the Jitters page.",
        **KEEP,
    )
    if len(values) < 2:
        raise RecipeError("values", ", ".join(values), "two or more, to be compared")
    return values if field == "jitters" else sorted(values, key=_number)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("inf")  # the recipe will say what is wrong with it
