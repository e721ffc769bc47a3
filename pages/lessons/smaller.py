"""Smaller machines: what a reduced-set vector is, and what it costs to have few of them.

Reference: Burges and Schölkopf, NIPS 9 (1997), sections 3 and 4.
"""

import numpy as np

from pages.lessons import seen
from pages.lessons.machines import FEW, PAIR, REDUCED
from pages.lessons.parts import Facts, Lesson, Source, Step, Verdict, View
from pages.ui.kit.text import percent, rounded


def likeness(facts: Facts) -> np.ndarray:
    """(m,) of each constructed vector the cosine, in feature space, of its angle to the nearest support vector."""
    few, plain = facts.run("few").machine(), facts.run("plain").machine()
    Z, X, kernel = few.support_vectors, plain.support_vectors, plain.kernel
    sizes = np.sqrt(np.outer(np.diag(kernel.exact(Z, Z)), np.diag(kernel.exact(X, X))))
    return (np.abs(kernel.exact(Z, X)) / sizes).max(axis=1)


def made(facts: Facts) -> Verdict:
    cosines = likeness(facts)
    new = bool(cosines.max() < 1 - 1e-4)
    return Verdict(
        2 if new else 0,
        f"Not one of the {len(cosines)} is a digit that somebody wrote. Beside the support vector most like it, each "
        f"reaches a cosine of {rounded(float(cosines.min()), 2)} to {rounded(float(cosines.max()), 2)}; a digit itself "
        "would have 1. They were computed so that the decisions stay as near as possible.",
    )


def errors(facts: Facts) -> Verdict:
    a, b = facts.errors("plain"), facts.errors("few")
    return Verdict(
        0 if b <= a else 1 if b <= 2 * a else 2,
        f"{b} of {facts.n_test('few')} are wrong with {FEW} vectors, {a} with all {facts.n_sv('plain')} support "
        "vectors." + seen.doubt(facts, "plain", "few"),
    )


def changed(facts: Facts) -> Verdict:
    a, b = facts.run("plain").test(), facts.run("few").test()
    moved = int(np.count_nonzero(a.y_pred != b.y_pred))
    test = seen.only_one_wrong(facts, "plain", "few")
    share = moved / len(a.y_pred)
    return Verdict(
        0 if moved == 0 else 1 if share < 0.05 else 2,
        f"{moved} of {len(a.y_pred)} ({percent(share, 1)}): {test.only_b} that were right are wrong now, {test.only_a} "
        "the other way round. The number of errors shows their difference alone.",
    )


def work(facts: Facts) -> Verdict:
    before, after = facts.run("few").result["reduction"]["multiply_adds"]
    ratio = before / after
    return Verdict(
        0 if ratio < 2 else 1 if ratio < 8 else 2,
        f"{ratio:.0f} times less work for each new digit ({before:,} multiplications before, {after:,} now), because "
        "the decision has one term for each vector.",
    )


SMALL = View("reduced", {}, "few", outlined="reduce_sizes")
LESSON = Lesson(
    "smaller",
    "Smaller machines: reduced sets",
    "How a machine can decide nearly the same with a tenth of its vectors, and what these vectors are.",
    Source("4", "burges"),
    {"plain": PAIR, "few": REDUCED},
    (
        Step(
            View("support_vectors", {}, "plain", outlined="sv_numbers support_gallery"),
            lambda facts: (
                f"This machine keeps {facts.n_sv('plain')} support vectors and compares every new digit with each. We "
                f"want only {FEW} vectors, and decisions as near to the old ones as possible. Which {FEW}?"
            ),
            (
                "The support vectors with the largest alphas",
                "Training digits drawn at random",
                "New pictures, computed",
            ),
            View("reduced", {}, "few", outlined="reduce_z"),
            "the first picture of each row. The others are the support vectors nearest to it.",
            made,
            ("plain",),
        ),
        Step(
            View("errors", {}, "plain", outlined="errors_line"),
            lambda facts: (
                f"With all its support vectors the machine gets {facts.errors('plain')} of {facts.n_test('plain')} new "
                f"digits wrong. How many will it get wrong with {FEW} constructed vectors?"
            ),
            ("At most as many", "Up to twice as many", "More than twice as many"),
            SMALL,
            "the curve: errors for each number of vectors. The dashed line is the whole machine.",
            errors,
            ("plain",),
        ),
        Step(
            SMALL,
            "Errors are one count. Another one: of how many new digits does the prediction change, to better or worse?",
            ("Of none", "Of fewer than 5 %", "Of 5 % or more"),
            View("reduced", {}, "few", outlined="reduce_f"),
            "the points: f before and f after. A point off the diagonal has another f; crosses are changed "
            "predictions.",
            changed,
            ("plain",),
        ),
        Step(
            SMALL,
            "How much less work is a decision now?",
            ("About the same", "Up to eight times less", "More than eight times less"),
            View("reduced", {}, "few", outlined="reduce_cost"),
            "the table: vectors, multiplications and time, before and after.",
            work,
            ("plain",),
        ),
    ),
    (
        "A decision costs one comparison for each vector, so fewer vectors are faster.",
        "The vectors of a reduced set are computed, and need not look like any example.",
        "Count the changed predictions, not only the errors: errors gained and lost cancel.",
    ),
    (
        "Reduce a machine of your own to half, a quarter and an eighth of its vectors. At which size do errors begin "
        "to grow?",
        View("reduced"),
    ),
    {"few": "plain"},
)
