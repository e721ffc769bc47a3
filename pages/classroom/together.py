"""What is asked in a class, and what students may see and train for it.

A question is a step of a lesson as it stands, a number of the run that the teacher shows, or a drawing on the
Playground's points. What is right is worked out from the machines, as in a lesson, when the teacher shows the result.
"""

from functools import lru_cache

import numpy as np

from data import catalogue, pictures, revisions
from pages.classroom import session
from pages.classroom.session import Answer, Question
from pages.lessons import course
from pages.lessons.machines import MACHINES
from pages.lessons.parts import recipe_of
from pages.lessons.plane import Plane
from pages.ui.kit import roles, text
from svmcore.lab.presets import PRESET, RECIPES
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run

PLACES = np.stack(np.meshgrid(*2 * [np.linspace(-0.99, 0.99, 40)]), -1).reshape(-1, 2)  # of the Playground's square
MOST_CHOICES = 8  # of a question of the teacher's own


def of_step(at: course.At) -> Question:
    """The question of a lesson's step. LookupError where a machine that it names is not trained yet."""
    return Question("choice", at.facts.filled(at.step.question), at.step.choices, lesson=at.text)


def of_run(run: Run) -> dict[str, Question]:
    """Numbers of a run that is done, by what is asked for."""
    result = run.result or {}
    title = text.plain(run.title)
    found = {}
    if {"errors", "n_test"} <= result.keys():
        what = f"*{title}* is tested on {result['n_test']:,} examples. How many does it misclassify?"
        found["errors"] = Question("number", what, high=result["n_test"], run=run.id, figure="errors")
    if {"errors", "n_union", "n_train"} <= result.keys():
        what = f"*{title}* learns from {result['n_train']:,} examples. How many support vectors does it keep?"
        high = result["n_train"]
        if result["n_union"] > high:  # virtual ones, which are no examples
            high = 10 ** len(str(result["n_union"]))
        found["support vectors"] = Question("number", what, high=high, run=run.id, figure="n_union")
    return found


def own(typed: str) -> Question | None:
    """A question of the teacher's own: it, then a choice a line, with * before the right one. None before it is
    whole."""
    asked, *lines = [line.strip() for line in typed.splitlines() if line.strip()] or [""]
    right = [at for at, line in enumerate(lines) if line.startswith("*")]
    if not asked or len(right) != 1 or not 2 <= len(lines) <= MOST_CHOICES:
        return None
    choices = tuple(text.plain(line.removeprefix("*")) for line in lines)
    return Question("choice", text.plain(asked), choices, figure=str(right[0]))


def drawn(kind: str, seed: int) -> Question:
    """The Playground's two clouds, on which the line, or the support vectors, are drawn."""
    machine = Plane.of({}, seed).machine
    points = [(round(float(x), 3), round(float(y), 3), int(s)) for (x, y), s in zip(machine.X, machine.sign)]
    what = {
        "line": "Where will the machine put its line between the colours? Tap two places: the line goes through them.",
        "rings": "Which points will be support vectors? Tap the points that hold the line in place.",
    }
    return Question(kind, what[kind], points=tuple(points))


def right(question: Question, seed: int) -> tuple[Answer, str]:
    """What is right, and why. LookupError where a machine is not trained yet."""
    if question.lesson:
        at = course.read(question.lesson, seed)
        verdict = at.step.judge(at.facts)
        return verdict.right, verdict.because
    if question.run:
        value = int(runs.get(question.run).result[question.figure])
        of = f" of {question.high:,}" if question.figure == "errors" else ""  # the support vectors may be virtual
        return value, f"The correct number is {value:,}{of}."
    if question.kind == "choice":
        return int(question.figure), ""
    machine = Plane.of({}, seed).machine
    if question.kind == "rings":
        found = np.flatnonzero(machine.alpha).tolist()
        return found, f"{len(found)} points are support vectors; without the other points the line would be the same."
    w, b = machine.w, machine.bias
    foot, along = -b * w / (w @ w), np.array([-w[1], w[0]]) / np.linalg.norm(w)
    ends = [*(foot - along), *(foot + along)]
    return [round(float(one), 4) for one in ends], "The machine's line leaves the widest margin between the colours."


def share_right(asked: session.Asked) -> float:
    """How much of the class was right, from 0 to 1; of a number, a line or rings how near it was on average."""
    answers = list(asked.answers.values())
    if asked.right is None or not answers:
        return float("nan")
    question = asked.question
    if question.kind == "choice":
        return float(np.mean([one == asked.right for one in answers]))
    if question.kind == "number":  # 20 for 40 is as near as 80
        return float(np.mean([(1 + min(one, asked.right)) / (1 + max(one, asked.right)) for one in answers]))
    if question.kind == "rings":
        true = set(asked.right)
        return float(np.mean([len(true & set(one)) / len(true | set(one)) for one in answers]))
    true = side(asked.right, PLACES)
    alike = [float(np.mean(side(one, PLACES) == true)) for one in answers]  # shares of the places
    return float(np.mean([2 * max(share, 1 - share) - 1 for share in alike]))  # either way round: 0 for half


def side(line: list, points: np.ndarray) -> np.ndarray:
    """(n,) on which side of a line (x1, y1, x2, y2) points are: the sign of a cross product."""
    x1, y1, x2, y2 = line
    return np.sign((x2 - x1) * (points[:, 1] - y1) - (y2 - y1) * (points[:, 0] - x1))


def machines(question: Question, seed: int) -> list[str]:
    """The lesson's machines that the result needs and that have no finished run yet."""
    if not question.lesson:
        return []
    at = course.read(question.lesson, seed)
    return at.facts.missing(at.step.after)


def following(question: Question, seed: int) -> course.At | None:
    """The question after this one; None at the end of the course, and for a question of no lesson."""
    return course.read(question.lesson, seed).following if question.lesson else None


def lacking(at: course.At) -> list[str]:
    """The machines without which a step cannot be asked, that have no finished run yet."""
    return at.facts.missing(at.step.before)


# What students may see and train: `roles.Known`


@lru_cache(maxsize=8)
def _of_lessons(seed: int) -> frozenset[str]:
    """Digests of all machines of all lessons."""
    return frozenset(recipe_of(name, seed).digest() for name in MACHINES)


def _trains() -> frozenset[str]:
    one = session.now()
    return _of_lessons(one.seed) if one else frozenset()


def _run(run: Run) -> bool:
    one = session.now()
    shown = one.shown if one else ()
    if run.sample or run.id in shown:
        return True
    if not run.damage and run.recipe.digest() == RECIPES[PRESET].digest():  # which the lab trains by itself
        return True
    group = run.group
    return bool(group and group.key.startswith("lesson-")) or (not run.damage and run.recipe.digest() in _trains())


def _dataset(name: str) -> bool:
    """A dataset that comes with the lab, or that of a run that is shown."""
    own = (catalogue.OWN_PREFIX, pictures.OWN_PREFIX)
    if not name.startswith(own) and revisions.AT not in name:
        return True
    one = session.now()
    used = {run.recipe.dataset for run_id in (one.shown if one else ()) if (run := _there(run_id))}
    return name in used | {revisions.base_of(other) for other in used}


def _there(run_id: str) -> Run | None:
    """A run that is shown, unless it was deleted since, or is damaged."""
    try:
        run = runs.get(run_id)
    except runs.UnknownRun:
        return None
    return None if run.damage else run


KNOWN = roles.Known(_trains, _run, _dataset)
