"""Figures that the lessons read off their machines: fields of their texts, each by the name of its function.

What the Playground shows is in plane.py, and what a run has stored is a field as it is; here is what is computed.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from data import load, pictures
from pages.lessons import plane
from pages.lessons.machines import BY_C, BY_DEGREE, DEGREES, FOUND, MACHINES, PAGED, SHIFTS, STRENGTHS, TURNS
from pages.lessons.parts import Facts, figure
from pages.ui.example import evidence, jittered
from pages.ui.kit.text import rounded, small
from pages.ui.recipe import config
from svmcore import SVC
from svmcore.jitter import JitterSet
from svmcore.lab.analyses import suspects
from svmcore.lab.store import runs
from svmcore.metrics import paired_test, wilson
from svmcore.model import labels

LEVEL = 0.05  # of the test whether two machines differ
EVERY_C = tuple(f"c{value}" for value in STRENGTHS)
EVERY_DEGREE = tuple(f"d{degree}" for degree in DEGREES)
SWEPT = {BY_C.field: EVERY_C, BY_DEGREE.field: EVERY_DEGREE}  # what a sweep varies -> its machines


class Pair:
    """Two machines asked of the same test examples; p of the paired test, as a text."""

    def __init__(self, facts: Facts, a: str, b: str):
        left, right = facts.run(a).test(), facts.run(b).test()
        test = paired_test(left.wrong, right.wrong, left.groups)
        self.only_a, self.only_b, self.p = test.only_a, test.only_b, small(test.p_value)
        self.chance = test.p_value >= LEVEL
        may_be_chance = self.chance and test.only_a != test.only_b
        self.doubt = " (The difference between the two numbers of errors may be chance.)" if may_be_chance else ""
        self.moved = int(np.count_nonzero(left.y_pred != right.y_pred))
        self.moved_share = self.moved / len(left.y_pred)


@figure()
def pair(facts: Facts) -> Pair:
    """Of the step: `pair`, or the machine of the question and that of the answer."""
    return Pair(facts, *(facts.step.pair or (facts.step.ask.run, facts.step.look.run)))


@figure("plain", "plain_scrambled", "jittered", "jittered_scrambled")
def scrambled(facts: Facts) -> int:
    """Whose predictions change when pixels are put in another order: 0 nobody's, 1 those of the jittering kernel, 2
    those of the plain machine, 3 both."""
    changes = [bool(Pair(facts, name, f"{name}_scrambled").moved) for name in ("jittered", "plain")]
    return changes[0] + 2 * changes[1]


class Fragile(NamedTuple):
    """A test digit that a machine gets right and of whose moved forms it gets the most wrong. row: of the dataset;
    turned: what it takes the last form for."""

    row: int
    label: object
    turned: str

    @property
    def changes(self) -> bool:
        return self.turned != str(self.label)


@figure("plain")
def digit(facts: Facts) -> Fragile:
    return fragile(facts.run("plain").id, SHIFTS)


@figure("upright")
def six(facts: Facts) -> Fragile:
    return fragile(facts.run("upright").id, "rot:180", "6")


@figure("plain")
def right_plain(facts: Facts) -> int:
    return forms_right(facts, "plain")


@figure("plain", "virtual")
def right_virtual(facts: Facts) -> int:
    return forms_right(facts, "virtual")


def forms_right(facts: Facts, name: str) -> int:
    """How many of the shifted forms of `digit`, itself among them, a machine gets right."""
    return int((_answers(facts.run(name), [facts["digit"].row], SHIFTS) == facts["digit"].label).sum())


@lru_cache(maxsize=32)
def fragile(run_id: str, jitters: str, true: str | None = None) -> Fragile:
    """true: its class, if it is to be of one. LookupError if there is none."""
    run = runs.get(run_id)
    test = run.test()
    ok = (test.y_true == test.y_pred) & ((true is None) | (test.y_true.astype(str) == true))
    rows = test.index[ok]
    if not len(rows):
        raise LookupError("the machine classifies no digit of this class correctly; another seed draws other digits")
    answers = _answers(run, rows, jitters)
    at = int(np.argmin((answers == test.y_true[ok]).sum(axis=0)))
    return Fragile(int(rows[at]), test.y_true[ok][at], str(answers[-1, at]))


def _answers(run, rows, jitters: str) -> np.ndarray:
    """(J, n) what a machine takes each form of each digit for."""
    machine = run.machine()
    moved = _forms(run, rows, jitters)
    return np.stack([labels(machine.classes, machine.decision_values(evidence.prepared(run, form))) for form in moved])


def _forms(run, rows, jitters: str) -> np.ndarray:
    """(J, n, ...) the forms of examples, as the page Jitters makes them."""
    dataset = load(run.recipe.dataset)
    return jittered.applied(JitterSet.parse(jitters, dataset.image_shape), dataset.X_train[rows])


@figure("plain")
def nine(facts: Facts) -> dict[str, int]:
    """How many pictures nine forms of each digit are: of those that are kept, and of all."""
    return {"of_kept": 9 * facts["plain"]["n_union"], "of_all": 9 * facts["plain"]["n_train"]}


@figure("jittered")
def comparisons(facts: Facts) -> int:
    """Of the jittering kernel, for one decision."""
    return 9 * facts["jittered"]["n_union"]


@figure("upside")
def turned_copies(facts: Facts) -> int:
    """Of the support vectors."""
    return int((facts.run("upside").machine().jitter > 0).sum())


@figure("plain")
def leak(facts: Facts) -> dict[str, int]:
    """Errors on the n shifted copies of some digits, by folds drawn copy by copy and by folds of digits."""
    return _leak(facts.run("plain").id)


@lru_cache(maxsize=8)
def _leak(run_id: str, n: int = 100, folds: int = 5) -> dict[str, int]:
    run = runs.get(run_id)
    rows = run.train_index()[:n]
    forms = np.stack([evidence.prepared(run, form) for form in _forms(run, rows, SHIFTS)])
    J = len(forms)
    X, y = forms.reshape(J * n, -1), np.tile(evidence.labels(run).seen[rows], J)
    rng = np.random.default_rng(run.recipe.seed)
    by_copy, by_digit = rng.permutation(J * n) % folds, np.tile(rng.permutation(n) % folds, J)

    def errors(fold) -> int:
        machines = [SVC(run.recipe.kernel, C=run.recipe.C).fit(X[fold != k], y[fold != k]) for k in range(folds)]
        return sum(int((machine.predict(X[fold == k]) != y[fold == k]).sum()) for k, machine in enumerate(machines))

    return {"by_copy": errors(by_copy), "by_digit": errors(by_digit), "n": J * n}


@figure()
def unmoved(facts: Facts) -> bool:
    """Whether the line of the answer is that of the question."""
    return plane.same(facts["ask"].machine, facts["look"].machine)


@figure()
def turned(facts: Facts) -> float:
    """By how many degrees the line turns."""
    return plane.turned(facts["ask"].machine, facts["look"].machine)


@figure()
def widened(facts: Facts) -> float:
    """By what share of its width the road grows."""
    return facts["look"].width / facts["ask"].width - 1


@figure("plain")
def classes(facts: Facts) -> dict:
    """What digits press with."""
    coef = facts.run("plain").machine().coef[0]
    return plane.forces(-coef[coef < 0], coef[coef > 0], ("three", "eight"), 1e-4)


def _sweep(sweep, facts: Facts) -> dict:
    """The address of the page Choose with a sweep of the lessons."""
    return config.link(sweep.base.replace(seed=facts.seed)) | {"over": sweep.field, "value": list(sweep.values)}


@figure(*EVERY_C)
def sweep_c(facts: Facts) -> dict:
    return _sweep(BY_C, facts)


@figure(*EVERY_DEGREE)
def sweep_degree(facts: Facts) -> dict:
    return _sweep(BY_DEGREE, facts)


@figure("upright", "tilted", "upside")
def sweep_turns(facts: Facts) -> dict:
    return _sweep(TURNS, facts)


def _held_out(facts: Facts, names: tuple[str, ...], called: list[str]) -> dict:
    """Errors of several machines on n examples, each held out once. listed: in words; worst: the number of the machine
    that makes the most; last_change: between the last two."""
    errors, n = [facts[name]["validation"]["errors"] for name in names], facts[names[0]]["n_train"]
    listed = ", ".join(f"{bad} ({100 * bad / n:.2f} %) for {what}" for bad, what in zip(errors, called, strict=True))
    worst, last_change = errors.index(max(errors)), abs(errors[-1] - errors[-2])
    return {"n": n, "listed": listed, "worst": worst, "last_change": last_change}


@figure(*EVERY_C)
def held_out_by_c(facts: Facts) -> dict:
    return _held_out(facts, EVERY_C, [f"C = {value}" for value in STRENGTHS])


@figure(*EVERY_DEGREE)
def held_out_by_degree(facts: Facts) -> dict:
    return _held_out(facts, EVERY_DEGREE, [f"degree {degree}" for degree in DEGREES])


@figure("d3")
def estimates(facts: Facts) -> dict:
    """Error rates that three ways give from the training digits of degree 3, and the number of the one that comes
    nearest to the rate on test digits."""
    bounds, observed = facts["d3"]["bounds"], facts["d3"]["error_rate"]
    rates = {way: bounds[way]["errors"] / bounds[way]["n"] for way in ("leave_one_out", "radius_margin", "vc")}
    return rates | {"nearest": int(np.argmin([abs(rate - observed) for rate in rates.values()]))}


@figure("plain")
def interval(facts: Facts) -> dict[str, float]:
    """The 95 % interval of the errors, in examples, and half of its width."""
    n = facts["plain"]["n_test"]
    low, high = (share * n for share in wilson(facts["plain"]["errors"], n))
    return {"low": low, "high": high, "half": (high - low) / 2}


@figure("plain")
def by_group(facts: Facts) -> dict[str, int]:
    """Errors in the best and the worst of ten groups of test digits."""
    counts = [int(group.sum()) for group in np.array_split(facts.run("plain").test().wrong, 10)]
    return {"best": min(counts), "worst": max(counts), "apart": max(counts) - min(counts)}


@figure(*EVERY_C, *EVERY_DEGREE)
def lucky(facts: Facts, n: int = 50) -> dict:
    """Of many machines the one with the fewest errors on the first n test digits; its rate there, and on the rest."""
    every = [facts.run(name) for name in (*EVERY_C, *EVERY_DEGREE)]
    wrong = min((run.test().wrong for run in every), key=lambda wrong: int(wrong[:n].sum()))
    rates = {"rate": float(wrong[:n].mean()), "others": float(wrong[n:].mean())}
    return rates | {"n": n, "errors": int(wrong[:n].sum()), "rest": len(wrong) - n, "ids": [run.id for run in every]}


@figure("plain")
def alike(facts: Facts, n: int = 20) -> dict:
    """How alike the n support vectors with the largest alphas, and those with the least, are to the most similar one of
    their class, on average; 1 is the same picture. odd: whether the first are less so."""
    machine = facts.run("plain").machine()
    coef = machine.coef[0]
    order = np.argsort(-np.abs(coef), kind="stable")
    K = machine.kernel.block(machine.support_vectors, machine.support_vectors)
    np.fill_diagonal(K, -1)
    nearest = np.where(np.sign(coef)[:, None] == np.sign(coef), K, -1).max(axis=1)
    hardest, least = (float(nearest[rows].mean()) for rows in (order[:n], order[-n:]))
    return {"n": n, "hardest": hardest, "least": least, "odd": hardest < least}


class Confused(NamedTuple):
    """Test examples of one class that a machine takes for another. pull: (m,) what each support vector contributes to
    `called`, for the example that is called so most certainly."""

    true: object
    called: object
    pull: np.ndarray

    @property
    def cell(self) -> str:
        """As the page Errors calls it."""
        return f"{self.true} → {self.called}"

    @property
    def agree(self) -> int:
        return int((self.pull > 0).sum())

    @property
    def disagree(self) -> int:
        return int((self.pull < 0).sum())

    @property
    def half(self) -> int:
        """How many of those that speak for `called` come to half of what does."""
        speaks = np.sort(self.pull[self.pull > 0])[::-1]
        return int(np.searchsorted(np.cumsum(speaks), speaks.sum() / 2)) + 1


@figure("clothes")
def coats(facts: Facts) -> Confused:
    return _confused(facts, "clothes", "Coat", "Shirt")


@figure("plain")
def confused(facts: Facts) -> Confused:
    """The error that the machine of digits makes more often."""
    test = facts.run("plain").test()
    three = np.sum((test.y_true == 3) & (test.y_pred == 8)) >= np.sum((test.y_true == 8) & (test.y_pred == 3))
    return _confused(facts, "plain", *((3, 8) if three else (8, 3)))


def _confused(facts: Facts, name: str, true, called) -> Confused:
    run, dataset = facts.run(name), facts.dataset(name)
    machine, test = run.machine(), run.test()
    wrong = np.flatnonzero((test.y_true == true) & (test.y_pred == called))
    if not len(wrong):
        raise LookupError(f"this machine makes no error {true} → {called}; another seed draws other examples")
    sign = 1 if called == machine.classes[1] else -1  # of two classes f > 0 is the second one's
    worst = test.index[wrong[np.argmax(sign * test.decision[wrong].ravel())]]
    X = dataset.X_test if test.split == "test" else dataset.X_train
    x = evidence.prepared(run, X[worst][None])
    return Confused(true, called, sign * machine.coef[0] * machine.kernel.block(x, machine.support_vectors)[0])


@figure("digested", "undigested")
def race(facts: Facts) -> dict:
    """The address of the page Digestion with both of its solvers."""
    rows = MACHINES["digested"].option("digestion")["rows"]
    return {"set": PAGED.dataset, "copies": "none", "rows": rows, "n": PAGED.n_train, "seed": facts.seed}


@figure("undigested")
def most_at_once(facts: Facts) -> int:
    """Support vectors, while it was trained."""
    return max(line["n_sv"] for line in facts.run("undigested").progress())


@figure("plain", "few")
def likeness(facts: Facts) -> dict:
    """Cosines, in feature space, of the angle of n constructed vectors to the nearest support vector. choice: 2 where
    none is a support vector, else 0."""
    few, plain = facts.run("few").machine(), facts.run("plain").machine()
    Z, X, kernel = few.support_vectors, plain.support_vectors, plain.kernel
    sizes = np.sqrt(np.outer(np.diag(kernel.exact(Z, Z)), np.diag(kernel.exact(X, X))))
    cosines = (np.abs(kernel.exact(Z, X)) / sizes).max(axis=1)
    least, most = float(cosines.min()), float(cosines.max())
    shown = {"least": rounded(least, 2), "most": rounded(most, 2)}
    return shown | {"n": len(cosines), "choice": 2 * (most < 1 - 1e-4)}


@figure("noisy")
def swapped_first(facts: Facts) -> int:
    """Of the 20 support vectors with the largest alphas."""
    run = facts.run("noisy")
    machine = run.machine()
    top = np.argsort(-np.abs(machine.coef[0]), kind="stable")[:20]
    return _swapped(run, run.train_index()[machine.support[top]])


@figure("noisy")
def swapped_listed(facts: Facts) -> int:
    """Of the first 20 that the page Labels lists."""
    run = facts.run("noisy")
    return _swapped(run, suspects.suspects(run, "folds").first(20).index)


def _swapped(run, rows) -> int:
    """How many of these rows of the dataset had another label in training."""
    return int((evidence.labels(run).given[rows] != "").sum())


@figure("clean", "noisy", "edited")
def edited_size(facts: Facts) -> int:
    """0: the edited machine keeps as many support vectors as with swapped labels; 1: fewer; 2: fewer than with clean
    ones."""
    clean, noisy, edited = (facts[name]["n_union"] for name in ("clean", "noisy", "edited"))
    return int(edited < noisy) + int(edited < min(clean, noisy))


@figure()
def windows(facts: Facts, side: int = 15) -> int:
    """How many windows of side x side pixels one picture has."""
    height, width = pictures.entry(FOUND.dataset).load().pictures[0].image.shape[:2]
    return (height - side + 1) * (width - side + 1)


@figure()
def one_in_hundred(facts: Facts) -> int:
    return round(facts["windows"] / 100)


@figure("found")
def loose(facts: Facts) -> dict:
    """At 100 false alarms in all: how many are detected, and false alarms per picture as the address has it."""
    result = facts["found"]
    detected = round(result["machines"]["machine"]["rates"]["100"] * result["n_test"])
    return {"detected": detected, "per_picture": f"{100 / result['pictures']:.4g}"}


@figure("found")
def strict(facts: Facts) -> dict[str, float]:
    """Detection rates of each detector at 10 false alarms in all."""
    return {name: detector["rates"]["10"] for name, detector in facts["found"]["machines"].items()}


@figure("found")
def apart(facts: Facts) -> bool:
    """Whether the intervals of the machine and of the Gaussian have nothing in common."""
    (a, b), (c, d) = (facts["found"]["machines"][name]["interval"] for name in ("machine", "Gaussian"))
    return not (a <= d and c <= b)
