"""What an SVM keeps: of all points only those at the edge of the road between the classes.

Reference: DeCoste and Schölkopf, Machine Learning 46 (2002), section 2.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pages.lessons import plane
from pages.lessons.machines import CLOTHES, PAIR
from pages.lessons.parts import Facts, Lesson, Source, Step, Verdict, View
from pages.ui.example import evidence
from pages.ui.kit.words import percent

EDGE = 20  # support vectors at either end of the order


def few(facts: Facts) -> Verdict:
    machine = plane.solved(facts)
    n, kept = len(machine.alpha), machine.n_sv
    return Verdict(
        2 if kept < 10 else 1 if kept < n else 0,
        f"{kept} of {n}: the points with a ring, at the edge of the road. They are called *support vectors*.",
    )


def idle(facts: Facts) -> Verdict:
    still = plane.same(plane.solved(facts), plane.solved(facts, points=plane.without_idle(facts)))
    return Verdict(
        1 if still else 0,
        "59 points are left, and the road has not moved. A point away from the road has no influence."
        if still
        else "It moved a little.",
    )


def ringed(facts: Facts) -> Verdict:
    before, after = plane.solved(facts), plane.solved(facts, points=plane.without_ringed(facts))
    if plane.same(before, after):
        return Verdict(1, "Another point of the same edge holds the road where it was.")
    wider, angle = plane.width(after) / plane.width(before) - 1, plane.turned(before, after)
    return Verdict(
        0, f"The road is {percent(wider)} wider, and its line turned by {angle:.1f} degrees. Other points hold it now."
    )


def digits(facts: Facts) -> Verdict:
    n, kept = facts.run("plain").result["n_train"], facts.n_sv("plain")
    return Verdict(
        0 if kept < 10 else 1 if kept <= 100 else 2,
        f"{kept} of {n}. In a plane few points can lie at the edge. In 784 dimensions, most do.",
    )


def odd(facts: Facts) -> Verdict:
    machine = facts.run("plain").machine()
    coef = machine.coef[0]
    order = np.argsort(-np.abs(coef), kind="stable")
    K = machine.kernel.block(machine.support_vectors, machine.support_vectors)
    np.fill_diagonal(K, -1)
    alike = np.where(np.sign(coef)[:, None] == np.sign(coef), K, -1).max(axis=1)
    top, low = (float(alike[rows].mean()) for rows in (order[:EDGE], order[-EDGE:]))
    return Verdict(
        1 if top < low else 0,
        f"The kernel says how alike two pictures are: 1 if they are the same, near 0 if they have nothing in common. "
        f"Compared with the most similar digit of their class, the {EDGE} that pull hardest reach {top:.2f} on "
        f"average, the {EDGE} that pull least {low:.2f}.",
    )


class Confusion(NamedTuple):
    """Test examples of one class that the machine `name` takes for another. others: what it keeps of both, in words."""

    name: str
    true: object
    called: object
    others: str

    @property
    def cell(self) -> str:
        """As the page Errors calls it."""
        return f"{self.true} → {self.called}"

    def pulls(self, facts: Facts) -> np.ndarray:
        """(m,) what each support vector contributes to `called`, for the example that is called so most certainly."""
        run, dataset = facts.run(self.name), facts.dataset(self.name)
        machine, test = run.machine(), run.test()
        wrong = np.flatnonzero((test.y_true == self.true) & (test.y_pred == self.called))
        if not len(wrong):
            raise LookupError(f"this machine makes no error {self.cell}; another seed draws other examples")
        sign = 1 if self.called == machine.classes[1] else -1  # of two classes f > 0 is the second one's
        worst = test.index[wrong[np.argmax(sign * test.decision[wrong].ravel())]]
        X = dataset.X_test if test.split == "test" else dataset.X_train
        x = evidence.prepared(run, X[worst][None])
        return sign * machine.coef[0] * machine.kernel.block(x, machine.support_vectors)[0]

    def outvoted(self, facts: Facts) -> Verdict:
        """How many of those that speak for `called` come to half of it."""
        pull = np.sort(self.pulls(facts))[::-1]
        speaks = pull[pull > 0]
        half = int(np.searchsorted(np.cumsum(speaks), speaks.sum() / 2)) + 1
        kept = len(speaks), int((pull < 0).sum())
        return Verdict(0 if half == 1 else 1 if half <= 10 else 2, f"It takes {half}. {self.others.format(*kept)}")


COATS = Confusion(
    "clothes", "Coat", "Shirt",
    "The machine keeps {} shirts that contribute to *Shirt* and {} coats that contribute to *Coat*. The two have the "
    "same outline, so that many pictures of both are at the edge of the road, and each contributes a little.",
)  # fmt: skip


def digits_confused(facts: Facts) -> Confusion:
    """The error that the machine of digits makes more often."""
    test = facts.run("plain").test()
    three = np.sum((test.y_true == 3) & (test.y_pred == 8)) >= np.sum((test.y_true == 8) & (test.y_pred == 3))
    true, called = (3, 8) if three else (8, 3)
    others = (
        f"The machine keeps {{}} digits that contribute to {called} and {{}} that contribute to {true}. Most of its "
        "digits are at the edge of the road, and each contributes a little."
    )
    return Confusion("plain", true, called, others)


def errors_of(confusion: Callable[[Facts], Confusion], name: str) -> View:
    """Its examples, the most certain error first."""
    return View(
        "errors", lambda facts: {"cells": [confusion(facts).cell], "errors_by": "Most certain"}, name, "errors_gallery"
    )


HALF = "One, the most similar", "Two to ten", "More than ten"
CLICK = "and click it: *Why* lists the contributions of the support vectors, the largest first."
OF_DIGITS = Step(  # where the clothes are not on this machine
    errors_of(digits_confused, "plain"),
    lambda facts: (
        "Here are the digits {0.true} that this machine calls {0.called}, the most certain error first. Why that one? "
        "Each {0.called} that the machine keeps contributes to its decision. How many of them does it take to come to "
        "half of all that speaks for {0.called}?"
    ).format(digits_confused(facts)),
    HALF,
    errors_of(digits_confused, "plain"),
    f"the first digit, {CLICK}",
    lambda facts: digits_confused(facts).outvoted(facts),
)


LESSON = Lesson(
    "keeps",
    "What an SVM keeps",
    "Why a machine that has seen sixty points needs only a few of them.",
    Source("2", "osuna"),
    {"plain": PAIR, "clothes": CLOTHES},
    (
        Step(
            View("playground", plane.address(tape=0), outlined="play_plane"),
            "Sixty points, half of them blue, half orange; nothing is learned yet. A *support vector machine* looks "
            "for the widest empty road between the two colours; the line in its middle then says what is blue and what "
            "is orange. How many of the points does it have to keep to know where the road runs?",
            ("All sixty", "About half of them", "Fewer than ten"),
            View("playground", plane.address(), outlined="play_plane"),
            "the points with a ring. The thick line says what is blue and what is orange; the thin ones are the edges "
            "of the road.",
            few,
        ),
        Step(
            View("playground", plane.address(), outlined="play_plane"),
            lambda facts: (
                f"Now a point without a ring is removed: the {plane.colour(facts, plane.without_idle)} one furthest "
                "from the line. Does the line move?"
            ),
            ("Yes", "No"),
            View("playground", plane.address(points=plane.without_idle), outlined="play_plane"),
            "the line and the rings. *Ask me again* brings the point back, to compare.",
            idle,
        ),
        Step(
            View("playground", plane.address(), outlined="play_plane"),
            lambda facts: f"And if {plane.colour(facts, plane.without_ringed, 'ringed')} point is removed instead?",
            ("The line moves", "The line stays"),
            View("playground", plane.address(points=plane.without_ringed), outlined="play_plane"),
            "the line and the rings. The old ring is gone with its point; another point has one now.",
            ringed,
        ),
        Step(
            View("playground", plane.address(), outlined="play_plane"),
            "The same with real digits: a machine learns to tell 3 from 8 from 200 digits. Each is a point as well, "
            "with one coordinate for each of its 784 pixels, instead of two. How many of the 200 does it keep?",
            ("Fewer than 10", "10 to 100", "More than 100"),
            View("support_vectors", {}, "plain", outlined="sv_numbers support_gallery"),
            "the number *Support vectors*, and the digits themselves.",
            digits,
        ),
        Step(
            View("support_vectors", {"order": "Smallest alpha"}, "plain", outlined="support_gallery"),
            "Each support vector pulls at the line with a force, its *alpha*: the number in the lower left corner. "
            "Those that pull least come first. Which digits pull hardest?",
            ("Typical ones, like many others", "Odd ones, unlike the others of their class"),
            View("support_vectors", {"order": "Largest alpha"}, "plain", outlined="support_gallery"),
            "the first two rows, now those that pull hardest: could you read them all?",
            odd,
        ),
        Step(
            errors_of(lambda facts: COATS, "clothes"),
            "Pictures need not be digits: this machine tells coats from shirts. Here are the coats that it calls a "
            "shirt, the most certain error first. Why that one? Each shirt that the machine keeps contributes to its "
            "decision. How many of them does it take to come to half of all that speaks for *Shirt*?",
            HALF,
            errors_of(lambda facts: COATS, "clothes"),
            f"the first coat, {CLICK}",
            COATS.outvoted,
            instead=OF_DIGITS,
        ),
    ),
    (
        "A support vector machine keeps only the points at the edge of the road: its support vectors.",
        "Without the other points the machine would be the same.",
        "In many dimensions most examples can lie at the edge, and each contributes a little to a decision.",
    ),
    (
        "Drag a point without a ring towards the line. When does the line begin to move?",
        View("playground", {"problem": "shift"}),
    ),
)
