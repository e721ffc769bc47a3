"""View: what the screen shows of one task, or of one method, beside what it shows of every run.

    pages/ui/views          the objects; who imports it makes them known
    part(recipe, name)      what the method's view says under a name, else its task's; None where neither says anything

A task or a method without a view is shown as any other. The rooms call what a view says and never ask whose it is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class PageLink(NamedTuple):
    """A way to a page that shows a run. page: its file's name; title: what it is called; query: beside the run."""

    page: str
    label: str
    title: str = ""
    icon: str = ":material/arrow_forward:"
    query: Mapping[str, str] = {}

    def link(self, run_id: str) -> dict:
        """What `st.page_link` is to be told."""
        address = {"run": run_id, **self.query}
        return {"page": f"pages/{self.page}.py", "label": self.label, "query_params": address}


@dataclass(frozen=True)
class View:
    """What is None is as usual.

    In the form and on the pages: form, the page that has its form; home, the page that its runs open on; told, where
    its figures are, in a sentence; vectors, where the vectors of its machines are seen.
    Of a run, each called with it: numbers(run, line of progress, status), in place of gap and support vectors;
    curves(run, progress, key), in place of those over time; classes(run), names of its machines' classes;
    pictures(run, status), below the curves; hint(run), below the outcome.
    links(run, others): the ways on from a finished run, those of its task given to the method's.
    columns: of the list of runs, name -> how it is drawn, value(result).
    course(run): HTML of a report of a finished run, in place of the curves; report: its parts below, name -> HTML of
    the run.
    """

    form: PageLink | None = None
    home: PageLink | None = None
    told: str | None = None
    vectors: PageLink | None = None
    numbers: Callable | None = None
    curves: Callable | None = None
    classes: Callable | None = None
    pictures: Callable | None = None
    hint: Callable | None = None
    links: Callable | None = None
    columns: Mapping | None = None
    course: Callable | None = None
    report: Mapping | None = None


TASKS: dict[str, View] = {}  # name of a task -> its view
METHODS: dict[str, View] = {}
TRAIN = PageLink("train", "Watch it", "Train", ":material/play_circle:")


def views(recipe) -> list[View]:
    """The view of a recipe's task, then that of its method, as far as there are any."""
    known = TASKS.get(recipe.task), METHODS.get(recipe.method)
    return [view for view in known if view is not None]


def part(recipe, name: str):
    """What a recipe's method, else its task, says of one field of a View."""
    said = (getattr(view, name) for view in reversed(views(recipe)))
    return next((value for value in said if value is not None), None)


def together(recipe, name: str) -> dict:
    """What a recipe's task and its method both say, of a field that is a mapping."""
    return {key: value for view in views(recipe) for key, value in (getattr(view, name) or {}).items()}


def columns() -> dict:
    """How the columns are drawn that any view adds to the list of runs."""
    every = [view.columns or {} for view in (*TASKS.values(), *METHODS.values())]
    return {name: how for of in every for name, (how, _) in of.items()}


def row(run) -> dict:
    """A run's values in the columns of its views, None before it has a result."""
    own = together(run.recipe, "columns")
    return {name: value(run.result) if run.result else None for name, (_, value) in own.items()}


def form_of(recipe) -> PageLink:
    """The page that has the form of a recipe."""
    return part(recipe, "form") or TRAIN


def home_of(recipe) -> PageLink:
    """The page that the runs of a recipe open on."""
    return part(recipe, "home") or TRAIN


def homes() -> set[str]:
    """The pages that the runs of some task or method open on, and others do not."""
    return {view.home.page for view in (*TASKS.values(), *METHODS.values()) if view.home} - {TRAIN.page}


def links(run) -> list[PageLink]:
    """The ways on from a finished run."""
    found = []
    for view in views(run.recipe):
        found = view.links(run, found) if view.links else found
    return found
