"""How steps are written: name, name:number or name:number,field=number,...

Features of several steps side by side are written a+0.5*b, each scaled to length 1 and multiplied by its weight, so
that u.v = u_a.v_a + 0.25 u_b.v_b.
"""

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from svmcore.preprocess.arithmetic import unit_norm
from svmcore.preprocess.steps import STEPS, Step

WEIGHT = 100  # of features beside others, at most


class Parsed(NamedTuple):
    """A step as it was asked for: its name, or the whole text of several side by side; its kind, and its parameters."""

    name: str
    step: Step
    values: tuple[float, ...]


def parse_step(text: str) -> Parsed:
    """ "smooth:0.75" -> name "smooth", values (0.75,); "gradients:9,power=1" -> all values of the step, in its order.

    Raises ValueError naming the step and the allowed ones, or the parameter and its range.
    """
    terms = re.split(r"\+(?=(?:[0-9.]+\*)?[a-z])", str(text))
    if len(terms) > 1 or "*" in terms[0]:
        return Parsed(str(text), _side_by_side(str(text), terms), ())
    name, colon, rest = str(text).partition(":")
    if name not in STEPS:
        raise ValueError(f"preprocessing step '{text}' is unknown; allowed: {', '.join(map(usage, STEPS))}")
    wanted = STEPS[name].parameters
    if not wanted:
        if colon:
            raise ValueError(f"preprocessing step '{text}' takes no parameter; allowed: '{name}'")
        return Parsed(name, STEPS[name], ())
    values = {parameter.name: parameter.default for parameter in wanted}
    for at, part in enumerate(rest.split(",") if colon else ()):
        key, equals, number = part.strip().rpartition("=")
        if not equals and not at:
            key = wanted[0].name
        if key not in values or (equals and not key):
            allowed = ", ".join(f"{parameter.name}={parameter.default:g}" for parameter in wanted if parameter.name)
            raise ValueError(
                f"preprocessing step '{text}' has no parameter '{key or part}'; allowed: {allowed or usage(name)}"
            )
        try:
            values[key] = float(number)
        except ValueError:
            values[key] = math.nan
    return Parsed(name, STEPS[name], tuple(parameter.checked(text, values[parameter.name]) for parameter in wanted))


def _side_by_side(text: str, terms: list[str]) -> Step:
    """The step that puts the features of several side by side, with weights."""
    weights, parts = [], []
    for term in terms:
        weight, star, one = term.rpartition("*")
        try:
            weights.append(float(weight) if star else 1.0)
        except ValueError:
            weights.append(math.nan)
        if not 0 < weights[-1] <= WEIGHT:
            raise ValueError(f"preprocessing step '{text}': a weight must be a number above 0, up to {WEIGHT:g}")
        parts.append(parse_step(one))
        if not parts[-1].step.features or parts[-1].step.learn:
            allowed = ", ".join(name for name, step in STEPS.items() if step.features and not step.learn)
            raise ValueError(f"preprocessing step '{text}': '{one}' does not make features of a single picture; "
            f"allowed with +: {allowed}")  # fmt: skip

    def beside(made):
        return np.concatenate([w * unit_norm(one) for w, one in zip(weights, made, strict=True)], axis=2)

    def apply(images):
        return beside([part.step.apply(images, *part.values) for part in parts])

    def windows(level, side, run):
        each = [part.step.windows(level, side, run, *part.values) for part in parts]
        return lambda ys, xs: beside([one(ys, xs) for one in each])

    def shape(shape):
        return 1, sum(part.step.shape(shape, *part.values)[1] for part in parts), 1

    def show(features, shape):
        """The drawings beside each other, each as bright as its own largest value."""
        sizes = [part.step.shape(shape, *part.values)[1] for part in parts]
        columns = np.split(features, np.cumsum(sizes)[:-1], axis=2)
        drawn = [part.step.show(column, shape, *part.values) for part, column in zip(parts, columns, strict=True)]
        height, channels = (max(one.shape[axis] for one in drawn) for axis in (1, 3))
        grown = [np.repeat(one, channels // one.shape[3], axis=3) for one in drawn]
        return np.concatenate([np.pad(g, ((0, 0), (0, height - g.shape[1]), (0, 0), (0, 0))) for g in grown], axis=2)

    titles = " and ".join(part.step.title.lower() for part in parts)
    return Step(
        titles.capitalize(),
        "Joins the features of several steps, each scaled to length 1 and multiplied by its weight.",
        apply,
        images_only=True,
        last=True,
        shape=shape,
        windows=windows,
        show=show,
        features=True,
        after=next((part.step.after for part in parts if part.step.after), ""),
        drawing="The drawings of the steps are side by side.",
        fewer=min(part.step.fewer for part in parts),
        formula=r"(w_1 u_1 / \|u_1\|, \; w_2 u_2 / \|u_2\|, \ldots)",
    )


def written(name: str, values: Iterable[float]) -> str:
    """The text of a step with these values of its parameters; all but the first only where they are not usual."""
    first, *others = zip(STEPS[name].parameters, values, strict=True)
    changed = (f"{wanted.name}={value:g}" for wanted, value in others if value != wanted.default)
    return ",".join([f"{name}:{first[1]:g}", *changed])


def split_steps(text: str) -> list[str]:
    """The steps of a text with commas between them; one before `field=` belongs to the step before it."""
    return [step for step in re.split(r",(?!\s*[a-z]+=)", text) if step]


def usage(name: str) -> str:
    """How a step is written, with its default: "smooth:0.75"."""
    parameters = STEPS[name].parameters
    return f"{name}:{parameters[0].default:g}" if parameters else name


def check_order(steps: Iterable[str], whole: bool = True) -> None:
    """ValueError for a step that must come first, or after another one, and does not, that needs images where there are
    only features, or for one that is unknown or out of range. whole: whether no steps come before these."""
    made_by, before = "", set()
    for at, text in enumerate(steps):
        name, step, _ = parse_step(text)
        if step.first and at:
            raise ValueError(f"preprocessing step '{text}' must be the first step")
        if step.images_only and made_by:
            allowed = f"'{made_by}+{text}', both joined" if step.features else f"'{text}' before '{made_by}'"
            raise ValueError(
                f"preprocessing step '{text}' needs images, but it gets the features of '{made_by}'; allowed: {allowed}"
            )
        if whole and step.after and step.after not in before:
            raise ValueError(f"preprocessing step '{text}' needs '{step.after}'; allowed: '{step.after}' before it")
        made_by = text if step.features else made_by
        before.add(name)
