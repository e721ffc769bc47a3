"""Figures and galleries: pure functions, held to what they must show rather than to how they look."""

import base64
import io

import numpy as np
import pytest
from PIL import Image
from scipy import optimize

from pages.paper import mercer, plane
from pages.ui.figures import confusion, curves, decisions, maps, ranking
from pages.ui.kit import gallery
from pages.ui.kit.gallery import data_uri, diverging, magnified, montage, pictures, reference, thin
from pages.ui.kit.palette import BLUE_RGB, ORANGE_RGB
from pages.ui.kit.words import held_so_far
from svmcore.kernels import RBF, Linear, Poly, Sigmoid


def records(n):
    return [
        {"stage": "train", "seconds": i / 10, "iterations": i, "gap": 10.0 / (i + 1), "gaps": [10.0 / (i + 1), 1.0],
         "mean_gap": 5.0 / (i + 1), "dual": float(i), "n_sv": 100 + i, "n_bound": i}
        for i in range(n)
    ]  # fmt: skip


def test_montage_keeps_every_picture_whole_and_in_order():
    cells = np.random.default_rng(0).integers(0, 256, (7, 5, 4), dtype=np.uint8)
    sheet = montage(cells, columns=3)
    assert sheet.shape == (15, 12)
    for i, cell in enumerate(cells):
        row, column = divmod(i, 3)
        np.testing.assert_array_equal(sheet[row * 5 :, column * 4 :][:5, :4], cell)
    assert (sheet[10:, 4:] == 255).all()


def test_montage_takes_colour_and_the_png_is_lossless():
    cells = np.random.default_rng(1).integers(0, 256, (3, 5, 4, 3), dtype=np.uint8)
    sheet = montage(cells, columns=2)
    png = base64.b64decode(data_uri(sheet).partition(",")[2])
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(png))), sheet)


def test_ink_is_drawn_dark_on_light_and_photographs_stay_as_they_are():
    images = np.zeros((4, 6, 6), np.uint8)
    images[:, 2:4] = 255
    np.testing.assert_array_equal(pictures(images, images, (6, 6), ink=True), 255 - images)
    np.testing.assert_array_equal(pictures(images, images, (6, 6)), images)


def test_the_grey_scale_is_that_of_the_data_set_not_of_the_pictures_at_hand():
    like = np.linspace(-1, 1, 50, dtype=np.float32).reshape(2, 5, 5)
    grey = pictures(np.zeros((1, 25), np.float32), like, (5, 5))
    assert set(grey.ravel().tolist()) <= {127, 128}


def test_features_become_a_point_in_the_plane_or_a_square_of_signed_cells():
    rng = np.random.default_rng(2)
    plane = pictures(np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[0.0, 0.0], [1.0, 1.0]]), None)
    assert plane[0, -4:, :4].min() < 50 < 200 < plane[0, :10, 10:].min()  # low values: lower left
    assert plane[1, :4, -4:].min() < 50
    wide = pictures(rng.standard_normal((3, 10)), rng.standard_normal((50, 10)), None)
    assert wide.shape == (3, 4, 4, 3)


def test_diverging_colours_end_in_blue_and_orange_around_white():
    np.testing.assert_array_equal(diverging(np.array([1.0, -1.0, 0.0])), [BLUE_RGB, ORANGE_RGB, (255, 255, 255)])


def test_magnification_is_whole_and_large_pictures_are_thinned():
    assert magnified(np.zeros((8, 8), np.uint8), 280).shape == (280, 280)
    assert magnified(np.zeros((28, 20), np.uint8), 50).shape == (56, 40)
    assert max(thin(np.zeros((2, 300, 500), np.uint8)).shape[1:]) <= 128


@pytest.mark.parametrize("shape", [(28, 28), (900, 100, 3), (4000, 30), (100, 900, 3), (321, 512)])
def test_a_photograph_leaves_room_for_what_is_said_of_it(monkeypatch, shape):
    shown = []
    monkeypatch.setattr(gallery.st, "image", lambda picture, width, **_: shown.append((picture.shape, width)))
    gallery.large(np.zeros(shape, np.uint8), 168, "")
    [((h, w, *_), width)] = shown
    drawn = h if width == "content" else width * h / w
    assert drawn <= 320
    assert drawn > min(h, 320) - h / w  # less by a pixel of the width at most


def test_a_reference_keeps_names_that_hold_colons():
    assert reference("own:my-set", "train", np.int64(7)) == "own:my-set/train/7"


CURVES = [lambda r: curves.gap_curve(r, 1e-3, "ab"), curves.dual_curve, curves.sv_curve]


@pytest.mark.parametrize("draw", CURVES)
@pytest.mark.parametrize("n", [0, 1, 5000])
def test_curves_draw_any_length_with_few_points_and_keep_the_last(draw, n):
    figure = draw(records(n))
    lines = [trace for trace in figure.data if trace.x is not None and len(trace.x)]
    assert all(len(trace.x) <= 2 * curves.LONGEST for trace in lines)
    if n:
        assert lines[-1].x[-1] == records(n)[-1]["seconds"]
    assert figure.layout.meta["alt"]
    assert figure.layout.meta["see"]


def test_machines_too_many_to_draw_each_are_counted():
    (line,) = records(1)
    several = {name: value for name, value in line.items() if name != "gaps"} | {"machines": 30}
    assert curves.gap_curve([several], 1e-3).layout.meta["see"].startswith("The mean gap of 30 machines falls")
    assert held_so_far(several) == "100 alphas above 0 in 30 machines together so far"


def test_a_line_for_each_machine_is_named_where_it_is_done():
    """Three machines in turn, a second apart; then a second training, of which one machine is done."""
    at = [(1e-3 if t >= 1 else 2.0, 1e-3 if t >= 2 else 2.0, 1e-3 if t >= 3 else 2.0) for t in np.arange(0, 4, 0.1)]
    again = [(1e-3 if t >= 1 else 2.0, 2.0, 2.0) for t in np.arange(0, 2, 0.1)]
    lines = [
        records(1)[0] | {"stage": stage, "seconds": i / 10, "gap": max(g), "gaps": list(g), "n_sv": n}
        for i, (stage, g, n) in enumerate([("base", g, 9) for g in at] + [("virtual 5", g, 3) for g in again])
    ]
    names = ["3", "5", "8"]

    def texts(figure):
        return [note.text for note in figure.layout.annotations]

    first = curves.gap_curve(lines[:40], 1e-3, names)
    assert len(first.data) == 4
    assert first.layout.yaxis.exponentformat == "power", "µ would be a unit"
    assert [text for text in texts(first) if text in names] == names
    both = curves.gap_curve(lines, 1e-3, names)
    assert len(both.data) == 8
    assert [text for text in texts(both) if text in names] == ["3"]
    assert {"base", "virtual"} < set(texts(both))
    assert "1 of 3 machines have reached tol" in both.layout.meta["see"]


def test_the_histogram_counts_every_alpha_and_says_how_many_are_bound():
    alpha, signs = np.array([0.1, 0.2, 2.0, 2.0, 1.9999]), np.array([1, -1, 1, -1, -1])
    figure = decisions.alpha_histogram(alpha, signs, C=2.0)
    assert [sum(bar.y) for bar in figure.data] == [2, 3]
    assert sum(bar.y[bar.x > 2.0].sum() for bar in figure.data) == 2, "those at C, and no others, stand beyond its line"
    assert figure.layout.meta["see"].startswith("2 of 5 alphas above 0 reach C = 2")
    assert "DeCoste and Schölkopf (2002)" not in figure.layout.meta["see"]
    of_mnist = decisions.alpha_histogram(alpha, signs, 2.0, dataset="mnist-5k")
    assert "DeCoste and Schölkopf (2002)" in of_mnist.layout.meta["see"]


def test_the_confusion_matrix_shades_errors_only_and_reports_cells():
    matrix = np.array([[50, 3], [1, 60]])
    shown = confusion.counts(matrix)
    assert [(cell.at, cell.text, cell.shade) for cell in shown.cells] == [
        (0, "50", 0), (1, "3", 1), (2, "1", 1 / 3), (3, "60", 0)
    ]  # fmt: skip
    assert "4 of them wrong" in shown.alt
    assert [cell.at for cell in confusion.counts(np.diag([5, 0, 2])).cells] == [0, 8]


def test_decision_bars_name_the_true_and_the_predicted_class():
    (bars,) = decisions.decision_bars(np.array([-1.0, 0.5, 0.2]), ["3", "5", "8"], "8", "5").data
    assert [label.split(" ", 1)[1] for label in bars.y] == ["", "predicted", "true"]


@pytest.mark.parametrize("kernel", [Linear(), Poly(9, 1.0, 1.0), RBF(2.0), Sigmoid(0.5, 0.1)])
def test_the_kernel_picture_ends_at_the_kernel_of_an_example_with_itself(kernel):
    curve = maps.kernel_picture(kernel).data[0]
    np.testing.assert_allclose(curve.y[-1], kernel.diag(np.array([[1.0, 0.0]], np.float32))[0], rtol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_plane_shows_every_point_once_and_marks_the_rest(n_classes):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((30, 2)), np.arange(30) % n_classes
    xs, ys, nodes = maps.grid(X, side=20)
    f = (nodes[:, 0] if n_classes == 2 else np.arange(400) % 3).reshape(20, 20)
    refs = [f"toy/train/{i}" for i in range(30)]
    figure = maps.toy_plane(X, y, range(n_classes), refs=refs, field=(xs, ys, f), free=[1], bound=[2], errors=[])
    points = [ref for trace in figure.data if trace.customdata is not None for ref in trace.customdata]
    assert sorted(points) == sorted(refs)


def test_two_classes_of_the_plane_are_told_by_name():
    see = maps.toy_plane(np.eye(2), np.array(["bad", "good"]), ["bad", "good"]).layout.meta["see"]
    assert see.startswith("Each point is an example: orange squares of class bad, blue dots of class good.")


def test_constructed_vectors_of_the_plane_are_diamonds():
    figure = maps.toy_plane(np.eye(2), np.array([0, 1]), [0, 1], made=[[0.5, 2.0], [3.0, 4.0]])
    assert "Diamonds are the 2 vectors of the reduced set." in figure.layout.meta["see"]
    assert figure.data[-1].marker.symbol == "diamond-open"
    assert list(figure.data[-1].x) == [0.5, 3.0]


def test_the_grid_covers_the_points_row_by_row():
    X = np.array([[0.0, 10.0], [1.0, 20.0]])
    xs, ys, nodes = maps.grid(X, side=5)
    assert xs[0] < 0 < 1 < xs[-1]
    assert ys[0] < 10 < 20 < ys[-1]
    np.testing.assert_allclose(nodes.reshape(5, 5, 2)[2], np.column_stack([xs, np.full(5, ys[2])]))


def test_roc_curves_say_their_areas():
    rng = np.random.default_rng(0)
    positive = rng.random(200) < 0.3
    good, chance = positive + 0.1 * rng.random(200), rng.random(200)
    figure = ranking.roc_curves(positive, {"left": good, "right": chance})
    assert "left 1.0000" in figure.layout.meta["see"]
    assert [trace.name for trace in figure.data] == ["left", "right"]
    assert min(figure.data[0].x) > 0  # on a logarithmic axis
    assert max(figure.data[1].y) == 1


@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_points_of_hulls_are_those_of_the_widest_margin(seed):
    """Osuna, Freund and Girosi (1997), section 2.1; the oracle is a minimum over weights of each class's points."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(size=(6, 2)) + 3, rng.normal(size=(8, 2)) - 3]).astype(np.float32)
    y = np.repeat([1, -1], [6, 8])
    found = plane.widest(X, y)

    def apart(weights):
        return np.sum((weights[:6] @ X[:6] - weights[6:] @ X[6:]) ** 2)

    sums = [{"type": "eq", "fun": lambda v, at=at: v[at].sum() - 1} for at in (slice(0, 6), slice(6, 14))]
    start = np.repeat([1 / 6, 1 / 8], [6, 8])
    least = optimize.minimize(apart, start, bounds=[(0, 1)] * 14, constraints=sums, options={"ftol": 1e-14})
    assert np.allclose(found.p, least.x[:6] @ X[:6], atol=1e-3)
    assert np.allclose(found.q, least.x[6:] @ X[6:], atol=1e-3)
    assert np.isclose(np.linalg.norm(found.p - found.q), 2 / np.linalg.norm(found.w), rtol=1e-3)
    assert np.isclose((found.p + found.q) / 2 @ found.w + found.b, 0, atol=1e-3)
    assert (y * (X @ found.w + found.b) >= 1 - 1e-3).all()


def test_sums_of_features_approach_their_kernel_and_only_a_scalar_product_has_no_negative_eigenvalue():
    """Osuna, Freund and Girosi (1997), section 2.4."""
    t = np.linspace(-np.pi, np.pi, mercer.GRID)
    np.testing.assert_allclose(mercer.summed(t, 200), mercer.closed(t), atol=1e-9)
    gaps = [np.abs(mercer.summed(t, n) - mercer.closed(t)).max() for n in mercer.SUMS]
    assert gaps == sorted(gaps, reverse=True)
    features, spectra = mercer._features(), mercer._spectra()
    assert f"{gaps[-1]:.2f} with 17" in features.layout.meta["see"]
    assert mercer.spectrum(mercer.KERNELS["Gaussian"]).min() > -mercer.LEAST
    assert (mercer.spectrum(mercer.KERNELS["sigmoid"]) < -mercer.LEAST).sum() >= 3
    assert "Gaussian: none negative; sigmoid: " in spectra.layout.meta["alt"]
    crosses = spectra.data[1].marker.symbol.count("x")
    assert f"sigmoid: {crosses} negative" in spectra.layout.meta["alt"]
