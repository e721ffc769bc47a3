"""The parts of an upload that cannot be used, one by one: refused together with their names, or left out on request.

sieve = Sieve(skip=False)
for part in parts:
    with sieve.part(name):              a DataError within becomes the reason why this part is bad
        ...
notes = sieve.notes(len(parts), "files")   Unusable for the bad ones; with skip, a sentence that names them

What is well and of no use here, such as a point among boxes or a box outside its frame, is counted in `ignored` and
told by a sentence too.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from data.dataset import DataError

NAMED = 5  # bad parts that a sentence names
SHORT = 60  # letters of a name in it


class Unusable(DataError):
    """Some parts of an upload are bad; without them the rest could be read. bad: a reason each."""

    def __init__(self, bad: list[DataError], total: int, words: str):
        first = bad[0]
        more = f"; {len(bad)} of {total:,} {words} cannot be used" if len(bad) > 1 else ""
        super().__init__(f"{first.reason}{more}", first.accepted)
        self.bad = tuple(error.reason for error in bad)
        self.total, self.words = total, words


class TooLarge(DataError):
    """More than an upload may hold: never a matter of one part alone."""


class Sieve:
    """Collects what is bad; `skip` says that it may be left out. ignored: how often what else was passed over."""

    def __init__(self, skip: bool = False):
        self.skip, self.bad = skip, []
        self.ignored: Counter[str] = Counter()

    def add(self, name: str, error: DataError, at: int = 0) -> None:
        """A bad part, called `name` in sentences; at: its place, in whose order they are told."""
        self.bad.append((at, name, error))

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """What is done with one part, called `name` in sentences."""
        try:
            yield
        except TooLarge:
            raise
        except DataError as error:
            self.add(name, error)

    def notes(self, total: int, words: str) -> list[str]:
        """What was left out of `total` parts, in a sentence. Raises the first complaint when nothing is left, Unusable
        when there are bad parts that may not be left out."""
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
        """What was ignored, in a sentence."""
        if not self.ignored:
            return []
        kinds = ", ".join(f"{name[:SHORT]} ({n:,})" for name, n in self.ignored.most_common(NAMED))
        more = f" and {len(self.ignored) - NAMED:,} more kinds" if len(self.ignored) > NAMED else ""
        n = self.ignored.total()
        return [f"{n:,} {'annotation is' if n == 1 else 'annotations are'} ignored: {kinds}{more}"]
