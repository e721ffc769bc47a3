"""detect: objects in pictures, looked at on a page of their own."""

import numpy as np

from pages.ui.kit.gallery import Tile
from pages.ui.kit.palette import BLUE, GREY
from pages.ui.kit.view import PageLink, View
from pages.ui.run import trained
from pages.ui.run.report import charts, marks
from svmcore.detection import curve
from svmcore.lab.finders import findings

SHOWN = 36  # windows
STEPS = 60  # points of a curve


def detection(run) -> str:
    """Curve, rates, and the windows that the machine was surest of, right and wrong."""
    found = findings.joined([run.test(part) for part in range(max(run.parts(), 1))])
    return "\n".join([_curve(found), _rates(run.result), _windows(found)])


def _curve(found) -> str:
    lines = []
    for name, scores in found.scores().items():
        search = found.trial(scores)
        most = len(search.alarm_scores)
        counts = np.unique(np.geomspace(1, max(most, 1), STEPS).round()) if most else np.zeros(1)
        counts = np.concatenate([[0.0], counts])
        own = name == "machine"
        rates = curve.rates_at(search, counts)
        if np.isfinite(rates).all():
            per = counts / max(len(found.tested), 1)
            lines.append(charts.Line(name, per, rates, BLUE if own else GREY, 2.5 if own else 1.5, step=True))
    n = len(found.objects)
    said = (
        f"Share of {n:,} objects detected against false alarms per picture, on {len(found.tested):,} searched pictures."
    )
    drawn = charts.lines(lines, "false alarms per picture", "detection rate", said, said)
    return marks.section("Detection", drawn or marks.paragraph("No object is labelled, so there is no curve."))


def _rates(result) -> str:
    of = {name: figures["rates"] for name, figures in result["machines"].items() if isinstance(figures["rates"], dict)}
    counts = list(dict.fromkeys(count for rates in of.values() for count in rates))
    rows = [[name, *(_share(rates.get(count)) for count in counts)] for name, rates in of.items()]
    return marks.table(["false alarms", *counts], rows, "Detection rate: share of objects detected.") if rows else ""


def _share(rate) -> str:
    rate = rate[0] if isinstance(rate, list) and rate else rate
    return f"{100 * rate:.0f} %" if isinstance(rate, int | float) else "–"


def _windows(found) -> str:
    drawn = []
    for title, which in (("Highest-scoring false alarms", found.hit < 0), ("Highest-scoring hits", found.hit >= 0)):
        rows = np.flatnonzero(which)
        rows = rows[np.argsort(-found.decision[rows], kind="stable")][:SHOWN]
        shown = [
            Tile("", f"Window in picture {found.picture[i]}, f = {found.decision[i]:.3f}", f"f {found.decision[i]:.2f}",
                 f"picture {found.picture[i]}")
            for i in rows
        ]  # fmt: skip
        if len(rows):
            drawn.append(marks.section(title, marks.gallery(found.chips[rows], shown, f"{title}, with f and picture.")))
    return "\n".join(drawn)


HOME = PageLink("detect", "See the detections", "Detect", ":material/my_location:")


def _link(run, status) -> None:
    if status.state != "done":  # then it stands among the ways on
        trained.to_home(run)


VIEW = View(
    form=HOME,
    home=HOME,
    told="Its detections are on the page *Detect*.",
    vectors=HOME,
    pictures=_link,
    links=lambda run, others: [HOME],
    report={"Detection": detection},
)
