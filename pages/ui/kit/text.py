"""Texts of any origin, made fit to be shown; imports nothing that takes time, so that a first page can."""

import html
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise, takewhile
from pathlib import Path


def plain(text: object) -> str:
    """A text of the reader's own, of a file or of a link, as one line of Markdown that shows it letter by letter and
    fetches nothing. Whatever such a text is shown by (Markdown, table, label, alert), it passes here first."""
    return re.sub(r"([\\`*_{}\[\]()<>#+.!|$~:&-])", r"\\\1", " ".join(str(text).split()))


def in_figure(text: object, most: int = 40) -> str:
    """The same for Plotly, whose texts are a subset of HTML with %{fields}; cut where it is longer than `most`."""
    return html.escape(short(text, most), quote=False).replace("%{", "&#37;{")


def short(text: object, most: int = 40) -> str:
    """A name of any length in one line of at most `most` characters."""
    text = " ".join(str(text).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def isolated(name: object) -> str:
    """A name, or two with an arrow between: of Arabic or Hebrew each keeps its direction to itself, else `a → b` would
    be shown as b → a."""
    parts = str(name).split(" → ")
    rightwards = [any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in part) for part in parts]
    return " → ".join(f"\u2068{part}\u2069" if of else part for part, of in zip(parts, rightwards))


def plural(noun: str, n: int = 2) -> str:
    """`volcanoes`, `faces`; `1 face`'s noun for n = 1."""
    if n == 1:
        return noun
    return f"{noun}es" if noun.endswith(("o", "s", "x", "ch", "sh")) else f"{noun}s"


def many(n: int, noun: str) -> str:
    """`1 fold`, `1,200 folds`."""
    return f"{n:,} {plural(noun, n)}"


def distinct(names: Iterable[object], most: int = 40) -> list[str]:
    """Names of at most `most` characters; with their number, from 0, where they were alike when cut."""
    names = list(names)
    cut = [short(name, most) for name in names]
    if len(set(cut)) < len(set(map(str, names))):
        cut = [short(f"{number}: {name}", most) for number, name in enumerate(names)]
    return [isolated(name) for name in cut]


def apart(names: Iterable[str], most: int = 40) -> dict[str, str]:
    """Name -> the name in at most `most` characters where that is possible, for choices too narrow for long names: cut
    in its middle, so that it still shows from where on it differs from the name it is most like. No two come out
    alike: by what it shows a browser tells which entry was chosen."""
    ordered = sorted(set(names))  # the one most like a name stands beside it
    shared = [0, *(_common(*pair) for pair in pairwise(ordered)), 0]
    cut = {name: _keeping(name, max(shared[at : at + 2]), most) for at, name in enumerate(ordered)}
    often = Counter(cut.values())
    return {
        name: brief if often[brief] == 1 and brief not in cut.keys() - {name} else name for name, brief in cut.items()
    }


def _keeping(name: str, start: int, most: int) -> str:
    """The name cut before the word in which its character number `start` lies; as it is where that word is in sight."""
    start = name.rfind(" ", 0, start) + 1
    if len(name) <= most or start <= most // 2:
        return name
    left = max(most - (len(name) - start) - 1, most // 3)
    return f"{name[:left].rstrip(' ·')}…{name[start:]}"


def _common(one: str, other: str) -> int:
    """How many characters two names have in common at their beginnings."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def minus(number: str) -> str:
    """A formatted number with the sign − in place of the hyphen."""
    return number.replace("-", "−")


def with_sign(value: float, digits: int = 2) -> str:
    """A number with its sign, + or −, and so many digits after the point."""
    return minus(f"{value:+,.{digits}f}")


def percent(share: float, digits: int = 0) -> str:
    """`37 %` of a share of 0.37."""
    return f"{100 * share:.{digits}f} %"


def rounded(value: float, digits: int = 3) -> str:
    """`0.071`, `−14.3`, `19,720`: a number to so many digits, and whole where it has more before the point."""
    whole = 10**digits <= abs(value) < 1e15
    return minus(f"{value:,.0f}" if whole else f"{value:,.{digits}g}")


def small(number: float, digits: int = 2) -> str:
    """`0.05`, `4.1e−05`: a number to so many digits that may be very small, as a p value."""
    return minus(f"{number:.{digits}g}")


def command(module: str) -> str:
    """The command that starts a module from the folder of the app with the Python that runs the app, such as
    `.venv/bin/python -m data`. A Python outside that folder is called `python`."""
    folder, python = Path(__file__).parents[3], Path(sys.executable)
    return f"{python.relative_to(folder) if python.is_relative_to(folder) else 'python'} -m {module}"
