"""The form of a detection run: a named recipe, its pictures and experiment, and the fields of task and method.

A copied link is the recipe: the address spells what the form shows, as that of the Train page does.
"""

import streamlit as st

from data import DataError, pictures
from pages.ui.detect.view import plural
from pages.ui.kit import parameters, words
from pages.ui.recipe import config
from pages.ui.recipe.widgets import KEEP, draw
from svmcore.lab import jobs
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipe.recipe import FIELDS, Recipe, RecipeError
from svmcore.lab.recipes import RECIPES
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.registry.tasks import TASKS

TASK = "detect"
BASE, WRONG, OPEN = "detect_base", "detect_wrong", "detect_open"
FIRST, FIRST_SET = "volcano-synthetic", "venus-like"  # needs no files


def named() -> dict[str, Recipe]:
    """The named recipes of detection."""
    return {name: recipe for name, recipe in RECIPES.items() if recipe.task == TASK}


def key(name: str) -> str:
    """Key of the widget of a field or option."""
    return f"detect_{name}"


def set_up() -> None:
    """The form, what the run will need, and Start."""
    st.subheader("Look for objects")
    _seed()
    if wrong := st.session_state[WRONG]:
        st.warning("\n\n".join(map(words.plain, wrong)), title="Ignored in the address", icon=":material/link_off:")
    head = st.container()
    with head:
        _menu()
    try:
        recipe = _recipe()
        need = None if recipe is None else estimate(recipe)
    except (ValueError, DataError) as error:
        st.error(words.plain(error), icon=":material/block:")
        return
    if recipe is None:
        return
    parameters.write("recipe", config.names(), config.link(recipe))
    with head:
        _start_button(recipe, need)


def _start_button(recipe: Recipe, need) -> None:
    st.button(
        "Queue" if jobs.active() else "Start",
        type="primary",
        icon=":material/play_arrow:",
        width="stretch",
        key="detect_start",
        on_click=_start,
        args=(recipe,),
        disabled=not need.fits,
        help="Trains part by part in the background; the page may be left or closed meanwhile.",
    )
    if need.fits:
        st.caption(f"About {words.duration(need.seconds)} and {words.megabytes(need.memory_mb)} of memory.")
    else:
        st.warning(words.plain(need.advice), title="This run does not fit", icon=":material/memory:")


def is_open(run) -> bool:
    """Whether the form has the page: no detection run is shown, the reader asked, or the address spells a recipe."""
    if run is None or run.recipe.task != TASK:
        return True
    if parameters.asked("recipe", config.names()).get("task", [""])[-1] == TASK:
        st.session_state[OPEN] = run.id
    return st.session_state.get(OPEN) == run.id


def open_form(run) -> None:
    """Callback: put the form in the place of this run, until another is chosen or started."""
    st.session_state[OPEN] = run.id


def close_form() -> None:
    """Callback: look at the run again."""
    st.session_state.pop(OPEN, None)


def _start(recipe: Recipe):
    """Callback: queue the run and look at it."""
    close_form()
    config.start(recipe)


def _seed():
    """From an address that asks for a detection recipe, and at first from one that every machine can run."""
    asked = {name: texts[-1] for name, texts in parameters.asked("recipe", config.names()).items()}
    if asked.get("task") == TASK:
        _fill(*_read(asked))
    elif BASE not in st.session_state:
        _fill(named().get(FIRST) or next(iter(named().values())))


def _read(asked: dict[str, str]) -> tuple[Recipe, list[str]]:
    """The recipe of the address, and what was wrong with it, field by field; dataset decides where to start."""
    known = {entry.name for entry in pictures.entries()}
    dataset, wrong = asked.pop("dataset", ""), []
    if dataset and dataset not in known:
        wrong.append(str(RecipeError("dataset", dataset, ", ".join(sorted(known)))))
    usual = next((r for r in named().values() if r.dataset == dataset), None)
    if asked.keys() <= {"task"}:
        start = usual or named().get(FIRST) or next(iter(named().values()))
        return (start.replace(dataset=dataset) if dataset in known else start), wrong
    recipe = Recipe(task=TASK, dataset=dataset if dataset in known else FIRST_SET)
    for name, text in asked.items():
        try:
            recipe = recipe.with_text(name, text)
        except RecipeError as error:
            wrong.append(str(error))
    return recipe, wrong


def _fill(recipe: Recipe, wrong=()):
    """Put a recipe's values into the widgets."""
    values = st.session_state
    values[BASE], values[WRONG] = recipe, list(wrong)
    for name in ("dataset", "method", "C", "jitters", "seed"):
        values[key(name)] = getattr(recipe, name)
    for field in (*TASKS[TASK].fields, *METHODS[recipe.method].fields):
        values[key(field.name)] = recipe.option(field.name)
    weight = recipe.class_weight if isinstance(recipe.class_weight, dict) else {}
    values[key("weight")] = float(weight.get("1", 1.0))


def _menu():
    base = st.session_state[BASE]
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
        _fill(named()[name])


def _recipe() -> Recipe | None:
    """The recipe that the widgets show; None, and the reason on screen, while its pictures are not at hand."""
    base = st.session_state[BASE]
    found = _pictures()
    if found is None:
        return None
    experiment = _experiment(found)
    if base.option("experiment") is None and experiment == next(iter(found.experiments)):
        experiment = None
    values = {"dataset": found.entry.name, "experiment": experiment} | _method()
    values |= _drawn([field for field in TASKS[TASK].fields if field.name == "finder"])
    others = [field for field in TASKS[TASK].fields if field.name != "finder" and field.shown]
    with st.expander("How to look"):
        values |= _drawn([field for field in others if field.means_something(values)])
        left, right = st.columns(2)
        values["C"] = draw(FIELDS["C"], key("C"), left)
        weight = right.number_input(
            "Weight of objects",
            0.1,
            1000.0,
            step=0.5,
            key=key("weight"),
            format="%g",
            help="C of the objects is so many times that of the background; the paper took 3.",
            **KEEP,
        )
        values["seed"] = draw(FIELDS["seed"], key("seed"))
        st.caption(f"Kernel ${base.kernel.formula}$, preparation: {', '.join(base.preprocess) or 'none'}.")
    weights = {"1": weight, "-1": 1.0} if weight != 1 else None
    recipe = base.replace(**values, class_weight=weights)
    same = next((r for r in named().values() if r.digest() == recipe.digest()), None)
    name, title = (same.name, same.title) if same else ("custom", words.title(recipe))
    recipe = recipe.replace(name=name, title=title)
    st.session_state[BASE] = recipe
    return recipe


def _pictures() -> pictures.PictureSet | None:
    entries = {entry.name: entry for entry in pictures.entries()}
    if st.session_state[key("dataset")] not in entries:
        st.session_state[key("dataset")] = next(iter(entries))
    name = st.selectbox(
        "Pictures",
        list(entries),
        format_func=lambda name: entries[name].title,
        key=key("dataset"),
        on_change=_other_pictures,
        help="The Datasets page shows what is in each, fetches sets and takes your own.",
        **KEEP,
    )
    entry = entries[name]
    if not entry.at_hand:
        how = f"Fetch it on the Datasets page ({entry.size_mb:.2g} MB)" if entry.fetchable else "How to get it"
        st.warning(f"{words.plain(entry.title)} is not on this machine yet.", icon=":material/cloud_download:")
        st.page_link("pages/datasets.py", label=how, icon=":material/download:", query_params={"set": name})
        return None
    found = entry.load()
    synthetic = " **Synthetic**, made up by a seeded program." if entry.synthetic else ""
    facts = (
        f"{len(found.pictures)} pictures, {sum(len(p.boxes) for p in found.pictures):,} {plural(entry.object_name)}."
    )
    st.caption(f"{facts}{synthetic}")
    return found


def _other_pictures():
    """Callback: another set brings the recipe that is usual for it, or keeps what there is."""
    name = st.session_state[key("dataset")]
    usual = next((r for r in named().values() if r.dataset == name), None)
    if usual is not None:
        _fill(usual)
        return
    base = st.session_state[BASE].replace(name="custom", title="", dataset=name)
    _fill(base)


def _experiment(found: pictures.PictureSet) -> str:
    there = found.experiments
    if st.session_state.get(key("experiment")) not in there:
        st.session_state[key("experiment")] = next(iter(there))
    name = st.selectbox(
        "Experiment",
        list(there),
        format_func=lambda name: there[name].title or name,
        key=key("experiment"),
        help="Which pictures train and which test, part by part.",
        **KEEP,
    )
    chosen = there[name]
    parts = len(chosen.parts)
    unit = "" if found.entry.unit == "picture" else f", {chosen.area:,.0f} {found.entry.unit}"
    st.caption(
        f"{parts} part{'s' if parts != 1 else ''}; {len(chosen.tested)} pictures tested, {chosen.opportunities:,} "
        f"{plural(found.entry.object_name)} that count{unit}."
    )
    if chosen.missing:
        missing = ", ".join(chosen.missing[:4]) + (
            f" and {len(chosen.missing) - 4} more" if len(chosen.missing) > 4 else ""
        )
        st.caption(f":material/hide_image: Not at hand, and so left out: {words.plain(missing)}.")
    return name


def _method() -> dict:
    allowed = [name for name, method in METHODS.items() if TASK in method.tasks and method.made]
    if st.session_state.get(key("method")) not in allowed:
        st.session_state[key("method")] = allowed[0]
    name = draw(FIELDS["method"], key("method"), options=allowed)
    method, values = METHODS[name], {"method": name}
    if method.help:
        st.caption(method.help)
    if method.uses_jitters:
        values["jitters"] = st.text_input(
            FIELDS["jitters"].label, key=key("jitters"), help=FIELDS["jitters"].help, **KEEP
        )
    return values | _drawn([field for field in method.fields if field.shown])


def _drawn(fields) -> dict:
    """The widgets of fields, two numbers in a row."""
    numbers = [field for field in fields if field.kind.widget == "number"]
    values = {field.name: draw(field, key(field.name)) for field in fields if field not in numbers}
    columns = st.columns(2) if len(numbers) > 1 else [st]
    for at, field in enumerate(numbers):
        values[field.name] = draw(field, key(field.name), columns[at % len(columns)])
    return values
