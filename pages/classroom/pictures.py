"""The picture of a class's answers: while they are hidden only how many there are, then each beside what is right.

HTML and nothing else, so that it is drawn anew every second on thirty screens, but for drawings, which are made on the
Playground's plane. What students typed is no part of it.
"""

import re
from collections import Counter
from html import escape

import numpy as np

from pages.classroom.session import Asked
from pages.lessons.plane import Plane
from pages.ui.kit.text import many, plural
from pages.ui.play import picture, solve
from pages.ui.play.setting import points

BINS = 20  # bars of a histogram
STYLE = """<style>
.votes { display: grid; gap: 0.4rem; margin: 0; }
.votes .bar { display: grid; grid-template-columns: minmax(6rem, 38%) 1fr 2.5rem; gap: 0.6rem; align-items: center; }
.votes .track { height: 1.5rem; border-left: 1px solid #8a8f98; }
.votes .fill { height: 100%; background: #8a8f98; transition: width 0.3s; }
.votes .right .fill { background: #0072b2; }
.votes .right { font-weight: 600; }
.dots { display: flex; flex-wrap: wrap; gap: 0.35rem; min-height: 2.2rem; }
.dots i { width: 1.1rem; height: 1.1rem; border-radius: 50%; background: #8a8f98; }
.columns { position: relative; display: flex; align-items: end; gap: 2px; height: 9rem; border-bottom: 1px solid; }
.columns i { flex: 1; background: #8a8f98; }
.columns b { position: absolute; top: 0; bottom: 0; width: 3px; background: #0072b2; }
.scale { display: flex; justify-content: space-between; }
</style>"""


def hidden(asked: Asked, people: int) -> str:
    """A dot for each answer."""
    n = len(asked.answers)
    told = f"{n} of {many(max(people, n), 'student')} {'has' if n == 1 else 'have'} answered"
    return f'{STYLE}<div class="dots" role="img" aria-label="{told}">{"<i></i>" * n}</div><p>{told}.</p>'


def shown(asked: Asked) -> str:
    """The answers to a choice or a number, and what is right."""
    return STYLE + (_bars(asked) if asked.question.kind == "choice" else _columns(asked))


def _bars(asked: Asked) -> str:
    answers = list(asked.answers.values())
    rows = []
    for at, choice in enumerate(asked.question.choices):
        n = answers.count(at)
        mark = " ✓" if at == asked.right else ""
        rows.append(
            f'<div class="bar{" right" * (at == asked.right)}"><span>{escape(bare(choice))}{mark}</span>'
            f'<span class="track"><span class="fill" style="display:block;width:{100 * n / max(len(answers), 1):.1f}%">'
            f"</span></span><span>{n}</span></div>"
        )
    told = "; ".join(f"{bare(c)}: {answers.count(at)}" for at, c in enumerate(asked.question.choices))
    told = f"{told}. Correct: {bare(asked.question.choices[asked.right])}."
    return f'<div class="votes" role="img" aria-label="{escape(told)}">{"".join(rows)}</div>'


def _columns(asked: Asked) -> str:
    answers = np.array(list(asked.answers.values()), float)
    low, high = asked.question.low, _end(max([asked.right, *answers]))
    counts, _ = np.histogram(answers, BINS, (low, max(high, low + 1)))
    tallest = max(counts.max(), 1)
    bars = "".join(f'<i style="height:{100 * n / tallest:.0f}%"></i>' for n in counts)
    at = 100 * (asked.right - low) / max(high - low, 1)
    middle = f" The median prediction is {np.median(answers):,.0f}." if len(answers) else ""
    told = f"{many(len(answers), 'prediction')}; scale from {low:,} to {high:,}.{middle} Correct: {asked.right:,}."
    line = f'<b style="left:min({at:.1f}%, calc(100% - 3px))"></b>'
    return (
        f'<div class="columns" role="img" aria-label="{told}">{bars}{line}</div>'
        f'<div class="scale"><span>{low:,}</span><span>{high:,}</span></div><p>{told}</p>'
    )


def _end(most: float) -> int:
    """Where the scale ends that has room for this number: 20, 50, 100, ..."""
    return next(end for power in range(1, 10) for end in (10**power, 2 * 10**power, 5 * 10**power) if end >= most)


def bare(text: str) -> str:
    """A question or a choice without the marks of Markdown."""
    return re.sub(r"\\(.)|[*`]", r"\1", text)


def sketch(asked: Asked, seed: int, key: str, chosen: list | None = None, takes: bool = False) -> list | None:
    """The plane of a question that is drawn on, with the answers over the machine once they are shown; what whoever
    looks has drawn on it. chosen: what they have sent; takes: whether they may draw."""
    question, known = asked.question, asked.right is not None
    setting, answers = Plane.of({}, seed).setting, list(asked.answers.values()) if known else []
    layer = {"lines": [[line[:2], line[2:]] for line in answers]}
    if question.kind == "rings":
        counts = Counter(at for answer in answers for at in answer)
        layer = {"rings": [[at, n / len(answers)] for at, n in counts.items()]}
    shown = picture.drawn(
        setting, points(setting), solve.picture(setting) if known else None,
        kind=question.kind, mode=question.kind if takes else "", layer=layer, sketch=chosen, token=key, law=[],
    )  # fmt: skip
    n = len(asked.answers)
    told = f"{n} {plural('prediction', n)}{', drawn over the result of the machine' if known else ''}."
    data = shown | {"alt": f"{shown['alt']} {told}"}
    return picture.plane(data=data, key=f"class_{key}", on_sketch_change=lambda: None).get("sketch")
