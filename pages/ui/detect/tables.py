"""A detection run as tables: its curves and detections as CSV, and the published figures beside ours."""

from functools import partial

import numpy as np
import streamlit as st

from data.loaders.objects import coco
from pages.ui.detect import marked, operate
from pages.ui.detect.view import View, trial
from svmcore.detection import curve
from svmcore.lab.registry.tables import csv_text
from svmcore.lab.tables import PUBLISHED

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
    """Every candidate with its scores, the surest first; `object` numbers the objects of its picture from 0. Of a
    search in turns, also the turn that found it."""
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
    """Buttons for what can be taken away."""
    name, of_all = operate.safe(view.run.title), partial(curves_csv, view, compared)
    files = {  # key, label, icon -> what makes it, what its file's name ends in, why
        ("curves", "Curves (CSV)", "show_chart"): (
            of_all, "froc.csv", "Each machine's detection rate, with its interval, against false alarms."),
        ("detections", "Detections (CSV)", "table"): (
            partial(detections_csv, view), "detections.csv",
            "Each candidate: its picture, its box in pixels, the scores of all machines, and what it covers."),
        ("coco", "Detections (COCO JSON)", "data_object"): (
            partial(detections_coco, view), "detections.json",
            "Boxes with f above 0 and their scores, as annotation tools import them, to be corrected there."),
    }  # fmt: skip
    with st.container(horizontal=True):
        for (key, label, icon), (content, file, help) in files.items():
            st.download_button(
                label, content, f"{name}-{file}", "application/json" if file.endswith("json") else "text/csv",
                key=f"export_{key}", on_click="ignore", icon=f":material/{icon}:", help=help,
                disabled=key == "curves" and not view.n_objects,
            )  # fmt: skip
    st.caption(
        "The picture with its marks has a button of its own below it. Boxes are in pixels of the picture, from its "
        "upper left corner; `object` numbers the objects of the picture in the order of its labels, empty for none."
    )


def published(view: View) -> tuple[list[dict], str]:
    """Rows of the papers' figures beside ours, and what differs in how they came about."""
    if view.noun == "face":
        rows = []
        for name, theirs in PUBLISHED["osuna_faces"].items():
            rate, alarms, n = theirs["rate"], theirs["false_alarms"], theirs["pictures"]
            ours = curve.at_alarms(trial(view, 0), alarms / n * len(view.judged.tested)).rate
            row = {"published": name, "found": f"{100 * rate:.1f} %", "false alarms a picture": f"{alarms / n:.3f}"}
            rows.append(row | {"ours at as many": f"{100 * ours:.1f} %"})
        return rows, (
            "Osuna, Freund and Girosi (1997), trained on about 50,000 windows of their own. Set A was of "
            "good quality with one face a picture; set B is of mixed quality. Ours are other pictures, so the columns "
            "tell of the order of size, not of better or worse."
        )
    own, gauss = (curve.at_threshold(trial(view, 0), 0.0), None)
    if "Gaussian" in view.judged.names:
        gauss = curve.at_alarms(trial(view, view.judged.names.index("Gaussian")), own.alarms)
    ours = f"{own.rate:.2f} with {own.alarms} false alarms"
    beside = "–" if gauss is None else f"{gauss.rate:.2f} with as many"
    finding = "SVM above the two-Gaussian model at offset 0, in each of experiments A to E"
    rows = [{"published": finding, "ours, offset 0": ours, "our Gaussian": beside}]
    return rows, (
        "DeCoste and Schölkopf (2002), section 5.2, print curves (Figures 7 to 9) and no table, so there are no "
        "numbers to set beside ours. Their candidates are those of Burl et al. (1998); ours come from a matched filter "
        "of our own on the same images, averaged 2 x 2, so that the ceilings differ."
    )
