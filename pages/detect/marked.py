"""A run's pictures as the page shows them: the marks of an operating point, thumbnails, cut-outs; kept as texts."""

import numpy as np
import streamlit as st
from PIL import Image

from data.pictures import PictureSet
from pages.detect.judged import Shown
from pages.detect.view import View
from pages.detect.viewer import ALARM, FOUND, MISSED, Mark
from pages.ui.kit.gallery import data_uri
from pages.ui.kit.known import KNOWN_BY
from svmcore.jitter import JitterSet

LOSSLESS = 300_000  # pixels up to which a picture is sent as PNG; larger ones as JPEG, a third of the size
THUMB = 72  # side of a thumbnail, in pixels
AROUND = 5.0  # sides of a detection that its surroundings are wide


def reference(view: View, detection: int) -> str:
    """The text that names one detection in a tile and in the address: part, dot, number there."""
    return f"{view.judged.part[detection]}.{view.judged.row[detection]}"


def turn(view: View, detection: int) -> str:
    """How the picture was turned for a detection, such as "turn +15°"; empty if upright or not recorded."""
    number = int(view.judged.turn[detection])
    forms = JitterSet.parse(view.run.recipe.option("turns") or "none").jitters
    return forms[number].name if 0 < number < len(forms) else ""


def marks(view: View, now: Shown, column: int, picture: int) -> list[Mark]:
    """What is marked on one picture (a position in the set) at an operating point."""
    judged, noun = view.judged, view.noun
    score, names = judged.scores[:, column], view.pictures.entry.categories
    found = []

    def score_of(detection: int) -> str:
        by = turn(view, detection)
        return f"score {score[detection]:.3g}{f' after {by}' if by else ''}"

    for o in np.flatnonzero(judged.object_picture == picture):
        detection, category = now.found_by[o], int(judged.object_category[o])
        word = f"{noun}, {names.get(category, 'labelled')}"
        if detection >= 0:
            text = f"detected, {score_of(detection)}: {word}"
            found.append(Mark(FOUND, tuple(judged.objects[o]), category, reference(view, detection), text))
        else:
            why = "missed, score below the threshold" if judged.object_found[o] else "missed, no candidate window"
            found.append(Mark(MISSED, tuple(judged.objects[o]), category, _best(view, o, score), f"{why}: {word}"))
    for detection in now.alarms[judged.picture[now.alarms] == picture]:
        text = f"false alarm, {score_of(detection)}"
        found.append(Mark(ALARM, tuple(judged.box[detection]), 1, reference(view, detection), text))
    return found


def _best(view: View, o: int, score: np.ndarray) -> str:
    covering = np.flatnonzero(view.judged.hit == o)
    return reference(view, covering[np.argmax(score[covering])]) if len(covering) else ""


@st.cache_data(max_entries=200, show_spinner=False, hash_funcs=KNOWN_BY)
def source(pictures: PictureSet, picture: int) -> str:
    """The address of a picture's pixels, itself a text."""
    image = pictures.pictures[picture].image
    return data_uri(image, ("png", "jpeg") if image.size <= LOSSLESS else ("jpeg",))


@st.cache_data(max_entries=16, show_spinner=False, hash_funcs=KNOWN_BY)
def thumbnails(pictures: PictureSet, tested: np.ndarray) -> np.ndarray:
    """(p, THUMB, THUMB) uint8: the pictures tested (p,), each fitted into a white square."""
    found = np.full((len(tested), THUMB, THUMB), 255, np.uint8)
    for cell, picture in zip(found, tested):
        small = Image.fromarray(pictures.pictures[picture].image)
        small.thumbnail((THUMB, THUMB))
        w, h = small.size
        cell[(THUMB - h) // 2 :, (THUMB - w) // 2 :][:h, :w] = np.asarray(small)
    return found


def cut(image: np.ndarray, box, side: tuple[int, int], wider: float = 1.0) -> np.ndarray:
    """(h, w) = side: the part of a picture in a box, or in one `wider` times as large, white outside the picture."""
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    half = max(wider * max(box[2] - box[0], box[3] - box[1]) / 2, 1.0)
    area = (round(x - half), round(y - half), round(x + half) + 1, round(y + half) + 1)
    canvas = Image.new("L", (area[2] - area[0], area[3] - area[1]), 255)
    canvas.paste(Image.fromarray(image), (-area[0], -area[1]))
    return np.asarray(canvas.resize(side[::-1], Image.Resampling.BILINEAR))


def stretched(view: View, chips: np.ndarray) -> np.ndarray:
    """Windows (n, h, w) uint8 on one grey scale for the whole run, from its darkest to its lightest hundredth."""
    low, high = _scale(view.judged.chips, view.run.id, view.parts, view.pictures.content_hash)
    return np.rint(255 * np.clip((chips - low) / (high - low), 0, 1)).astype(np.uint8)


@st.cache_data(max_entries=16, show_spinner=False)
def _scale(_chips: np.ndarray, run_id: str, parts: int, content_hash: str) -> tuple[float, float]:
    if not _chips.size:
        return 0.0, 255.0
    low, high = np.percentile(_chips, (0.5, 99.5))
    return float(low), float(max(high, low + 1))


def surroundings(view: View, detection: int, side: int = 200) -> np.ndarray:
    """(side, side) uint8: a detection with what lies around it."""
    judged = view.judged
    image = view.pictures.pictures[judged.picture[detection]].image
    return stretched(view, cut(image, judged.box[detection], (side, side), AROUND))
