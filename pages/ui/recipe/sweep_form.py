"""What a sweep goes over: a recipe in short form, one of its fields, and the values of it.

address  ->  Sweep  ->  widgets  ->  Sweep  ->  address      (fields as in `Recipe.to_query`, and over, value)
"""

from dataclasses import replace

import streamlit as st

from data import catalogue
from pages.ui.kit import words
from pages.ui.kit.buttons import button
from pages.ui.kit.parameters import Form
from pages.ui.recipe import beginning, config, data_set
from svmcore.lab.experiment.sweep import Sweep
from svmcore.lab.recipe.recipe import FIELDS, Recipe, RecipeError
from svmcore.lab.recipes.sweeps import EXAMPLES, FOLDS, USUAL
from svmcore.lab.registry.fields import LABELS, Field, choice, numerals, numeric
from svmcore.lab.registry.methods import METHODS

PARTS = replace(
    FIELDS["folds"],
    kind=numeric(2, 20, whole=True),
    default=FOLDS,
    help="Parts of the training set, each held out once.",
)
OVER = Field("over", choice(USUAL), "C", "Over", "The field that takes one value after the other.")
JITTERING = "vsv"  # the method of a sweep over jitter sets whose recipe uses none


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
        sweep = config.drawn(FORM, _sweep)
        if sweep is not None:
            st.caption(f"Base: {words.summary(sweep.base)}")
    return sweep


def _sweep() -> Sweep:
    """The sweep that the widgets show. ValueError for an impossible one."""
    base = _base()
    with st.container(horizontal=True):
        names = fields_of(base)
        over = FORM.draw(OVER, widget="segmented_control", options=list(names), format_func=names.get)
        values = _values(over)
    if over == "jitters" and not METHODS[base.method].uses_jitters:
        base = base.replace(method=JITTERING)
    sweep = Sweep(base, over, tuple(values))
    sweep.recipes()
    return sweep


def _spread(sweep: Sweep) -> dict:
    base = sweep.base
    classes = [c for c in catalogue.entry(base.dataset).classes if str(c) in map(str, base.classes)]
    shown = {"n_train": base.n_train, "n_test": base.n_test, "folds": base.folds or FOLDS, "bounds": base.bounds}
    return shown | {"classes": classes, "over": sweep.field, f"values_{sweep.field}": list(sweep.values)}


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
            button(label, "lightbulb", f"example_{name}", FORM.fill, sweep, help=asks)


def _base() -> Recipe:
    """The recipe, of which data set, classes and sizes can be changed here; the rest is as it came."""
    base = FORM.base.base
    st.session_state[FORM.key("dataset")] = base.dataset
    entries = {entry.name: entry for entry in catalogue.entries() if entry.at_hand}
    entries.setdefault(base.dataset, catalogue.entry(base.dataset))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        entry = data_set.of_form(
            FORM, entries, _usual, width=190, persist_state=None,
            help="Brings the recipe that is usual for it; any other comes from the form of the Train page.",
        )  # fmt: skip
        chosen = {"classes": FORM.draw(FIELDS["classes"], options=list(entry.classes), placeholder="all", width=130)}
        chosen |= data_set.sizes(FORM, entry, st, st, width=145)
        chosen |= {"folds": FORM.draw(PARTS, width=75), "bounds": FORM.draw(FIELDS["bounds"])}
    return base.replace(name="custom", title="", slow_motion=False, **chosen)


def _usual(dataset: str) -> Sweep:
    usual = beginning.suggestion(dataset)
    size = min(usual.n_train or 1000, 1000)
    return Sweep(usual.replace(n_train=size, n_test=min(usual.n_test or 1000, 1000), folds=FOLDS), "C", USUAL["C"])


def _values(over: str) -> list[str]:
    usual = USUAL.get(over, ())
    help = "Type another one and press Enter. Jitter sets are written as on the Jitters page."
    field = Field(f"values_{over}", LABELS, usual, "Values", help)
    wide = 480  # on a narrow page on a line of its own
    values = FORM.draw(field, options=list(usual), accept_new_options=True, width=wide)
    if len(values) < 2:
        raise RecipeError("values", ", ".join(values), "two or more, to be compared")
    return values if over == "jitters" else sorted(values, key=_number)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("inf")  # the recipe will say what is wrong with it
