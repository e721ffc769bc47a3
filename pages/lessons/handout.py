"""A lesson as a sheet to print: its questions over the figures that they are about, room to draw, what to remember.

HTML in the form of a run's report, complete in one file. The answers are left out, or, for the teacher, given.
"""

import numpy as np

from data import load, pictures
from pages.lessons import course, places
from pages.lessons.parts import Facts, Lesson, View, resolved
from pages.ui.example import jittered
from pages.ui.figures.maps import grid
from pages.ui.kit import short_links
from pages.ui.kit.gallery import data_uri
from pages.ui.play import setting, solve
from pages.ui.run.report import charts, marks, sections
from svmcore.jitter import JitterSet

EDGE = np.array([[-1.0, -1.0], [1.0, 1.0]])  # of the Playground
SHOWN = 24  # pictures of a run: two rows
BOX, LINES = '<div class="room"></div>', '<div class="lines"></div>'


def sheet(lesson: Lesson, seed: int, link: str = "", answers: bool = False) -> str:
    """The HTML file. link: the address of the lesson; answers: with what is right, as far as its machines are
    trained."""
    facts = Facts(lesson.recipes, seed)
    head = [f"<h1>{marks.text(lesson.title)}</h1>", marks.paragraph(lesson.promise, "lead")]
    if link:
        head.append(f'<div class="link">{short_links.qr(link)}{marks.paragraph(link, "quiet")}</div>')
    head.append(marks.paragraph("Name ______________________________" if not answers else "With answers.", "quiet"))
    steps, shown = [], set()
    for n in range(1, len(lesson.steps) + 1):
        steps.append(_question(course.At(lesson, n, seed), facts, answers, shown))
    return marks.page(f"{lesson.title} · Invariant SVM Lab", [*head, *steps, _ending(lesson)])


def _question(at: course.At, facts: Facts, answers: bool, shown: set[str]) -> str:
    """shown: the figures so far; instead of one of these there is room to draw."""
    try:
        asked, drawn = resolved(at.step.question, facts), _figure(at.step.ask, facts)
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


def _figure(view: View, facts: Facts) -> str:
    """What the page shows while the question is open; "" for a page that is not drawn here."""
    draw = FIGURES.get(view.page)
    return draw(places.texts(resolved(view.query, facts)), facts.run(view.run) if view.run else None) if draw else ""


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
    return marks.figure(drawn, "One of the pictures searched. Ring what you would detect.")


FIGURES = {  # page -> (parameters of its address, run) -> HTML
    "playground": _plane,
    "jitters": _forms,
    "detect": _picture,
    "errors": lambda query, run: sections.wrong(run, SHOWN),
    "support_vectors": lambda query, run: sections.supports(run, SHOWN),
}
