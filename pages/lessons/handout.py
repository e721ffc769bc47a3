"""A lesson as a sheet to print: its questions over the figures that they are about, room to draw, what to remember.

HTML in the form of a run's report, complete in one file. The answers are left out, or, for the teacher, given.
"""

import numpy as np

from data import load, pictures
from pages.lessons import course, places, seen
from pages.lessons.parts import Facts, Lesson, View
from pages.ui.compare import laid
from pages.ui.example import jittered
from pages.ui.figures import validation
from pages.ui.figures.maps import grid
from pages.ui.kit import short_links
from pages.ui.kit.gallery import data_uri
from pages.ui.kit.palette import BLUE, GREY, ORANGE
from pages.ui.play import setting, solve
from pages.ui.run.report import charts, marks, sections
from svmcore.jitter import JitterSet
from svmcore.lab.store import runs

EDGE = np.array([[-1.0, -1.0], [1.0, 1.0]])  # of the Playground
SHOWN = 24  # pictures of a run: two rows
BOX, LINES = '<div class="room"></div>', '<div class="lines"></div>'


def sheet(lesson: Lesson, seed: int, link: str = "", answers: bool = False) -> str:
    """The HTML file. link: the address of the lesson; answers: with what is right, as far as its machines are
    trained."""
    head = [f"<h1>{marks.text(lesson.title)}</h1>", marks.paragraph(lesson.promise, "lead")]
    if link:
        head.append(f'<div class="link">{short_links.qr(link)}{marks.paragraph(link, "quiet")}</div>')
    head.append(marks.paragraph("Name ______________________________" if not answers else "With answers.", "quiet"))
    steps, shown = [], set()
    for n in range(1, len(lesson.steps) + 1):
        steps.append(_question(course.At(lesson, n, seed), answers, shown))
    return marks.page(f"{lesson.title} · Invariant SVM Lab", [*head, *steps, _ending(lesson)])


def _question(at: course.At, answers: bool, shown: set[str]) -> str:
    """shown: the figures so far; instead of one of these there is room to draw."""
    facts = at.facts
    try:
        asked, drawn = facts.filled(at.step.question), _figure(at.step.ask, facts, answers)
        verdict = at.step.judge(facts) if answers else None
    except course.BROKEN as error:
        return marks.section(f"Question {at.number}", marks.paragraph(f"Not shown: {error}."), BOX)
    drawn = "" if drawn in shown else drawn
    shown.add(drawn)
    choices = [
        f"<li{' class=right' * (verdict is not None and n == verdict.right)}>{marks.emphasised(choice)}</li>"
        for n, choice in enumerate(at.step.choices)
    ]
    seen = f"<p>What did you see?</p>{LINES}"
    if verdict is not None:
        seen = f"<p>{marks.emphasised(f'{verdict.because} Look at {at.step.where}')}</p>"
    beside = f'<div><ul class="choices">{"".join(choices)}</ul>{seen}</div>'
    question = f"<p>{marks.emphasised(asked)}</p>"
    return marks.section(f"Question {at.number}", question, f'<div class="asked">{drawn or BOX}{beside}</div>')


def _ending(lesson: Lesson) -> str:
    remember = "".join(f"<li>{marks.emphasised(sentence)}</li>" for sentence in lesson.remember)
    there = places.PLACES[lesson.attempt[1].page].title
    attempt = f"<p><b>Try</b> ({there}): {marks.emphasised(lesson.attempt[0])}</p>"
    return marks.section("Remember", f"<ol>{remember}</ol>", attempt, marks.paragraph(lesson.source.text, "quiet"))


def _figure(view: View, facts: Facts, answers: bool) -> str:
    """What the page shows while the question is open; "" for a page that is not drawn here. What it shows only once an
    earlier question is answered is left to be drawn or filled in, or, for the teacher, given."""
    query, run = places.texts(view.parameters(facts)), facts.run(view.run) if view.run else None
    if view.page in FILLED_IN:
        return FILLED_IN[view.page](query, run, facts, answers)
    return FIGURES[view.page](query, run) if view.page in FIGURES else ""


def _plane(query: dict, run) -> str:
    shown, _ = setting.read(query)
    xs, ys, nodes = grid(EDGE)
    if shown.tape is not None:  # before it has learned
        given = setting.points(shown)
        none = np.zeros(len(given.y), int)
        return charts.plane(given.X, (given.y > 0).astype(int), none, (xs, ys, None), 2, none)
    seen = solve.picture(shown)
    machine = seen.machines[0]
    given = machine.X[~machine.copy]
    f = solve.values(shown, machine, nodes.astype(np.float32)).reshape(len(ys), len(xs))
    wrong = np.isin(np.arange(len(given)), seen.wrong)
    rings = (machine.alpha > 0).astype(int) + machine.bound
    place = (machine.sign[~machine.copy] > 0).astype(int)
    return charts.plane(given, place, wrong, (xs, ys, f), 2, rings[~machine.copy])


def _forms(query: dict, run) -> str:
    dataset, index = load(query["set"]), int(query["index"])
    jitters = JitterSet.parse(query["jitter_set"], dataset.image_shape)
    shown = jittered.forms(dataset, "train", index, jitters)
    if run is not None:
        shown = jittered.asked(shown, run, dataset.y_train[index])
    drawn = jittered.drawn(dataset, shown)
    tiles = [jittered.tile(name, "", j, shown) for j, name in enumerate(jitters.names)]
    what = "Below each form: the machine's prediction." if run is not None else ""
    return marks.gallery(drawn, tiles, f"One digit and its forms. {what}")


def _picture(query: dict, run) -> str:
    image = pictures.load(run.recipe.dataset).pictures[0].image
    drawn = f'<img class="picture" src="{data_uri(image)}" alt="One of the pictures searched">'
    return marks.figure(drawn, "One of the pictures searched. Draw a ring around each object that you would detect.")


def _by_value(query: dict, run, facts: Facts, filled: bool) -> str:
    """The errors by value of Choose: the machines are one for each value. Bounds may be far above 1."""
    results, values = [facts.run(name).result for name in seen.SWEPT[query["over"]]], query["value"]
    bounds = validation.BOUNDS if validation.bounded([*zip(values, results, strict=True)]) else {}
    counted = {"test": [(result["errors"], result["n_test"]) for result in results]}
    counted["validation"] = [(r["validation"]["errors"], r["validation"]["n_test"]) for r in results]
    for name, label in bounds.items():
        counted[label] = [(r["bounds"][name]["errors"], r["bounds"][name]["n"]) for r in results]
    lines = [
        charts.Line(
            label, range(len(values)), [100 * max(wrong, 0.5 * bool(bounds)) / n for wrong, n in of],
            {"test": ORANGE, "validation": BLUE}.get(label, GREY),
        )
        for label, of in counted.items()
    ]  # fmt: skip
    over, how = query["over"].removeprefix("kernel."), {"names": values, "log_y": bool(bounds)}
    return _to_draw(lines, over, "wrong, %", f"Errors by {over}", filled, **how)


def _by_size(query: dict, run, facts: Facts, filled: bool) -> str:
    """The errors by size of Reduced sets."""
    found = run.result["reduction"]
    sizes, wrong = ([one[at] for one in found["path"]] for at in (0, 2))
    level = 100 * found["machine_errors"] / found["aside"], f"all {found['n_before']:,}"
    line = charts.Line("", sizes, [100 * n / found["aside"] for n in wrong])
    return _to_draw([line], "vectors", "wrong, %", "Errors by number of vectors", filled, level=level)


def _bulge(query: dict, run, facts: Facts, filled: bool) -> str:
    """The support vectors of Digestion while its two solvers work."""
    lines = []
    for name, label, colour in (("digested", "with", BLUE), ("undigested", "without", ORANGE)):
        if (of := facts.found(name)) is not None:
            course = [(0, 0), *((line["kernel_evals"], line["n_sv"]) for line in of.progress())]
            lines.append(charts.Line(label, *zip(*course, strict=True), colour))
    title = "Support vectors with and without digestion"
    return _to_draw(lines, "kernel evaluations", "support vectors", title, filled)


def _to_draw(lines, x_title: str, y_title: str, title: str, filled: bool, **how) -> str:
    see = f"{title}." if filled else f"{title}: draw what you expect."
    return charts.lines(lines, x_title, y_title, see, see, empty=not filled, **how)


def _runs(query: dict, run, facts: Facts, filled: bool) -> str:
    """The runs of Compare in numbers."""
    those = [runs.get(run_id) for run_id in query["compare"]]
    head = ["", "Run", "Errors", "SVs"]
    rows = [
        [letter, one.title, *(f"{one.result[name]:,}" if filled else "" for name in ("errors", "n_union"))]
        for letter, one in zip(laid.LETTERS, those)
    ]
    see = "The runs compared" if filled else "The runs compared: fill in the numbers that the page shows"
    return marks.table(head, rows, f"{see}.")


FIGURES = {  # page -> (parameters of its address, run) -> HTML
    "playground": _plane,
    "jitters": _forms,
    "detect": _picture,
    "errors": lambda query, run: sections.wrong(run, SHOWN),
    "support_vectors": lambda query, run: sections.supports(run, SHOWN),
}
FILLED_IN = {  # page -> (the same, the lesson's facts, whether it is filled in) -> HTML
    "sweep": _by_value,
    "reduced": _by_size,
    "digestion": _bulge,
    "compare": _runs,
}
