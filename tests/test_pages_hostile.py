"""Texts that a reader or a file brings, shown on every page: none is Markdown, HTML or a template to it."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from data import catalogue
from data.dataset import Arrays
from pages.paper import table as paper_table
from pages.ui.figures import curves, decisions, maps
from pages.ui.kit import words
from pages.ui.why.dialog import PANELS
from svmcore.kernels import RBF
from svmcore.lab import jobs
from svmcore.lab.methods.reduced import reduction_of
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from tests import damage
from tests.driven import finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)

PAGES = (
    "compare",
    "cross_training",
    "datasets",
    "digestion",
    "draw",
    "errors",
    "jitters",
    "lessons",
    "methods",
    "paper",
    "reduced",
    "runs",
    "scramble",
    "support_vectors",
    "sweep",
    "train",
)
IMAGE = "![p](http://evil.example/1.png)"
TAG = "<img src=http://evil.example/2.png>"
LONG = "**x**" * 60
CLASSES = (IMAGE, TAG, LONG)
TITLE = f"{IMAGE} {TAG}"
LIVE = re.compile(r"(?<!\\)!\[|(?<!\\)\]\(|(?<!\\)<img|(?<!\\)\*\*x\*\*")  # what would not be shown letter by letter
PLAIN_FIELDS = {"alt", "element_id", "id", "form_id", "user_key", "key", "url", "file_name", "mark"}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A home with a set of images whose title and classes are hostile, and a run on it of a hostile title."""
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SVMLAB_HOME", str(folder))
        rng = np.random.default_rng(0)
        y = np.array(CLASSES)[np.arange(90) % 3]
        X = rng.integers(0, 256, (90, 8, 8)).astype(np.uint8)
        X[:, 0] = 255 * (np.arange(90) % 3 == 0)[:, None]
        entry = catalogue.keep(f"{TITLE}", Arrays(X, y, X[:30], y[:30]))
        recipe = Recipe(dataset=entry.name, preprocess=("unit-norm",), kernel=RBF(1.0), C=1.0, n_train=60)
        damage.finished(recipe.replace(C=0.01), TITLE)
        run = damage.finished(recipe, TITLE)
        line = run.progress()[0] | {"stage": f"{TAG} 1", "gaps": [0.5, 0.4, 0.3]}
        run.add_progress(line | {"stage": TAG})
        run.tag([IMAGE, TAG[:40]])
    return folder, entry.name, run.id


@pytest.fixture
def kept(hostile, monkeypatch):
    monkeypatch.setenv("SVMLAB_HOME", str(hostile[0]))
    return hostile


def strings(message, path=""):
    """Every text in a protobuf message, with the names of the fields that lead to it."""
    for field, value in message.ListFields():
        here = f"{path}.{field.name}".strip(".")
        for one in value if hasattr(value, "__iter__") and not isinstance(value, str | bytes) else [value]:
            if isinstance(one, str):
                yield here, one
            elif hasattr(one, "ListFields"):
                yield from strings(one, here)


def live_texts(app):
    """Texts on a page that its browser would make more of than text: (where, text)."""
    found = []
    for node in list(app):
        proto = getattr(node, "proto", None)
        if proto is None or not hasattr(proto, "ListFields"):
            continue
        for where, text in strings(proto, type(node).__name__):
            name = proto.DESCRIPTOR.name.lower()
            if name in ("bidicomponent", "arrow", "dataframe") or where.rpartition(".")[2] in PLAIN_FIELDS:
                continue
            if name in ("selectbox", "multiselect", "textinput") and "label" not in where and "help" not in where:
                continue
            if name == "plotlychart":
                found += [(where, t) for t in figure_texts(text) if re.search(r"<img|<a |%\{p\}", t)]
            elif LIVE.search(text):
                found.append((where, text[:100]))
    found += [
        ("table", cell) for element in app.table for cell in element.value.to_numpy().ravel() if LIVE.search(cell)
    ]
    return found


def figure_texts(spec):
    def walk(value):
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for key, inner in value.items():
                if key not in ("meta", "customdata"):  # words of our own, and references that nobody draws
                    yield from walk(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from walk(inner)

    try:
        return list(walk(json.loads(spec)))
    except ValueError:
        return []


@pytest.mark.parametrize("page", PAGES)
def test_no_page_shows_a_text_as_anything_but_text(kept, page):
    _, name, run_id = kept
    both = [run.id for run in runs.newest_first()]
    asked = {"open": ["sweep-0", TAG], "tag": [IMAGE], "data": [TAG], "how": ["**x**"], "state": [LONG], "find": ""}
    app = open_page(page, run=run_id, set=name, dataset=name, digit=f"{name}/train/3", compare=[*both, IMAGE], **asked)
    assert live_texts(app) == []
    assert len(list(app)) > 10


def test_no_page_of_a_reduced_machine_does(kept):
    _, name, run_id = kept
    small = reduction_of(runs.get(run_id).recipe, n_vectors=4, sizes=2, reduction="rho")
    reduced = runs.get(jobs.submit(small, parent=run_id))
    assert jobs.wait(reduced.id, 60).state == "done"
    reduced.rename(TITLE)
    for page in ("reduced", "support_vectors", "runs"):
        app = open_page(page, run=reduced.id, n_vectors=TAG, reduction=IMAGE, changed=TAG, machine=IMAGE)
        assert live_texts(app) == []
    for panel in ("bill", "family"):
        app = open_page("errors", run=reduced.id, digit=f"{name}/test/3", why=panel)
        assert live_texts(app) == []


@pytest.mark.parametrize("view", ["First hundred", "By class", "Preprocessing", "About"])
def test_no_view_of_a_data_set_does(kept, view):
    _, name, run_id = kept
    app = open_page("datasets", run=run_id, set=name, view=view)
    assert app.segmented_control(key="view").value == view
    assert live_texts(app) == []
    if view == "About":
        assert "evil" in str(app.table[0].value)


@pytest.mark.parametrize("panel", ["orbit", "map", "remedy"])
def test_no_panel_of_an_example_does(kept, panel):
    _, name, run_id = kept
    for split in ("train", "test"):
        app = open_page("errors", run=run_id, digit=f"{name}/{split}/3", why=panel)
        assert live_texts(app) == []
    app = open_page("errors", run=run_id, digit=f"{name}/test/3", why=panel)
    for parameter in ("orbit", "beside", "map_class"):
        app.query_params[parameter] = IMAGE
    app.run()
    assert live_texts(app) == []
    assert not app.exception


@pytest.mark.parametrize("page", [*PAGES, *(f"errors?why={panel}" for panel in PANELS)])
def test_lists_show_texts_letter_by_letter_too(kept, page):
    """A browser does not read Markdown in a list: a mark before a letter would be seen."""
    _, name, run_id = kept
    page, _, panel = page.partition("?why=")
    app = open_page(page, run=run_id, set=name, dataset=name, digit=f"{name}/test/3", why=panel or "bill")
    assert not [option for widget in (*app.selectbox, *app.multiselect) for option in widget.options if "\\" in option]
    if panel in ("map", "hidden"):
        options = next(widget for widget in app.selectbox if widget.label == "Machine of class").options
        assert [any(name.startswith(option.rstrip("…")) for name in CLASSES) for option in options] == [True] * 3


@pytest.mark.parametrize("panel", ["bill", "family", "orbit", "map", "remedy"])
def test_no_panel_of_a_training_example_does(kept, panel):
    _, name, run_id = kept
    for options in (
        {},
        {"bill": "class"},
        {"bill": IMAGE, "beside": TAG, "rival": TAG, "off": TAG, "family": IMAGE, "of": IMAGE},
    ):
        assert live_texts(open_page("errors", run=run_id, digit=f"{name}/train/3", why=panel, **options)) == []


def test_a_hostile_address_is_said_as_text(kept):
    for page in PAGES:
        app = open_page(
            page, run=IMAGE, set=TAG, view=IMAGE, digit=IMAGE, dataset=IMAGE, C=TAG, show=TAG, sv=IMAGE, compare=TAG
        )
        assert live_texts(app) == []


@pytest.fixture
def inked(kept):
    """A run on pen strokes of hostile classes, beside the other one."""
    y = np.array(CLASSES)[np.arange(90) % 3]
    X = np.zeros((90, 8, 8), np.uint8)
    X[np.arange(90), 2 + 2 * (np.arange(90) % 3), 2:6] = 255
    X[:, 3, 1 + np.arange(90) % 5 % 6] = 128
    name = "Strokes of hostile classes"
    found = next((e for e in catalogue.entries() if e.title == name), None)
    entry = found or catalogue.keep(name, Arrays(X, y, X[:30], y[:30]))
    assert entry.ink
    run = next((run for run in runs.newest_first() if run.recipe.dataset == entry.name), None)
    recipe = Recipe(dataset=entry.name, preprocess=("unit-norm",), kernel=RBF(1.0), C=1.0, n_train=60)
    return (run or trained(recipe)).id


def test_examples_of_hostile_classes_are_thrown_away_as_text(kept):
    """Pictures, rows of a table and points of the plane, of classes that are called anything."""
    rng, y = np.random.default_rng(0), np.array([IMAGE, TAG])[np.arange(120) % 2]
    sets = {width: rng.normal(size=(120, width)) + 2.0 * (np.arange(120) % 2)[:, None] for width in (2, 3)}
    arrays = {width: Arrays.unsplit(X.astype(np.float32), y) for width, X in sets.items()}
    names = [catalogue.keep(f"{width} {TITLE}", both, replace=True).name for width, both in arrays.items()]
    base = Recipe(dataset=kept[1], classes=(IMAGE, TAG), kernel=RBF(1.0), C=1.0)
    for recipe in (base, *(base.replace(dataset=name, classes=(), preprocess=("zscore",)) for name in names)):
        run = trained(recipe.replace(method="cross-training", noise=0.2))
        for view in ("A run", "As noise and n grow"):
            app = open_page("cross_training", cross_view=view, run=run.id, set=recipe.dataset, thrown=TAG, course=IMAGE)
            assert live_texts(app) == []
    app = open_page("cross_training", set=names[0], examples="50", each="20", point="3", rule=IMAGE)
    assert live_texts(app) == []
    assert app.segmented_control(key="rule").value == "Cross-training"


def trained(recipe):
    run = finished(recipe)
    run.rename(TITLE)
    return run


def test_a_drawing_of_hostile_classes_is_answered_in_text(inked):
    """Names of classes stand in the answers, in their bars and along the nudges."""
    run_id = inked
    query = {"run": run_id, "runs": run_id, "strokes": "A6coVJfDlwKfXJnf", "dx": "1", "turn": "5"}
    app = open_page("draw", **query)
    assert live_texts(app) == []
    assert len(app.metric) == 1
    assert sum("evil" in caption.value for caption in app.caption) >= 1
    app = open_page("draw", run=run_id, runs=run_id, start="3")
    assert live_texts(app) == []
    bad = dict.fromkeys(("strokes", "pen", "dx", "dy", "turn", "thick", "start", "runs", "seed"), IMAGE)
    for page in ("draw", "scramble"):
        app = open_page(page, run=run_id, **bad)
        assert live_texts(app) == []
        assert app.warning
    assert live_texts(open_page("scramble", run=run_id, runs=run_id, seed="7")) == []


@pytest.mark.parametrize("value", ["-1", "1e999", "nan", "4294967296", "1.5", "", "\0", "9" * 400])
def test_numbers_that_cannot_be_break_neither_drawing_nor_scrambling(kept, value):
    app = open_page("draw", run=kept[2], strokes="A6coVJfDlwKfXJnf", dx=value, turn=value, pen=value)
    assert app.session_state["drawn"].trail[-1][0] in (0, -1)
    app = open_page("scramble", run=kept[2], seed=value)
    assert app.number_input(key="scramble_order").value == 0
    assert value in ("",) or app.warning


@pytest.mark.parametrize("why", [IMAGE, "bill", "family"])
def test_the_view_of_an_example_says_a_hostile_address_as_text(kept, why):
    _, name, run_id = kept
    asked = {"beside": TAG, "rival": TAG, "bill": IMAGE, "off": TAG, "family": IMAGE, "of": TAG}
    app = open_page("errors", run=run_id, digit=f"{name}/train/3", why=why, **asked)
    assert live_texts(app) == []
    assert not app.exception


def test_the_watch_for_live_texts_sees_them(kept):
    """The check itself: with `plain` doing nothing, it must find something on these pages."""
    run_id = kept[2]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(words, "plain", str)
        assert live_texts(open_page("runs", run=run_id, compare=run_id))


@pytest.mark.parametrize(
    "text", [IMAGE, TAG, "[a](b)", "<b>", "`x`", "*x*", "a\n\n# b", "$x$", ":red[x]", "&excl;", "~a~"]
)
def test_plain_leaves_no_sign_that_means_something(text):
    shown = words.plain(text)
    assert not re.search(r"(?<!\\)[`*_\[\]()<>#!$~:&]", shown)
    assert "\n" not in shown
    assert shown.replace("\\", "") == " ".join(text.split())


def test_figures_carry_no_markup():
    labels = [IMAGE, TAG, LONG, LONG + "y", "%{customdata}"]
    X, y = np.arange(10.0).reshape(5, 2), np.array(labels)
    gaps = {"gap": 0.0, "mean_gap": 0.0, "iterations": 1, "seconds": 1.0, "stage": TAG, "gaps": [0.0] * 5, "n_sv": 1}
    figures = (
        decisions.decision_bars(np.arange(5.0), labels, TAG, IMAGE),
        maps.toy_plane(X, y, labels),
        curves.gap_curve([gaps, gaps | {"seconds": 2.0}], 1e-3, labels),
    )
    for figure in figures:
        for text in figure_texts(figure.to_json()):
            assert "<img" not in text
            assert "%{customdata}" not in text
    (bars,) = figures[0].data
    assert len(set(bars.y)) == 5


def test_a_figure_of_the_paper_tells_of_a_run_in_text(kept, monkeypatch):
    told = []
    monkeypatch.setattr(paper_table.state, "tell_later", told.append)
    monkeypatch.setattr(paper_table.st, "rerun", lambda: None)
    run = runs.get(kept[2])

    cell = SimpleNamespace(recipe="x", rival=None)
    filled = SimpleNamespace(
        table=SimpleNamespace(columns=("a",)), rows=((SimpleNamespace(run_id=run.id, cell=cell),),)
    )
    monkeypatch.setattr(paper_table.st, "session_state", {})
    paper_table._clicked(filled, 0, "a")
    assert not LIVE.search(told[0])
    assert "evil" in told[0]
