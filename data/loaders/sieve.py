"""Collects the parts of an upload that cannot be used: they are reported together, or skipped on request.

sieve = Sieve(skip=False)
for part in parts:
    with sieve.part(name):              a DataError in the block marks this part as bad
        ...
notes = sieve.notes(len(parts), "files")   raises Unusable if parts are bad; with skip, a note that lists them

Valid parts that have no use here, such as a point among boxes or a box outside its frame, are counted in `ignored` and
reported in a note.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from data.dataset import DataError

NAMED = 5  # bad parts listed in a note
SHORT = 60  # characters of a name in a note


class Unusable(DataError):
    """Some parts of an upload are bad, but the rest could be read without them. bad: a reason for each."""

    def __init__(self, bad: list[DataError], total: int, words: str):
        first = bad[0]
        more = f"; {len(bad)} of {total:,} {words} cannot be used" if len(bad) > 1 else ""
        super().__init__(f"{first.reason}{more}", first.accepted)
        self.bad = tuple(error.reason for error in bad)
        self.total, self.words = total, words


class TooLarge(DataError):
    """The upload exceeds a limit; skipping single parts does not help."""


class Sieve:
    """Collects bad parts. skip: skip them instead of raising; ignored: counts of valid parts that have no use."""

    def __init__(self, skip: bool = False):
        self.skip, self.bad = skip, []
        self.ignored: Counter[str] = Counter()

    def add(self, name: str, error: DataError, at: int = 0) -> None:
        """Add a bad part, called `name` in notes. at: its position, by which parts are ordered."""
        self.bad.append((at, name, error))

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """A block that processes one part, called `name` in notes."""
        try:
            yield
        except TooLarge:
            raise
        except DataError as error:
            self.add(name, error)

    def notes(self, total: int, words: str) -> list[str]:
        """Notes on what was skipped of `total` parts. If all are bad, raises the first error; Unusable if bad parts may
        not be skipped."""
        if not self.bad:
            return self.passed_over()
        bad_parts = sorted(self.bad, key=lambda part: part[0])
        names, errors = [name[:SHORT] for _, name, _ in bad_parts], [error for *_, error in bad_parts]
        if len(bad_parts) >= total:
            none = f"; none of {total:,} {words} can be used" if total > 1 else ""
            raise DataError(errors[0].reason + none, errors[0].accepted)
        if not self.skip:
            raise Unusable(errors, total, words)
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        left_out = f"{len(names):,} of {total:,} {words} left out: {', '.join(names[:NAMED])}{more}"
        return [left_out, *self.passed_over()]

    def passed_over(self) -> list[str]:
        """A note on what was ignored."""
        if not self.ignored:
            return []
        kinds = ", ".join(f"{name[:SHORT]} ({n:,})" for name, n in self.ignored.most_common(NAMED))
        more = f" and {len(self.ignored) - NAMED:,} more kinds" if len(self.ignored) > NAMED else ""
        n = self.ignored.total()
        return [f"{n:,} {'annotation is' if n == 1 else 'annotations are'} ignored: {kinds}{more}"]
