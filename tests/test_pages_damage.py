"""Every page over a home in which everything that can be damaged is: none breaks down, and the reason is on screen."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from data import DataError, catalogue
from data.dataset import Arrays
from pages.ui.example import evidence
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import runs
from tests import damage
from tests.driven import open_page, whole_app  # noqa: F401  (a fixture for every test here)

PAGES = (
    "compare",
    "datasets",
    "digestion",
    "errors",
    "jitters",
    "methods",
    "paper",
    "reduced",
    "runs",
    "support_vectors",
    "sweep",
    "train",
)
MOONS = RECIPES["moons"]
DIGITS = RECIPES["digits-8x8-sv"].replace(n_train=60, n_test=40)
LOOKING = ("errors", "support_vectors", "compare", "train", "runs", "jitters")
INSIDE = [(file, way) for file, ways in damage.INSIDE.items() for way in ways]


def crossed(pages, ways):
    """Each page with the first way and the first page with each; all others by -m ci."""
    for page in pages:
        for way in ways:
            always = page == pages[0] or way == ways[0]
            yield pytest.param(page, way, marks=() if always else pytest.mark.ci)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A home with an intact run, one for every way of being damaged, and sets of the reader's own likewise."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SVMLAB_HOME", str(folder))
        intact = damage.finished(DIGITS, "The intact one")
        ways = [(file, way) for file, ways in damage.FILES.items() for way in ways]
        for number, (file, way) in enumerate(ways):
            copy = folder / "runs" / f"20250101-00{number // 60:02}{number % 60:02}-000-abcdef"
            shutil.copytree(intact.path, copy)
            damage.FILES[file][way](copy / file)
        rng = np.random.default_rng(0)
        X, y = rng.random((40, 5), np.float32), np.arange(40) % 2
        catalogue.keep("Mine", Arrays(X, y, X[:0], y[:0]))
        for number, way in enumerate(damage.OWN):
            copy = folder / "own" / f"broken-{number}.npz"
            shutil.copy(folder / "own" / "mine.npz", copy)
            damage.OWN[way](copy)
        for name in ("verified.json", "preset.lock"):
            (folder / name).mkdir()
    return folder, intact.id, len(ways)


@pytest.fixture
def home_of_ruins(kept, monkeypatch):
    monkeypatch.setenv("SVMLAB_HOME", str(kept[0]))
    return kept


def said(app):
    return " ".join(element.value for element in app.error).replace("\\", "")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_over_ruins(home_of_ruins, page):
    _, intact, _ = home_of_ruins
    app = open_page(page, run=intact)
    assert app.session_state["run"] == intact
    assert "is damaged" not in said(app) or page == "datasets"


def test_what_is_damaged_is_listed_with_its_reason(home_of_ruins):
    _, intact, ruins = home_of_ruins
    app = open_page("runs", run=intact)
    states = app.dataframe[0].value["State"]
    assert (len(states), sum(states == "damaged")) == (ruins + 1, ruins)
    app = open_page("datasets", run=intact)
    assert len(app.error) == len(damage.OWN)
    assert "own:mine" in " ".join(button.key for button in app.button)


@pytest.mark.parametrize("page", PAGES)
def test_a_damaged_run_that_is_chosen_says_why_and_can_be_deleted(home, page):
    run = damage.finished(MOONS, "Ruin")
    (run.path / "state.json").write_text("[1]")
    app = open_page(page, run=run.id)
    assert "state.json is damaged: it holds [1], not an object" in said(app)
    app.button(key="delete_damaged_picker").click().run()
    assert not app.exception
    assert runs.everything() == []
    runs.restore(run.id)


@pytest.mark.usefixtures("home_of_ruins")
def test_every_damaged_file_is_named_on_screen():
    seen = set()
    for run in runs.everything():
        file = run.damage.partition(" ")[0]
        if run.damage and file not in seen:
            seen.add(file)
            assert f"{file} is damaged" in said(open_page("runs", run=run.id))
    assert seen == damage.FILES.keys()


@pytest.fixture(scope="module")
def inside(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inside")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SVMLAB_HOME", str(folder))
        return damage.finished(DIGITS, "Looks intact").path


@pytest.mark.parametrize(("page", "damaged"), crossed(LOOKING, INSIDE))
def test_damage_that_shows_late_breaks_no_page(home, inside, page, damaged):
    file, way = damaged
    copy = home / "runs" / inside.name
    shutil.copytree(inside, copy)
    damage.INSIDE[file][way](copy / file)
    app = open_page(page, run=copy.name, digit="digits-8x8/train/3")
    if page in ("errors", "support_vectors"):
        assert "is damaged: " in said(app)


def with_own_data():
    """Every way on one page; on each other, which loads the data alike, one that refuses them and one that does not."""
    for way in (*damage.OWN, *damage.OWN_INSIDE):
        yield LOOKING[0], way
    for page in LOOKING[1:]:
        yield from ((page, "another shape"), (page, "nan"))


@pytest.mark.parametrize(("page", "way"), with_own_data())
def test_a_run_whose_data_are_damaged_breaks_no_page(home, page, way):
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 9), np.float32), np.arange(60) % 3
    catalogue.keep("Mine", Arrays(X, y, X[:20], y[:20]))
    run = damage.finished(MOONS.replace(dataset="own:mine", preprocess=(), n_train=None, n_test=None))
    (damage.OWN | damage.OWN_INSIDE)[way](home / "own" / "mine.npz")
    open_page(page, run=run.id, digit="own:mine/train/3")
    if page != LOOKING[0]:
        return
    app = open_page("datasets", set="own:mine")
    assert said(app)
    app.button(key="remove_own:mine").click().run()
    assert not app.exception
    assert not (home / "own" / "mine.npz").exists()


def test_a_run_whose_data_were_replaced_says_so(home):
    X, y = np.arange(120, dtype=np.float32).reshape(60, 2), np.arange(60) % 2
    catalogue.keep("Mine", Arrays(X, y, X[:20], y[:20]))
    run = damage.finished(MOONS.replace(dataset="own:mine", preprocess=(), n_train=None, n_test=None))
    catalogue.keep("Mine", Arrays(X[:10] + 1, y[:10], X[:4], y[:4]), replace=True)
    for page in LOOKING:
        app = open_page(page, run=run.id)
        if page in ("errors", "support_vectors"):
            assert "it has been replaced since" in said(app)


def test_the_loop_stands_in_for_a_file_that_may_not_be_read(tmp_path):
    path = tmp_path / "x"
    path.write_text("x")
    damage.ANY["not to be opened"](path)
    with pytest.raises(OSError, match="symbolic links"):
        Path(path).read_bytes()


def test_a_run_that_names_examples_beyond_its_data_is_refused_with_the_number():
    dataset = catalogue.load("digits-8x8")
    n = len(dataset.X_train)
    assert len(evidence.example_pictures(dataset, "train", np.array([0, n - 1]))) == 2
    for rows in ([0, n], [2**62]):
        with pytest.raises(DataError, match=f"its dataset has only {n:,}"):
            evidence.example_pictures(dataset, "train", np.array(rows))


@pytest.mark.parametrize("page", ["support_vectors", "errors", "train", "draw"])
def test_a_run_that_has_the_recipe_of_another_is_no_obstacle(home, page):
    """Its machine takes 64 pixels, and the set that it names has two coordinates."""
    run, other = damage.finished(DIGITS, "Digits"), damage.finished(MOONS.replace(n_train=60), "Moons")
    shutil.copy(other.path / "recipe.json", run.path / "recipe.json")
    app = open_page(page, run=run.id)
    assert not app.exception
    said = " ".join(element.value for element in (*app.error, *app.warning))
    assert "not the dataset that this run was trained on" in said or "damaged" in said or page in ("train", "draw")
