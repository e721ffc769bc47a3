"""The documents of this project, and the lines of code that they give."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENTS = ("README.md", "svmcore/README.md", "pages/README.md", "data/README.md", "tests/bench/RESULTS.md")


def text(file: str) -> str:
    """A document as it stands."""
    return (ROOT / file).read_text("utf-8")


def sections(file: str) -> dict[str, str]:
    """What stands below each heading of a document."""
    pairs = (section.partition("\n") for section in text(file).split("\n## ")[1:])
    return {heading: rest for heading, _, rest in pairs}


def lines(file: str, heading: str) -> list[str]:
    """The blocks of Python and TOML below one heading of a document."""
    return re.findall(r"```(?:python|toml)\n(.*?)```", sections(file)[heading], re.DOTALL)
