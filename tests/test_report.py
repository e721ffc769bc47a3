"""The report of a run: one file that stands alone, whatever the run is, in which every text stays a text."""

import re
import xml.dom.minidom
from html.parser import HTMLParser

import numpy as np
import pytest

import pages.ui.views  # noqa: F401  (makes them known)
from data import own
from data.dataset import Arrays
from pages.ui.run import exports
from pages.ui.run.report import charts, marks
from svmcore.kernels import RBF
from svmcore.lab import Recipe
from svmcore.lab.analyses import unsure
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import runs
from tests import detections
from tests.driven import finished

EVIL = "<img src=x onerror=alert(1)>&\"'"
LONG = "a very long name of a class " * 12  # over 300 characters
VOID = {"meta", "img", "br"}
RNG = np.random.default_rng(0)


class Checked(HTMLParser):
    """Reads a file; knows its tags, its pictures, and that what was opened is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.images = [], [], []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.tags.append(tag)
        assert not [name for name in values if name.startswith("on")]
        if tag in ("img", "image"):
            address = values.get("src") or values.get("href")
            assert address.startswith("data:image/png;base64,")
            self.images.append(values)
            assert tag == "image" or values["alt"].strip()
        if tag == "svg":
            assert values["role"] == "img"
            assert values["aria-label"].strip()
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def read(run):
    text = exports.report(run)
    found = Checked(text)
    assert not {"script", "link", "iframe"} & set(found.tags)
    assert not re.search(r"(?:src|href)=\"(?!data:)", text)
    assert "nan" not in re.findall(r'd="[^"]*"', text)
    for drawing in re.findall(r"<svg.*?</svg>", text, re.S):
        xml.dom.minidom.parseString(drawing.replace("href=", "xlink_href="))
    return text, found


def table_of_own(title="A table", names=("no", "yes"), wide=6):
    X = RNG.standard_normal((80, wide)).astype(np.float32)
    y = np.array(names)[(X[:, 0] + 0.8 * RNG.standard_normal(80) > 0).astype(int)]
    return own.keep(title, Arrays.unsplit(X, y), [f"feature {EVIL} {j}" for j in range(wide)]).name


RUNS = {
    "ten classes": lambda: Recipe(dataset="digits-8x8", n_train=200, n_test=150),
    "virtual": lambda: RECIPES["digits-8x8-sv"].replace(n_train=150, n_test=80, method="vsv", jitters="plus:1"),
    "one against the rest": lambda: Recipe(dataset="digits-8x8", n_train=150, n_test=80, classes=(8,)),
    "plane": lambda: RECIPES["moons"],
    "no errors": lambda: Recipe(
        dataset="digits-8x8", n_train=100, n_test=20, classes=(0, 1), preprocess=("unit-norm",)
    ),
    "table": lambda: Recipe(dataset=table_of_own(wide=54), preprocess=("zscore",), kernel=RBF(0.1)),
    "long names": lambda: Recipe(
        dataset=table_of_own("Long", (LONG + EVIL, LONG + "other")), preprocess=("zscore",), kernel=RBF(0.1)
    ),
    "colour": lambda: Recipe(
        dataset=own.keep(
            "Colour", Arrays.unsplit(RNG.integers(0, 256, (60, 9, 7, 3), np.uint8), np.arange(60) % 2)
        ).name,
        kernel=RBF(1.0),
    ),
}


@pytest.mark.parametrize("kind", RUNS)
def test_the_report_of_a_run_stands_alone(home, kind):
    run = finished(RUNS[kind]().replace(title=f"A run {EVIL}"[:120]))
    run.tag([EVIL[:40]])
    text, found = read(run)
    assert EVIL not in text
    assert "<img src=x" not in text
    assert len(text) < 600_000
    for part in ("Recipe", "Data", "Result", "Convergence", "Classes", "Errors", "Repeat this run", "Made with"):
        assert f"<h2>{part}</h2>" in text, part
    assert "Not shown" not in text
    assert found.tags.count("svg") >= 3
    assert run.result["made_with"]["numpy"] in text
    wrong = run.result["errors"]
    assert ("No test example is misclassified" in text) == (kind == "no errors") == (wrong == 0)
    assert sum(image.get("alt", "").startswith("Test example") for image in found.images) == min(wrong, 60)
    assert ("<h2>Abstain (reject option)</h2>" in text) == (run.result["n_test"] >= unsure.LEAST)


def test_a_run_that_looks_for_objects_has_its_curve(home):
    run = detections.stored(Recipe(task="detect", dataset="venus-like", title="Found"), detections.two_parts())
    text, found = read(run)
    assert "Not shown" not in text
    assert "false alarms per picture" in text
    assert any("Window in picture" in image.get("alt", "") for image in found.images)


def test_a_run_without_a_result_or_data_says_so(home):
    waiting = runs.create(RECIPES["moons"].replace(dataset="own:gone"))
    waiting.set_state("failed", f"no such set {EVIL}")
    waiting.release()
    text, _ = read(waiting)
    assert "no such set &lt;img" in text
    assert "Not shown" in text
    done = finished(RECIPES["moons"].replace(n_train=60))
    (done.path / "test.npz").write_bytes(b"PK broken")
    text, _ = read(done)
    assert "Not shown: test.npz is damaged" in text
    assert "Repeat this run" in text


@pytest.mark.parametrize("state", ["running", "cancelled", "failed", "interrupted"])
@pytest.mark.parametrize("recipe", ["moons", "mnist-5k-rs"])
def test_a_run_with_progress_and_no_result_has_its_course(home, state, recipe):
    run = runs.create(RECIPES[recipe])
    for gap in (1.0, 0.1):
        counts = dict.fromkeys(("iterations", "n_sv", "n_bound", "kernel_evals", "cache_hits", "cache_misses"), 3)
        run.add_progress({"stage": "train", "gap": gap, "dual": 1.0, "seconds": 1 - gap} | counts)
    run.set_state(state)
    if state != "running":
        run.release()
    text, _ = read(run)
    assert "<h2>Convergence</h2>" in text
    assert state in text
    assert "Not stored: there is no result." in text
    assert "Not shown" not in text
    run.release()


def test_files_of_a_run_that_do_not_fit_each_other_are_said(home):
    done = finished(RECIPES["moons"].replace(n_train=60))
    with np.load(done.path / "test.npz") as kept:
        arrays = dict(kept)
    arrays["y_pred"] = arrays["y_pred"] + 7
    np.savez(done.path / "test.npz", **arrays)
    text, _ = read(done)
    assert text.count("Not shown: test.npz is damaged: it does not fit the machine") == 5


def test_axes_say_round_numbers_and_charts_survive_any_number():
    assert [f"{tick:g}" for tick in charts._Axis(0, 9.3).ticks()] == ["0", "2.5", "5", "7.5"]
    assert charts._Axis(1e-3, 1, True).ticks() == pytest.approx([1e-3, 1e-2, 1e-1, 1])
    for xs, ys in (([0], [0]), ([1, 1], [5, 5]), ([0, 1e9], [1e-12, 1e12]), (range(5000), range(5000))):
        for log in (False, True):
            drawn = charts.lines([charts.Line("a", xs, ys)], "x", "y", "alt", "see", log_y=log, level=(1e-3, "tol"))
            assert "nan" not in drawn
            assert len(drawn) < 20_000
    assert charts.lines([], "x", "y", "", "") == ""


def test_a_table_is_shaded_and_escaped():
    text = marks.table(["a", EVIL], [[EVIL, 3]], "said", {(0, 0): 1.0})
    assert "rgb(138, 143, 152)" in text
    assert "<img" not in text
