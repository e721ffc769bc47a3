"""What a sweep goes over: a recipe in short form, one of its fields, and the values of it.

address  ->  Sweep  ->  widgets  ->  Sweep  ->  address      (fields as in `Recipe.to_query`, and over, value)
"""

from dataclasses import fields

import streamlit as st

from data import catalogue
from pages.ui.kit import parameters, words
from pages.ui.recipe import config
from pages.ui.recipe.widgets import KEEP
from svmcore.kernels import RBF
from svmcore.lab.experiment.sweep import Sweep
from svmcore.lab.recipe.recipe import Recipe, RecipeError
from svmcore.lab.recipes import PRESET, RECIPES
from svmcore.lab.registry.methods import METHODS

USUAL = {  # values to begin with
    "C": ("0.02", "0.1", "0.5", "2", "10"),
    "kernel.degree": ("1", "2", "3", "5", "7", "9"),
    "kernel.gamma": ("0.2", "0.5", "1", "2", "5"),
    "jitters": ("none", "plus:1", "box:1", "box:2"),
}
FOLDS = 5
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
    numbers = {
        f.name: f.metadata["label"] for f in fields(recipe.kernel) if f.metadata and not isinstance(f.default, bool)
    }
    own = [field for field in METHODS[recipe.method].fields if field.shown and field.kind.widget == "number"]
    images = {"jitters": "jitter set"} if catalogue.entry(recipe.dataset).kind == "images" else {}
    of_kernel = {f"kernel.{name}": label for name, label in numbers.items()}
    return {"C": "C"} | of_kernel | images | {field.name: field.label for field in own}


def sweep_form() -> Sweep | None:
    """Draw the form; the Sweep that it shows, or None (and the reason on screen) when it shows an impossible one."""
    _seed()
    _examples()
    if wrong := st.session_state["sweep_wrong"]:
        st.warning("\n\n".join(map(words.plain, wrong)), title="Ignored in the address", icon=":material/link_off:")
    with st.container(border=True):
        try:
            base = _base()
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
    query = config.link(base) | {"over": over, "value": list(values)}
    if st.session_state["sweep_shown"] not in (None, query):
        st.session_state["sweep_wrong"] = []
    st.session_state["sweep_shown"] = query
    parameters.write("sweep", _names(), query)
    return sweep


def fill(sweep: Sweep, wrong=()):
    """Put a sweep into the widgets; `wrong`: what is to be said of the address that it came from."""
    values, base = st.session_state, sweep.base
    values["sweep_base"], values["sweep_shown"], values["sweep_wrong"] = base, None, list(wrong)
    values["sweep_classes"] = [c for c in catalogue.entry(base.dataset).classes if str(c) in map(str, base.classes)]
    values["sweep_n_train"], values["sweep_n_test"] = base.n_train, base.n_test
    values["sweep_folds"] = base.folds or FOLDS
    values["sweep_over"] = sweep.field
    values[f"sweep_values_{sweep.field}"] = list(sweep.values)


def _names() -> list[str]:
    """The parameters of an address that spell a sweep."""
    return [*config.names(), "over", "value"]


def _seed():
    """From an address that this form did not write, and at first from the first example."""
    asked = parameters.asked("sweep", _names())
    if "sweep_base" not in st.session_state and not asked:
        fill(EXAMPLES["C"][2])
    elif asked:
        fill(*_read(asked))


def _read(asked: dict[str, list[str]]) -> tuple[Sweep, list[str]]:
    """The sweep of the address, and what was wrong with it."""
    recipe, wrong = config.read({name: texts[-1] for name, texts in asked.items() if name in config.names()})
    over = asked.get("over", ["C"])[-1]
    if over not in fields_of(recipe):
        wrong.append(str(RecipeError("over", over, ", ".join(fields_of(recipe)))))
        over = "C"
    return Sweep(recipe, over, tuple(asked.get("value", USUAL.get(over, ())))), wrong


def _examples():
    with st.container(horizontal=True):
        for name, (label, asks, sweep) in EXAMPLES.items():
            st.button(
                label, icon=":material/lightbulb:", key=f"example_{name}", on_click=fill, args=(sweep,), help=asks
            )


def _base() -> Recipe:
    """The recipe, of which data set, classes and sizes can be changed here; the rest is as it came."""
    base = st.session_state["sweep_base"]
    at_hand = [entry.name for entry in catalogue.entries() if entry.at_hand]
    st.session_state["sweep_dataset"] = base.dataset
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Data set",
            at_hand if base.dataset in at_hand else [base.dataset, *at_hand],
            format_func=lambda name: catalogue.entry(name).title,
            key="sweep_dataset",
            on_change=lambda: fill(_usual(st.session_state["sweep_dataset"])),
            width=240,
            help="Brings the recipe that is usual for it; any other comes from the form of the Train page.",
        )
        entry = catalogue.entry(base.dataset)
        classes = st.multiselect(
            "Classes",
            list(entry.classes),
            key="sweep_classes",
            placeholder="all",
            width=240,
            help="None for all of them.",
            **KEEP,
        )
        most = {"max_value": entry.n_train + entry.n_test, "value": None, "placeholder": "all", "width": 160, **KEEP}
        n_train = st.number_input(
            "Training examples", 2, key="sweep_n_train", help=f"Empty for all there are ({entry.n_train:,}).", **most
        )
        n_test = st.number_input("Test examples", 1, key="sweep_n_test", help="Empty for all that are left.", **most)
        folds = st.number_input(
            "Folds", 2, 20, key="sweep_folds", width=110, help="Parts of the training set, each held out once.", **KEEP
        )
    return base.replace(
        name="custom", title="", classes=classes, n_train=n_train, n_test=n_test, folds=folds, slow_motion=False
    )


def _usual(dataset: str) -> Sweep:
    usual = config.suggestion(dataset)
    size = min(usual.n_train or 1000, 1000)
    return Sweep(usual.replace(n_train=size, n_test=min(usual.n_test or 1000, 1000), folds=FOLDS), "C", USUAL["C"])


def _over(base: Recipe) -> str:
    """Which field; only those that the recipe's kernel and data have."""
    names = fields_of(base)
    if st.session_state["sweep_over"] not in names:
        st.session_state["sweep_over"] = next(iter(names))
    return st.segmented_control(
        "Over",
        list(names),
        format_func=names.get,
        required=True,
        key="sweep_over",
        help="The field that takes one value after the other.",
        **KEEP,
    )


def _values(field: str) -> list[str]:
    key = f"sweep_values_{field}"
    st.session_state.setdefault(key, list(USUAL.get(field, ())))
    values = st.multiselect(
        "Values",
        list(USUAL.get(field, ())),
        accept_new_options=True,
        key=key,
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
