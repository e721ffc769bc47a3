"""What a lesson is made of: steps, each of them one question about a page as it stands, predicted first and seen then.

    Lesson -> Step -> ask: View (the page while the question is open)  ->  look: View (the page that answers it)
    View    a page, the parameters of its address, and which of the lesson's machines it shows
    judge   Facts -> Verdict: the right choice and the sentence that says so, worked out from the runs themselves

Nothing that came out of a run is written down in a lesson: another seed gives other digits and other numbers.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from data import Dataset, load
from pages.ui.run import stored
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Group, Run

MAX_SEED = 999_999  # as the Playground has it


class Verdict(NamedTuple):
    """right: the number of the right choice. because: what was seen, with the figures of this run."""

    right: int
    because: str


class Facts:
    """What the questions and verdicts of a lesson are worked out from: its seed, and its machines as far as trained."""

    def __init__(self, recipes: Mapping[str, Recipe], seed: int):
        self.seed = seed
        self.recipes = {name: _seeded(recipe, seed) for name, recipe in recipes.items()}

    @cached_property
    def found(self) -> dict[str, Run | None]:
        """Of each machine its run: a finished one, else one at work, else one that ended."""
        return dict(zip(self.recipes, runs.stored(self.recipes.values()), strict=True))

    def done(self, name: str) -> bool:
        """Whether the machine is there."""
        run = self.found[name]
        return run is not None and run.state == "done"

    def run(self, name: str) -> Run:
        """The finished run of a machine. LookupError when there is none yet."""
        if not self.done(name):
            raise LookupError(f"the machine {name!r} is not trained yet")
        return self.found[name]

    def parents(self, of: Mapping[str, str]) -> dict[Recipe, Recipe]:
        """Of each machine made of another one, the other."""
        return {self.recipes[name]: self.recipes[parent] for name, parent in of.items()}

    def errors(self, name: str) -> int:
        """How many test examples it gets wrong."""
        return self.run(name).result["errors"]

    def n_sv(self, name: str) -> int:
        """How many distinct support vectors it keeps."""
        return self.run(name).result["n_union"]

    def n_test(self, name: str) -> int:
        """How many examples it was tested on."""
        return self.run(name).result["n_test"]

    def dataset(self, name: str) -> Dataset:
        """The dataset of a machine."""
        return load(self.recipes[name].dataset)


Query = Mapping[str, object] | Callable[[Facts], Mapping[str, object]]
Text = str | Callable[[Facts], str]
NONE: Mapping[str, object] = MappingProxyType({})


PARTS = {  # what is looked at -> the tab of Present mode that holds it
    "support_gallery": "Support vectors",
    "families": "Support vectors",
    "errors_gallery": "Which ones",
    "reduce_z": "Vectors",
    "reduce_f": "Decisions",
    "reduce_sizes": "Errors by size",
    "froc": "Curve",
}


class View(NamedTuple):
    """A page as a step wants it. page: a file of pages/, without .py. query: parameters of its address, of the types
    that its widgets hold. run: the machine shown, by its name in the lesson; empty where the page shows none. outlined:
    keys of what is to be looked at there, with spaces between them; the last one is brought into view before others.
    """

    page: str
    query: Query = NONE
    run: str = ""
    outlined: str = ""

    @property
    def part(self) -> str:
        """The tab that holds what is looked at in Present mode, where that is not the first."""
        return next((PARTS[key] for key in self.outlined.split() if key in PARTS), "")


class Step(NamedTuple):
    """One question. where: what to look at once the page answers, after the words `Look at`. machines: those that
    `judge` needs beside the two that are shown. instead: the step that is asked if their data are not available."""

    ask: View
    question: Text
    choices: tuple[str, ...]
    look: View
    where: str
    judge: Callable[[Facts], Verdict]
    machines: tuple[str, ...] = ()
    instead: "Step | None" = None

    @property
    def before(self) -> tuple[str, ...]:
        """The machines that must be there for the question."""
        return (self.ask.run,) if self.ask.run else ()

    @property
    def after(self) -> tuple[str, ...]:
        """The machines that must be there for the answer."""
        return tuple(dict.fromkeys(filter(None, (self.ask.run, self.look.run, *self.machines))))


AUTHORS = {  # of a paper, by its name on the page Paper
    "decoste": "DeCoste and Schölkopf", "burges": "Burges and Schölkopf", "osuna": "Osuna, Freund and Girosi",
    "bakir": "Bakır, Bottou and Weston",
}  # fmt: skip


class Source(NamedTuple):
    """Where a paper says it. section: its number in the outline; paper: its name on the page Paper."""

    section: str
    paper: str = "decoste"

    @property
    def text(self) -> str:
        return f"{AUTHORS[self.paper]}, section\u00a0{self.section}"

    @property
    def query(self) -> dict[str, str]:
        """The address of the section on the page Paper."""
        return {"paper": self.paper, "section": self.section}


class Lesson(NamedTuple):
    """promise: what the reader will know afterwards. source: where the paper says it. recipes: its machines by name,
    to which the class's seed is added. remember: three sentences, shown when it is done. attempt: one thing to try, and
    where; of its page's address only what needs no facts. parents: machine -> the one that it is made of."""

    name: str
    title: str
    promise: str
    source: Source
    recipes: dict[str, Recipe]
    steps: tuple[Step, ...]
    remember: tuple[str, str, str]
    attempt: tuple[str, View]
    parents: Mapping[str, str] = NONE

    def lacking(self, number: int) -> set[Recipe]:
        """The machines of a step whose data are not available."""
        return stored.lacking(self.recipes[name] for name in self.steps[number - 1].after)

    def step(self, number: int) -> Step:
        """A step, from 1; if its data are not available, the one that is asked instead."""
        own = self.steps[number - 1]
        return own.instead if own.instead and self.lacking(number) else own

    @property
    def group(self) -> Group:
        """What the runs that it trains are started for."""
        return Group(f"lesson-{self.name}", f"Lesson: {self.title}"[:120])


def resolved(what, facts: Facts):
    """`what` as it is, or as worked out from the facts."""
    return what(facts) if callable(what) else what


def _seeded(recipe: Recipe, seed: int) -> Recipe:
    """With the class's seed, also for the order of scrambled pixels: a page has one seed in its address."""
    steps = (f"scramble:{seed}" if step.startswith("scramble:") else step for step in recipe.preprocess)
    return recipe.replace(seed=seed, preprocess=tuple(steps))
