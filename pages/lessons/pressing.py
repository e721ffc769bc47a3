"""Forces on a plane: each support vector presses on the line, and it stays where it is.

Reference: Burges and Schölkopf, NIPS 9 (1997), section 2. Hulls: Bennett and Bredensteiner, ICML (2000).
"""

import numpy as np

from pages.lessons import plane
from pages.lessons.machines import PAIR
from pages.lessons.parts import Facts, Lesson, Source, Step, Verdict, View
from pages.ui.kit.text import many, rounded
from svmcore.explain import hulls

SOFT, HARD = 1.0, 10_000.0
NOTHING = 1e-6  # of a sum, beside the sizes of its parts


def sides(machine) -> tuple[float, float]:
    """The forces of blue together, and those of orange."""
    return float(machine.alpha[machine.sign > 0].sum()), float(machine.alpha[machine.sign < 0].sum())


def torques(machine) -> np.ndarray:
    """(m,) about the centre: x ^ alpha y w/|w|."""
    u = machine.w / np.linalg.norm(machine.w)
    X = machine.X.astype(np.float64)
    return machine.alpha * machine.sign * (X[:, 0] * u[1] - X[:, 1] * u[0])


def pressed(facts: Facts) -> str:
    machine = plane.solved(facts, C=SOFT)
    blue, orange = (int(np.count_nonzero(machine.alpha[machine.sign == sign])) for sign in (1, -1))
    return (
        "Take the line for a stiff sheet. Each support vector presses on it at a right angle, towards its own side, "
        f"with the force alpha. {many(blue, 'blue point')} and {many(orange, 'orange point')} press here. Which colour "
        "presses harder?"
    )


def equal(facts: Facts) -> Verdict:
    blue, orange = sides(plane.solved(facts, C=SOFT))
    same = abs(blue - orange) < NOTHING * blue
    return Verdict(
        2 if same else 0 if blue > orange else 1,
        f"Blue presses with {rounded(blue)} in all, orange with {rounded(orange)}. If one side were stronger, the "
        "sheet would move: the machine is the place where it rests.",
    )


def turns(facts: Facts) -> Verdict:
    each = torques(plane.solved(facts, C=SOFT, points=plane.odd_one(facts)))
    rests = abs(each.sum()) < NOTHING * np.abs(each).sum()
    return Verdict(
        1 if rests else 0,
        f"The torques about the centre are {rounded(float(each[each > 0].sum()))} one way and "
        f"{rounded(float(-each[each < 0].sum()))} the other way. So the sheet does not turn either.",
    )


def limited(facts: Facts) -> Verdict:
    machine = plane.solved(facts, C=SOFT, points=plane.odd_one(facts))
    alpha = float(machine.alpha[60])  # the last point is the one that was added
    most = float(machine.alpha.max())
    return Verdict(
        1 if alpha >= most * (1 - 1e-6) and most <= SOFT * (1 + 1e-6) else 0 if alpha == 0 else 2,
        f"It presses towards orange with {rounded(alpha)}, and C is {SOFT:g}. The further a point is on the wrong "
        "side, the harder it would press; C is the most that any point may.",
    )


def halves(facts: Facts) -> Verdict:
    machine = plane.solved(facts, C=HARD)
    middle = np.mean([machine.X[machine.sign == sign].mean(axis=0) for sign in (1, -1)], axis=0)
    ends = hulls.nearest(machine.X, machine.sign, machine.alpha, machine.bound, HARD).ends
    length = np.linalg.norm(machine.w)
    off = [round(float(abs(place @ machine.w + machine.bias) / length), 4) for place in (middle, ends.mean(axis=0))]
    return Verdict(
        int(off[1] < off[0]),
        f"The middle between the nearest points is {rounded(off[1], 2)} away from the line, the middle between the "
        f"centres {rounded(off[0], 2)}. The nearest points are means of support vectors, each weighted by its force.",
    )


def digits(facts: Facts) -> Verdict:
    machine = facts.run("plain").machine()
    coef = machine.coef[0]
    eights, threes = float(coef[coef > 0].sum()), float(-coef[coef < 0].sum())
    names = [str(name) for name in machine.classes]
    same = abs(eights - threes) < 1e-4 * eights
    kept = int((coef < 0).sum()), int((coef > 0).sum())
    return Verdict(
        2 if same else 0 if threes > eights else 1,
        f"{kept[0]} digits {names[0]} press with {rounded(threes)} in all, {kept[1]} digits {names[1]} with "
        f"{rounded(eights)}. The sheet lies in the feature space of the kernel, which nobody can draw, and it rests "
        "there, too.",
    )


SHEET = {"C": SOFT, "layer": "forces"}
LESSON = Lesson(
    "pressing",
    "Forces on a plane",
    "A picture from mechanics that explains what alpha is and why the machine is where it is.",
    Source("2", "burges"),
    {"plain": PAIR},
    (
        Step(
            View("playground", plane.address(C=SOFT), outlined="play_plane"),
            pressed,
            ("Blue", "Orange", "Neither"),
            View("playground", plane.address(**SHEET), outlined="play_plane"),
            "the arrows, and further down the table of forces with its sum.",
            equal,
        ),
        Step(
            View("playground", plane.address(**SHEET), outlined="play_plane"),
            "An orange point is added amid the blue ones, on the wrong side of the line. C is 1. How hard does it "
            "press?",
            ("Not at all", "With 1, as C allows", "With more than 1"),
            View("playground", plane.address(**SHEET, points=plane.odd_one), outlined="play_plane"),
            "the arrow of the orange point among the blue ones.",
            limited,
        ),
        Step(
            View("playground", plane.address(**SHEET, points=plane.odd_one), outlined="play_plane"),
            "These points press at different places of the sheet. Forces that balance could still turn it. Does it "
            "turn?",
            ("Yes", "No"),
            View("playground", plane.address(**SHEET, points=plane.odd_one), outlined="play_told"),
            "the column *Torque* and its sum: force times distance, with a sign for each way of turning.",
            turns,
        ),
        Step(
            View("playground", plane.address(C=HARD), outlined="play_plane"),
            "Another view of the same machine. A rubber band is put around each colour: its *convex hull*. The line "
            "runs half way between two places. Which?",
            ("The centres of the two colours", "The nearest points of the two hulls"),
            View("playground", plane.address(C=HARD, layer="hulls"), outlined="play_plane"),
            "the hulls and the two diamonds, their nearest points.",
            halves,
        ),
        Step(
            View("playground", plane.address(**SHEET)),
            "The same with digits, 3 against 8: 784 dimensions, and a kernel of degree 9. Which class presses harder?",
            ("The threes", "The eights", "Neither"),
            View("support_vectors", {"order": "Largest alpha"}, "plain", outlined="sv_numbers support_gallery"),
            "the digits that press hardest: their alphas are in the lower left corners.",
            digits,
        ),
    ),
    (
        "Each support vector presses on the boundary with its alpha, and no point may press harder than C.",
        "At the optimum the forces sum to zero, and so do the torques.",
        "The line of the largest margin halves the segment between the nearest points of the two convex hulls.",
    ),
    (
        "Drag a ringed point and watch the arrows. Can you place points so that one blue point balances three orange "
        "ones?",
        View(
            "playground", {"problem": "own", "kernel": "linear", "layer": "forces", "points": "b-50_0~o40_30~o40_-30"}
        ),
    ),
)
