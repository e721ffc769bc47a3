"""The operating point: one slider, or a click on the curve, and the picture, the curve and the counts follow.

All of it is one fragment, so that moving the point redraws this and nothing else of the page. The point is a number of
false alarms over all pictures, so that machines are looked at side by side; the threshold follows from it.
"""

import io
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import streamlit as st
from PIL import Image, ImageDraw

from pages.detect import froc, marked, others, windows
from pages.detect import judged as judging
from pages.detect import viewer as viewing
from pages.detect.judged import Shown
from pages.detect.view import View, line, trial
from pages.detect.viewer import ALARM, MISSED, Mark
from pages.ui.figures.frame import show
from pages.ui.kit import numbers, parameters, present, state, ways, words
from pages.ui.kit.gallery import Tile, gallery
from svmcore.detection import curve
from svmcore.detection.curve import Estimate, OperatingPoint

CIRCLE = np.linspace(0, 2 * np.pi, 33)
CROSS = 5  # half a cross, in pixels


def picture_png(image: np.ndarray, marks: Sequence[Mark], shape: str = "box") -> bytes:
    """The picture (h, w) or (h, w, 3) uint8 with its marks, as a PNG."""
    canvas = Image.fromarray(image).convert("RGB")
    pen = ImageDraw.Draw(canvas)
    for mark in marks:
        if mark.kind == ALARM:
            x, y = (mark.box[0] + mark.box[2]) / 2, (mark.box[1] + mark.box[3]) / 2
            pen.line([(x - CROSS, y - CROSS), (x + CROSS, y + CROSS)], mark.rgb, 2)
            pen.line([(x - CROSS, y + CROSS), (x + CROSS, y - CROSS)], mark.rgb, 2)
        if mark.kind != ALARM or shape != "circle":
            _outlined(pen, mark, shape)
    buffer = io.BytesIO()
    canvas.save(buffer, "png")
    return buffer.getvalue()


def outline(box: Sequence[float], shape: str) -> np.ndarray:
    """(n, 2) points x, y of the closed outline of a box, or of the ellipse inside it."""
    x0, y0, x1, y1 = box
    if shape == "circle":
        middle, half = ((x0 + x1) / 2, (y0 + y1) / 2), ((x1 - x0) / 2, (y1 - y0) / 2)
        return np.column_stack([middle[0] + half[0] * np.cos(CIRCLE), middle[1] + half[1] * np.sin(CIRCLE)])
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)])


def _outlined(pen: ImageDraw.ImageDraw, mark: Mark, shape: str) -> None:
    width, points = round(mark.width), outline(mark.box, shape)
    if mark.kind != MISSED:
        pen.line([tuple(point) for point in points], mark.rgb, width, joint="curve")
        return
    fine = [np.linspace(a, b, max(1, round(np.hypot(*(b - a)) / 2)), endpoint=False) for a, b in pairwise(points)]
    fine = np.concatenate(fine)  # every two pixels; three steps in five are drawn
    for start in range(0, len(fine), 5):
        pen.line([tuple(point) for point in fine[start : start + 4]], mark.rgb, width)


AXES = ("log", "linear")
UNITS = ("per picture", "per km²")
FEW = 10  # pictures whose thumbnails stand below the large one; more take the width of the page


class Now(NamedTuple):
    """Where the page is: which machine's scores, and which point of its curve; said: that in a sentence."""

    column: int
    point: OperatingPoint
    shown: Shown
    said: str


@state.fragment
def operate(view: View, compared: list[View]):
    """The slider and everything that follows it."""
    now = _controls(view)
    if now is None:
        return
    above = st.container()
    sides, many = st.grid(2, min_column_width=380), len(view.judged.tested) > FEW
    those = sides.cell(), sides.cell(), st.container(), st.container()
    one, curves, all_of_them, cut = present.parts(("Picture", "Curve", "All pictures", "Windows"), those)
    with one:
        choice, shown = st.container(), st.container()
        with present.below(choice):
            there = names(view)
            name = parameters.choice("detect.picture", there, alone=False)
            picture = int(view.judged.tested[there.index(name)])
        with shown:
            _picture(view, now, picture)
    with curves:
        _curve(view, now, compared)
        _outputs(view, now, compared)
    with all_of_them if many or present.presenting() else one:
        _strip(view, now, picture)
    present.below(above).markdown(now.said)
    with cut:
        windows.windows(view, now.column, now.point, now.shown)


def labels(view: View) -> dict[str, int]:
    """What the slider offers: false alarms a picture, as a text -> over all pictures."""
    n = len(view.judged.tested)
    return {f"{k / n:.4g}": k for k in judging.counts(trial(view, 0))}


def names(view: View) -> list[str]:
    return [view.pictures.pictures[p].name for p in view.judged.tested]


def _controls(view: View) -> Now | None:
    offered, n = labels(view), len(view.judged.tested)
    known = _snap(offered)
    first = f"{judging.trained(trial(view, 0)).alarms / n:.4g}"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        by = parameters.choice("detect.by", view.judged.names, alone=False)
        fa = parameters.choice("detect.fa", offered, first, alone=False, known=known)
    column = view.judged.names.index(by)
    point = judging.at(trial(view, column), offered[fa], own=column == 0)
    now = judging.shown(view.judged, column, point.threshold)
    said = _sentence(view, by, point)
    if more := curve.at_alarms(trial(view, column), point.alarms).found - point.found:  # offset 0 below the curve
        found = words.many(more, view.noun)
        said += f" Lowering the threshold would detect {found} more without adding a false alarm."
    return Now(column, point, now, said)


def _snap(offered: dict[str, int]) -> tuple[str, ...]:
    """Move a point that is not offered to the nearest one; the numbers about which nothing is said."""
    asked = st.session_state.get("fa", st.query_params.get("fa"))
    if asked is None or asked in offered:
        return ()
    try:
        number = float(asked)
    except ValueError:
        return ()
    if number == number:
        st.session_state["fa"] = min(offered, key=lambda text: abs(float(text) - number))
    return (asked,) if number == number else ()


def _sentence(view: View, by: str, point: OperatingPoint) -> str:
    pictures, alarms = words.many(len(view.judged.tested), "picture"), words.many(point.alarms, "false alarm")
    if not view.n_objects:
        return f"**{alarms}** in {pictures} without a labelled {view.noun}, so there is no detection rate."
    area = "" if view.unit == "picture" else f", {view.area:,.0f} {view.unit}"
    return (
        f"**{by}: {point.found:,} of {view.n_objects:,} {view.nouns} detected ({100 * point.rate:.0f} %)** with "
        f"{alarms} in "
        f"{pictures}{area}; threshold {point.threshold:.3g}."
    )


def _picture(view: View, now: Now, position: int):
    here = view.pictures.pictures[position]
    found = marked.marks(view, now.shown, now.column, position)
    said, shape = viewing.counted(found), view.pictures.entry.shape
    viewing.viewer(
        marked.source(view.pictures, position), here.image.shape, found, name=here.name, shape=shape,
        key="detect_picture", alt=f"{here.name} with its {view.nouns}: {said}", on_pick=windows.open_window,
    )  # fmt: skip
    thicker = " Thicker outlines: a lower category number." if len(view.pictures.entry.categories) > 1 else ""
    st.caption(
        f"{words.plain(here.name)}: {said}. Solid blue: detected; dashed blue: missed; orange cross: false alarm."
        f"{thicker} {words.plain(viewing.HOW)} Click a mark to see the reasons for its score."
    )
    content, file = lambda: picture_png(here.image, found, shape), f"{safe(view.run.title)}-{safe(here.name)}.png"
    help = "The whole picture in its original size with these marks."
    ways.download("Picture (PNG)", "image", "export_picture", content, file, help=help)


def _curve(view: View, now: Now, compared: list[View]):
    by = {f"per {unit}": unit for unit in view.per}
    above, place = st.container(), st.container()
    with present.below(above), st.container(horizontal=True):
        axis = parameters.choice("detect.axis", AXES)
        unit = by[parameters.choice("detect.per", by, alone=False)]
    if not view.n_objects:
        st.info(f"No {view.noun} is labelled in these pictures, so there is no curve.", icon=":material/show_chart:")
        return
    drawn = all_lines(view, compared)
    search, per = trial(view, now.column), view.per[unit]
    choices = [
        (text, p.alarms, p.rate)
        for text, k in labels(view).items()
        for p in [judging.at(search, k, own=now.column == 0)]
    ]
    figure = froc.froc_figure(
        [one for one, _ in drawn], per=per, unit=unit, log=axis == "log", ceiling=judging.ceiling(view.judged),
        now=(now.point.alarms, now.point.rate), choices=choices, chosen=now.column,
        points=others.of_each_point(view, compared),
    )  # fmt: skip
    with place:
        show(figure, "froc", on_click=lambda text: st.session_state.update(fa=text))
    columns = {"mean": numbers.text(MEAN, "mean rate")}
    columns["at offset 0"] = numbers.text("Detection rate at offset 0, and the number of false alarms in all pictures.")
    alt = "The mean detection rate of each machine with its interval"
    numbers.table([_row(one, score) for one, score in drawn], alt, columns=columns)
    st.caption(
        f"{MEAN} {denominators(view)} This is a FROC curve. A ROC curve would show false alarms as a share of all "
        "windows. Nearly all windows are empty, so that share would always be near 0."
    )


CONFIDENCE = (
    "In the paper, the machine with virtual examples is more confident than the machine without them: its outputs are "
    "further from 0, especially for negatives (DeCoste and Schölkopf, section 5.2)."
)
MEAN = (
    "Mean rate: the detection rate at 1/4, 1/2, 1, 2, 4 and 8 false alarms per picture, averaged, as detection "
    "challenges report it (CAMELYON16, LUNA16). Its interval is a bootstrap over pictures."
)


def all_lines(view: View, compared: list[View]) -> list[tuple[froc.Line, Estimate]]:
    """The curves of the run's machine, its rivals, and the runs beside it."""
    own = [line(view, c, name, "rival" if c else "own") for c, name in enumerate(view.judged.names)]
    return own + [line(other, 0, others.name(other, compared), "other") for other in compared]


def denominators(view: View) -> str:
    """What rates and false alarms are divided by, in words."""
    n = len(view.judged.tested)
    area = "" if view.unit == "picture" else f" or by their usable area of {view.area:,.0f} {view.unit}"
    table = int(view.judged.opportunities.sum())
    counted = f" ({table:,} count according to the dataset's table)" if table != view.n_objects else ""
    pictures = words.many(n, "picture")
    return (
        f"Detections are divided by {view.n_objects:,} labelled {view.nouns}{counted}, false alarms by "
        f"{pictures}{area}."
    )


def _outputs(view: View, now: Now, compared: list[View]):
    judged, column = view.judged, now.column
    figure = froc.outputs_figure(
        judged.scores[:, column], judged.hit >= 0, now.point.threshold, judged.names[column], view.noun,
        CONFIDENCE if view.noun == "volcano" else "",
        [(others.name(o, compared), o.judged.scores[:, 0], o.judged.hit >= 0) for o in compared if now.column == 0],
    )  # fmt: skip
    show(figure, "outputs")


def _row(one: froc.Line, score: Estimate) -> dict:
    interval = "–" if score.low != score.low else f"{score.low:.2f} to {score.high:.2f}"
    zero = one.zero
    at = "–" if zero is None else f"{zero.rate:.2f} with {zero.alarms:,}"
    return {"machine": words.short(one.name), "mean": f"{score.value:.3f}", "95 %": interval, "at offset 0": at}


def _strip(view: View, now: Now, picture: int):
    """All pictures tested, small, with what was found in each; a click shows one large."""
    counts = judging.per_picture(view.judged, now.shown)
    tiles = []
    for position, name, (found, alarms), n in zip(
        view.judged.tested, names(view), counts, judging.labelled(view.judged)
    ):
        here = bool(position == picture)
        counts_of_one = f"{found} of {n} detected, {words.many(alarms, 'false alarm')}"
        label = f"{name}: {counts_of_one}{', shown large' if here else ''}"
        counted = f"{found}/{n}, {alarms} fa"
        tiles.append(Tile(name, label, words.short(name, 12), counted, "free" if here else "", int(here)))
    gallery(
        marked.thumbnails(view.pictures, view.judged.tested), tiles, key="detect_strip",
        alt=f"The {len(tiles)} pictures tested, with the detections and false alarms of each", size=marked.THUMB,
        on_pick=lambda name: st.session_state.update(picture=name),
    )  # fmt: skip
    st.caption(
        "Below each picture: objects detected / objects labelled, and false alarms (fa). Click a picture to enlarge it."
    )


def safe(text: str) -> str:
    """A text as part of a file's name: letters, digits and hyphens."""
    return "-".join("".join(c if c.isascii() and c.isalnum() else " " for c in text).split())[:60].lower() or "picture"
