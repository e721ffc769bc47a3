"""Label noise: what swapped labels do to a machine, how to find them, and what cross-training does about them.

Reference: Bakir, Bottou and Weston, NIPS 17 (2004).
"""

import numpy as np

from pages.lessons import seen
from pages.lessons.machines import CLEAN, EDITED, NOISY, SWAPPED
from pages.lessons.parts import Facts, Lesson, Source, Step, Verdict, View
from pages.ui.example import evidence
from pages.ui.kit.words import percent
from svmcore.lab.analyses import suspects

FIRST = 20  # of a list


def swapped(facts: Facts, name: str = "noisy") -> np.ndarray:
    """(n,) bool over the dataset: whether the label is another one than training saw."""
    return evidence.labels(facts.run(name)).given != ""


def more_vectors(facts: Facts) -> Verdict:
    a, b = facts.n_sv("clean"), facts.n_sv("noisy")
    return Verdict(
        seen.against(b, a),
        f"{b} of {facts.run('noisy').result['n_train']} instead of {a}. A digit with a wrong label lies on the wrong "
        "side, so it becomes a support vector, and it makes others of its neighbours into support vectors.",
    )


def more_errors(facts: Facts) -> Verdict:
    a, b = facts.errors("clean"), facts.errors("noisy")
    return Verdict(
        0 if b <= a else 1 if b <= 3 * a else 2,
        f"{b} of {facts.n_test('noisy')} new digits are wrong, {a} were with clean labels. New digits have their true "
        f"labels: the machine errs on {percent(b / facts.n_test('noisy'))}, though {percent(SWAPPED)} of its lessons "
        "were false.",
    )


def _of_first(n: int) -> int:
    """Which of FIRST_FALSE n is."""
    return 0 if n < 6 else 1 if n <= 14 else 2


def hard_pressed(facts: Facts) -> Verdict:
    run = facts.run("noisy")
    machine = run.machine()
    top = np.argsort(-np.abs(machine.coef[0]), kind="stable")[:FIRST]
    false = int(swapped(facts)[run.train_index()[machine.support[top]]].sum())
    return Verdict(
        _of_first(false),
        f"{false} of the {FIRST} that pull hardest have a swapped label; of all digits {percent(SWAPPED)} have. A "
        "large alpha says: the others do not agree with this label.",
    )


def listed(facts: Facts) -> Verdict:
    found = suspects.suspects(facts.run("noisy"), "folds").first(FIRST)
    true = int(swapped(facts)[found.index].sum())
    return Verdict(
        _of_first(true),
        f"{true} of the first {len(found.index)} have a swapped label. Five machines were trained, each without a "
        "fifth of the digits, and asked about these. A machine that has seen a label repeats it; one that has not can "
        "contradict.",
    )


def edited(facts: Facts) -> Verdict:
    clean, noisy, few = (facts.n_sv(name) for name in ("clean", "noisy", "edited"))
    return Verdict(
        0 if few >= noisy else 1 if few >= clean else 2,
        f"{few} support vectors, instead of {noisy}; with clean labels {clean}. {facts.errors('edited')} of "
        f"{facts.n_test('edited')} new digits are wrong, {facts.errors('noisy')} were. Cross-training asks machines of "
        "small parts about all digits, and discards those that most of them contradict, and those that are easy.",
    )


FIRST_FALSE = ("Fewer than 6", "6 to 14", "15 or more")
KEPT = {"order": "Largest alpha"}
LESSON = Lesson(
    "noise",
    "Label noise",
    "What a few false labels do to a machine, and how the machine itself points at them.",
    Source("4", "bakir"),
    {"clean": CLEAN, "noisy": NOISY, "edited": EDITED},
    (
        Step(
            View("support_vectors", {}, "clean", outlined="sv_numbers"),
            lambda facts: (
                f"This machine tells 3 from 8 and keeps {facts.n_sv('clean')} of 400 digits. Now {percent(SWAPPED)} of "
                "the labels are swapped before it learns. How many support vectors will it keep?"
            ),
            seen.FEWER_OR_MORE,
            View("support_vectors", {}, "noisy", outlined="sv_numbers"),
            "the number *Support vectors*.",
            more_vectors,
        ),
        Step(
            View("errors", {}, "clean", outlined="errors_line"),
            lambda facts: (
                f"With clean labels {facts.errors('clean')} of {facts.n_test('clean')} new digits are wrong. How many "
                "are wrong if the machine learns with swapped labels? The new digits keep their true labels."
            ),
            ("At most as many", "Up to three times as many", "More than three times as many"),
            View("errors", {}, "noisy", outlined="errors_line"),
            "the line in large type, *wrong*.",
            more_errors,
        ),
        Step(
            View("support_vectors", {}, "noisy", outlined="sv_numbers"),
            f"Which digits pull hardest? Of the {FIRST} support vectors with the largest alphas, how many have a "
            "swapped label?",
            FIRST_FALSE,
            View("support_vectors", KEPT, "noisy", outlined="support_gallery"),
            "the first digits: where the class above a digit is not what you read, its label was swapped.",
            hard_pressed,
        ),
        Step(
            View("support_vectors", KEPT, "noisy", outlined="support_gallery"),
            "Another way: each digit is judged by a machine that was trained without it, and the labels that it "
            f"contradicts most are listed. How many of the first {FIRST} have a swapped label?",
            FIRST_FALSE,
            View("labels", {}, "noisy", outlined="label_strip"),
            "the list: the digit, its label, and what the other machines say.",
            listed,
        ),
        Step(
            View("support_vectors", {}, "noisy", outlined="sv_numbers"),
            "*Cross-training* goes on from there: it discards the digits that several small machines contradict before "
            "it trains. How many support vectors does its machine keep?",
            (
                "As many as with swapped labels, or more",
                "Fewer, but not below the machine with clean labels",
                "Fewer than with clean labels",
            ),
            View("support_vectors", {}, "edited", outlined="sv_numbers"),
            "the number *Support vectors*.",
            edited,
            ("clean", "noisy"),
        ),
    ),
    (
        "Every digit with a false label becomes a support vector, so noise makes a machine large and slow.",
        "A label is likely wrong if machines that have not seen it predict another class.",
        "Discarding what several machines contradict gives a smaller machine; check on new digits what it costs.",
    ),
    (
        "On *Labels*, review the first ten of a list of your own run. Would you have given the same labels?",
        View("labels"),
    ),
)
