"""Fields of a recipe, its own and those of methods and solvers: each of some kind, with its default and its words.

    check(name, value) -> the value in its one true form, or RecipeError naming field, value and what is allowed
    read(text)         -> a value, not yet checked
    show(value)        -> its text, the same for equal values

Texts are what a URL carries and what follows `--set` on the command line. From a Field follow its widget in the form,
its parameter in a URL, its line in the help of the command line, and how it is checked.
"""

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from svmcore import allowed
from svmcore.allowed import Allowed, refusal
from svmcore.jitter import JitterSet
from svmcore.kernels import Kernel, kernel_from_dict
from svmcore.preprocess import check_order, parse_step, split_steps
from svmcore.solvers.digestion import Digestion

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))  # name of a field -> label, help, opens


class RecipeError(ValueError):
    """A recipe that cannot be: names the field, the value and what is allowed; fitting: a value that would do."""

    def __init__(self, field: str, value: object, allowed: str, fitting: object = None):
        self.field, self.value, self.allowed, self.fitting = field, value, allowed, fitting
        super().__init__(refusal(field, value, allowed))


class Kind(NamedTuple):
    """How one sort of field is checked (or raises RecipeError), read from text, and written as text.

    widget: "number", "choice", "flag", "text", "words" (a text of several, of `choices` or others), or "" for what has
    no widget of its own; with it choices and how they are called, or the range of a number and whether it is whole.
    """

    check: Callable[[str, object], object]
    read: Callable[[str], object]
    show: Callable[[object], str]
    widget: str = ""
    choices: Mapping = {}
    title: Callable[[object], str] | None = None
    low: float | None = None
    high: float | None = None
    whole: bool = False


@dataclass(frozen=True)
class Field:
    """One field: what it is called, its kind and default, and the words for it, those of fields.toml where it brings no
    label of its own. A default of None may be left open.

    opens: what leaving it open means; step: of a number's widget; shown: whether the form draws it by itself; of: the
    field whose choice it belongs to, and the values with which it means something (`of_each`); usual: what a form
    begins with, where that is not what a recipe means that says nothing, its default; needs: the field without which
    an option is left out.
    """

    name: str
    kind: Kind
    default: object = None
    label: str = ""
    help: str = ""
    opens: str = ""
    step: float | None = None
    shown: bool = True
    of: tuple[str, tuple[str, ...]] | None = None
    usual: object = None
    needs: str = ""

    def __post_init__(self):
        for word, text in WORDS.get(self.name, {}).items() if not self.label else ():
            object.__setattr__(self, word, text)

    @property
    def first(self) -> object:
        """What a form begins with."""
        return self.default if self.usual is None else self.usual

    def means_something(self, chosen: Mapping[str, object]) -> bool:
        """Whether it belongs to what is chosen: name of a field -> its value."""
        return self.of is None or chosen[self.of[0]] in self.of[1]

    def check(self, value: object) -> object:
        """The value in its one true form. RecipeError for one that cannot be."""
        if value is None and self.default is None:
            return None
        try:
            return self.kind.check(self.name, value)
        except RecipeError as error:
            if self.opens:
                raise RecipeError(error.field, error.value, f"{error.allowed}, or none ({self.opens})") from None
            raise

    def read(self, text: str) -> object:
        """The value that a text stands for, not yet checked; an unreadable text stays a text."""
        try:
            return self.kind.read(text)
        except (ValueError, RecursionError):
            return text

    def show(self, value: object) -> str:
        """The text of a value."""
        return "none" if value is None else self.kind.show(value)

    def called(self, text: str) -> str:
        """What a form calls what a text stands for: a choice by its title, a field left open by what that means."""
        kind = self.kind
        if text in ("", "none") and self.opens:
            return self.opens
        return kind.title(kind.choices[text]) if kind.title and text in kind.choices else text


def _check(kind: Allowed, made: Callable = lambda value: value) -> Callable[[str, object], object]:
    """The check of a kind of value; made: what it is made to then."""

    def check(name, value):
        if not kind.takes(value):
            raise RecipeError(name, value, kind.words)
        return made(value)

    return check


def _jitters(name, value):
    if value == "":
        return ""
    try:
        return str(JitterSet.parse(LINE.check(name, value)))
    except ValueError as error:
        raise RecipeError(name, value, str(error)) from None


def _choice(allowed):
    def check(name, value):
        if not isinstance(value, str) or value not in allowed:
            raise RecipeError(name, value, ", ".join(allowed))
        return value

    return check


def _number(low, high, whole, closed=False):
    open_below = low == 0 and not closed
    if not whole:
        return _check((allowed.above if open_below else allowed.number)(low, high), float)
    wanted = allowed.whole(low, high)

    def takes(value) -> bool:  # JSON's 5.0 is a whole number
        return wanted.takes(int(value) if isinstance(value, float) and value.is_integer() else value)

    return _check(wanted._replace(takes=takes), int)


def _are_labels(value):
    good = isinstance(value, list | tuple) and len(value) <= 100 and all(map(_is_label, value))
    return good and len(set(map(str, value))) == len(value)


def _is_label(c):
    return len(c) <= 200 if isinstance(c, str) else isinstance(c, int) and not isinstance(c, bool) and abs(c) < 2**63


def _steps(name, value):
    if not isinstance(value, list | tuple) or len(value) > 12:
        raise RecipeError(name, value, "a list of at most 12 steps")
    for step in value:
        try:
            parse_step(step)
        except ValueError as error:
            raise RecipeError(name, step, str(error).rpartition("; allowed: ")[2]) from None
    try:
        check_order(value)
    except ValueError as error:
        said, _, wanted = str(error).rpartition("; allowed: ")
        raise RecipeError(name, ",".join(value), f"{wanted} ({said})" if said else wanted) from None
    return tuple(value)


def _kernel(name, value):
    if isinstance(value, Kernel):
        return value
    try:
        return kernel_from_dict(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise RecipeError(name, value, str(error)) from None


def _factors(allowed, closed=False):
    """Factors by name; `closed`: 0 is one, to leave something out."""
    factor = _number(0, 1e6, whole=False, closed=closed)

    def check(name, value):
        if not isinstance(value, Mapping) or not 1 <= len(value) <= 100:
            raise RecipeError(name, value, allowed)
        return {str(label): factor(f"{name}.{label}", w) for label, w in value.items()}

    return check


def _class_weight(name, value):
    of_class = _factors("balanced, or factors of C for some classes, such as 8:5,9:2")
    return value if value == "balanced" else of_class(name, value)


def check_weights(weights, labels: Iterable[str]) -> None:
    """RecipeError where a class has a weight that is none of the `labels` to be told apart."""
    labels = list(labels)
    for label in weights if isinstance(weights, Mapping) else ():
        if label not in labels:
            raise RecipeError("class_weight", label, f"the labels {', '.join(labels)}")


def _read_labels(text):
    """3,8 -> [3, 8]; JSON is read too, as names may have commas."""
    if text.startswith("["):
        with suppress(ValueError):
            return json.loads(text)
    return [int(label) if re.fullmatch(r"-?\d{1,15}", label) else label for label in text.split(",") if label]


def _is_plain(label):
    return not set(str(label)) & set(",[") and label != ""


def _read_weights(text):
    """8:5,9:2 -> {"8": 5, "9": 2}; JSON is read too."""
    text = text.strip()
    if text in ("", "none", "balanced"):
        return "balanced" if text == "balanced" else None
    if text.startswith("{"):
        return json.loads(text)
    parts = [part.rpartition(":") for part in text.split(",")]
    return {label.strip(): float(weight) for label, _, weight in parts} if all(c for _, c, _ in parts) else text


def _show_weights(value):
    if value == "balanced":
        return value
    plain = all(not set(label) & set(',:{"') and label == label.strip() for label in value)
    return ",".join(f"{label}:{_show_number(w)}" for label, w in sorted(value.items())) if plain else _show_json(value)


def _options(name, value):
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise RecipeError(name, value, "an object of named options")
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise RecipeError(name, value, "an object of plain JSON values") from None
    if len(text) > 4096:
        raise RecipeError(name, f"{len(text)} characters", "at most 4096 characters of JSON")
    return json.loads(text)


def _numbers(name, value):
    """Numbers above 0 as one text, none twice; empty for none."""
    allowed = "up to 20 different numbers above 0, separated by commas, or nothing"
    try:
        numbers = [_number(0, 1e9, whole=False)(name, float(part)) for part in value.split(",") if part.strip()]
    except (AttributeError, ValueError):
        raise RecipeError(name, value, allowed) from None
    if len(numbers) > 20 or len(set(numbers)) < len(numbers):
        raise RecipeError(name, value, allowed)
    return ",".join(map(_show_number, numbers))


def _digestion(name, value):
    """Settings of digestion that differ from the usual ones."""
    try:
        Digestion(**value)
    except (TypeError, ValueError, OverflowError) as error:
        raise RecipeError(
            name, value, f"an object with some of the keys {', '.join(f.name for f in fields(Digestion))} ({error})"
        ) from None
    return {f.name: value[f.name] for f in fields(Digestion) if value.get(f.name, f.default) != f.default}


def read_json(text):
    return None if text in ("", "none", "all", "auto") else json.loads(text)


def _show_number(value):
    if value is None:
        return "none"
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _show_json(value):
    return "none" if value is None else json.dumps(value, sort_keys=True, separators=(",", ":"))


def _read_kernel(text):
    """poly:degree=5,coef0=0 -> {"name": "poly", "degree": 5, "coef0": 0}; JSON is read too."""
    if text.startswith("{"):
        return json.loads(text)
    name, _, rest = text.partition(":")
    pairs = [part.partition("=") for part in rest.split(",") if part]
    return {"name": name} | {key: read_value(value) for key, _, value in pairs}


def read_value(text):
    """A value of a kernel; an unreadable text stays a text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _show_kernel(kernel):
    described = kernel.to_dict()
    name = described.pop("name")
    if any(isinstance(value, dict | list | tuple) for value in described.values()):
        return _show_json(kernel.to_dict())
    shown = [f"{k}={json.dumps(v) if isinstance(v, bool | str) else _show_number(v)}" for k, v in described.items()]
    return f"{name}:{','.join(shown)}" if shown else name


def numeric(low, high, *, whole=False, closed=False) -> Kind:
    """A number from low to high; above 0 when low is 0 and fractions count, unless `closed`."""
    return Kind(_number(low, high, whole, closed), read_json, _show_number, "number", low=low, high=high, whole=whole)


def numerals(owner: type) -> tuple[Field, ...]:
    """The numbers and flags that a class declares, a kernel or a rule of editing (`numeral`, kernels/base.py)."""
    return tuple(
        Field(own.name, _plain(own.default, words), own.default, words["label"], words["help"], step=words["step"])
        for own in fields(owner)
        if (words := own.metadata)
    )


def _plain(default, words: Mapping) -> Kind:
    if isinstance(default, bool):
        return FLAG
    low, high = words["low"], words["high"]
    ends = -math.inf if low is None else low, math.inf if high is None else high
    return numeric(*ends, whole=isinstance(default, int))._replace(low=low, high=high)  # a form draws the ends it has


def choice(allowed: Mapping, title: Callable[[object], str] | None = None) -> Kind:
    """One of some words; `title` makes of what a word stands for what the form calls it. The mapping may grow later."""
    return Kind(_choice(allowed), str, str, "choice", allowed, title)


def of_each(name: str, known: Mapping, own: Callable = lambda chosen: chosen.fields) -> tuple[Field, ...]:
    """The fields of everything that the field `name` may choose, one per name, with their owners; own: those of one."""
    return _of_each(name, tuple(known.items()), own)


@lru_cache
def _of_each(name: str, known: tuple, own: Callable) -> tuple[Field, ...]:
    owners: dict[str, tuple[Field, list[str]]] = {}
    for key, chosen in known:
        for field in own(chosen):
            owners.setdefault(field.name, (field, []))[1].append(key)
    return tuple(replace(field, of=(name, tuple(keys))) for field, keys in owners.values())


def _described(name, value):
    return _kernel(name, value).to_dict()


_LABELS = Allowed(
    "up to 100 different labels (no label: all classes; a single label: its class against the rest)", _are_labels
)
_SLUG = Allowed(
    "letters, digits and . _ : @ - (at most 128)",
    lambda value: isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}", value),
)
_LINE = Allowed(
    "one line of at most 120 characters",
    lambda value: isinstance(value, str) and len(value) <= 120 and value.isprintable(),
)
LABELS = Kind(
    _check(_LABELS, tuple),
    _read_labels,
    lambda value: ",".join(map(str, value)) if all(map(_is_plain, value)) else _show_json(list(value)),
)
STEPS = Kind(_steps, split_steps, ",".join)
KERNEL = Kind(_kernel, _read_kernel, _show_kernel)
DESCRIBED = Kind(_described, _read_kernel, lambda value: _show_kernel(kernel_from_dict(value)))  # a kernel, as JSON
WEIGHTS = Kind(_class_weight, _read_weights, _show_weights, "text")
FACTORS = Kind(_factors("{name: factor}", closed=True), read_json, _show_json)
FLAG = Kind(_check(Allowed("true, false", lambda value: isinstance(value, bool))), json.loads, json.dumps, "flag")
OPTIONS = Kind(_options, json.loads, _show_json)
SLUG = Kind(_check(_SLUG), str, str, "text")
NUMBERS = Kind(_numbers, str, str, "text")
LINE = Kind(_check(_LINE), str, str, "text")
DIGESTION = Kind(_digestion, json.loads, _show_json)
JITTERS = Kind(_jitters, str, str, "text")
