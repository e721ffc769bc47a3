"""The plane: a picture of points and the machines on them that answers clicks, brush, keys, and plays the tape.

Drawn in the browser from a few numbers: the points, the machines' alphas and biases, their kernel. f on the grid, the
lines f = -1, 0, 1, the tints and every frame of the tape are computed there (plane.js), so that moving the tape's
slider asks no server. The browser sends back the text of the edited points and the frame at which the reader stopped,
or what was drawn on points that stay as they are: a line, or rings.

Encoding as everywhere: blue +1, orange -1, green a third class; ring = free SV, double ring = bound SV, both larger
with alpha; dotted ring = virtual SV with a line to its parent; cross = error.
"""

import hashlib

import numpy as np

from data.plane import PROBLEMS
from pages.ui.kit.component import component
from pages.ui.kit.text import many
from pages.ui.play.setting import Points, Setting
from pages.ui.play.solved import Picture, described

KEYS = " Arrow keys move a cursor, Enter does what a click does, N goes from point to point."


def drawn(setting: Setting, given: Points, picture: Picture | None, **more) -> dict:
    """What plane.js draws: the points and, once there is one, the picture of their machines.

    more: what is not of the setting. hand: what the reader can choose that a click does, sample: of which points, and
    noisy: whether labels are flipped, where points can be edited; seq: the number of the browser's last edit that is in
    `given`; layer: shapes over the picture; tape: see solve.frames. Where points are drawn on, kind: "line" or "rings",
    mode: the same, or "" where nothing can be drawn now, sketch: what was drawn, and token: of which question.
    """
    machines, own = picture.machines if picture else (), PROBLEMS[setting.problem]
    still = repr((setting.closed, picture is not None, more.get("layer"), more.get("token")))
    n, sides = len(given.y), [next(iter(one.sides)) for one in setting.machines] if machines else ()
    places = _examples(given.X, given.y, range(n), 0)
    for one in machines:
        parent = one.parent[n:]
        places += _examples(one.X[n:], given.y[parent], parent.tolist(), 1)
    return {
        "version": hashlib.sha256(still.encode()).hexdigest()[:12],
        "points": [[*place[:3], token] for place, token in zip(places, given.token)],
        "points_text": setting.points,
        "classes": own.classes,
        "examples": places,
        "machines": [
            {"alpha": alpha.tolist(), "bias": one.bias, "C": setting.C, "sign": side, "rest": list(setting.sides)[-1]}
            for one, alpha, side in zip(machines, _alphas(machines, n), sides, strict=True)
        ],
        "kernel": {name: getattr(setting, name) for name in ("kernel", "degree", "gamma", "coef0")},
        "law": [list(place) for place in own.law],
        "question": setting.question,
        "step": setting.tape,
        "along": setting.along,
        "alt": alt(setting, given, picture) + (KEYS if more.get("mode") or more.get("hand") else ""),
        "layer": {}, "tape": None, "hand": None, "sample": "", "of": "", "noisy": False, "seq": 0, "mode": "",
        "sketch": None, "kind": "", "token": "",
    } | more  # fmt: skip


def alt(setting: Setting, given: Points, picture: Picture | None) -> str:
    """What the picture shows, in words and counts."""
    if picture is None:
        counts = [f"{np.count_nonzero(given.y == label)} {colour}" for label, colour in setting.colours.items()]
        text = f"{many(len(given.y), 'point')} in the plane{', ' if counts else ''}{', '.join(counts)}."
    else:
        rings = "Support vectors have a ring, bounded support vectors a double ring; errors have a cross."
        text = f"{described(setting, given, picture)} {rings}"
        if picture.question:
            text += f" The point marked ? is predicted {picture.question[0]}."
    return text


def _examples(X, y, parent, copy: int) -> list[list]:
    return [[float(a), float(b), label, at, copy] for (a, b), label, at in zip(X, np.asarray(y).tolist(), parent)]


def _alphas(machines, n: int) -> list[np.ndarray]:
    """Of each machine alpha of all examples: those of the points, then the copies of each machine."""
    counts = [len(one.alpha) - n for one in machines]
    ends = np.cumsum([n, *counts])
    alphas = np.zeros((len(machines), ends[-1]))
    for alpha, one, begin, end in zip(alphas, machines, ends, ends[1:]):
        alpha[:n], alpha[begin:end] = one.alpha[:n], one.alpha[n:]
    return list(alphas)


SCRIPTS = ("saving", "svg", "tape", "picture", "steps", "path", "edits")
plane = component(__file__, "plane", '<div class="plane">\n</div>', first=SCRIPTS)
