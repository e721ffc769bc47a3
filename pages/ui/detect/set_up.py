"""The form of a detection run: a named recipe, its pictures and experiment, and the fields of task and method.

A copied link is the recipe: the address spells what the form shows, as that of the Train page does.
"""

import streamlit as st

from data import DataError, NotAtHand, pictures
from pages.ui.detect.view import PAGE, opens_here
from pages.ui.kit import words
from pages.ui.kit.parameters import Form
from pages.ui.kit.view import home_of
from pages.ui.recipe import config, data_set, method
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipe.recipe import FIELDS, Recipe, RecipeError
from svmcore.lab.recipes import RECIPES
from svmcore.lab.registry.fields import Field, numeric
from svmcore.lab.registry.tasks import TASKS

TASK = "detect"
OPEN = "detect_open"  # in the session: id of the run in whose place the form stands
FIRST_RECIPE, FIRST_SET = "volcano-synthetic", "venus-like"  # needs no files
WEIGHT = Field(
    "weight",
    numeric(0.1, 1000),
    1.0,
    "Weight of objects",
    "C of the objects is so many times that of the background; the paper took 3.",
    step=0.5,
)


def named() -> dict[str, Recipe]:
    """The named recipes of detection."""
    return {name: recipe for name, recipe in RECIPES.items() if home_of(recipe).page == PAGE}


def set_up() -> None:
    """The form, what the run will need, and Start."""
    st.subheader("Look for objects")
    FORM.seed(first, unless=lambda given: given.get("task", [""])[-1] != TASK)
    FORM.warn()
    head = st.container()
    with head:
        _menu()
    try:
        recipe = _recipe()
        need = estimate(recipe)
    except NotAtHand as error:
        st.warning(words.plain(error), icon=":material/cloud_download:")
        return
    except (ValueError, DataError) as error:
        st.error(words.plain(error), icon=":material/block:")
        return
    FORM.keep(recipe)
    FORM.write(recipe)
    with head:
        help = "Trains part by part in the background; the page may be left or closed meanwhile."
        start = st.container()
        times = config.times()
        with start:
            config.start_button(need, "detect_start", _start, (recipe, times), help, times)


def is_open(run) -> bool:
    """Whether the form has the page: no detection run is shown, the reader asked, or the address spells a recipe."""
    if run is None or not opens_here(run):
        return True
    if FORM.asked().get("task", [""])[-1] == TASK:
        st.session_state[OPEN] = run.id
    return st.session_state.get(OPEN) == run.id


def open_form(run) -> None:
    """Callback: put the form in the place of this run, until another is chosen or started."""
    st.session_state[OPEN] = run.id


def close_form() -> None:
    """Callback: look at the run again."""
    st.session_state.pop(OPEN, None)


def _start(recipe: Recipe, times: int):
    """Callback: queue the run, or so many with other seeds, and look at it."""
    close_form()
    config.start(recipe, times=times)


def first() -> Recipe:
    """A recipe that every machine can run."""
    return named().get(FIRST_RECIPE) or next(iter(named().values()))


def _read(given: dict[str, list[str]]) -> tuple[Recipe, list[str]]:
    """The recipe of the address, and what was wrong with it, field by field; dataset decides where to start."""
    asked, wrong = {name: texts[-1] for name, texts in given.items()}, []
    known = {entry.name for entry in pictures.entries()}
    dataset = asked.pop("dataset", "")
    if dataset and dataset not in known:
        wrong.append(str(RecipeError("dataset", dataset, ", ".join(sorted(known)))))
    if asked.keys() <= {"task"}:
        start = _usual(dataset) or first()
        if dataset in known and start.dataset != dataset:
            start = start.replace(dataset=dataset, name="custom", title="")
        return start, wrong
    return config.with_texts(Recipe(task=TASK, dataset=dataset if dataset in known else FIRST_SET), asked, wrong)


def _usual(dataset: str) -> Recipe | None:
    """The first named recipe of a set of pictures."""
    return next((recipe for recipe in named().values() if recipe.dataset == dataset), None)


FORM = Form("detect", config.names, _read, config.link, config.spread)


def _menu():
    base = FORM.base
    st.session_state["detect_pick"] = base.name if base.name in named() else None
    st.selectbox(
        "Recipe",
        list(named()),
        format_func=lambda name: named()[name].title or name,
        key="detect_pick",
        placeholder="your own",
        on_change=_fill_picked,
        help="A named experiment fills the form.",
    )


def _fill_picked():
    if name := st.session_state["detect_pick"]:
        FORM.fill(named()[name])


def _recipe() -> Recipe:
    """The recipe that the widgets show. NotAtHand while its pictures are not on this machine."""
    base = FORM.base
    found = _pictures()
    experiment = _experiment(found)
    if base.option("experiment") is None and experiment == next(iter(found.experiments)):
        experiment = None
    values = {"dataset": found.entry.name, "experiment": experiment} | method.draw(FORM, TASK)
    values |= FORM.draw_all([field for field in TASKS[TASK].fields if field.name == "finder"], TASK)
    others = [field for field in TASKS[TASK].fields if field.name != "finder" and field.shown]
    with st.expander("How to look"):
        values |= FORM.draw_all([field for field in others if field.means_something(values)], TASK)
        left, right = st.columns(2)
        values["C"] = FORM.draw(FIELDS["C"], where=left)
        weight = FORM.draw(WEIGHT, where=right)
        values["seed"] = FORM.draw(FIELDS["seed"])
        st.caption(f"Kernel ${base.kernel.formula}$, preparation: {', '.join(base.preprocess) or 'none'}.")
    return config.called(base.replace(**values, class_weight={"1": weight, "-1": 1.0} if weight != 1 else None))


def _pictures() -> pictures.PictureSet:
    entries = {entry.name: entry for entry in pictures.entries()}
    entry = data_set.of_form(FORM, entries, _other_pictures, label="Pictures")
    found = entry.load()
    synthetic = " **Synthetic**, made up by a seeded program." if entry.synthetic else ""
    objects = words.many(sum(len(p.boxes) for p in found.pictures), entry.object_name)
    st.caption(f"{words.many(len(found.pictures), 'picture')}, {objects}.{synthetic}")
    return found


def _other_pictures():
    """Callback: another set brings the recipe that is usual for it, or keeps what there is."""
    name = st.session_state[FORM.key("dataset")]
    FORM.fill(_usual(name) or FORM.base.replace(name="custom", title="", dataset=name))


def _experiment(found: pictures.PictureSet) -> str:
    there = found.experiments
    own = next(field for field in TASKS[TASK].fields if field.name == "experiment")
    name = FORM.draw(
        own,
        TASK,
        label="Experiment",
        widget="selectbox",
        options=list(there),
        format_func=lambda name: there[name].title or name,
        help="Which pictures train and which test, part by part.",
    )
    chosen = there[name]
    parts = len(chosen.parts)
    unit = "" if found.entry.unit == "picture" else f", {chosen.area:,.0f} {found.entry.unit}"
    st.caption(
        f"{words.many(parts, 'part')}; {len(chosen.tested)} pictures tested, {chosen.opportunities:,} "
        f"{words.plural(found.entry.object_name)} that count{unit}."
    )
    if chosen.missing:
        missing = ", ".join(chosen.missing[:4]) + (
            f" and {len(chosen.missing) - 4} more" if len(chosen.missing) > 4 else ""
        )
        st.caption(f":material/hide_image: Not at hand, and so left out: {words.plain(missing)}.")
    return name
