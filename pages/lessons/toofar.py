"""Too much invariance: a 6 may be tilted, but turned upside down it is a 9.

Reference: DeCoste and Schölkopf, Machine Learning 46 (2002), section 6.
"""

from pages.lessons import seen
from pages.lessons.machines import TILTED, TURNS, UPRIGHT, UPSIDE_DOWN
from pages.lessons.parts import Facts, Lesson, Source, Step, Verdict, View
from pages.ui.recipe import config

HALF = "rot:180"


def six(jitters: str):
    """The address of the page Jitters with a 6 of the test digits."""
    return lambda facts: {"set": "mnist-5k", "index": seen.fragile(facts, "upright", HALF, 6), "jitter_set": jitters}


def becomes(facts: Facts) -> Verdict:
    called = seen.taken_for(facts, "upright", seen.fragile(facts, "upright", HALF, 6), HALF)
    end = "and so would you" if called == "9" else "but you might not"
    return Verdict(0 if called == "6" else 1, f"The machine calls it {called}, {end}.")


def tilt(facts: Facts) -> Verdict:
    a, b = facts.errors("upright"), facts.errors("tilted")
    counts = f"{b} of {facts.n_test('tilted')} are wrong now, {a} were before."
    end = " A tilted 6 is still a 6: the invariance it learned is true." if b <= a else ""
    return Verdict(1 if b > a else 0, f"{counts}{end}{seen.doubt(facts, 'upright', 'tilted')}")


def half_turn(facts: Facts) -> Verdict:
    a, b = facts.errors("tilted"), facts.errors("upside")
    return Verdict(
        0 if b < a else 1 if b <= 2 * a else 2,
        f"{b} of {facts.n_test('upside')} are wrong, {a} were before. It learned that a 6 turned upside down is still "
        "a 6, which is false.",
    )


def lied(facts: Facts) -> Verdict:
    machine = facts.run("upside").machine()
    turned = int((machine.jitter > 0).sum())
    return Verdict(
        0,
        f"{turned} of its {facts.n_sv('upside')} support vectors are turned copies. A turned 6 looks like a 9 and is "
        "labelled 6, so each copy pulls true nines to the wrong side.",
    )


def warned(facts: Facts) -> Verdict:
    rates = [100 * facts.run(name).result["validation"]["error_rate"] for name in ("tilted", "upside")]
    return Verdict(
        0 if rates[1] > rates[0] else 1,
        f"On digits held out from training, {rates[1]:.2f} % are wrong with half turns and {rates[0]:.2f} % with small "
        f"turns. So it gave {'a' if rates[1] > rates[0] else 'no'} warning before any test digit was used.",
    )


def sweep(facts: Facts) -> dict:
    base = TURNS.base.replace(seed=facts.seed)
    return config.link(base) | {"over": TURNS.field, "value": list(TURNS.values)}


LESSON = Lesson(
    "toofar",
    "Too much invariance: 6 against 9",
    "How a false invariance spoils a machine, and how to notice it in time.",
    Source("6"),
    {"upright": UPRIGHT, "tilted": TILTED, "upside": UPSIDE_DOWN},
    (
        Step(
            View("jitters", six("none"), "upright", outlined="square_0"),
            "A machine has learned to tell 6 from 9, and calls this 6 a 6. What will it call this digit when it is "
            "turned upside down?",
            ("6", "9"),
            View("jitters", six(HALF), "upright", outlined="square_0"),
            "the picture in the dotted frame, and the prediction below it.",
            becomes,
        ),
        Step(
            View("errors", {}, "upright"),
            lambda facts: (
                f"{facts.errors('upright')} of {facts.n_test('upright')} new digits are wrong. Now the machine also "
                "learns from copies of its support vectors, turned by 20 degrees to the left and to the right. Will "
                "that do harm?"
            ),
            ("No: at most as many are wrong", "Yes: more are wrong"),
            View("errors", {}, "tilted", outlined="errors_line"),
            "the line in large type, *wrong*.",
            tilt,
        ),
        Step(
            View("errors", {}, "tilted"),
            "Now the copies are turned by 180 degrees, and a turned 6 is still labelled 6. How "
            "many digits will be wrong?",
            ("Fewer", "Up to twice as many", "More than twice as many"),
            View("errors", {}, "upside", outlined="errors_line errors_gallery"),
            "the line in large type, *wrong*, and the digits: would you get them wrong?",
            half_turn,
        ),
        Step(
            View("errors", {}, "upside", outlined="errors_gallery"),
            "Why does it get such clear digits wrong now?",
            (
                "It learned from upside-down digits with false labels",
                "It learned from too few digits",
                "The digits that it is tested on are upside down",
            ),
            View("support_vectors", {"order": "By parent"}, "upside", outlined="families"),
            "the families: a digit and, in a dotted frame, its upside-down copy. Both carry the same label.",
            lied,
        ),
        Step(
            View("errors", {}, "upside"),
            "We saw it on test digits, but these are not available while a machine is being chosen. *Cross-validation* "
            "holds back part of the training digits, learns from the others and tests on that part. Would it have "
            "warned us?",
            ("Yes", "No"),
            View("sweep", sweep, "upside", outlined="sweep_chart"),
            "the chart, line *validation*: no turn, 20 degrees, 180 degrees.",
            warned,
            ("upright", "tilted"),
        ),
    ),
    (
        "An invariance is a claim about the world: it helps if it is true, and harms if it is false.",
        "A false invariance puts wrong labels into the training set.",
        "Cross-validation notices it before any test example is used.",
    ),
    (
        "Give the ? two answers: copies by *shift* and copies by *turn*. Which assumption would you defend?",
        View("playground", {"problem": "question", "virtual": True}),
    ),
)
