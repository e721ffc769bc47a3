"""The reader's own presets: recipes under names of their own, in one JSON file of the home folder.

    presets.json    [{"name": text, "recipe": {...}}, ...]      in the order in which they were kept

A name is a text to show and nothing else: no path is made of it. What cannot be read of the file is left out; a change
writes the file anew, whole or not at all.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path

from svmcore import files
from svmcore.lab.recipe.recipe import Recipe, RecipeError
from svmcore.lab.registry.checks import short
from svmcore.lab.store import folders, runs

MAX_FILE = 1 << 20  # bytes
MOST, LONGEST = 50, 60  # presets; characters of a name
_changing = threading.Lock()


def kept() -> dict[str, Recipe]:
    """Name -> recipe, oldest first; empty where there is no file, or none that can be read."""
    try:
        listed = json.loads(files.read(_file(), MAX_FILE))
    except (OSError, ValueError, RecursionError):
        return {}
    found = {}
    for one in listed[:MOST] if isinstance(listed, list) else ():
        try:
            found[_name(one["name"])] = Recipe.from_dict(one["recipe"])
        except (ValueError, KeyError, TypeError, RecursionError):  # made elsewhere, or by a version that knows more
            continue
    return found


def keep(name: str, recipe: Recipe) -> None:
    """Keep a recipe under a name, in the place of one that has it. RecipeError for a name that cannot be, or beyond
    MOST of them; OSError when the disk takes nothing."""
    name = _name(name)
    with _changing:
        found = kept()
        if name not in found and len(found) >= MOST:
            raise RecipeError("presets", f"{len(found)} are kept already", f"{MOST}; remove one")
        _write(found | {name: recipe.replace(name="custom", title=name)})


def remove(name: str) -> None:
    """Forget a preset. No effect where there is none of that name."""
    with _changing:
        found = kept()
        if found.pop(name, None) is not None:
            _write(found)


def _name(text: object) -> str:
    name = text.strip() if isinstance(text, str) else ""
    if not name or len(name) > LONGEST or not name.isprintable():
        raise RecipeError("name", short(text), f"one line of 1 to {LONGEST} characters")
    return name


def _write(found: dict[str, Recipe]) -> None:
    _file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folders.write_json(_file(), [{"name": name, "recipe": recipe.to_dict()} for name, recipe in found.items()])


def _file() -> Path:
    return runs.home() / "presets.json"
