"""The margin and C: how wide the road is, and what a point may cost that stands in it.

Reference: DeCoste and Schölkopf, Machine Learning 46 (2002), section 2; Cortes and Vapnik, Machine Learning 20 (1995).
"""

from dataclasses import replace

from pages.lessons import plane
from pages.lessons.machines import BY_C, STRENGTHS
from pages.lessons.parts import Facts, Lesson, Source, Step, Verdict, View
from pages.ui.play.solve import picture
from pages.ui.recipe import config

CHEAP, USUAL, DEAR = 0.1, 10.0, 10_000.0
BENT = {"kernel": "rbf", "gamma": 5.0, "points": plane.odd_one}  # a line that can bend, and a point that asks for it


def wider(facts: Facts) -> Verdict:
    before, after = (plane.solved(facts, C=C) for C in (USUAL, CHEAP))
    ratio = plane.width(after) / plane.width(before)
    return Verdict(
        0 if ratio > 1.05 else 1 if ratio > 0.95 else 2,
        f"It is {ratio:.1f} times as wide. With a small C, points may lie in the road at little cost. A wide road "
        "depends less on single points.",
    )


def inside(facts: Facts) -> Verdict:
    machine = plane.solved(facts, C=CHEAP)
    y_f = machine.sign * (machine.X @ machine.w + machine.bias)
    within = bool((y_f[machine.bound] < 1 + 1e-2).all())
    return Verdict(
        1 if within else 0,
        f"{int(machine.bound.sum())} points have a double ring: their pull (alpha) has reached its limit, C. So C "
        "is also the most that one point can pull.",
    )


def island(facts: Facts) -> Verdict:
    bent = plane.setting(facts, kernel="rbf", gamma=5.0, points=plane.odd_one(facts))
    wrong = [len(picture(replace(bent, C=C)).wrong) for C in (USUAL / 20, DEAR)]
    return Verdict(
        1 if wrong[1] < wrong[0] else 0,
        f"{wrong[1]} of 61 points are misclassified now, {wrong[0]} before. A large C makes every error costly, so "
        "the line bends until it has none, even around a point that may be a labelling mistake.",
    )


def judged(facts: Facts) -> dict[str, int]:
    """C -> errors on held-out digits."""
    return {value: facts.run(f"c{value}").result["validation"]["errors"] for value in STRENGTHS}


def too_small(facts: Facts) -> Verdict:
    wrong = judged(facts)
    worst = max(STRENGTHS, key=wrong.get)
    n = facts.run(f"c{worst}").result["n_train"]
    told = ", ".join(f"{bad} ({100 * bad / n:.2f} %) for C = {value}" for value, bad in wrong.items())
    return Verdict(
        0 if worst == STRENGTHS[0] else 2 if worst == STRENGTHS[-1] else 1,
        f"Errors on {n} digits, each held out once: {told}. With such a small C, no digit can pull hard enough to "
        "matter.",
    )


def levels_off(facts: Facts) -> Verdict:
    wrong = judged(facts)
    a, b = (wrong[value] for value in STRENGTHS[-2:])
    few = abs(a - b) <= 3
    those = [(facts.run(f"c{value}").result["n_bound"], facts.n_sv(f"c{value}")) for value in STRENGTHS[-2:]]
    limited = [f"{sum(bound)} of {n}" for bound, n in those]
    return Verdict(
        0 if few else 1,
        f"{a} wrong with C = {STRENGTHS[-2]}, {b} with C = {STRENGTHS[-1]}. "
        + f"{' and '.join(limited)} support vectors pull at their limit: "
        + ("few are limited, so a higher limit changes little." if few else "here the limit still matters."),
    )


def sweep(facts: Facts) -> dict:
    base = BY_C.base.replace(seed=facts.seed)
    return config.link(base) | {"over": BY_C.field, "value": list(BY_C.values)}


EVERY = tuple(f"c{value}" for value in STRENGTHS)
LESSON = Lesson(
    "margin",
    "The margin and C",
    "Why a machine may do better with a few points on the wrong side, and how one number decides that.",
    Source("2", "osuna"),
    {f"c{value}": recipe.replace(title=f"3 against 8, C = {value}") for value, recipe in BY_C.recipes().items()},
    (
        Step(
            View("playground", plane.address(C=USUAL), outlined="play_plane"),
            "The machine has drawn the widest empty road between the colours, called the *margin*. Points may lie in "
            "the road, but each costs something: *C* is the price. Here C is 10. If C falls to 0.1, what becomes of "
            "the road?",
            ("Wider", "As it is", "Narrower"),
            View("playground", plane.address(C=CHEAP), outlined="play_plane"),
            "the two thin lines, the edges of the road, and the slider *C*.",
            wider,
        ),
        Step(
            View("playground", plane.address(C=CHEAP), outlined="play_plane"),
            "Some rings are double now. Where do the points with a double ring lie?",
            ("Outside the road", "In the road or at its edge"),
            View("playground", plane.address(C=CHEAP), outlined="play_plane"),
            "the points with a double ring and at the two thin lines.",
            inside,
        ),
        Step(
            View("playground", plane.address(C=USUAL / 20, **BENT), outlined="play_plane"),
            "One orange point lies among the blue ones. This kind of line can bend (its *kernel* is RBF). With "
            "C = 0.5 the machine misclassifies the point. What if C is 10,000?",
            ("It stays wrong", "The line bends around it"),
            View("playground", plane.address(C=DEAR, **BENT), outlined="play_plane"),
            "the orange point among the blue ones. Its cross, the mark of an error, is gone, and a line runs around "
            "it.",
            island,
        ),
        Step(
            View("playground", plane.address(C=USUAL), outlined="play_plane"),
            "Now real digits, 3 against 8. We try C = 0.02, 1 and 10, each time on digits that were held out from "
            "training. Which C makes the most errors?",
            ("The smallest", "One in the middle", "The largest"),
            View("sweep", sweep, EVERY[-1], outlined="sweep_chart"),
            "the chart, line *validation*: C = 0.02, 1, 10.",
            too_small,
            EVERY,
        ),
        Step(
            View("sweep", sweep, EVERY[-1]),
            "From C = 1 to C = 10 the price is ten times as high. By how much do the errors change?",
            ("By three digits of 200 at most", "By more than three digits"),
            View("sweep", sweep, EVERY[-1], outlined="sweep_chart sweep_alphas"),
            "the end of the line *validation* and, with *Alphas of*, at the bars of the bounded ones (alpha = C).",
            levels_off,
            EVERY,
        ),
    ),
    (
        "The machine looks for the widest road between the classes; C is the price of a point in it.",
        "A small C gives a wide road with points inside; a large C bends the line around every point.",
        "C is chosen on examples that were held out, never on those that train.",
    ),
    (
        "Choose *Growing C* below the plane and play it: which points become support vectors, and which cease to be?",
        View("playground", {"problem": "banana", "noise": 0.1, "along": "C"}),
    ),
)
