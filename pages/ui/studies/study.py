"""A study: a question that several runs answer together, as one object, and the function that draws any of them.

settings -> Plan: recipes by name         what is missing is queued by a click, with an estimate beside it
Results: the runs of these recipes -> figures, rows of a table, observations
"""

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import plotly.graph_objects as go
import streamlit as st

from data import DataError
from pages.ui.figures.frame import show
from pages.ui.kit import numbers, present, words
from pages.ui.run import polling, stored
from svmcore.lab.forecast import Estimate, estimates, seconds_of
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Group, Run

NONE: Mapping[Hashable, Hashable] = MappingProxyType({})
NOT_RUN, UNFIT = "not run yet", "does not fit"
NAMED = 9  # runs that a message names one by one
REASONS = 3  # why runs are left out, at most: those of a map hardly differ
MANY, SCROLLS = 20, 560  # rows of a table from which on it scrolls, and its pixels
SOON = 30.0  # seconds for which a forecast holds: memory is taken and freed meanwhile


class Plan(NamedTuple):
    """What the settings of a study ask for.

    recipes    name -> recipe, in the order of the table; a name is a text where a table or `over` shows it
    group      what the runs are started for
    given      what else figures, rows and observations need of the settings
    title      above the figures, and `says` below it
    over       what the names are values of, as "C"; empty where they are not
    parents    name of a recipe -> name of the one that its run grows out of
    together   whether the runs are of no use without each other, so that none is started where one does not fit
    stand_in   recipes whose samples are shown while no run of `recipes` exists; None for `recipes` themselves
    then       called when some of them have been queued; followed() is what follows from these, as `poll_all` asks it
    """

    recipes: Mapping[Hashable, Recipe]
    group: Group | None = None
    given: object = None
    title: str = ""
    says: str = ""
    over: str = ""
    parents: Mapping[Hashable, Hashable] = NONE
    together: bool = False
    stand_in: Mapping[Hashable, Recipe] | None = None
    then: Callable[[], None] = lambda: None
    followed: Callable[[], dict[str, str]] = dict


@dataclass(frozen=True)
class Results:
    """A plan, and by name the run of each recipe that is shown, None where there is none; their states are those of one
    moment, as all that is drawn has to agree on which have finished."""

    plan: Plan
    runs: dict[Hashable, Run | None]

    @cached_property
    def _states(self) -> dict[Hashable, str]:
        return {name: run.state for name, run in self.runs.items() if run}

    @property
    def done(self) -> dict[Hashable, Run]:
        """Those that have finished, samples among them."""
        return {name: self.runs[name] for name, state in self._states.items() if state == "done"}

    @property
    def active(self) -> list[Run]:
        """Those queued, running or paused."""
        return [self.runs[name] for name, state in self._states.items() if state in runs.ACTIVE]


class Study(NamedTuple):
    """A study. `figures` and `observations` are called once a run has finished.

    key            of its buttons, figures and table
    plan           draws the settings; None, and the reason on screen, while they name no study
    figures        title -> a figure, or what draws it
    rows           rows of the table, given name -> state, also of what has not run yet; `columns` as in
                   `numbers.table`, `alt` its words
    observations   draws what follows the table: sentences, links, more figures
    """

    key: str
    plan: Callable[[], Plan | None]
    figures: Callable[[Results], Mapping[str, go.Figure | Callable[[], None]]] = lambda results: {}
    rows: Callable[[Results, Mapping[str, str]], list[dict]] | None = None
    columns: Mapping | None = None
    alt: str = ""
    observations: Callable[[Results], None] = lambda results: None


def draw(study: Study) -> Plan | None:
    """Settings, buttons, figures, table, observations. The plan, without the recipes whose runs do not fit into memory,
    or None where the settings name none."""
    settings = present.form()
    try:
        with settings:
            if (plan := study.plan()) is None:
                return None
            own = runs.stored(plan.recipes.values())
            unfit = _start(study.key, plan, own)
        results = _results(plan, own)
    except (DataError, ValueError) as error:
        st.error(words.plain(error), icon=":material/block:")
        return None
    if plan.title:
        st.subheader(words.plain(plan.title))
    if plan.says:
        st.caption(plan.says)
    _ended_early(results)
    if not any(results.runs.values()):
        st.info(
            "Start queues ordinary runs. You can cancel them and find them on the Runs page. The figures appear as the "
            "runs finish.",
            title="No runs yet",
            icon=":material/query_stats:",
        )
    _figures_and_table(study, results, unfit)
    if results.done:
        study.observations(results)
    return plan._replace(recipes={name: recipe for name, recipe in plan.recipes.items() if name not in unfit})


def _results(plan: Plan, own: list[Run | None]) -> Results:
    """The reader's own runs; before the first of them, which no other grows out of, also the lab's samples where these
    are of half of the recipes: fewer do not show what the study is about."""
    found = dict(zip(plan.recipes, own, strict=True))
    if any(run for name, run in found.items() if not plan.parents or name in plan.parents):
        return Results(plan, found)
    recipes = plan.stand_in if plan.stand_in and not any(own) else plan.recipes
    own = own if recipes is plan.recipes else runs.stored(recipes.values())
    shown = [run or sample for run, sample in zip(own, stored.samples(recipes.values()), strict=True)]
    samples = [run for run in shown if run and run.sample]
    if not samples or 2 * sum(run is not None for run in shown) < len(shown):
        return Results(plan, found)
    stored.say_samples(samples)
    return Results(plan, dict(zip(recipes, shown, strict=True)))


def _start(key: str, plan: Plan, own: list[Run | None]) -> Collection[Hashable]:
    """Start and Cancel, how many runs there are, and what the others will take. The names of those that are left out,
    as they do not fit into memory: what is stored or at work stays, however much memory is free now."""
    found = dict(zip(plan.recipes, own, strict=True))
    missing = {name: recipe for name, recipe in plan.recipes.items() if not runs.available(found[name])}
    waits, out = dict(zip(missing, needs(list(missing.values())), strict=True)), []
    if unfit := {name: need.advice for name, need in waits.items() if not need.fits}:
        out = list(missing if plan.together else unfit)
        reasons = "\n\n".join(map(words.plain, list(dict.fromkeys(unfit.values()))[:REASONS]))
        st.warning(reasons, title=f"{_those(plan, out)} left out: not enough memory", icon=":material/memory:")
    waits, left = {missing[name]: need for name, need in waits.items() if name not in out}, ""
    if waits:
        seconds, memory = seconds_of(waits, list(waits.values())), max(need.memory_mb for need in waits.values())
        left = f"; {words.many(len(waits), 'run')} to train, about {words.duration(seconds)} and up to "
        left += f"{words.megabytes(memory)} of memory"
    if absent := stored.lacking(waits):
        wanted = words.plain(", ".join(sorted({recipe.dataset for recipe in absent})))
        left += f"; data to be downloaded on *Datasets*: {wanted}"
    parents = {plan.recipes[name]: plan.recipes[parent] for name, parent in plan.parents.items()}
    with st.container(horizontal=True, vertical_alignment="center"):
        many = words.many(len(waits) - len(absent) or len(waits), "run")
        label, help = f"Start {many}", "Trains in the background; you can leave the page."
        fit = [name for name in found if name not in out]
        recipes, own = [plan.recipes[name] for name in fit], [found[name] for name in fit]
        stored.buttons(recipes, own, label, help, key, group=plan.group, parents=parents, then=plan.then)
        done = sum(run is not None and run.state == "done" for run in found.values())
        st.caption(f"{done} of {len(plan.recipes)} runs are stored{left}.", width="content")
    return out


def _those(plan: Plan, names: Collection[Hashable]) -> str:
    """Some runs in a message."""
    few = plan.over and len(names) <= NAMED
    return words.plain(f"{plan.over} = {', '.join(names)}") if few else words.many(len(names), "run")


def needs(missing: list[Recipe]) -> list[Estimate]:
    """The estimates of runs queued together, those of SOON seconds ago: for hundreds of runs they take a second."""
    return _needs(tuple((recipe.digest(), runs.content(recipe)) for recipe in missing), missing)


@st.cache_data(ttl=SOON, max_entries=16, show_spinner=False)
def _needs(known_by: tuple[tuple[str, str], ...], _missing: list[Recipe]) -> list[Estimate]:
    return estimates(_missing)


def _ended_early(results: Results) -> None:
    """Why runs have no result, and what to do."""
    plan, failed = results.plan, {}
    for name, run in results.runs.items():
        if run and run.state == "failed":
            failed.setdefault(run.message, []).append(name)
    stopped = [name for name, run in results.runs.items() if run and run.state in ("cancelled", "interrupted")]
    for message, names in failed.items():
        st.error(words.plain(message), title=f"{_those(plan, names)} failed", icon=":material/error:")
    if stopped:
        said = f"No result for {_those(plan, stopped)}. Start again to train the missing runs."
        st.warning(said, title="Stopped before the end", icon=":material/stop:")


def _figures_and_table(study: Study, results: Results, unfit: Collection[Hashable]) -> None:
    """Side by side, the table below; tabs while presenting. Without a table a line says how far the first run is."""
    figures = study.figures(results) if results.done else {}
    names, places = [*figures, *(["In numbers"] if study.rows else [])], None
    if figures and not present.presenting():
        grid = st.grid(min(len(figures), 2), min_column_width=380)
        places = [*(grid.cell() for _ in figures), st.container()]
    places = present.parts(names, places)
    for at, (title, figure) in enumerate(figures.items()):
        with places[at]:
            if len(figures) > 1 and not present.presenting():
                st.markdown(f"**{title}**")
            if isinstance(figure, go.Figure):
                show(figure, f"{study.key}_{at}")
            else:
                figure()
    if study.rows:
        there = {name: run for name, run in results.runs.items() if run}

        def table(statuses):
            now = {
                name: (status.state == "running" and status.message) or status.state
                for name, status in zip(there, statuses, strict=True)
            }
            rows = study.rows(results, dict.fromkeys(results.runs, NOT_RUN) | dict.fromkeys(unfit, UNFIT) | now)
            scrolls = {"height": SCROLLS} if len(rows) > MANY else {}
            if rows:
                numbers.table(rows, study.alt, f"{study.key}_table", study.columns, **scrolls)

        with places[-1], st.container(key=f"{study.key}_numbers"):
            polling.poll_all([run.id for run in there.values()], table, results.plan.followed)
    else:
        polling.poll_all([run.id for run in results.active], _first_at_work)


def _first_at_work(statuses) -> None:
    """What the run at work says, or the first in the queue, of what it waits for."""
    working = [status for status in statuses if status.state == "running"]
    for status in working or statuses[:1]:
        st.caption(words.plain(f"{status.state}: {status.message}"))
