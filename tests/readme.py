"""The lines of code that a README of a folder gives."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def lines(file: str, heading: str) -> list[str]:
    """The blocks of Python below one heading of a README of this project."""
    section = (ROOT / file).read_text("utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)
