"""Labels: likely label errors, reviewed by key, and the results of training on the dataset with the reviewed labels.

A run without folds cannot doubt its own training labels, as its machine was made to agree with them: what is
missing, and the run that has it.
"""

import streamlit as st

from data import DataError
from pages.labels import ask, doubtful, gives, judge, target
from pages.labels.doubtful import Doubt
from pages.ui.example import evidence
from pages.ui.kit import parameters, present, roles, state
from pages.ui.kit.words import plain
from pages.ui.recipe import data_set, starting
from pages.ui.run.trained import another_run, trained_run
from svmcore.lab.analyses import suspects
from svmcore.lab.analyses.suspects import searched
from svmcore.lab.recipe import RecipeError
from svmcore.lab.store.runs import Run


def by_a_way(run: Run) -> tuple[list[Doubt] | None, str]:
    """Training examples with likely label errors, by the run's best method or the chosen one, and what is said where
    there are none; None of a run that has no method."""
    ways = doubtful.of_ways(run)
    if not ways:
        return None, ""
    way = parameters.choice("labels.by", ways, alone=False, format_func=ways.get)
    return doubtful.doubted(run.id, way), doubtful.NONE[way]


def missing(run: Run) -> None:
    """Say that the run has no folds, the best way of all, and offer the same recipe with some."""
    ways = doubtful.of_ways(run)
    if "folds" in ways:
        return
    with st.container(border=True):
        meanwhile = f" Until then this list uses: *{next(iter(ways.values()))}*." if ways else ""
        st.markdown(
            "**This run stores no predictions of folds.** Machines trained without an example judge its label best. "
            f"Cross-validate the same recipe to find likely label errors.{meanwhile}"
        )
        try:
            recipe = searched(run.recipe)
            recipe = recipe.replace(name="custom", title=f"{run.title}, {recipe.folds} folds"[:120])
            with st.container(horizontal=True, vertical_alignment="center"):
                starting.offer(
                    recipe, run.id, "label_folds", state.show_run, train=f"Train with {recipe.folds} folds",
                    there="Show the run with folds", type="primary",
                    help="The run with folds becomes the run shown. Its likely label errors appear here when it has "
                    "finished.",
                )  # fmt: skip
        except (DataError, RecipeError) as error:
            st.caption(f"This recipe cannot be trained with folds: {plain(error)}")


parameters.own(
    revision=target.check, unseen=bool, doubted=doubtful.LISTS, at=slice(1, None), by=suspects.WAYS,
    page=slice(1, None), given=data_set.check_class, **ask.PARAMS,
)  # fmt: skip
run = trained_run()
if run:
    another_run(run, "labels")
    lists = {name: one for name, one in doubtful.LISTS.items() if roles.teacher() or name != "next"}
    with present.form("What to review"), st.container(horizontal=True, vertical_alignment="bottom"):
        kind = parameters.choice(
            "labels.doubted",
            lists,
            format_func=lambda name: lists[name].title,
            help="  \n".join(f"**{one.title}**: {one.help}" for one in lists.values()),
        )
        to = target.field(run)
        way = ask.field(to) if kind == "next" and to is not None else ""
    if to is not None and kind == "next":
        ask.draw(run, to, way)
        gives.files(to)
    elif to is not None:
        chosen = lists[kind]
        if chosen.warning:
            st.warning(chosen.warning, icon=":material/warning:")
        above = st.container()
        doubts, none = (chosen.find(run), chosen.none) if chosen.find else by_a_way(run)
        if doubts == []:
            say, icon = (st.success, "check") if chosen.find else (st.info, "info")
            say(none, icon=f":material/{icon}:")
        judge.judge(judge.Judging(run, evidence.data_of(run), tuple(doubts or ()), to, kind))
        if roles.teacher():
            if not chosen.find:
                with present.below(above):
                    missing(run)
            gives.files(to)
        else:
            st.caption("In a class only the teacher can review labels.")
