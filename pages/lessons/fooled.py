"""How to be fooled: intervals, chance, a test set looked at too often, and folds that leak.

References: DeCoste and Schölkopf (2002), section 5.1; Wilson (1927); McNemar (1947).
"""

from functools import lru_cache

import numpy as np

from pages.lessons import capacity, margin, seen
from pages.lessons.machines import BY_C, PAIR, SHIFTS
from pages.lessons.parts import Facts, Lesson, Source, Step, Verdict, View
from pages.lessons.virtual import moved
from pages.ui.example import evidence
from pages.ui.kit.words import percent, small
from svmcore import SVC
from svmcore.lab.store import runs
from svmcore.metrics import wilson

FEW = 50  # test digits that somebody looks at again and again
FOLDS, GROUPS = 5, 10
SOME = 100  # digits of the leak, which takes a machine for each fold
LUCKY = (*margin.EVERY, *capacity.EVERY)


def wrong(facts: Facts, name: str) -> np.ndarray:
    """(n,) bool, of the test digits, which are the same for all machines here."""
    return facts.run(name).test().wrong


def interval(facts: Facts) -> Verdict:
    errors = wrong(facts, "plain")
    low, high = (share * len(errors) for share in wilson(int(errors.sum()), len(errors)))
    half = (high - low) / 2
    return Verdict(
        0 if half < 0.5 else 1 if half <= 3 else 2,
        f"{errors.sum()} of {len(errors)} are wrong, and the 95 % interval reaches from {low:.0f} to {high:.0f}. The "
        "number in brackets after the rate says it: the true rate may be anywhere there.",
    )


def groups(facts: Facts) -> Verdict:
    counts = [int(group.sum()) for group in np.array_split(wrong(facts, "plain"), GROUPS)]
    apart = max(counts) - min(counts)
    return Verdict(
        0 if apart <= 1 else 1 if apart <= 3 else 2,
        f"{min(counts)} errors in the best group, {max(counts)} in the worst. It is one and the same machine. Whoever "
        "tests two machines on different digits sees such differences, too.",
    )


def lucky(facts: Facts) -> tuple[str, int, float, float]:
    """The machine with the fewest errors on the first FEW test digits; these, and its rate there and on the others."""
    looked = {name: int(wrong(facts, name)[:FEW].sum()) for name in LUCKY}
    best = min(LUCKY, key=looked.get)
    return best, looked[best], looked[best] / FEW, float(wrong(facts, best)[FEW:].mean())


def too_often(facts: Facts) -> Verdict:
    best, n, there, others = lucky(facts)
    rest = len(wrong(facts, best)) - FEW
    return Verdict(
        0 if others < there else 1 if others == there else 2,
        f"{n} of {FEW} wrong ({percent(there, 1)}) on the digits by which it was chosen, {percent(others, 1)} on "
        f"{rest} others. "
        + (
            "The winner was partly lucky: the best of several results flatters itself."
            if others > there
            else "Here the choice was not lucky, but nothing warns when it is; only new digits tell."
        ),
    )


@lru_cache(maxsize=8)
def _leak(run_id: str) -> tuple[int, int, int]:
    """Errors on shifted copies of SOME digits by folds drawn copy by copy, by folds of digits, and how many copies."""
    run = runs.get(run_id)
    facts_rows = run.train_index()[:SOME]
    forms = np.stack([evidence.prepared(run, form) for form in _forms(run, facts_rows)])
    J, n = forms.shape[:2]
    X, y = forms.reshape(J * n, -1), np.tile(evidence.labels(run).seen[facts_rows], J)
    rng, digit = np.random.default_rng(run.recipe.seed), np.tile(np.arange(n), J)
    by_copy, by_digit = rng.permutation(J * n) % FOLDS, (rng.permutation(n) % FOLDS)[digit]
    return *(_held_out(run.recipe, X, y, fold) for fold in (by_copy, by_digit)), J * n


def _forms(run, rows):
    dataset = evidence.data_of(run)
    return seen.forms(dataset, dataset.X_train[rows], SHIFTS)


def _held_out(recipe, X, y, fold) -> int:
    errors = 0
    for k in range(FOLDS):
        machine = SVC(recipe.kernel, C=recipe.C).fit(X[fold != k], y[fold != k])
        errors += int(np.count_nonzero(machine.predict(X[fold == k]) != y[fold == k]))
    return errors


def leak(facts: Facts) -> Verdict:
    a, b, n = _leak(facts.run("plain").id)
    return Verdict(
        0 if 2 * a > b else 1 if 10 * a > b else 2,
        f"{a} of {n} copies are wrong with folds drawn copy by copy, {b} with folds that keep all copies of a digit "
        "together. In the first, a machine is asked about a digit of which it has seen a shifted copy. New digits have "
        "none.",
    )


PAIRED = "c1", "c10"


def winner(facts: Facts) -> Verdict:
    test = seen.only_one_wrong(facts, *PAIRED)
    certain = test.p_value < seen.LEVEL
    return Verdict(
        0 if certain else 1,
        f"{test.only_a} digits are wrong with C = 1 alone, {test.only_b} with C = 10 alone. "
        f"{'A split this uneven is unlikely' if certain else 'Such a split is likely'} to come by chance (McNemar's "
        f"test: p = {small(test.p_value)}). Who compares twenty pairs of equals finds about one with p below 0.05.",
    )


def compared(*names: str):
    return lambda facts: {"compare": [facts.run(name).id for name in names]}


LESSON = Lesson(
    "fooled",
    "How to be fooled",
    "Five ways to believe in a machine that does not deserve it, and how to avoid them.",
    Source("5.1"),
    {
        "plain": PAIR,
        **{f"c{value}": recipe.replace(title=f"3 against 8, C = {value}") for value, recipe in BY_C.recipes().items()},
        **capacity.LESSON.recipes,
    },
    (
        Step(
            View("errors", {}, "plain", outlined="errors_gallery"),
            lambda facts: (
                f"This machine gets {facts.errors('plain')} of {facts.n_test('plain')} new digits wrong. It is tested "
                "again on as many other digits. How many might be wrong then?"
            ),
            ("Exactly as many", "At most three more or fewer", "Perhaps more than three more or fewer"),
            View("errors", {}, "plain", outlined="errors_line"),
            "the line in large type: the numbers in brackets are the 95 % interval of the rate.",
            interval,
        ),
        Step(
            View("errors", {}, "plain", outlined="errors_line"),
            f"Split the new digits into {GROUPS} groups of equal size. How many errors more does this machine make in "
            "its worst group than in its best?",
            ("None or one", "Two or three", "More"),
            View("errors", {}, "plain", outlined="errors_gallery"),
            "the errors, in the order of the dataset.",
            groups,
        ),
        Step(
            View("errors", {}, "plain", outlined="errors_line"),
            f"{len(LUCKY)} machines with other C and other degrees are tested on the same {FEW} digits, and we keep "
            "the best. On the digits that nobody has looked at, is its error rate lower, the same or higher?",
            ("Lower", "The same", "Higher"),
            View("compare", compared(*LUCKY), "plain", outlined="compare_runs_told"),
            "the table: all machines on all test digits. The choice was made on a few of them.",
            too_often,
            LUCKY,
        ),
        Step(
            View("jitters", moved(SHIFTS), "plain", outlined="square_0"),
            f"To have more examples, we add shifted copies of {SOME} digits, and then draw {FOLDS} folds from all "
            "copies. Compared with folds that keep the copies of a digit together, how many errors are counted?",
            ("About as many, at least half", "Fewer than half", "Fewer than a tenth"),
            View("jitters", moved(SHIFTS), "plain", outlined="square_0"),
            "the nine copies: to find its neighbour in the training set is easy for each of them.",
            leak,
        ),
        Step(
            View("errors", {}, PAIRED[0], outlined="errors_line"),
            lambda facts: (
                f"C = 1 gets {facts.errors(PAIRED[0])} digits wrong, C = 10 {facts.errors(PAIRED[1])}, of the same "
                f"{facts.n_test(PAIRED[0])}. Is one of them better, or may this be chance?"
            ),
            ("One is better, most likely", "It may well be chance"),
            View("compare", compared(*PAIRED), PAIRED[1], outlined="compare_verdict"),
            "the sentences below the table: digits that only one of the two gets wrong.",
            winner,
        ),
    ),
    (
        "A rate without its interval is half a result.",
        "A test set chooses only once: the best of many results on it is too good.",
        "Whatever is alike (copies, pages of a writer, frames of a film) must stay on one side of a split.",
    ),
    (
        "On *Compare*, lay two runs of yours side by side. Would you still say which is better if p were not shown?",
        View("compare"),
    ),
)
