"""Figures 1, 3 and 4 of the paper as runs, and the same course on any two classes: what grows, what it costs."""

import plotly.graph_objects as go
import streamlit as st

from data import DataError, catalogue
from pages.ui.edit import choice
from pages.ui.edit.course import TIME, Course, Found, Point, bayes, courses, law, line, rows
from pages.ui.figures import crossing
from pages.ui.figures.frame import side_by_side, worded
from pages.ui.kit import parameters, present, state, words
from pages.ui.run import stored
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.store import runs
from svmcore.lab.store.reading import Group

OWN = {"Your own data, by noise": "noise", "Your own data, by n": "n"}
LEVELS = (0.0, 0.05, 0.1, 0.15, 0.2)
PARTS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # of the training examples
PLAIN, EDITED = "plain", "cross-trained"
REPEATED = {PLAIN: choice.PLAIN, EDITED: choice.METHOD}


def view() -> None:
    """The choice of a course, its runs, and its figures."""
    with present.form():
        try:
            course = _course()
            if course is None:
                return
            found = stored.stored(course.recipes)
            stored.study(course.recipes, found, "Start all", "course", course.group)
        except (DataError, ValueError) as error:
            st.error(words.plain(error), icon=":material/block:")
            return
    st.subheader(words.plain(course.title))
    st.caption(" ".join(filter(None, (course.says, course.theirs))))
    done = {run.recipe.digest(): run for run in found if run and run.state == "done"}
    if done:
        _figures(course, done)
        _table(course, done)
    elif not any(run and run.state in runs.ACTIVE for run in found):
        st.info(
            f"Start queues {len(course.recipes)} runs, each an ordinary one that can be cancelled and found again. The "
            "figures fill as they end.",
            title="Nothing run yet", icon=":material/query_stats:",
        )  # fmt: skip
    stored.at_work(found)


def _course() -> Course | None:
    """What the widgets ask for."""
    theirs = courses()
    name = parameters.choice(
        "course", "Course", [*theirs, *OWN], wrap=True,
        help="The figures of Bakir, Bottou and Weston (2004) with their examples, or the same on yours.",
    )  # fmt: skip
    return theirs[name] if name in theirs else _own(OWN[name])


def _own(over: str) -> Course | None:
    """A course of the reader's own: noise at the full size, or sizes at one noise."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        base = choice.field()
        noise = choice.flipped() if over == "n" else 0.0
    if base is None:
        return None
    title = choice.title(base)
    if over == "noise":
        points = [_point(100 * level, base.replace(noise=level)) for level in LEVELS]
        group = Group.of("edit-noise", f"Label noise · {title}", base.digest())
        return Course(title, "More and more labels are flipped.", "labels flipped, %", tuple(points), group)
    base = base.replace(noise=noise)
    n = _most(base)
    points = [_point(size, base.replace(n_train=size)) for size in sorted({max(20, round(part * n)) for part in PARTS})]
    group = Group.of("edit-n", f"More examples · {title}", base.digest())
    says = f"More and more examples, {100 * noise:g} % of their labels flipped."
    return Course(title, says, "training examples n", tuple(points), group)


def _point(x: float, recipe: Recipe) -> Point:
    machines = {name: (choice.named(METHODS[method].usual(recipe)),) for name, method in REPEATED.items()}
    return Point(x, machines, bayes(recipe))


def _most(base: Recipe) -> int:
    """Training examples that there are."""
    entry = catalogue.entry(base.dataset)
    share = len(base.classes) / entry.n_classes if len(base.classes) > 1 else 1.0
    n = round(entry.n_train * share)
    return min(base.n_train or n, n if entry.n_test else n * 4 // 5)


def _figures(course: Course, found: Found) -> None:
    drawn = {"Support vectors": _held(course, found), "Errors": _of(course, found, "wrong, %")}
    if any(recipe.option("noise") for recipe in course.recipes):
        drawn["Errors by noisy labels"] = _of(course, found, "wrong by labels as noisy, %")
    drawn["Time"] = _of(course, found, TIME)
    side_by_side({f"course_{at}": figure for at, figure in enumerate(drawn.values())}, 2, 380, list(drawn))


def _lines(course: Course, found: Found, measure: str) -> dict:
    lines = {name: line(course, found, name, measure) for name in course.names}
    return {name: one for name, one in lines.items() if one}


def _held(course: Course, found: Found) -> go.Figure:
    if course.apart:
        lines = {
            f"{name}, {measure}": one
            for measure in ("bound", "free")
            for name, one in _lines(course, found, measure).items()
        }
    else:
        lines = _lines(course, found, "support vectors")
    known = all(point.bayes is not None for point in course.points)
    told = "the smallest possible error" if known else "the smallest error here by labels as noisy"
    kinds = " Bound: at C; free: below it." if course.apart else ""
    how = {"log": course.apart, "span": _span(course), "log_x": course.x_log}
    return crossing.held(lines, law(course, found), course.x_title, told, kinds, **how)


def _of(course: Course, found: Found, measure: str) -> go.Figure:
    lines = _lines(course, found, measure)
    span, per_cent = _span(course), measure.endswith("%")
    figure = crossing.growth(lines, course.x_title, measure, per_cent=per_cent, span=span, log_x=course.x_log)
    said = crossing.ends(lines)
    told = f"{measure[0].upper()}{measure[1:]}: {said}."
    return worded(figure, f"{measure} against {course.x_title}: {said}.", told)


def _span(course: Course) -> tuple[float, float]:
    """The first and the last x."""
    xs = [point.x for point in course.points]
    return min(xs), max(xs)


def _table(course: Course, found: Found) -> None:
    told = rows(course, found)
    with st.expander("All runs"):
        st.dataframe(
            told, hide_index=True, key="course_table", column_order=[name for name in told[0] if name != "run"],
            on_select=lambda: _see([row["run"] for row in told]), selection_mode="single-row",
            alt="Every run of the study with its figures",
        )  # fmt: skip
        st.caption("Mark a row to make its run the one shown; of one that threw examples away, to see which.")


@state.callback
def _see(run_ids: list[str]) -> None:
    """Callback of the table: the run of the row that was marked."""
    for at in st.session_state["course_table"].selection.rows:
        run = runs.get(run_ids[at])
        state.show_run(run.id)
        if "roles" in run.result:
            st.session_state["cross_view"] = "A run"
        else:
            state.tell_later(f":material/check: Shown now: {words.plain(words.short(run.title, 60))}")
