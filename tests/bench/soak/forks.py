"""Tries in processes forked from one that has imported everything, before it has a thread: a try costs what it does.

    shared(work, numbers)   yields (number, what work(number) said was wrong, or "") as they come

A process that dies or is silent for `patience` seconds costs the try that it was at, and another takes its place.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait

CHUNK = 100  # tries of one process: what they leave in memory goes with it
TELL = 30  # seconds between two lines on how far it is
CONTEXT = multiprocessing.get_context("fork")


def shared(
    work: Callable[[int], str],
    numbers: Iterable[int],
    workers: int = 2,
    patience: float = 120.0,
    chunk: int = CHUNK,
) -> Iterator[tuple[int, str]]:
    """Results of the tries, in the order in which they end."""
    numbers, hands, said_at, heard = iter(numbers), {}, time.monotonic(), 0
    try:
        while True:
            while len(hands) < workers and (hand := _hand(work)) and hand.give(numbers):
                hands[hand.pipe] = hand
            if not hands:
                return
            if time.monotonic() - said_at > TELL:
                print(f"  {heard:,} tries so far", file=sys.stderr, flush=True)
                said_at = time.monotonic()
            for pipe in wait(list(hands), timeout=1.0):
                heard += 1
                yield from _heard(hands, pipe, numbers, chunk)
            for pipe, hand in list(hands.items()):
                if time.monotonic() - hand.heard > patience:
                    del hands[pipe]
                    hand.end()
                    yield hand.at, f"nothing for {patience:.0f} s"
    finally:
        for hand in hands.values():
            hand.end()


def _heard(hands: dict, pipe: Connection, numbers: Iterator[int], chunk: int) -> Iterator[tuple[int, str]]:
    hand = hands[pipe]
    try:
        said = pipe.recv()
    except (EOFError, ConnectionError):
        del hands[pipe]
        hand.process.join()
        yield hand.at, f"the process died, {hand.process.exitcode}"
        return
    yield hand.at, said
    hand.done += 1
    if hand.done >= chunk or not hand.give(numbers):
        del hands[pipe]
        hand.end()


class _Hand:
    """A forked process at work on one try after the other."""

    def __init__(self, process, pipe: Connection):
        self.process, self.pipe, self.at, self.done, self.heard = process, pipe, -1, 0, time.monotonic()

    def give(self, numbers: Iterator[int]) -> bool:
        """The next try; without one the process ends."""
        number = next(numbers, None)
        if number is None:
            self.end()
            return False
        self.at, self.heard = number, time.monotonic()
        self.pipe.send(number)
        return True

    def end(self) -> None:
        self.pipe.close()
        if self.process.pid and self.process.is_alive():
            self.process.kill()
        self.process.join()


def _hand(work: Callable[[int], str]) -> _Hand:
    mine, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=_serve, args=(work, theirs, mine), daemon=True)
    process.start()
    theirs.close()
    return _Hand(process, mine)


def _serve(work: Callable[[int], str], pipe: Connection, other: Connection) -> None:
    other.close()
    parent = os.getppid()
    logging.disable(logging.CRITICAL)  # what pages and workers say of faults is no result
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            while not pipe.poll(5):
                if os.getppid() != parent:  # killed: nobody is left to ask
                    os._exit(0)
            number = pipe.recv()
        except (EOFError, ConnectionError):
            os._exit(0)
        try:
            said = work(number) or ""
        except BaseException as error:  # what a try raises is what fell
            where = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})"
        pipe.send(said)


def alone(work: Callable[[], object], patience: float = 600.0) -> None:
    """Call `work` in a forked process, for what starts threads. RuntimeError unless it comes to its end."""
    process = CONTEXT.Process(target=_called, args=(work,))
    process.start()
    process.join(patience)
    if process.exitcode != 0:
        process.kill()
        raise RuntimeError(f"{getattr(work, '__name__', work)} ended with {process.exitcode}")


def _called(work: Callable[[], object]) -> None:
    try:
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
