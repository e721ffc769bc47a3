"""Jittering inside the kernel: no copies are added; each comparison of two digits tries the shifts by itself.

Reference: DeCoste and Schölkopf, Machine Learning 46 (2002), section 3.3.
"""

from pages.lessons import seen
from pages.lessons.machines import JITTERED, JITTERED_SCRAMBLED, PAIR, PAIR_SCRAMBLED, SHIFTS, VIRTUAL
from pages.lessons.parts import Facts, Lesson, Source, Step, Verdict, View
from pages.lessons.virtual import moved
from pages.ui.kit.words import small
from svmcore.jitter import JitterSet


def forms(facts: Facts) -> int:
    return len(JitterSet.parse(SHIFTS, facts.dataset("plain").image_shape))


def compares(facts: Facts) -> Verdict:
    J = forms(facts)
    return Verdict(
        (1, 9, 81).index(J),
        f"The digit itself and {J - 1} shifted forms make {J} comparisons, and the best match counts. Shifting one "
        "of the two is enough, because only their relative position matters.",
    )


def stays_small(facts: Facts) -> Verdict:
    a, b, c = facts.n_sv("plain"), facts.n_sv("jittered"), facts.n_sv("virtual")
    return Verdict(
        1 if b > 2 * a else 0,
        f"{b} support vectors. The plain machine keeps {a}, the one with virtual SVs {c}: there every copy is an "
        "example of its own, here no copy is ever made.",
    )


def fewer_errors(facts: Facts) -> Verdict:
    a, b = facts.errors("plain"), facts.errors("jittered")
    return Verdict(
        seen.against(b, a),
        f"{b} of {facts.n_test('plain')} are wrong; the plain machine had {a}. The comparison itself now includes what "
        "the copies taught before." + seen.doubt(facts, "plain", "jittered"),
    )


def by_chance(facts: Facts) -> Verdict:
    test = seen.only_one_wrong(facts, "virtual", "jittered")
    certain = test.p_value < seen.LEVEL
    end = "A split this uneven is unlikely to be chance." if certain else "Such a split may well be chance."
    return Verdict(
        0 if certain else 1,
        f"{test.only_a} digits are wrong with the virtual SVs alone, {test.only_b} with the jittering kernel alone. "
        f"{end} (McNemar's test gives p = {small(test.p_value)}; below {seen.LEVEL}, the difference counts as "
        "significant.)",
    )


def price(facts: Facts) -> Verdict:
    J = forms(facts)
    a, b = facts.n_sv("virtual"), J * facts.n_sv("jittered")
    return Verdict(
        1 if b < a else 0,
        f"Virtual SVs: {a:,} comparisons, one for each. Jittering kernel: {facts.n_sv('jittered')} support vectors "
        f"times {J} shifts, {b:,} comparisons. "
        + (
            "It keeps fewer digits, but looks at each in every form."
            if b > a
            else "The smaller number of digits outweighs the forms."
        ),
    )


def compared(facts: Facts) -> dict:
    return {"compare": [facts.run("virtual").id, facts.run("jittered").id]}


def notices(facts: Facts) -> Verdict:
    said = [
        [facts.run(name).test().y_pred.tolist() for name in (one, f"{one}_scrambled")] for one in ("plain", "jittered")
    ]
    plain, jittered = (before != after for before, after in said)
    a, b = facts.errors("jittered"), facts.errors("jittered_scrambled")
    blind = (
        "" if plain else "The plain machine gives exactly the same predictions: it ignores the positions of pixels. "
    )
    return Verdict(
        (0 if not jittered else 1) if not plain else (2 if not jittered else 3),
        f"{blind}With the jittering kernel {b} are wrong, {a} were before: it used the knowledge of which pixels are "
        f"neighbours, and that is lost. (The plain machine gets {facts.errors('plain')} wrong.)",
    )


def mixed(facts: Facts) -> dict:
    return {"runs": [facts.run("plain").id, facts.run("jittered").id], "seed": facts.seed}


LESSON = Lesson(
    "jittering",
    "Jittering inside the kernel",
    "The other way to teach a shift: leave the digits alone and change how two of them are compared.",
    Source("3.3"),
    {
        "plain": PAIR,
        "virtual": VIRTUAL,
        "jittered": JITTERED,
        "plain_scrambled": PAIR_SCRAMBLED,
        "jittered_scrambled": JITTERED_SCRAMBLED,
    },
    (
        Step(
            View("jitters", moved("none"), "plain"),
            "A *kernel* is a number that says how alike two pictures are. A *jittering* kernel tries harder: it shifts "
            "one of the two by one pixel in each of eight directions, and keeps the best match. How many comparisons "
            "does it make for one pair?",
            ("1", "9", "81"),
            View("jitters", moved(SHIFTS), "plain", outlined="square_0"),
            "the nine forms; each is compared with the other picture. The number *Jitters* counts them.",
            compares,
        ),
        Step(
            View("support_vectors", {}, "plain", outlined="sv_numbers"),
            lambda facts: (
                f"The plain machine keeps {facts.n_sv('plain')} support vectors (the number *Support vectors*). A "
                "machine with a jittering kernel learns from the same 200 digits. How many will it keep?"
            ),
            ("At most twice as many", "More than twice as many"),
            View("support_vectors", {}, "jittered", outlined="sv_numbers"),
            "the number *Support vectors*. No frame is dotted, because there are no virtual support vectors.",
            stays_small,
            ("virtual",),
        ),
        Step(
            View("errors", {}, "plain", outlined="errors_gallery"),
            lambda facts: (
                f"The plain kernel gets these {facts.errors('plain')} of {facts.n_test('plain')} new digits wrong. "
                "How many does the jittering kernel get wrong?"
            ),
            seen.FEWER_OR_MORE,
            View("errors", {}, "jittered", outlined="errors_line"),
            "the line in large type, *wrong*.",
            fewer_errors,
        ),
        Step(
            View("errors", {}, "jittered"),
            lambda facts: (
                f"Virtual SVs get {facts.errors('virtual')} digits wrong, the jittering kernel "
                f"{facts.errors('jittered')}. Is one of them better, or may this be chance?"
            ),
            ("One is better, most likely", "It may well be chance"),
            View("compare", compared, "jittered", outlined="compare_verdict"),
            "the sentences below the table: B *fixes* what only A gets wrong, and *breaks* what only B gets wrong.",
            by_chance,
            ("virtual",),
        ),
        Step(
            View("compare", compared, "jittered", outlined="compare_runs_told"),
            "A is the machine with virtual SVs, B the one with the jittering kernel. The column *SVs* says how many "
            "support vectors each has. Which makes fewer comparisons to decide about one new digit?",
            ("A, the virtual SVs", "B, the jittering kernel"),
            View("compare", compared, "jittered", outlined="compare_runs_told"),
            "the column *SVs*. (The seconds are too short to weigh.)",
            price,
            ("virtual",),
        ),
        Step(
            View("errors", {}, "jittered"),
            "Now the pixels of all pictures are put in the same random order. The plain machine and the one with the "
            "jittering kernel learn again from these. Which of them changes its predictions?",
            ("Neither", "Only the jittering kernel", "Only the plain machine", "Both"),
            View("scramble", mixed, "jittered", outlined="scramble_numbers"),
            "the table below the pictures: *As it is*, *Scrambled* and *Same predictions*.",
            notices,
            ("plain", "plain_scrambled", "jittered_scrambled"),
        ),
    ),
    (
        "A jittering kernel tries the shifts at each comparison, instead of adding copies to the training set.",
        "It keeps fewer support vectors than a machine with virtual ones, but each comparison costs more.",
        "Whether one of two machines is better is asked of the examples that only one of them gets wrong.",
    ),
    (
        "Compare the methods on another pair of digits, 4 against 9, say. Does the order stay?",
        View("methods"),
    ),
)
