"""Curves and pictures of detection, held to what they must show: counts against slow ones, degenerate searches."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from pages.detect import froc, operate, viewer
from pages.detect import judged as judging
from pages.detect.viewer import ALARM, FOUND, MISSED, Mark
from svmcore.detection import curve
from tests.detections import detections, two_parts


@pytest.fixture
def judged():
    return judging.joined(two_parts(), "SVM")


def slowly(judged, column, threshold):
    """(objects found, false alarms) one by one."""
    found, alarms = set(), 0
    for score, hit in zip(judged.scores[:, column], judged.hit):
        if score >= threshold:
            alarms += hit < 0
            found |= {int(hit)} if hit >= 0 else set()
    return found, alarms


def test_parts_are_joined_with_objects_numbered_through_all_of_them(judged):
    first, second = two_parts()
    assert judged.names == ("SVM", "matched filter")
    assert judged.tested.tolist() == [0, 1, 2]
    for d in range(len(judged.hit)):
        one, row = (first, second)[judged.part[d]], judged.row[d]
        assert judged.scores[d].tolist() == [one.decision[row], one.rivals[row, 0]]
        if one.hit[row] >= 0:
            np.testing.assert_array_equal(judged.objects[judged.hit[d]], one.objects[one.hit[row]])
            assert judged.object_picture[judged.hit[d]] == judged.picture[d]
        else:
            assert judged.hit[d] == -1


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("threshold", [-np.inf, -0.5, 0.0, 0.5, 99.0, np.inf])
def test_what_shows_at_a_threshold_is_what_a_slow_count_finds(judged, column, threshold):
    now = judging.shown(judged, column, threshold)
    found, alarms = slowly(judged, column, threshold)
    assert set(np.flatnonzero(now.found_by >= 0)) == found
    assert len(now.alarms) == alarms
    counts = judging.per_picture(judged, now)
    assert [sum(c) for c in zip(*counts)] == [len(found), alarms]
    for o in found:
        own = judged.scores[judged.hit == o, column]
        assert judged.scores[now.found_by[o], column] == own.max()


@pytest.mark.parametrize("column", [0, 1])
def test_every_choice_of_the_slider_is_a_threshold_that_shows_at_most_so_many_false_alarms(judged, column):
    search = judging.trial(judged, column)
    choices = judging.counts(search)
    assert choices == sorted(set(choices))
    assert choices[-1] == len(search.alarm_scores)
    assert judging.trained(search).alarms in choices
    rates = []
    for k in choices:
        point = curve.at_alarms(search, k)
        found, alarms = slowly(judged, column, point.threshold)
        assert alarms == point.alarms <= k
        assert len(found) == point.found
        rates.append(point.rate)
    assert rates == sorted(rates)


def test_a_category_counts_its_own_objects_and_all_false_alarms(judged):
    search = judging.trial(judged, 0, category=1)
    assert search.n_objects.tolist() == [1, 1, 1]
    assert len(search.alarm_scores) == np.sum(judged.hit < 0)
    assert len(search.found_scores) == 3


def test_the_ceiling_counts_what_any_candidate_covers(judged):
    assert judging.ceiling(judged) == 7 / 8
    assert judging.ceiling(judging.joined([detections()], "SVM")) is None


def lines_of(judged):
    found = []
    for column, name in enumerate(judged.names):
        search = judging.trial(judged, column)
        band = curve.band(search, np.arange(len(search.alarm_scores) + 1), replicates=20)
        found.append(froc.Line(name, "rival" if column else "own", band, None if column else judging.trained(search)))
    return found


@pytest.mark.parametrize("log", [True, False])
def test_the_froc_figure_draws_each_machine_offset_0_and_the_clickable_points(judged, log):
    lines, search = lines_of(judged), judging.trial(judged, 0)
    choices = [(str(k), k, curve.at_alarms(search, k).rate) for k in judging.counts(search)]
    figure = froc.froc_figure(lines, per=3.0, unit="picture", log=log, ceiling=7 / 8, now=(3, 0.5), choices=choices)
    drawn = {trace.hovertemplate.partition("<extra>")[2] for trace in figure.data if trace.hovertemplate}
    assert drawn == {"SVM</extra>", "matched filter</extra>"}
    clickable = [trace for trace in figure.data if trace.marker.opacity == 0]
    assert [list(trace.customdata) for trace in clickable] == [[text for text, *_ in choices]]
    zero = next(trace for trace in figure.data if trace.marker.symbol == "diamond-open")
    at = judging.trained(search)
    assert (zero.x[0], zero.y[0]) == (at.alarms / 3, at.rate)
    assert zero.cliponaxis is figure.data[-1].cliponaxis is False, "a point at the edge is drawn whole"
    main = next(trace for trace in figure.data if trace.line.width == 3)
    np.testing.assert_allclose(main.y, lines[0].band.rate)
    assert (np.array(main.x) > 0).all() or not log
    assert figure.layout.meta["alt"]
    assert figure.layout.meta["see"]


SEARCHES = {
    "nothing found": detections(objects=[(1, 1, 9, 9)], object_picture=[0]),
    "no objects": detections(picture=[0, 0], decision=[1.0, -1.0], hit=[-1, -1]),
    "nothing at all": detections(),
    "only hits": detections([0], [1.0], [0], [(1, 1, 9, 9)], [0]),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_degenerate_searches_have_figures(name):
    judged = judging.joined([SEARCHES[name]], "SVM")
    search = judging.trial(judged, 0)
    assert judging.counts(search)[-1] == len(search.alarm_scores)
    figure = froc.froc_figure(lines_of(judged), per=1.0, unit="picture", now=(0, 0.0))
    assert figure.layout.meta["see"]
    assert froc.outputs_figure(judged.scores[:, 0], judged.hit >= 0, np.inf).layout.meta["see"]
    now = judging.shown(judged, 0, -np.inf)
    assert judging.per_picture(judged, now) == [(np.sum(judged.object_found), len(now.alarms))]


def test_the_outputs_are_all_there():
    f, hit = np.linspace(-3, 3, 500), np.arange(500) % 7 == 0
    figure = froc.outputs_figure(f, hit, 0.5)
    assert sum(sum(trace.y) for trace in figure.data) == 500
    assert figure.layout.shapes[0].x0 == 0.5


def test_outputs_of_another_machine_lie_over_them_in_the_same_bins():
    f, hit = np.linspace(-3, 3, 500), np.arange(500) % 7 == 0
    alone, both = froc.outputs_figure(f, hit, 0.5), froc.outputs_figure(f, hit, 0.5, others=[("VSV", 3 * f, hit)])
    assert sum(np.nansum(trace.y) for trace in both.data) == 1000
    assert [np.nansum(trace.y) for trace in both.data[2:]] == [np.sum(~hit), np.sum(hit)]
    assert max(both.data[2].x) > 2.5 * max(alone.data[0].x)
    np.testing.assert_array_equal(both.data[0].x, both.data[2].x)
    assert "The median distance of the scores from 0 is 1.5 for f and 4.5 for VSV." in both.layout.meta["see"]


MARKS = [
    Mark(FOUND, (10, 10, 30, 30), 1, "0.1"),
    Mark(FOUND, (50, 10, 70, 30), 4, "0.2"),
    Mark(MISSED, (10, 50, 30, 70), 2, ""),
    Mark(ALARM, (50, 50, 70, 70), 1, "0.3"),
]


@pytest.mark.parametrize("shape", ["box", "circle"])
def test_the_viewer_draws_each_mark_in_its_own_way(shape):
    drawn = [viewer._drawn(mark, shape) for mark in MARKS]
    assert [d["ref"] for d in drawn] == ["0.1", "0.2", "", "0.3"]
    assert [d["dashed"] for d in drawn] == [False, False, True, False]
    assert [d["cross"] for d in drawn] == [False, False, False, True]
    assert [d["width"] for d in drawn[:3]] == [viewer.WIDTHS[c] for c in (1, 4, 2)]
    assert [bool(d["shape"]) for d in drawn] == [True, True, True, shape == "box"]
    assert json.loads(json.dumps(drawn)) == drawn
    assert viewer.counted(MARKS) == "2 detected, 1 missed, 1 false alarm"
    assert viewer.counted([]) == "0 detected, 0 missed, 0 false alarms"


def test_an_outline_goes_round_its_box():
    ring = operate.outline((10, 20, 30, 60), "circle")
    np.testing.assert_allclose(((ring - (20, 40)) / (10, 20) ** np.array(1)) ** 2 @ np.ones(2), 1)
    assert operate.outline((10, 20, 30, 60), "box").tolist()[2] == [30, 60]


@pytest.mark.parametrize("shape", ["box", "circle"])
def test_the_png_has_the_pictures_size_and_marks_in_colour_only_there(shape):
    image = np.full((80, 100), 90, np.uint8)
    plain = np.asarray(Image.open(io.BytesIO(operate.picture_png(image, [], shape))))
    marked = np.asarray(Image.open(io.BytesIO(operate.picture_png(image, MARKS, shape))))
    assert marked.shape == (80, 100, 3)
    assert (plain == 90).all()
    changed = (marked != 90).any(axis=2)
    assert changed[60, 60]  # the cross of the false alarm
    assert changed[8:33, 8:33].any()
    assert not changed[20, 20]  # the inside of a found object
    assert not changed[:, 75:].any()
