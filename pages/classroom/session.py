"""A class as it is kept: a folder of SVMLAB_HOME/class, two files of lines that only ever grow. Delete the folder, and
nothing is left of it.

    board.jsonl     the teacher's: {"opened": seed} {"show": run} {"ask": question} {"reveal": n, "right":, "because":}
    people.jsonl    the students': {"joined": who, "name":} {"who":, "n":, "answer":}

`who` is a word that the server draws for each student; a name is a text that is shown, and no path is made of it. What
a process has read it keeps, and changes with each line that it writes: whoever looks compares one number, `version`.
"""

import json
import re
import secrets
import shutil
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from data import permission, places
from svmcore.lab.store import folders
from svmcore.lab.task import csv_text

MAX_PEOPLE, MAX_QUESTIONS, MAX_CHANGES = 200, 100, 20  # students; questions; answers of one student to one question
MAX_NAME, MAX_FILE = 30, 16 << 20  # characters; bytes of a file
MAX_POINTS = 40  # numbers of an answer that is drawn
ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}")
WHO = re.compile(r"[0-9a-f]{16}")
Answer = int | float | list


class Full(ValueError):
    """There is no room for one more, in the class or on the disk."""


class Question(NamedTuple):
    """What is asked. kind: choice | number | line | rings; choices: of a choice; low, high: of a number; points: (x, y,
    sign) of those to draw on; lesson: the step that it is, as `course.At.text`; run, figure: the run that it is
    about, and which figure of its result is asked for; of the teacher's own question figure is the right choice."""

    kind: str
    text: str
    choices: tuple[str, ...] = ()
    low: int = 0
    high: int = 0
    points: tuple = ()
    lesson: str = ""
    run: str = ""
    figure: str = ""


@dataclass
class Asked:
    """A question on the board. answers: who -> the last one; changes: who -> how many they have sent; right:
    None until it is revealed, because: the reason then."""

    question: Question
    answers: dict[str, Answer] = field(default_factory=dict)
    changes: dict[str, int] = field(default_factory=dict)
    right: Answer | None = None
    because: str = ""


class Class:
    """A class and all that was said in it."""

    def __init__(self, path: Path):
        self.path, self.seed, self.shown = path, 0, []
        self.people: dict[str, str] = {}  # who -> name, "" for none
        self.asked: list[Asked] = []
        self.version = 0
        self._lock = threading.Lock()
        for name in ("board.jsonl", "people.jsonl"):
            for line in _lines(path / name):
                self._apply(line)

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def current(self) -> Asked | None:
        """The question on the board."""
        return self.asked[-1] if self.asked else None

    # The teacher's

    def asks(self, question: Question) -> bool:
        """Whether this question is on the board and open."""
        return self.current is not None and self.current.right is None and self.current.question == question

    def ask(self, question: Question) -> None:
        """Put a question on the board; the one that is open there stays, with its answers. Full."""
        if self.asks(question):
            return
        if len(self.asked) >= MAX_QUESTIONS:
            raise Full(f"A class has at most {MAX_QUESTIONS} questions; open another class.")
        self._tell({"ask": question._asdict()})

    def reveal(self, right: Answer, because: str) -> None:
        """Show the answers to the question on the board, and what is right."""
        self._tell({"reveal": len(self.asked) - 1, "right": right, "because": because})

    def show(self, run_id: str) -> None:
        """Let students see a run."""
        if run_id not in self.shown:
            self._tell({"show": run_id})

    def _tell(self, line: dict) -> None:
        permission.require("change")
        self._add("board.jsonl", line)

    def csv(self) -> str:
        """Every answer in a line: question, student, answer, what is right; of a choice its text."""
        rows = []
        for n, asked in enumerate(self.asked, 1):
            called = dict(enumerate(asked.question.choices))
            right = None if asked.right is None else called.get(asked.right, asked.right) if called else asked.right
            for who, answer in asked.answers.items():
                name = self.people[who] or f"anonymous {list(self.people).index(who) + 1}"
                given = called.get(answer, answer) if called else answer
                rows.append((f"{n}. {asked.question.text}", name, given, "" if right is None else right))
        return csv_text(("question", "student", "answer", "correct"), rows)

    # The students'

    def join(self, name: str) -> str:
        """The word by which a new student is known here. Full."""
        if len(self.people) >= MAX_PEOPLE:
            raise Full(f"This class is full: {MAX_PEOPLE} students have joined.")
        who = secrets.token_hex(8)
        self._add("people.jsonl", {"joined": who, "name": self._free(name)})
        return who

    def answer(self, who: str, n: int, answer: Answer) -> bool:
        """Take an answer to question n, or another one instead; whether it was taken: not after the result was shown,
        nor one that the question does not have. Full."""
        asked = self.asked[n] if 0 <= n < len(self.asked) else None
        if asked is None or who not in self.people or asked.right is not None or not fits(asked.question, answer):
            return False
        if asked.changes.get(who, 0) >= MAX_CHANGES:
            raise Full(f"You have sent {MAX_CHANGES} answers to this question; no more are accepted.")
        self._add("people.jsonl", {"who": who, "n": n, "answer": answer})
        return True

    def _free(self, name: str) -> str:
        """The name as it is shown, with a number where somebody has it already."""
        name = " ".join("".join(c for c in name if c.isprintable()).split())[:MAX_NAME].strip()
        taken = set(self.people.values())
        if not name or name not in taken:
            return name
        return next(other for k in range(2, MAX_PEOPLE + 2) if (other := f"{name} ({k})") not in taken)

    # Lines

    def _add(self, name: str, line: dict) -> None:
        path = self.path / name
        with self._lock:
            try:
                if path.exists() and path.stat().st_size > MAX_FILE:
                    raise Full(f"The file of this class is full ({MAX_FILE >> 20} MB); open another class.")
                folders.append_line(path, line)
            except FileNotFoundError:
                raise Full("This class was deleted.") from None
            except OSError as error:
                raise Full(f"This could not be stored on the teacher's computer: {error.strerror}.") from error
            self._apply(line)

    def _apply(self, line: dict) -> None:
        """Take over a line; one that cannot be is left out."""
        try:
            if "opened" in line:
                self.seed = int(line["opened"])
            elif "show" in line:
                self.shown.append(str(line["show"]))
            elif "ask" in line:
                choices, points = (line["ask"].get(name, ()) for name in ("choices", "points"))
                fields = line["ask"] | {"choices": tuple(choices), "points": tuple(map(tuple, points))}
                self.asked.append(Asked(Question(**fields)))
            elif "reveal" in line:
                asked = self.asked[line["reveal"]]
                asked.right, asked.because = line["right"], str(line["because"])
            elif "joined" in line and WHO.fullmatch(line["joined"]) and len(self.people) < MAX_PEOPLE:
                self.people[line["joined"]] = str(line["name"])[: MAX_NAME + 6]
            elif "who" in line:
                asked = self.asked[line["n"]]
                if line["who"] in self.people and fits(asked.question, line["answer"]):
                    asked.answers[line["who"]] = line["answer"]
                    asked.changes[line["who"]] = asked.changes.get(line["who"], 0) + 1
            self.version += 1
        except (LookupError, TypeError, ValueError):
            return


def fits(question: Question, answer: object) -> bool:
    """Whether an answer is one of those that a question may have."""
    if question.kind in ("choice", "number"):
        low, high = (0, len(question.choices) - 1) if question.kind == "choice" else (question.low, question.high)
        return type(answer) is int and low <= answer <= high
    if not isinstance(answer, list) or not 0 < len(answer) <= MAX_POINTS:
        return False
    if question.kind == "rings":
        return all(type(one) is int and 0 <= one < len(question.points) for one in answer) and len(set(answer)) == len(
            answer
        )
    return len(answer) == 4 and all(type(one) in (int, float) and abs(one) <= 10 for one in answer)


_open: dict[str, Class] = {}  # "now": the class that students join
_read: dict[Path, Class] = {}


def now() -> Class | None:
    """The class that is open; None once its folder is deleted, by whatever means."""
    one = _open.get("now")
    return one if one is not None and one.path.is_dir() else None


def begin(seed: int) -> Class:
    """Open a class, instead of one that is open. Full."""
    permission.require("change")
    try:
        folder = folders.place("class") / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
        folder.mkdir(mode=0o700)
        folders.append_line(folder / "board.jsonl", {"opened": seed})
    except OSError as error:
        raise Full(f"This could not be stored on the teacher's computer: {error.strerror}.") from error
    _open["now"] = _read[folder] = Class(folder)
    return _open["now"]


def resume(one: Class) -> None:
    """Open a class again; those who had joined are still known there."""
    permission.require("change")
    _open["now"] = one


def end() -> None:
    """Nobody joins any more; the folder stays."""
    permission.require("change")
    _open.clear()


def kept() -> list[Class]:
    """The classes of this home, newest first."""
    folder = places.home() / "class"
    paths = sorted((path for path in folder.glob("*") if ID.fullmatch(path.name)), reverse=True)
    return [_read.setdefault(path, Class(path)) if path not in _read else _read[path] for path in paths]


def delete(one: Class) -> None:
    """Delete the folder of a class, and with it all that students said."""
    permission.require("change")
    if now() is one:
        _open.clear()
    _read.pop(one.path, None)
    if one.path.exists():  # it may be deleted there, too
        shutil.rmtree(one.path)


def _lines(path: Path):
    """The lines of a file that are objects, as far as it is not larger than may be."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_FILE + (1 << 16)).decode("utf-8", "replace")
    except OSError:
        return
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value
