"""The reader's own presets: recipes under names of their own, in one JSON file of the home folder.

    presets.json    [{"name": text, "recipe": {...}}, ...]      in the order in which they were kept

A name is a text to show and nothing else: no path is made of it. What cannot be read of the file is left out of the
list; a change leaves it as it is, and writes the file anew, whole or not at all. A file that is no list is set aside
before that, as presets.damaged.json.
"""

import json
import threading
from pathlib import Path

from data import permission
from svmcore import files
from svmcore.allowed import shown
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store import folders

MAX_FILE = 1 << 20  # bytes
MAX_PRESETS, MAX_NAME = 50, 60  # presets; characters of a name
_changing = threading.Lock()


def own_recipes() -> dict[str, Recipe]:
    """Name -> recipe, oldest first; empty without a readable file, and for those who may not keep any."""
    if not permission.may("change"):
        return {}
    return dict(filter(None, map(_read, (_listed() or [])[:MAX_PRESETS])))


def keep(name: str, recipe: Recipe) -> None:
    """Store a recipe under a name, in place of one that has it. RecipeError for an invalid name, or beyond MAX_PRESETS;
    OSError if the disk refuses."""
    permission.require("change")
    name = _name(name)
    with _changing:
        if (listed := _listed()) is None:
            _file().replace(_file().with_name("presets.damaged.json"))
            listed = []
        at = next((at for at, one in enumerate(listed) if _is(one, name)), len(listed))
        if at >= MAX_PRESETS:
            raise RecipeError("presets", f"{at} are stored already", f"at most {MAX_PRESETS}; delete one first")
        listed[at : at + 1] = [{"name": name, "recipe": recipe.replace(name="custom", title=name).to_dict()}]
        folders.write_json(_file(), listed)


def remove(name: str) -> None:
    """Forget a preset. No effect where there is none of that name."""
    permission.require("change")
    with _changing:
        listed = _listed() or []
        others = [one for one in listed if not _is(one, name)]
        if len(others) < len(listed):
            folders.write_json(_file(), others)


def _listed() -> list | None:
    """What the file holds, good and bad; [] where there is none, None for one that is no list."""
    try:
        listed = json.loads(files.read(_file(), MAX_FILE))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError):
        return None
    return listed if isinstance(listed, list) else None


def _read(one: object) -> tuple[str, Recipe] | None:
    """Name and recipe; None for what was made elsewhere, or by a version that knows more."""
    try:
        return _name(one["name"]), Recipe.from_dict(one["recipe"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _is(one: object, name: str) -> bool:
    """Whether it is the preset of that name."""
    return (found := _read(one)) is not None and found[0] == name


def _name(text: object) -> str:
    name = text.strip() if isinstance(text, str) else ""
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise RecipeError("name", shown(text), f"one line of 1 to {MAX_NAME} characters")
    return name


def _file() -> Path:
    return folders.place("") / "presets.json"
