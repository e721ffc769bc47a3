"""What has been read stays: each set has a lock of its own, and is read once however many ask for it."""

import os
import threading
from types import SimpleNamespace

import pytest

from data import DataError
from data.memo import Memo

SECONDS = 20


def of(nbytes):
    return SimpleNamespace(nbytes=nbytes)


class Slow:
    """A reader of a set that waits to be let go, and counts how often it is asked."""

    def __init__(self, error=None):
        self.begun, self.go, self.times, self.error = threading.Event(), threading.Event(), 0, error

    def __call__(self):
        self.times += 1
        self.begun.set()
        assert self.go.wait(SECONDS)
        if self.error:
            raise self.error
        return of(1)


class Asked(threading.Thread):
    """One who asks for a set in a thread."""

    def __init__(self, *asked):
        super().__init__(daemon=True)
        self.asked, self.found = asked, None
        self.start()

    def run(self):
        memo, name, read = self.asked
        try:
            self.found = memo.get(name, [], read)
        except DataError as error:
            self.found = error

    def answer(self):
        self.join(SECONDS)
        assert not self.is_alive()
        return self.found


@pytest.mark.parametrize("limit", [100, 0])
def test_a_set_that_is_slow_to_read_holds_up_no_other(limit):
    memo, slow = Memo(limit), Slow()
    kept = memo.get("kept", [], lambda: of(10))
    waiting = Asked(memo, "slow", slow)
    assert slow.begun.wait(SECONDS)
    assert Asked(memo, "kept", lambda: of(11)).answer() is kept
    assert Asked(memo, "other", lambda: of(12)).answer().nbytes == 12
    slow.go.set()
    assert waiting.answer().nbytes == 1


def test_those_who_ask_for_one_set_wait_for_one_read():
    memo, slow = Memo(100), Slow()
    first = Asked(memo, "slow", slow)
    assert slow.begun.wait(SECONDS)
    others = [Asked(memo, "slow", slow) for _ in range(5)]
    slow.go.set()
    assert {id(asked.answer()) for asked in (first, *others)} == {id(first.found)}
    assert slow.times == 1


def test_after_a_read_that_failed_the_next_one_tries_again():
    memo, slow = Memo(100), Slow(DataError("damaged"))
    first = Asked(memo, "slow", slow)
    assert slow.begun.wait(SECONDS)
    second = Asked(memo, "slow", lambda: of(2))
    slow.go.set()
    assert str(first.answer()) == "damaged."
    assert second.answer().nbytes == 2


def test_the_least_recently_asked_for_goes_and_a_changed_file_is_read_again(tmp_path):
    memo, file, read = Memo(30), tmp_path / "a", []
    file.write_text("1")

    def get(name):
        return memo.get(name, [file], lambda: read.append(name) or of(10))

    for name in "abcada":
        get(name)
    assert read == list("abcd")
    get("b")
    assert read == list("abcdb")
    os.utime(file, (1, 1))
    get("b")
    assert read[-1] == "b"
    assert len(read) == 6
    assert len(memo._reading) == 0
    file.unlink()
    with pytest.raises(DataError, match="b cannot be read"):
        get("b")
