"""A detection run made ready for looking: its pictures, its detections so far, its curves; kept between two clicks."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import streamlit as st

from data import DataError, pictures
from pages.detect import judged as judging
from pages.detect.froc import Line
from pages.detect.judged import Judged
from pages.ui.kit.known import KNOWN_BY
from pages.ui.kit.text import plural
from pages.ui.kit.view import home_of
from svmcore.detection import curve
from svmcore.detection.curve import Estimate, Trial
from svmcore.lab.fields import RecipeError
from svmcore.lab.finders.scanned import content_hash
from svmcore.lab.methods import METHODS
from svmcore.lab.store.runs import Run
from svmcore.lab.tasks.detect import experiment as experiment_of

PAGE = "detect"  # in whose room this is
DENSE, STEPS = 100, 120  # numbers of false alarms at which a curve is drawn: all up to DENSE, then so many more


class View(NamedTuple):
    """What all panels of the Detect page look at."""

    run: Run
    pictures: pictures.PictureSet
    experiment: pictures.Experiment
    judged: Judged
    parts: int  # judged so far

    @property
    def n_objects(self) -> int:
        """Labelled objects of the pictures tested."""
        return len(self.judged.objects)

    @property
    def area(self) -> float:
        """Usable area of the pictures tested, in the set's unit."""
        return float(self.judged.area.sum())

    @property
    def per(self) -> dict[str, float]:
        """What false alarms may be counted by -> how much of it was searched."""
        by_picture = {"picture": float(len(self.judged.tested))}
        return by_picture if self.pictures.entry.unit == "picture" else by_picture | {self.unit: self.area}

    @property
    def unit(self) -> str:
        return self.pictures.entry.unit

    @property
    def noun(self) -> str:
        return self.pictures.entry.object_name

    @property
    def graded(self) -> bool:
        """Whether its labels are opinions in several degrees of confidence, as those of the volcanoes."""
        return len(self.pictures.entry.categories) > 2

    @property
    def nouns(self) -> str:
        return plural(self.noun)


def opens_here(run: Run) -> bool:
    """Whether the page Detect is the one that a run opens on."""
    return home_of(run.recipe).page == PAGE


def view_of(run: Run) -> View | None:
    """What to look at; None before the first split is judged. DataError if its pictures are missing or replaced."""
    parts = run.parts()
    if not parts:
        return None
    try:
        found, experiment = experiment_of(run.recipe)
    except RecipeError as error:
        raise DataError(str(error)) from error
    kept = (run.result or {}).get("data_hash")
    if kept and not found.entry.fixed and kept not in (found.content_hash, content_hash(run.recipe, found)):
        raise DataError(
            f"{found.entry.title} is not the dataset that this run was trained on: it has been replaced since"
        )
    joined = _joined(run, parts)
    if joined.tested.max(initial=-1) >= len(found.pictures):
        raise DataError(f"{found.entry.title} has fewer pictures now than when this run searched it")
    return View(run, found, experiment, joined, parts)


def own_name(run: Run) -> str:
    """What to call a run's machine: SVM, VSV, ..."""
    return {"sv": "SVM", "vsv": "VSV"}.get(run.recipe.method, METHODS[run.recipe.method].short)


def _kept(most: int) -> Callable:
    """What is made of Views is kept, the latest so many."""
    known_by = KNOWN_BY | {View: lambda view: (view.run.id, view.parts)}
    return st.cache_resource(max_entries=most, show_spinner=False, hash_funcs=known_by)


@_kept(64)
def trial(view: View, column: int, category: int | None = None) -> Trial:
    """One machine's search, for statistics."""
    return judging.trial(view.judged, column, category)


def line(view: View, column: int, name: str, kind: str, category: int | None = None) -> tuple[Line, Estimate]:
    """One machine's curve with its band over pictures, and its challenge score with an interval."""
    band, zero, score = _statistics(view, column, category)
    return Line(name, kind, band, zero if kind != "rival" else None), score


@_kept(32)
def difference(a: View, b: View) -> Estimate | None:
    """Challenge score of b's machine less that of a's, where both searched the same pictures."""
    try:
        return curve.difference(trial(a, 0), trial(b, 0), curve.challenge)
    except ValueError:
        return None


@_kept(6)
def _joined(run: Run, parts: int) -> Judged:
    return judging.joined([run.test(part) for part in range(parts)], own_name(run))


@_kept(64)
def _statistics(view: View, column: int, category: int | None):
    search = trial(view, column, category)
    most = len(search.alarm_scores)
    beyond = np.geomspace(DENSE, most, STEPS).round() if most > DENSE else []
    band = curve.band(search, np.unique(np.concatenate([np.arange(min(most, DENSE) + 1), beyond])))
    return band, judging.trained(search), curve.estimate(search, curve.challenge)
