"""One question before the lab changes anything, or shows what is not everybody's: may whoever asks for it?

    require("train", recipe)   require("change")   require("analyse")   require("read", dataset)   require("see", run)

The library asks where jobs, runs, presets, datasets and labels are changed or looked up. Whoever serves several people
answers (`answer_with`); without an answer everything is allowed, as for the command line.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from data.dataset import DataError

WORDS = {  # action -> what is refused
    "train": "Training this machine",
    "change": "Changing stored data",
    "analyse": "Starting an analysis",
    "read": "This dataset",
    "see": "This run",
}
T = TypeVar("T")
Answer = Callable[[str, object], bool]
_answer: list[Answer] = []  # at most one


class Forbidden(DataError):
    """What whoever asks for it may not do."""

    def __init__(self, action: str):
        self.action = action
        super().__init__(f"{WORDS[action]} is reserved for the teacher")


def answer_with(answer: Answer | None) -> None:
    """Let answer(action, what) decide from here on; None: everything is allowed."""
    _answer[:] = [] if answer is None else [answer]


def may(action: str, what: object = None) -> bool:
    """Whether it is allowed. An answer that fails is a no."""
    try:
        return all(answer(action, what) for answer in _answer)
    except (LookupError, ValueError, OSError):
        return False


def require(action: str, what: object = None) -> None:
    """Forbidden unless it is allowed."""
    if not may(action, what):
        raise Forbidden(action)


def those(action: str, found: Iterable[T]) -> list[T]:
    """Of what was found, all of which it is allowed."""
    return [one for one in found if may(action, one)] if _answer else list(found)
