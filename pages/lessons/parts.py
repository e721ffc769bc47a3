"""What a lesson is made of: steps, each of them one question about a page as it stands, predicted first and seen then.

    NAME.toml     a lesson: title, promise, source (paper, section), remember, attempt, and its steps
    [[step]]      ask      the page while the question is open: page, query, run (a machine), outlined
                  question, choices (from the least to the most)
                  look     the page that answers it;  where: what to look at there, after the words "Look at"
                  value    what decides, beside what, and limits: the right choice, see `Step.right`
                  because  the explanation shown with the answer; its field {end} is the entry of `ends` for the right
                          choice
    [step.instead]         a step that takes this one's place if its data are not available

A lesson contains no result of a run, since another seed gives other digits and other numbers. Texts and parameters of
addresses name results as fields of `str.format`, see `Facts`.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from string import Formatter
from types import MappingProxyType
from typing import NamedTuple

from data import Dataset, load
from pages.lessons.machines import MACHINES, PARENTS
from pages.lessons.plane import Plane
from pages.ui.run import stored
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Group, Run

MAX_SEED = 999_999  # as the Playground has it
NONE: Mapping[str, object] = MappingProxyType({})
FIGURES: dict[str, tuple[Callable, tuple[str, ...]]] = {}  # name -> how it is computed, from which machines
PARTS = {  # what is looked at -> the tab of Present mode that holds it
    "support_gallery": "Support vectors",
    "families": "Support vectors",
    "errors_gallery": "Misclassified",
    "reduce_z": "Vectors",
    "reduce_f": "Decisions",
    "reduce_sizes": "Errors by size",
    "froc": "Curve",
}
AUTHORS = {  # of a paper, by its name on the page Paper
    "decoste": "DeCoste and Schölkopf", "burges": "Burges and Schölkopf", "osuna": "Osuna, Freund and Girosi",
    "bakir": "Bakır, Bottou and Weston",
}  # fmt: skip


def figure(*machines: str):
    """Decorator: a function of the facts becomes a field of texts, by its name. machines: those that it needs."""

    def keep(compute: Callable[["Facts"], object]):
        FIGURES[compute.__name__] = compute, machines
        return compute

    return keep


class _Texts(Formatter):
    def format_field(self, value, spec: str) -> str:
        text = format(value, spec)
        return f"{text[:-1]} %" if spec.endswith("%") else text


TEXTS = _Texts()


class Facts:
    """What the texts of a step may name, with a class's seed and as far as its machines are trained.

    plain[errors]   the stored result of a machine, with `id`, its run's, and `n_other`, examples that it does not keep
    ask, look       what the page of the question shows, and that of the answer: such a result, or a Plane
    clouds          a Plane: the Playground's two clouds, with the class's seed
    digit.row       a figure, computed once (seen.py)
    seed
    """

    def __init__(self, seed: int, step: "Step | None" = None):
        self.seed, self.step, self._known = seed, step, {"seed": seed}
        self._runs: dict[str, Run | None] = {}

    def __getitem__(self, name: str):
        if name not in self._known:
            self._known[name] = self._worked_out(name)
        return self._known[name]

    def _worked_out(self, name: str):
        if name in ("ask", "look"):
            view = getattr(self.step, name)
            return self[view.run] if view.run else Plane.of(self.filled(view.query), self.seed)
        if name == "clouds":
            return Plane.of({}, self.seed)
        if name in FIGURES:
            return FIGURES[name][0](self)
        result, run_id = self.run(name).result, self.run(name).id
        return result | {"id": run_id, "n_other": result["n_train"] - result["n_union"]}

    def filled(self, what, **beside):
        """`what`, or what is in it, with its fields filled in; a text that is one bare field becomes its value.
        beside: fields that this text alone knows."""
        if isinstance(what, str):
            self._known |= beside
            parts = list(TEXTS.parse(what))
            if len(parts) == 1 and parts[0][0] == "" and not parts[0][2]:
                return self.value(parts[0][1])
            return TEXTS.vformat(what, (), self)
        if isinstance(what, Mapping):
            return {name: self.filled(value) for name, value in what.items()}
        return [self.filled(value) for value in what] if isinstance(what, list) else what

    def value(self, field: str):
        """The value of a field: `plain[errors]`."""
        return TEXTS.get_field(field, (), self)[0]

    def found(self, name: str) -> Run | None:
        """The run of a machine: a finished one, else one at work, else one that ended."""
        self._look_up([name, *(self.step.after if self.step else ())])
        return self._runs[name]

    def missing(self, names: Iterable[str]) -> list[str]:
        """Those of the machines that are not trained yet."""
        self._look_up(names := list(names))
        return [name for name in names if (run := self.found(name)) is None or run.state != "done"]

    def _look_up(self, names: Iterable[str]) -> None:
        """All in one go: each look goes through all stored runs."""
        new = [name for name in dict.fromkeys(names) if name not in self._runs]
        if new:
            self._runs |= zip(new, runs.stored(recipe_of(name, self.seed) for name in new), strict=True)

    def run(self, name: str) -> Run:
        """The finished run of a machine. LookupError when there is none yet."""
        if self.missing([name]):
            raise LookupError(f"the machine {name!r} is not trained yet")
        return self.found(name)

    def dataset(self, name: str) -> Dataset:
        """The dataset of a machine."""
        return load(MACHINES[name].dataset)


class Verdict(NamedTuple):
    """right: the number of the right choice. because: what was seen, with the figures of this run."""

    right: int
    because: str


class View(NamedTuple):
    """A page as a step wants it. page: a file of pages/, without .py. query: parameters of its address, of the types
    that its widgets hold. run: the machine shown; empty where the page shows none. outlined: keys of what is to be
    looked at there, with spaces between them; the last one is brought into view before others."""

    page: str
    query: Mapping[str, object] | str = NONE
    run: str = ""
    outlined: str = ""

    @property
    def part(self) -> str:
        """The tab that holds what is looked at in Present mode, where that is not the first."""
        return next((PARTS[key] for key in self.outlined.split() if key in PARTS), "")

    def parameters(self, facts: Facts) -> Mapping[str, object]:
        """Its query with its fields filled in; of the Playground also with the class's seed."""
        query = facts.filled(self.query)
        return Plane.of(query, facts.seed).address if self.page == "playground" else query


@dataclass(frozen=True)
class Step:
    """One question, as the head of this file has it. pair: two machines whose errors are compared, where these are not
    those of `ask` and `look`."""

    ask: View
    question: str
    choices: tuple[str, ...]
    look: View
    where: str
    value: str | int
    because: str
    beside: str = ""
    limits: tuple[float, ...] = ()
    ends: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    instead: "Step | None" = None

    def right(self, value, beside=None) -> int:
        """The number of the right choice: how many of the limits, taken times `beside` if there is one, `value` is
        above. Without limits it is less than `beside` (0), the same (1) or more (2), or it is the number itself."""
        if self.limits:
            return sum(value > limit * (1 if beside is None else beside) for limit in self.limits)
        return int(value) if beside is None else int(value >= beside) + int(value > beside)

    def judge(self, facts: Facts) -> Verdict:
        """What is right, and why. LookupError where a machine is not trained yet."""
        value, beside = (facts.value(of) if of and isinstance(of, str) else of for of in (self.value, self.beside))
        right, known = self.right(value, None if beside == "" else beside), {"value": value}
        if self.beside:
            ratio = value / beside if beside else float("inf")
            known |= {"beside": beside, "ratio": ratio, "change": abs(ratio - 1)}
        if self.ends:
            known["end"] = facts.filled(self.ends[right], **known)
        return Verdict(right, facts.filled(self.because, **known))

    @cached_property
    def before(self) -> tuple[str, ...]:
        """The machines that must be there for the question."""
        return tuple(dict.fromkeys(self._machines(self.ask.run, self.ask.query, self.question)))

    @cached_property
    def after(self) -> tuple[str, ...]:
        """The machines that must be there for the answer."""
        fields = [f"{{{field}}}" for field in (self.value, self.beside) if isinstance(field, str) and field]
        look = self.look.run, self.look.query, *fields, self.because, self.ends
        return tuple(dict.fromkeys([*self.before, *self._machines(*look)]))

    def _machines(self, name: str, *whats) -> Iterable[str]:
        """A machine, and those that texts name; what a machine is made of stands before it."""
        for needed in [name, *(each for what in whats for each in _named(what))]:
            if needed in ("ask", "look"):
                view = getattr(self, needed)
                yield from self._machines(view.run, view.query)
            elif needed == "pair":
                yield from self.pair or (self.ask.run, self.look.run)
            elif needed in FIGURES:
                yield from FIGURES[needed][1]
            elif needed in MACHINES:
                yield from filter(None, (PARENTS.get(needed), needed))


class Source(NamedTuple):
    """Where a paper says it. section: its number in the outline; paper: its name on the page Paper."""

    paper: str
    section: str

    @property
    def text(self) -> str:
        return f"{AUTHORS[self.paper]}, section\u00a0{self.section}"

    @property
    def query(self) -> dict[str, str]:
        """The address of the section on the page Paper."""
        return {"paper": self.paper, "section": self.section}


class Lesson(NamedTuple):
    """promise: what the reader will know afterwards. source: where the paper says it. remember: three sentences, shown
    when it is done. attempt: one thing to try, and where; of its page's address only what needs no facts."""

    name: str
    title: str
    promise: str
    source: Source
    steps: tuple[Step, ...]
    remember: tuple[str, str, str]
    attempt: tuple[str, View]

    @classmethod
    def read(cls, name: str) -> "Lesson":
        """The lesson that a file beside this one tells."""
        written = tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text("utf-8"))
        attempt, steps = written["attempt"], tuple(map(_step, written["step"]))
        there = View(attempt["page"], attempt.get("query", NONE))
        title, promise, remember = (written[part] for part in ("title", "promise", "remember"))
        return cls(name, title, promise, Source(**written["source"]), steps, tuple(remember), (attempt["text"], there))

    @property
    def machines(self) -> tuple[str, ...]:
        """Of all its steps, those that are asked instead among them."""
        steps = [step for own in self.steps for step in (own, own.instead) if step]
        return tuple(dict.fromkeys(name for step in steps for name in step.after))

    def lacking(self, number: int) -> set[Recipe]:
        """The machines of a step whose data are not available."""
        return stored.lacking(MACHINES[name] for name in self.steps[number - 1].after)

    def step(self, number: int) -> Step:
        """A step, from 1; if its data are not available, the one that is asked instead."""
        own = self.steps[number - 1]
        return own.instead if own.instead and self.lacking(number) else own

    @property
    def group(self) -> Group:
        """What the runs that it trains are started for."""
        return Group(f"lesson-{self.name}", f"Lesson: {self.title}"[:120])

    def training(self, names: Iterable[str], seed: int) -> tuple[list[Recipe], Group, dict[Recipe, Recipe]]:
        """What `stored.queue` is told to train machines: recipes, group, parents."""
        parents = {recipe_of(name, seed): recipe_of(parent, seed) for name, parent in PARENTS.items()}
        return [recipe_of(name, seed) for name in names], self.group, parents


@lru_cache(maxsize=256)
def recipe_of(name: str, seed: int) -> Recipe:
    """A machine with the class's seed, also for the order of scrambled pixels: a page has one seed in its address."""
    recipe = MACHINES[name]
    steps = (f"scramble:{seed}" if step.startswith("scramble:") else step for step in recipe.preprocess)
    return recipe.replace(seed=seed, preprocess=tuple(steps))


def _step(written: dict) -> Step:
    views = {name: View(**written[name]) for name in ("ask", "look")}
    lists = {name: tuple(value) for name, value in written.items() if isinstance(value, list)}
    instead = {"instead": _step(written["instead"])} if "instead" in written else {}
    return Step(**written | views | lists | instead)


def _named(what) -> Iterable[str]:
    """Names of the fields in a text, in the parameters of an address, or in several of these."""
    if isinstance(what, str):
        yield from (re.split(r"[.\[]", field)[0] for _, field, _, _ in TEXTS.parse(what) if field)
    elif isinstance(what, Mapping | tuple | list):
        for part in what.values() if isinstance(what, Mapping) else what:
            yield from _named(part)
