"""classify: one label for each example, judged by the labels that come out wrong."""

from functools import lru_cache
from math import prod
from typing import ClassVar, NamedTuple

import numpy as np

from data import catalogue, load
from data.dataset import Arrays
from svmcore.allowed import an_object, count, fraction, several
from svmcore.explain.retraining import HELD
from svmcore.explain.suspects import doubts
from svmcore.lab import split
from svmcore.lab.costs import HARD, RATE, Sizes, easy
from svmcore.lab.fields import FLAG, Field, RecipeError, numeric
from svmcore.lab.methods import METHODS
from svmcore.lab.problem import Aside, Problem, assemble, shape_made, transformed
from svmcore.lab.solvers import svc
from svmcore.lab.task import Check, Task, csv_text
from svmcore.metrics import rate_text, roc_area, stratified_folds, wilson
from svmcore.model import Machine, labels
from svmcore.preprocess import Preprocessor
from svmcore.svc import SVC

TOGETHER = 500_000  # alphas of the machines of all folds that are trained together, about 50 MB
ASIDE = 10_000  # examples that choices are made on, at most
OVERLAP = 0.15  # share of a table's examples, support vectors at any size, from which its classes overlap
FEW, MORE = 400, 1600  # examples by which the reader's own tables are tried before a forecast, in about 50 ms
TRIED_NUMBERS, TRIED_PAIRS = 1 << 18, 20_000  # features of MORE examples, and pairs moved, up to which it is tried
FIGURES = {"errors": count, "error_rate": fraction, "interval": several(fraction, 2, 2)}  # of a result
GROUPS = "n_groups"  # of a result whose interval counts groups of test examples


class TestSet(NamedTuple):
    """What a machine said about the test examples."""

    index: np.ndarray  # (n,) int64, positions in the dataset's test or training part
    y_true: np.ndarray  # (n,)
    y_pred: np.ndarray  # (n,)
    decision: np.ndarray  # (n, k) float64
    split: str  # "test" | "train": the part that `index` points into
    y_noisy: np.ndarray = np.zeros(0)  # (n,) labels with the recipe's noise, or (0,) where it has none
    doubted: np.ndarray = np.zeros(0, np.int64)  # of folds: training examples that none of them saw the second time
    groups: np.ndarray = np.zeros(0, np.int64)  # (n,) which of them belong together, or (0,) where none do

    @property
    def wrong(self) -> np.ndarray:
        """(n,) bool"""
        return self.y_true != self.y_pred


class Classify(Task):
    """Tell classes apart."""

    name = "classify"
    title = "Classify examples"
    does = "tells classes apart"
    rated = "Wrong"
    answers = True
    fields = (
        Field("noise", numeric(0, 0.5, closed=True), 0.0, step=0.05),
        Field("refold", FLAG, False, shown=False, needs="folds"),
    )
    figures: ClassVar = FIGURES
    at_times: ClassVar = {"roc_area": fraction, "noisy": an_object(FIGURES), GROUPS: count}
    arrays: ClassVar = {
        "index": ("iu", 1),
        "y_true": ("biufU", 1),
        "y_pred": ("biufU", 1),
        "decision": ("f", 2),
        "split": ("U", 0),
    }
    kept = TestSet
    tables: ClassVar = {
        "predictions": ("All predictions", "One row for each test example: true and predicted class, decision values."),
        "errors": ("Errors", "One row for each misclassified test example: true and predicted class, decision values."),
    }

    def check(self, recipe) -> None:
        if recipe.options.get("refold") and recipe.folds is None:
            raise RecipeError("refold", True, "false, or true together with a number of folds")

    def judged(self, arrays: dict) -> TestSet:
        if str(arrays["split"]) not in ("test", "train"):
            raise ValueError("it does not name the set of its examples")
        noisy, groups = arrays.get("y_noisy", np.zeros(0)), arrays.get("groups", np.zeros(0, np.int64))
        for name, values in (("y_noisy", noisy), ("groups", groups)):
            if values.shape not in ((0,), arrays["y_true"].shape):
                raise ValueError(f"{name} has the shape {values.shape}")
        doubted = arrays.get(name := "doubted", np.zeros(0, np.int64))
        if doubted.dtype.kind not in "iu" or doubted.ndim != 1:
            raise ValueError(f"{name} has the shape {doubted.shape} and the type {doubted.dtype}")
        return super().judged(arrays)._replace(y_noisy=noisy, doubted=doubted, groups=groups)

    def misfit(self, shapes) -> str:
        lengths = {shapes[name][0] for name in ("index", "y_true", "y_pred", "decision")}
        return f"its arrays have different lengths, {', '.join(map(str, sorted(lengths)))}" if len(lengths) > 1 else ""

    def folded(self, judged: list[TestSet]) -> TestSet | None:
        """All training examples, in the order of their positions; `y_true` as training saw it. None where the machine
        of a fold did not know all classes, as the only example of one was held out."""
        columns = {test.decision.shape[1] for test in judged}
        y_true = np.concatenate([test.y_true for test in judged])
        k = len(np.unique(y_true))
        if columns != {1 if k == 2 else k}:
            return None
        index = np.concatenate([test.index for test in judged])
        order = np.argsort(index)
        y_pred, decision = (np.concatenate([getattr(test, name) for test in judged]) for name in ("y_pred", "decision"))
        return TestSet(index[order], y_true[order], y_pred[order], decision[order], judged[0].split)

    def doubted(self, recipe, folded: TestSet) -> np.ndarray:
        if not recipe.options.get("refold"):
            return folded.index[:0]
        classes, given = np.unique(folded.y_true, return_inverse=True)
        return folded.index[doubts(folded.decision, given, len(classes)).likely]

    def fits(self, machine: Machine, judged: TestSet) -> bool:
        known = np.isin(np.concatenate([judged.y_true, judged.y_pred]), machine.classes).all()
        return bool(known) and judged.decision.shape[1] == len(machine.bias)

    def prepare(self, recipe, check: Check, part: int = 0) -> Problem:
        check("loading")
        data = load(recipe.dataset)
        return assemble(recipe, data, _parts(recipe, data), check)

    def examples(self, recipe) -> Arrays:
        data = load(recipe.dataset)
        parts = _parts(recipe, data)
        held = data.X_test if parts.part == "test" else data.X_train
        return Arrays(data.X_train[parts.train], parts.y_train, held[parts.test], parts.y_test)

    def with_aside(self, recipe, problem: Problem, check: Check) -> Problem:
        data = load(recipe.dataset)
        rows = split.left_over(recipe, data, ASIDE)
        if not len(rows):
            return problem
        X = transformed(problem.prepare, data.X_train, rows, check)
        return problem._replace(aside=Aside(X, split.labels(recipe, data.y_train[rows])))

    def fold(self, recipe, number: int, check: Check) -> Problem:
        data = load(recipe.dataset)
        return assemble(recipe, data, split.fold(recipe, _parts(recipe, data), number), check)

    def judged_folds(self, recipe, problem: Problem, without: np.ndarray, monitor) -> list[TestSet] | None:
        whole = problem.source is not None and problem.source.gram.values is not None
        if not whole or not METHODS[recipe.method].folds_together(recipe):
            return None
        folds = stratified_folds(problem.y_train, recipe.folds, recipe.seed, problem.groups)
        held = np.zeros((recipe.folds, len(problem.y_train)), bool)
        for number, (_, rows) in enumerate(folds):
            held[number, rows] = True
        out = held | np.isin(problem.train_index, without)
        classes, label = np.unique(problem.y_train, return_inverse=True)
        rare = any(len(np.unique(label[~rows])) < len(classes) for rows in out)
        if rare or held.size * len(classes) > TOGETHER:
            return None
        machine, examples = svc(recipe, problem), (problem.X_train, problem.y_train, out, problem.weight)
        decisions, judged = machine.held_out_decisions(*examples, monitor=monitor, source=problem.source), []
        for rows, decision in zip(held, decisions, strict=True):
            groups = None if problem.groups is None else problem.groups[rows]
            aside = {"test_index": problem.train_index[rows], "y_test": problem.y_train[rows], "test_groups": groups}
            part = problem._replace(**aside, test_split="train", y_noisy=None)
            judged.append(_answered(part, classes, decision[rows]))
        return judged

    def judge(self, machine: Machine, problem: Problem, check: Check) -> TestSet:
        decision = machine.decision_values(problem.X_test, lambda: check("predicting"))
        return _answered(problem, machine.classes, decision)

    def outcome(self, judged: list[TestSet]) -> dict:
        n_test, groups = sum(len(test.y_true) for test in judged), sum(len(np.unique(test.groups)) for test in judged)
        found = {"n_test": n_test} | _rate(sum(map(self.loss, judged)), n_test, groups) | _ranking(judged)
        found |= {GROUPS: groups} if groups else {}
        if not all(len(test.y_noisy) for test in judged):
            return found
        return found | {"noisy": _rate(sum(int((t.y_noisy != t.y_pred).sum()) for t in judged), n_test, groups)}

    def loss(self, judged: TestSet) -> int:
        return len(self.wrong(judged))

    def wrong(self, judged: TestSet) -> np.ndarray:
        return judged.index[judged.wrong]

    def headline(self, result: dict) -> str:
        """`12 of 1,000 wrong, 1.20 % (0.7–2.1)`: errors, their rate and its 95 % interval, and what that counts."""
        rate = rate_text(result["error_rate"], result["interval"])
        counts = f", interval from {groups:,} independent groups" if (groups := result.get(GROUPS)) else ""
        return f"{result['errors']:,} of {result['n_test']:,} wrong, {rate}{counts}"

    def rate(self, result: dict) -> float:
        return result["error_rate"]

    def table(self, name: str, judged: list[TestSet], machines: list[Machine]) -> str:
        """Test examples, or the errors: their split (`of`) and position, labels, decision values of each machine."""
        (test,), (machine,) = judged, machines
        names = machine.classes if test.decision.shape[1] > 1 else machine.classes[1:]
        told = np.arange(len(test.y_true)) if name == "predictions" else np.flatnonzero(test.wrong)
        return csv_text(
            ["part", "of", "index", "true", "predicted", *(f"f_{name}" for name in names)],
            (["test", test.split, *(of[i] for of in test[:3]), *test.decision[i].tolist()] for i in told),
        )

    def size(self, recipe) -> Sizes:
        entry = catalogue.entry(recipe.dataset)
        METHODS[recipe.method].require_images(recipe, entry.shape if len(entry.shape) > 1 else None, entry.groups > 0)
        known = [str(label) for label in entry.classes]
        if strange := [label for label in map(str, recipe.classes) if label not in known]:
            raise RecipeError("classes", ", ".join(strange), f"labels of {recipe.dataset}: {', '.join(known)}")
        classes_asked = len(recipe.classes) if len(recipe.classes) > 1 else entry.n_classes
        share = classes_asked / entry.n_classes
        drawn = entry.n_train - entry.asked - entry.out[0], entry.n_test - entry.out[1]
        n_train, n_test = (round(n * share) for n in drawn)
        if not entry.n_test:
            of = drawn[0] if recipe.n_test else n_train  # of some classes the number is an estimate
            n_test = split.held_out(recipe, of, classes_asked)
            n_train -= min(n_test, n_train - 1)
        n_classes = 2 if len(recipe.classes) == 1 else len(recipe.classes) or entry.n_classes
        METHODS[recipe.method].need_classes(recipe, n_classes)
        n_train, images = min(recipe.n_train or n_train, n_train), len(entry.shape) > 1
        n_train += round(entry.asked * share)
        if recipe.bounds and entry.groups:
            why = f"{recipe.dataset} has groups, and leave-one-out would train on other examples of the same group"
            raise RecipeError("bounds", True, f"false, because {why}; folds keep groups together")
        if recipe.bounds and n_train > HELD:
            raise RecipeError(
                "bounds", True, f"false, or n_train up to {HELD:,}, so that the kernel values fit into memory"
            )
        noise, usual, always = recipe.options.get("noise", 0.0), HARD, 0.0
        if images:
            usual = easy(recipe.kernel, recipe.preprocess, recipe.dataset, recipe.classes)
        elif recipe.dataset.startswith(catalogue.OWN_PREFIX):
            usual, always = _tried(recipe.dataset, _stamps(entry), recipe.kernel, recipe.preprocess, recipe.classes)
        always += 2 * noise  # share of the examples that are support vectors however many there are
        return Sizes(
            n_train,
            min(recipe.n_test or n_test, n_test),
            prod(shape_made(recipe, entry.shape, n_train, recipe.folds)),
            1 if n_classes == 2 else n_classes,
            (1 if images else 4) * prod(entry.shape) * (entry.n_train + entry.unlabelled + entry.n_test),
            usual + always * n_train ** (1 - RATE),
            1 / n_classes,
            noise > 0 or (not images and (usual == HARD or bool(always > OVERLAP))),
            (entry.n_train + entry.unlabelled + entry.n_test) / entry.groups if entry.groups else 1.0,
        )

    def others(self, recipe, size: Sizes) -> list[Sizes]:
        """Its folds."""
        folds = recipe.folds or 0
        held = size.n_train // folds if folds else 0
        times = 2 * folds if recipe.options.get("refold") else folds
        return times * [size._replace(n_train=size.n_train - held, n_test=held)]


def _answered(problem: Problem, classes: np.ndarray, decision: np.ndarray) -> TestSet:
    """The test examples of a problem with these decision values (n, k)."""
    noisy = np.zeros(0) if problem.y_noisy is None else problem.y_noisy
    groups = TestSet._field_defaults["groups"] if problem.test_groups is None else problem.test_groups
    known = problem.test_index, problem.y_test, labels(classes, decision), decision, problem.test_split
    return TestSet(*known, noisy, groups=groups)


def _stamps(entry) -> tuple[int, ...]:
    """What changes with the files of a dataset."""
    return tuple(path.stat().st_mtime_ns for path in entry.paths())


@lru_cache(maxsize=256)
def _tried(dataset: str, stamps: tuple, kernel, steps: tuple[str, ...], classes: tuple) -> tuple[float, float]:
    """(h, s) of n examples that lead to h n^RATE + s n support vectors of a machine, by FEW and MORE of them, C = 1 and
    the largest class against the others; (HARD, 0) where there are too few, or that takes long or cannot be done."""
    try:
        data = load(dataset)
        known = np.flatnonzero(np.isin(data.y_train, classes)) if len(classes) > 1 else np.arange(len(data.y_train))
        rows = np.random.default_rng(0).permutation(known)[:MORE]
        if len(rows) < MORE or data.X_train[rows].size > TRIED_NUMBERS:
            return HARD, 0.0
        X = Preprocessor(*steps).fit_transform(data.X_train[rows])
        found, counts = np.unique(data.y_train[rows], return_counts=True)
        y = np.where(data.y_train[rows] == found[counts.argmax()], 1, -1)
        monitor = lambda progress: progress.iterations < TRIED_PAIRS  # noqa: E731
        fits = [SVC(kernel, C=1.0).fit(X[:n], y[:n], monitor=monitor) for n in (FEW, MORE)]
        if not all(fit.converged_ for fit in fits):
            return HARD, 0.0
        few, more = (fit.n_support_.sum() / n for fit, n in zip(fits, (FEW, MORE), strict=True))
    except (ValueError, OSError):
        return HARD, 0.0
    falling = [n ** (RATE - 1) for n in (FEW, MORE)]
    h = max((few - more) / (falling[0] - falling[1]), 0.0)
    return float(h), float(max(more - h * falling[1], 0.0))


def labelled(recipe) -> split.Split:
    """The recipe's training and test examples with their labels, as training sees them."""
    return _parts(recipe, load(recipe.dataset))


def _parts(recipe, data) -> split.Split:
    """Training and test set, with the label noise that the recipe asks for."""
    return split.whole(recipe, data, recipe.options.get("noise", 0.0))


def _rate(errors: int, n_test: int, groups: int) -> dict:
    """Errors, their rate and its 95 % interval."""
    return {"errors": errors, "error_rate": errors / n_test, "interval": list(wilson(errors, n_test, groups=groups))}


def _ranking(judged: list[TestSet]) -> dict:
    """{"roc_area": area under the ROC curve} for two classes, both of which were tested: the larger label is positive;
    of several judgements, whose machines' f are no one scale, the mean of their areas."""
    labels = [np.unique(test.y_true) for test in judged]
    if any(len(own) != 2 or test.decision.shape[1] != 1 for own, test in zip(labels, judged)):
        return {}
    areas = [roc_area(test.decision[:, 0], test.y_true == own[1]) for own, test in zip(labels, judged)]
    return {"roc_area": float(np.mean(areas))}
