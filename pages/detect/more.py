"""What else there is to a detection run: its first chips, categories of labels, ambiguous ones, mined false alarms,
published figures, and what can be taken away.
"""

from functools import partial

import numpy as np
import streamlit as st

from data.loaders.objects import coco
from pages.detect import froc, labels, marked, operate
from pages.detect.view import View, line, trial
from pages.detect.windows import open_window
from pages.ui.figures.frame import show
from pages.ui.kit import numbers, parameters, state, ways, words
from pages.ui.kit.gallery import Tile, gallery, magnified
from pages.ui.kit.text import with_sign
from pages.ui.kit.ways import button
from svmcore.detection import curve
from svmcore.lab.papers import PUBLISHED
from svmcore.lab.task import csv_text

OF_PAPERS = ("venus", "cmu-faces")  # sets of pictures beside which published figures mean something


def curves_csv(view: View, compared: list[View]) -> str:
    """Every machine's curve: its rates, with their interval, at numbers of false alarms."""
    n = len(view.judged.tested)
    rows = [
        (one.name, int(k), k / n, k / view.area, rate, low, high)
        for one, _ in operate.all_lines(view, compared)
        for k, rate, low, high in zip(one.band.alarms, one.band.rate, one.band.low, one.band.high)
    ]
    unit = "km2" if view.unit == "km²" else view.unit
    head = ("machine", "false_alarms", "per_picture", f"per_{unit}", "rate", "rate_low_95", "rate_high_95")
    if unit == "picture":  # the two are one
        rows, head = [(*row[:3], *row[4:]) for row in rows], (*head[:3], *head[4:])
    return csv_text(head, rows)


def detections_csv(view: View) -> str:
    """Every candidate with its scores, highest first; `object` numbers those of its picture from 0; turns if any."""
    judged, turns = view.judged, view.run.recipe.option("turns")
    first = {
        int(p): int(np.flatnonzero(judged.object_picture == p).min(initial=len(judged.objects))) for p in judged.tested
    }
    rows = []
    for d in np.argsort(-judged.scores[:, 0], kind="stable"):
        picture, o = int(judged.picture[d]), int(judged.hit[d])
        found = ("", "") if o < 0 else (o - first[picture], int(judged.object_category[o]))
        scores = [float(score) for score in judged.scores[d]]
        found += (marked.turn(view, d),) if turns else ()
        rows.append((view.pictures.pictures[picture].name, *map(float, judged.box[d]), *scores, *found))
    head = ("picture", "xmin", "ymin", "xmax", "ymax", *judged.names, "object", "category")
    return csv_text((*head, "turn") if turns else head, rows)


def detections_coco(view: View) -> str:
    """What the machine takes for an object, f > 0, in the pictures that it searched, as COCO's JSON, surest first."""
    judged, tested = view.judged, view.judged.tested.tolist()
    pictures = [view.pictures.pictures[p] for p in tested]
    score = judged.scores[:, 0]
    taken = [d for d in np.argsort(-score, kind="stable") if score[d] > 0]
    found = [(tested.index(int(judged.picture[d])), judged.box[d].tolist(), float(score[d])) for d in taken]
    return coco.written([(p.name, p.image.shape) for p in pictures], found, view.noun)


def exports(view: View, compared: list[View]):
    name, of_all = operate.safe(view.run.title), partial(curves_csv, view, compared)
    files = {  # key, label, icon -> what makes it, what its file's name ends in, why
        ("curves", "Curves (CSV)", "show_chart"): (
            of_all, "froc.csv", "Detection rate of each machine, with its interval, against false alarms."),
        ("detections", "Detections (CSV)", "table"): (
            partial(detections_csv, view), "detections.csv",
            "One line per candidate: its picture, its box in pixels, the scores of all machines, and the object it "
            "covers."),
        ("coco", "Detections (COCO JSON)", "data_object"): (
            partial(detections_coco, view), "detections.json",
            "Boxes with a score above 0 and their scores, for annotation tools to import and correct."),
    }  # fmt: skip
    with st.container(horizontal=True):
        for (key, label, icon), (content, file, help) in files.items():
            off = key == "curves" and not view.n_objects
            ways.download(label, icon, f"export_{key}", content, f"{name}-{file}", help=help, disabled=off)
    st.caption(
        "To export the picture with its marks, use the button below the picture. Coordinates of boxes are pixels from "
        "the upper left corner of the picture. The column `object` numbers the objects of a picture in the order of "
        "its labels; it is empty if the box covers no object."
    )


def published(view: View) -> tuple[list[dict], str]:
    """Rows of the papers' figures beside ours, and what differs in how they came about."""
    if view.noun == "face":
        rows = []
        for name, theirs in PUBLISHED["osuna_faces"].items():
            rate, alarms, n = theirs["rate"], theirs["false_alarms"], theirs["pictures"]
            ours = curve.at_alarms(trial(view, 0), alarms / n * len(view.judged.tested)).rate
            row = {"published": name, "detected, published": f"{100 * rate:.1f} %"}
            row |= {"false alarms per picture": f"{alarms / n:.3f}"}
            rows.append(row | {"detected by ours": f"{100 * ours:.1f} %"})
        return rows, (
            "Osuna, Freund and Girosi (1997) trained on about 50,000 windows of their own. Their set A has pictures of "
            "good quality with one face per picture; their set B is of mixed quality. *Detected by ours*: at the "
            "same number of false alarms per picture. Our pictures are not theirs, so compare only the order of "
            "magnitude."
        )
    own, gauss = (curve.at_threshold(trial(view, 0), 0.0), None)
    if "Gaussian" in view.judged.names:
        gauss = curve.at_alarms(trial(view, view.judged.names.index("Gaussian")), own.alarms)
    ours = f"{own.rate:.2f} with {words.many(own.alarms, 'false alarm')}"
    beside = "–" if gauss is None else f"{gauss.rate:.2f} with the same number of false alarms"
    finding = "At offset 0 the SVM is above the two-Gaussian model, in each of the experiments A to E"
    rows = [{"published": finding, "our SVM at offset 0": ours, "our Gaussian": beside}]
    return rows, (
        "DeCoste and Schölkopf (2002), section 5.2, print curves (Figures 7 to 9) and no table, so there are no "
        "published numbers to compare. Their candidates are those of Burl et al. (1998). Our candidates come from our "
        "own matched filter on the same images, averaged over 2 x 2 pixels. Therefore the largest possible detection "
        "rates differ."
    )


EACH = 25  # chips of a class: Figure 6 of DeCoste and Schölkopf shows so many
FLIPPED, PAGE = 200, 48  # false alarms that can be flipped through, and seen at a time
MINED = 60  # shown of each round
LOOKS = ("First chips", "By category", "Ambiguous labels", "Mined false alarms", "Published", "Export")


@state.fragment
def more(view: View, compared: list[View]):
    """One of several further looks at a time."""
    rounds = [int(r) for r in np.unique(view.run.test(0).train_round) if r > 0]
    draw = (
        partial(_first, view),
        len(view.pictures.entry.categories) > 1 and partial(_categories, view),
        partial(_ambiguous, view),
        rounds and partial(_mined, view, rounds),
        view.run.recipe.dataset in OF_PAPERS and partial(_published, view),
        partial(exports, view, compared),
    )
    there = {name: look for name, look in zip(LOOKS, draw, strict=True) if look}
    there[parameters.choice("detect.more", there)]()


def _published(view: View):
    rows, note = published(view)
    numbers.table(rows, "Published figures beside ours")
    st.caption(note)


def _first(view: View):
    kept = view.run.test(0)
    for sign, word in ((1, view.noun), (-1, "background")):
        rows = np.flatnonzero((kept.train_y == sign) & (kept.train_round == 0))[:EACH]
        if len(rows):
            tiles = [Tile("", f"Training chip {i}, {word}", sign=sign) for i in rows]
            alt = f"The first {len(rows)} training chips: {word}"
            gallery(marked.stretched(view, kept.train_chips[rows]), tiles, key=f"first_{sign}", alt=alt, rows=[word])
    n_pos, n_neg = int(np.sum(kept.train_y > 0)), int(np.sum(kept.train_y < 0))
    st.caption(
        f"The machine of the first split was trained on {n_pos:,} chips of objects and {n_neg:,} of the background. "
        f"The first {EACH} of each class are shown, as in Figure 6 of DeCoste and Schölkopf for the volcanoes of HOM4."
    )
    labels.offer(view)


def _categories(view: View):
    names = view.pictures.entry.categories
    lines = []
    for category, word in sorted(names.items()):
        n = int(np.sum(view.judged.object_category == category))
        if n:
            lines.append(line(view, 0, f"{words.short(word, 12)} ({n})", "other", category)[0])
    if not lines:
        st.caption("No object has a category.")
        return
    log = st.session_state.get("axis", "log") == "log"
    show(froc.category_figure(lines, per=len(view.judged.tested), unit="picture", log=log), "froc_categories")


def _ambiguous(view: View):
    """Highest-scoring false alarms, one at a time and as a gallery."""
    score = view.judged.scores[:, 0]
    alarms = np.flatnonzero(view.judged.hit < 0)
    alarms = alarms[np.argsort(-score[alarms], kind="stable")][:FLIPPED]
    if not len(alarms):
        st.caption("No candidate is a false alarm.")
        return
    at = parameters.read("flip", 1, slice(1, len(alarms))) - 1
    left, right = st.columns([1, 2], gap="large")
    with left:
        _flipped_to(view, alarms, at)
    with right:
        start = (at // PAGE) * PAGE
        page = alarms[start : start + PAGE]
        tiles = [
            Tile(
                str(number),
                f"False alarm {number}, score {score[d]:.3g}",
                lower=with_sign(score[d]),
                ring="free" if number == at + 1 else "",
                sign=-1,
            )
            for number, d in enumerate(page, start + 1)
        ]
        chips, alt = marked.stretched(view, view.judged.chips[page]), "Highest-scoring false alarms"
        gallery(chips, tiles, key="flip_gallery", alt=alt, on_pick=_flip)
    st.caption(
        "Windows that no label covers, the highest score first. "
        + ("Labels are opinions with degrees of confidence. " if view.graded else "")
        + f"Some of these windows may be {view.nouns} after all, but the curve counts them as false alarms."
    )


def _flipped_to(view: View, alarms: np.ndarray, at: int):
    """One false alarm large, with what lies around it, and the way to the next."""
    shown, n = alarms[at], len(alarms)
    with st.container(horizontal=True, vertical_alignment="center"):
        help = "Shows the false alarm with the next higher score."
        button("Previous", "chevron_left", "flip_back", _flip, at, help=help, disabled=at == 0)
        help = "Shows the false alarm with the next lower score."
        button("Next", "chevron_right", "flip_on", _flip, at + 2, help=help, disabled=at == n - 1)
        st.caption(f"{at + 1} of {n}", width="content")
    chip = magnified(marked.stretched(view, view.judged.chips[shown][None])[0], 190)
    alt = ["A false alarm, as cut from the picture", "The surroundings of the false alarm"]
    st.image([chip, marked.surroundings(view, shown)], output_format="PNG", width=190, alt=alt)
    name = view.pictures.pictures[view.judged.picture[shown]].name
    st.markdown(
        f"In {words.plain(name)}, score **{with_sign(view.judged.scores[shown, 0], 3)}**. No {view.noun} is labelled "
        "here."
    )
    help = "Shows how this window was preprocessed, which support vectors give its score, and similar training chips."
    button("Why", "help", "flip_why", open_window, marked.reference(view, shown), help=help)


def _flip(to):
    """Callback: show the false alarm of this number, from 1."""
    st.query_params["flip"] = str(to)


def _mined(view: View, rounds: list[int]):
    kept = view.run.test(0)
    for number in rounds:
        rows = np.flatnonzero(kept.train_round == number)
        tiles = [Tile("", f"Training example {i}, a false alarm of round {number}", sign=-1) for i in rows[:MINED]]
        gallery(
            marked.stretched(view, kept.train_chips[rows[:MINED]]), tiles, key=f"mined_{number}",
            alt=f"False alarms of round {number}", rows=[f"round {number}: {len(rows):,}"],
        )  # fmt: skip
    st.caption(
        f"These are false alarms of the machine of each round, away from every labelled {view.noun}. They are added to "
        "the background examples, and the machine is trained again (bootstrapping: Osuna, Freund and Girosi, section "
        "4)."
    )
