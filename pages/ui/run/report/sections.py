"""What stands on the sheet of a run that tells classes apart, and what all runs share; each part is HTML."""

import numpy as np

from pages.ui.example import decision_plane, evidence
from pages.ui.figures import curves
from pages.ui.kit import view, words
from pages.ui.kit.gallery import SIDES, VIRTUAL_RINGS, Tile, one_size
from pages.ui.kit.palette import BLUE, GREY, ORANGE
from pages.ui.kit.text import rounded
from pages.ui.run.report import charts, marks
from svmcore.lab.analyses import unsure
from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import FIELDS, option_fields
from svmcore.metrics import class_positions, confusion

SUPPORTS, WRONG = 36, 60  # pictures shown
MATRIX = 20  # classes up to which the confusion matrix is drawn
PAIRS = 20  # of the most frequent confusions, beyond
MOST_CLASSES = 100  # rows of the table by class
FEATURES = 8  # columns of a table of features
BINS = 24
PRICES = (0.5, 0.2, 0.1, 0.05, 0.02)  # of *not sure*
NAME = 24  # characters of a class in a table


def recipe(run) -> str:
    """Everything that was asked; of a field left open, what that means."""
    fields, asked = FIELDS | option_fields(), {}
    for name, text in run.recipe.texts().items():
        field = fields.get(name)
        label, said = (field.label, field.called(text)) if field else (name, text)
        asked[label] = "–" if said in ("", "none") else said
    return marks.section("Recipe", marks.paragraph(METHODS[run.recipe.method].help), marks.facts(asked))


def result(run) -> str:
    """What came out, with its interval, and what it cost; the time of compiling apart."""
    found = run.result
    cost = {
        "Support vectors": f"{found['n_union']:,} distinct",
        "Alphas above 0 in each machine": ", ".join(f"{n:,}" for n in found["n_sv"][:MOST_CLASSES]),
        "Bounded alphas (alpha = C) in each machine": ", ".join(f"{n:,}" for n in found["n_bound"][:MOST_CLASSES]),
        "Training": words.duration(words.training_seconds(found)),
        "Compiling (once per program)": words.duration(words.compiling(found)),
        "Testing": f"{words.duration(found['predict_seconds'])} for {found['n_test']:,} examples",
        "Kernel evaluations": f"{found['kernel_evals']:,}",
        "Iterations of the solver": f"{found['iterations']:,}",
        "Dual objective": f"{found['dual']:,.6g}",
        "Memory": words.memory(found),
    }
    if strategy := found.get("strategy"):
        cost["Source of kernel values"] = strategy
    said = [marks.paragraph(words.error_rate(found), "lead")]
    if "errors" in found:
        said.append(marks.paragraph("In brackets: the 95 % interval of the share (Wilson), in per cent.", "quiet"))
    if "roc_area" in found:
        cost = {"Area under the ROC curve": f"{found['roc_area']:.4f}"} | cost
    if check := found.get("validation"):
        cost = {f"Cross-validation on {len(check['folds'])} folds of the training set": words.error_rate(check)} | cost
    if beside := METHODS[found["method"]].words(found):
        said.append(marks.paragraph(beside))
    if found.get("ending"):
        said.append(marks.paragraph(f"The run did not reach tol: {found['ending']}"))
    return marks.section("Result", *said, marks.facts(cost))


def course(run) -> str:
    progress = run.progress()
    if not progress:
        return ""
    if run.result and (own := view.part(run.recipe, "course")):
        return own(run)
    tol, gaps, counts = run.recipe.tol, [], []
    for phase in curves.trainings(progress):
        seconds = [line["seconds"] for line in phase]
        gaps.append(charts.Line("", seconds, [curves.mean_gap(line) for line in phase]))
        last = phase[-1] is progress[-1]
        for name, field, colour in (("SVs", "n_sv", BLUE), ("bounded", "n_bound", GREY)):
            counts.append(charts.Line(name if last else "", seconds, [line[field] for line in phase], colour))
    now, least = words.small(curves.mean_gap(progress[-1])), words.small(tol, 6)
    whose = "Mean optimality gap of the machines" if words.machines(progress[-1]) > 1 else "Optimality gap"
    return marks.section(
        "Convergence",
        '<div class="pair">',
        charts.lines(
            gaps, "time, s", "KKT gap", f"KKT gap over time on a log axis, {now} in the end; tol is {least}.",
            f"{whose} over time. Training stops when every optimality condition holds to within tol = {least}.",
            log_y=True, level=(tol, "tol"),
        ),
        charts.lines(
            counts, "time, s", "count", "Support vectors and bounded ones over time.",
            "Blue: alphas above 0. Grey: bounded alphas (alpha = C). Both are counted over all machines.",
        ),
        "</div>",
    )  # fmt: skip


def confusions(run) -> str:
    """Which classes are taken for which, and how each fares."""
    machine, test = run.machine(), run.test()
    names, legend = _short_names(evidence.class_names(run, machine))
    matrix = confusion(test.y_true, test.y_pred, machine.classes)
    wrong = matrix * ~np.eye(len(names), dtype=bool)
    parts = []
    if len(names) <= MATRIX:
        most = max(1, wrong.max())
        shades = {(i, j): wrong[i, j] / most for i, j in np.argwhere(wrong)}
        rows = [[name, *(f"{n:,}" if n else "" for n in row)] for name, row in zip(names, matrix)]
        said = "Rows are true classes, columns are predicted classes. A darker cell contains more errors."
        parts.append(marks.table(["true \\ predicted", *names], rows, said, shades))
    else:
        cells = sorted(np.argwhere(wrong), key=lambda at: -wrong[*at])[:PAIRS]
        rows = [[names[i], names[j], f"{wrong[i, j]:,}"] for i, j in cells]
        parts.append(marks.table(["true", "predicted", "times"], rows, "The most frequent confusions."))
    table = evidence.by_class(machine, test)[:MOST_CLASSES]
    told = ("tested", "errors", "fn", "fp", "svs", "bound")
    rows = [[name, *(f"{row[column]:,}" for column in told)] for name, row in zip(names, table, strict=False)]
    head = ["class", "tested", "errors", "missed (FN)", "false alarms (FP)", "support vectors", "bounded"]
    said = "Errors are those of the whole classifier, by true class. FN and FP are those of each class's machine alone."
    return marks.section("Classes", legend, *parts, marks.table(head, rows, said))


def _short_names(names: list[str]) -> tuple[list[str], str]:
    """Names that fit the head of a table and are different, and what they stand for where they had to be cut."""
    short = [words.short(name, NAME) for name in names]
    if len(set(short)) < len(short):
        short = [f"{number}: {name}" for number, name in enumerate(short, 1)]
    cut = {label: words.short(name, 1000) for label, name in zip(short, names) if label != name}
    return short, marks.facts(cut) if cut else ""


def supports(run, most: int = SUPPORTS) -> str:
    """The examples that hold the machines up; most: pictures of all machines."""
    machine = run.machine()
    names = evidence.machine_names(run, machine)
    heaviest = [evidence.supports(run, machine, c) for c in range(len(names))]
    each = max(1, most // len(names))
    parts = [_alphas(run, machine, heaviest)]
    pictures, shown = [], []
    for name, of in zip(names[:most], heaviest):
        chosen = evidence.take(of, slice(each))
        pictures.append(evidence.support_pictures(run, machine, chosen))
        shown += [
            tile._replace(label=f"{tile.label}, {name}", lower=f"α {tile.lower}")
            for tile in evidence.support_tiles(run.recipe.dataset, chosen, chosen.alpha)
        ]
    if shown:
        parts.append(
            marks.gallery(
                np.concatenate(one_size(*pictures)), shown,
                f"The {each} largest alphas of each machine. {VIRTUAL_RINGS}; {SIDES}. Below each picture: its class "
                "and alpha.",
            )
        )  # fmt: skip
    return marks.section("Largest support vectors", *parts)


def _alphas(run, machine, heaviest) -> str:
    alpha = np.concatenate([of.alpha for of in heaviest])
    sign = np.concatenate([of.sign for of in heaviest])
    if not len(alpha):
        return ""
    edges = np.linspace(0, alpha.max() * (1 + 1e-9), BINS + 1)
    counts = [np.histogram(alpha[sign == side], edges)[0].tolist() for side in (1, -1)]
    bound = int(machine.bound.sum())
    return charts.bars(
        edges.tolist(), counts, (BLUE, ORANGE), "alpha", "support vectors",
        f"Histogram of {len(alpha):,} alphas of all machines; {bound:,} of them are bounded.",
        f"Alphas of all machines. Blue: the machine's own class; orange: the other classes. {bound:,} of "
        f"{len(alpha):,} alphas are bounded.",
    )  # fmt: skip


def abstain(run) -> str:
    """What is left of the errors where the machine need not answer, by what *not sure* costs; "" for too few tests."""
    machine, test = run.machine(), run.test()
    true = class_positions(test.y_true, machine.classes)
    try:
        P, _ = calibrated = unsure.of_run(run)
    except ValueError:
        return ""
    rows = []
    for price in PRICES:
        answer = unsure.answers(P, price)
        given = answer != unsure.UNSURE
        left, n = int((given & (answer != true)).sum()), int(given.sum())
        of_these = words.percent(left / n, 2) if n else "–"
        rows.append([f"{price:g}", f"{n:,}", words.percent(n / len(true), 1), f"{left:,}", of_these])
    said = "An error costs 1, abstaining costs what the first column states (Chow 1970). Probabilities are computed by "
    said += f"Platt's logistic curve. {calibrated.how}"
    head = ["cost of abstaining", "classified", "coverage", "errors", "error rate"]
    return marks.section("Abstain (reject option)", marks.table(head, rows, said))


def wrong(run, most: int = WRONG) -> str:
    """The test examples that come out wrong, the most certain ones first; most: pictures of these."""
    machine, test = run.machine(), run.test()
    dataset, (names, _) = evidence.data_of(run), _short_names(evidence.class_names(run, machine))
    true, predicted = (class_positions(y, machine.classes) for y in (test.y_true, test.y_pred))
    rows = np.flatnonzero(true != predicted)
    if not len(rows):
        return marks.section("Errors", marks.paragraph("No test example is misclassified."))
    lead = evidence.lead(test.decision, true, predicted)[rows]
    rows = rows[np.argsort(-lead, kind="stable")][:most]
    shown = [
        Tile(
            "",
            f"{words.test_example(test.split, test.index[i])}, true {names[true[i]]}, predicted {names[predicted[i]]}",
            words.isolated(" → ".join(words.short(names[of[i]], 10) for of in (true, predicted))),
            f"no. {test.index[i]}",
        )
        for i in rows
    ]
    pictures = evidence.example_pictures(dataset, test.split, test.index[rows])
    n = int(np.sum(true != predicted))
    where = "number in the test set"
    if test.split != "test":
        where = "number in the training set, from which the test examples were held out"
    some = f"The {len(rows)} most certain of {n:,} errors" if n > len(rows) else words.many(n, "error")
    parts = [marks.gallery(pictures, shown, f"{some}: true → predicted class, {where}.")]
    if dataset.image_shape is None:
        X = evidence.examples(dataset, test.split)[0][test.index[rows[:PAIRS]]]
        columns = [words.short(name, 24) for name in dataset.feature_names[:FEATURES]]
        lines = [
            [test.index[i], names[true[i]], names[predicted[i]], *(rounded(value, 4) for value in x[:FEATURES])]
            for i, x in zip(rows, X)
        ]
        parts.append(
            marks.table(["no.", "true", "predicted", *columns], lines, "The first features of these examples.")
        )
    return marks.section("Errors", *parts)


def regions(run) -> str:
    """Of points in the plane: what the machine says everywhere."""
    if not decision_plane.is_plane(run):
        return ""
    machine, test = run.machine(), run.test()
    dataset = evidence.data_of(run)
    X = evidence.rows_of(dataset, test.split, test.index)
    wrong = test.wrong
    y, field = class_positions(test.y_true, machine.classes), decision_plane.field_of(run, machine, X)
    return marks.section("The plane", charts.plane(X, y, wrong, field, len(machine.classes)))
