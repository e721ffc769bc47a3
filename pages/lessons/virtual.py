"""Why virtual SVs work: shifted copies of the support vectors teach a machine that a shift changes nothing.

Reference: DeCoste and Schölkopf, Machine Learning 46 (2002), section 3.2.
"""

from pages.lessons import seen
from pages.lessons.machines import PAIR, SHIFTS, VIRTUAL
from pages.lessons.parts import Facts, Lesson, Source, Step, Verdict, View

NINE, MOST, FEW = "All nine", "Six to eight", "Five or fewer"


def moved(jitters: str):
    """The address of the page Jitters with the digit of this lesson."""
    return lambda facts: {"set": "mnist-5k", "index": seen.fragile(facts, "plain", SHIFTS), "jitter_set": jitters}


def digit(facts: Facts):
    row = seen.fragile(facts, "plain", SHIFTS)
    return row, facts.dataset("plain").y_train[row]


def shifted(facts: Facts) -> Verdict:
    row, label = digit(facts)
    right = seen.forms_right(facts, "plain", row, SHIFTS)
    return Verdict(
        0 if right == 9 else 1 if right > 5 else 2,
        f"{right} of 9 are classified correctly. To your eye it is the same {label}. The machine compares pixel by "
        "pixel, and now every stroke lies on other pixels. (Of the digits that it gets right, "
        "this is the one with the most errors after a shift.)",
    )


def copies(facts: Facts) -> Verdict:
    n, kept = facts.run("plain").result["n_train"], facts.n_sv("plain")
    return Verdict(
        1,
        f"{kept} of the {n} digits are support vectors; the other {n - kept} could be removed and the machine would "
        f"be the same. Nine forms of {kept} digits are {9 * kept:,} pictures; nine of all {n} would be {9 * n:,}.",
    )


def fewer_errors(facts: Facts) -> Verdict:
    a, b = facts.errors("plain"), facts.errors("virtual")
    return Verdict(
        seen.against(b, a),
        f"{b} of {facts.n_test('virtual')} are wrong now, {a} were before. No new digit was collected. Only the "
        f"knowledge that a shift changes nothing was added.{seen.doubt(facts, 'plain', 'virtual')}",
    )


def keeps_more(facts: Facts) -> Verdict:
    a, b = facts.n_sv("plain"), facts.n_sv("virtual")
    return Verdict(
        0 if b < a else 1 if b <= 2 * a else 2,
        f"{b:,} support vectors instead of {a:,}, {b / a:.1f} times as many. Many copies are support vectors now. "
        "A new digit is compared with each of them: that is the price.",
    )


def steadier(facts: Facts) -> Verdict:
    row, label = digit(facts)
    a, b = (seen.forms_right(facts, name, row, SHIFTS) for name in ("plain", "virtual"))
    end = f"This {label} may be shifted now." if b > a else f"This {label} stays hard, though others were corrected."
    return Verdict(2 if b > a else 1 if b == a else 0, f"{b} of 9 are classified correctly; before, {a} were. {end}")


LESSON = Lesson(
    "virtual",
    "Why virtual SVs work",
    "Why a machine misclassifies shifted digits, and how copies of a few digits correct that.",
    Source("3.2"),
    {"plain": PAIR, "virtual": VIRTUAL},
    (
        Step(
            View("jitters", moved("none"), "plain", outlined="square_0"),
            lambda facts: (
                "A machine has learned to tell 3 from 8. The frame shows a digit that it has never seen, and below "
                f"it the machine's prediction: {digit(facts)[1]}, which is right. Now we shift the digit by one "
                "pixel, in each of eight directions. Of these nine pictures, how many will it get right?"
            ),
            (NINE, MOST, FEW),
            View("jitters", moved(SHIFTS), "plain", outlined="square_0"),
            "the nine pictures. Below each is the machine's prediction; a cross marks an error.",
            shifted,
        ),
        Step(
            View("jitters", moved(SHIFTS), "plain"),
            "So we give it shifted copies to learn from as well, with the same label. Which of its training digits are "
            "worth copying?",
            ("All of them", "Its support vectors: the digits that it keeps", "Only those that it gets wrong"),
            View("support_vectors", {}, "plain", outlined="sv_numbers support_gallery"),
            "the number *Support vectors*, and the digits that are kept: each is compared with a new one.",
            copies,
        ),
        Step(
            View("errors", {}, "plain", outlined="errors_gallery"),
            lambda facts: (
                f"The first machine gets {facts.errors('plain')} of {facts.n_test('plain')} new digits wrong: "
                "here they are. A second one learns from the support vectors and their shifted copies, the *virtual* "
                "support vectors. How many of the same digits will it get wrong?"
            ),
            seen.FEWER_OR_MORE,
            View("errors", {}, "virtual", outlined="errors_line errors_gallery"),
            "the line in large type, *wrong*, and the digits that are left.",
            fewer_errors,
        ),
        Step(
            View("errors", {}, "virtual"),
            lambda facts: (
                f"The first machine kept {facts.n_sv('plain')} support vectors. How many does the second keep?"
            ),
            ("Fewer than before", "Up to twice as many", "More than twice as many"),
            View("support_vectors", {"order": "By parent"}, "virtual", outlined="families"),
            "the rows, one for each digit. Dotted frames are copies of the digit that were kept; a grey frame means "
            "that only copies were kept.",
            keeps_more,
        ),
        Step(
            View("jitters", moved(SHIFTS), "plain", outlined="square_0"),
            "Back to the first digit and its nine pictures, with the predictions of the first machine. How many will "
            "the second machine get right?",
            ("Fewer", "As many", "More"),
            View("jitters", moved(SHIFTS), "virtual", outlined="square_0"),
            "the same nine pictures, with the predictions of the second machine below them.",
            steadier,
        ),
    ),
    (
        "A machine that compares pixel by pixel does not know that a shifted digit is the same digit.",
        "Shifted copies of the support vectors teach it that; copies of the other digits are not needed.",
        "It errs less on new digits, and pays with more support vectors.",
    ),
    (
        "Switch *Virtual copies* on and off: how many of 400 new points does one known invariance save?",
        View("playground", {"problem": "turn"}),
    ),
)
