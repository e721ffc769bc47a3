"""What the Playground shows, as a value: between the address, the widgets and the machine.

    address  <->  Setting  <->  widgets,      Setting -> points X (n, 2), y (n,) keys of plane.COLOURS

The address holds only what differs from the problem's own beginning, so that `?problem=turn` is a whole link. Edits of
the points are one compact text, the same in the address and in the browser:

    b12_-40   a blue point added at (0.12, -0.40)      x17   point 17 of the sample taken away
    o12_-40   an orange one, g12_-40 a green one       f17   its label flipped               joined by "~"
    q12_-40   the "?", which is asked for its class (the last one)

A flip makes blue orange, and orange the next colour that the problem has: green, else blue. Points of three colours are
told apart by three machines, each one colour against the rest; `of` says whether all of them are shown, or which.
"""

import re
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from data import plane
from pages.ui.kit.parameters import Form, taken
from pages.ui.kit.text import short

KERNELS = {"linear": "Linear", "poly": "Polynomial", "rbf": "RBF", "sigmoid": "Sigmoid"}
LAYERS = {"none": "Nothing", "lines": "Other lines", "hulls": "Hulls", "forces": "Forces"}  # drawn over the picture
OF = {"all": "All colours"} | {colour: colour.capitalize() for colour in plane.COLOURS.values()}  # machines shown
JITTERS = {"shift": "shift along x₁", "turn": "turn", "mirror": "mirror"}
DEGREES = range(1, 10)
ALONG = ("steps", "C", "rounds")  # what the tape goes along: the solver's steps, growing C, a decomposition's rounds
INNER = {
    "own": "Pairs and second-order steps",
    "conjugate-gradients": "Conjugate gradients",
    "L-BFGS-B": "Quasi-Newton",
    "SLSQP": "Least squares (SLSQP)",
}  # fmt: skip  (of a round's inner problem)
PATH = tuple(10.0 ** (k / 20) for k in range(-40, 81))  # C of a path
WIDGETS = ("problem", "kernel", "C", "virtual", "layer")  # values whose widgets are always there
OF_KERNEL = {"poly": ["degree"], "rbf": ["gamma"], "sigmoid": ["gamma", "coef0"]}  # kernel -> those of its own
C_RANGE, GAMMA_RANGE, NOISE_RANGE, COEF0_RANGE = (0.01, 1e4), (0.05, 50.0), (0.0, 0.5), (-2.0, 2.0)
SERIES = tuple(m * 10.0**e for e in range(-2, 5) for m in (1, 2, 5))
MAX_SEED, MAX_EDITS, MAX_STEP = 999_999, 200, 10_000
HUNDREDTHS = 97  # of a coordinate: as far as samples reach
ALLOWED = {
    "problem": plane.PROBLEMS, "kernel": KERNELS, "by": JITTERS, "virtual": None, "degree": slice(1, 9),
    "gamma": slice(*GAMMA_RANGE), "C": slice(*C_RANGE), "noise": slice(*NOISE_RANGE), "seed": slice(0, MAX_SEED),
    "tape": slice(0, MAX_STEP), "along": ALONG, "inner": INNER, "coef0": slice(*COEF0_RANGE), "layer": LAYERS,
    "of": OF,
}  # fmt: skip
LETTERS = {colour[0]: label for label, colour in plane.COLOURS.items()}  # of a point's edit
_EDIT = re.compile(r"([bogq])(-?\d{1,2})_(-?\d{1,2})|([xf])(\d{1,2})")


@dataclass(frozen=True)
class Setting:
    """Everything that decides the picture. `tape`: the frame that the open tape shows, None for none; `along`: what the
    tape goes along; `inner`: the solver of each round of a decomposition; `of`: whose machine is shown, of three."""

    problem: str
    kernel: str
    degree: int
    gamma: float
    C: float
    virtual: bool
    by: str
    seed: int
    noise: float
    points: str
    coef0: float = 0.0
    layer: str = "none"
    tape: int | None = None
    along: str = ALONG[0]
    inner: str = next(iter(INNER))
    of: str = "all"

    def query(self) -> dict[str, str]:
        start, texts = of_problem(self.problem), {}
        for name in NAMES:
            value = getattr(self, name)
            if value != getattr(start, name):
                texts[name] = str(value).lower() if isinstance(value, bool) else _number(value)
        if self.problem != FIRST_PROBLEM:
            texts["problem"] = self.problem
        return texts

    @property
    def still(self) -> "Setting":
        """The same without any tape or layer: what decides the machine."""
        return replace(self, tape=None, along=ALONG[0], inner=next(iter(INNER)), layer="none")

    @property
    def closed(self) -> "Setting":
        """The same with its tape closed."""
        return replace(self, tape=None)

    @property
    def question(self) -> tuple[float, float] | None:
        """The place of the "?": where the reader has put it, else where the problem has it."""
        asked = [edit for edit in self.points.split("~") if edit[:1] == "q"]
        return _place(asked[-1]) if asked else plane.PROBLEMS[self.problem].question

    @property
    def colours(self) -> dict[int, str]:
        """Those of plane.COLOURS that its points have."""
        there = set(points(self).y.tolist())
        return {label: colour for label, colour in plane.COLOURS.items() if label in there}

    @property
    def machines(self) -> list["Setting"]:
        """The settings of the machines that are shown, each one colour against the rest: one, or all three."""
        alone = self.of != "all" or len(self.colours) < 3
        return [self] if alone else [replace(self, of=colour) for colour in self.colours.values()]

    @property
    def sides(self) -> dict[int, str]:
        """What its machine tells apart, the side on which f > 0 first: two of plane.COLOURS, or one and 0, the rest."""
        colours = self.colours
        if len(colours) < 3:
            return colours
        first = next(label for label, colour in colours.items() if self.of in (colour, "all"))
        return {first: colours[first], 0: f"not {colours[first]}"}

    @property
    def costs(self) -> list[float]:
        """C of each frame of the path: PATH, where this setting's own C takes the place of the nearest."""
        costs = list(PATH)
        costs[self.trained] = self.C
        return costs

    @property
    def trained(self) -> int:
        """The frame of the path that is this setting's machine."""
        return min(range(len(PATH)), key=lambda at: abs(np.log(PATH[at] / self.C)))


class Points(NamedTuple):
    """The training points: what is left of the sample, and what was added."""

    X: np.ndarray  # (n, 2) float32
    y: np.ndarray  # (n,) int64, keys of plane.COLOURS
    token: list[str]  # (n,) of each: "17" in the sample, or the edit that added it


FIRST_PROBLEM = "shift"
NAMES = tuple(field.name for field in fields(Setting))


def of_problem(name: str) -> Setting:
    """Where a problem begins. KeyError."""
    own = plane.PROBLEMS[name]
    return Setting(name, own.kernel, 3, own.gamma, 100.0, False, own.jitter, 0, 0.0, "")


def read(asked: dict[str, str]) -> tuple[Setting, list[str]]:
    """The Setting that an address asks for, and what of it cannot be."""
    wrong, changes = [], {}
    for name, text in asked.items():
        like = 0 if name == "tape" else getattr(of_problem(FIRST_PROBLEM), name)
        try:
            changes[name] = checked(text) if name == "points" else taken(name, text, like, ALLOWED[name])
        except ValueError as error:
            wrong.append(f"points={short(text, 80)} in the address: {error}" if name == "points" else str(error))
    if "noise" in changes:
        changes["noise"] = round(changes["noise"], 2)
    setting = replace(of_problem(changes.pop("problem", FIRST_PROBLEM)), **changes)
    own = plane.PROBLEMS[setting.problem]
    absent = {"xf": own.make is None and "no points of its own", "g": own.classes < 3 and "no green points"}
    for letters, says in absent.items():
        if says and (lost := [edit for edit in setting.points.split("~") if edit[:1] and edit[0] in letters]):
            wrong.append(f"points={'~'.join(lost)[:80]} in the address: this problem has {says}")
            setting = replace(setting, points="~".join(e for e in setting.points.split("~") if e not in lost))
    three = len(setting.colours) == 3
    if setting.of != "all" and not three:
        wrong.append(f"of={setting.of} in the address: these points do not have three colours")
        setting = replace(setting, of="all")
    if setting.tape is not None and len(setting.machines) > 1:
        wrong.append(f"tape={setting.tape} in the address: one machine can be played, and three are shown; add of=blue")
        setting = setting.closed
    return setting, wrong


def _spread(setting: Setting) -> dict:
    """What each widget shows, also those that are not there now."""
    own = (name for names in OF_KERNEL.values() for name in names)
    shown = {name: getattr(setting, name) for name in (*WIDGETS, *own, "by", "inner", "of", "seed")}
    return shown | {"noise": round(100 * setting.noise)}


FORM = Form(
    "play",
    lambda: NAMES,
    lambda given: read({name: texts[-1] for name, texts in given.items()}),
    Setting.query,
    _spread,
)


def checked(text: str) -> str:
    """`text` as the canonical text of the same edits. ValueError where it is none."""
    edits = [edit for edit in text.split("~") if edit]
    if len(edits) > MAX_EDITS:
        raise ValueError(f"{len(edits)} edits of points; at most {MAX_EDITS} are possible")
    for edit in edits:
        found = _EDIT.fullmatch(edit)
        numbers = [int(number) for number in found.groups()[1:3] if number] if found else []
        if not found or any(abs(number) > HUNDREDTHS for number in numbers) or int(found[5] or 0) >= plane.N:
            raise ValueError(f"{edit!r} is not an edit of a point")
    return "~".join(edit for at, edit in enumerate(edits) if edit[0] == "f" or edit not in edits[:at])


@lru_cache(maxsize=64)
def points(setting: Setting) -> Points:
    """The training points of a setting: the sample, its flipped labels, and the edits."""
    own = plane.PROBLEMS[setting.problem]
    X, y = own.sample(setting.seed)
    labels, rng = list(own.colours), np.random.default_rng([setting.seed, 2])
    flips, at = np.zeros(len(y), int), rng.permutation(len(y))[: round(setting.noise * len(y))]
    flips[at] = rng.integers(1, own.classes, len(at))
    keep, added, edits = np.ones(len(y), bool), [], [edit for edit in setting.points.split("~") if edit]
    for edit in edits:
        if edit[0] == "x":
            keep[int(edit[1:])] = False
        elif edit[0] == "f":
            flips[int(edit[1:])] += 1
        elif edit[0] != "q":
            added.append([*_place(edit), LETTERS[edit[0]]])
    y = np.array([labels[(labels.index(label) + by) % own.classes] for label, by in zip(y, flips)], np.int64)
    extra = np.array(added, np.float64).reshape(-1, 3)
    kept = np.flatnonzero(keep)
    tokens = [*map(str, kept.tolist()), *(edit for edit in edits if edit[0] in LETTERS)]
    return Points(
        np.concatenate([X[kept], extra[:, :2]]).astype(np.float32),
        np.concatenate([y[kept], extra[:, 2].astype(np.int64)]),
        tokens,
    )


def _place(edit: str) -> tuple[float, float]:
    x1, x2 = (int(part) / 100 for part in edit[1:].split("_"))
    return x1, x2


def _number(value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
