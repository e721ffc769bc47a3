"""The papers item by item: every name in an outline is known, and the errors that it tells are those measured."""

import re
from pathlib import Path

import pytest

from pages.paper import figures
from pages.paper.outline import KINDS, PAPERS, STATES, of
from svmcore.lab.papers import TABLES
from svmcore.lab.presets import RECIPES, xtrain
from svmcore.lab.recipe import Recipe
from tests.bench import measured
from tests.cases import all_cases
from tests.driven import open_page, whole_app  # noqa: F401  (a fixture for every test here)

ROOT = Path(__file__).parents[1]
EVERY = [(paper, item) for paper in PAPERS.values() for item in paper.items]
ERRORS = {  # an item whose sentence tells the errors of runs in turn -> these
    "Tables 4 to 6: 3x3 shifts": ("mnist-sv", "mnist-vsv"),
    "Tables 7 to 9: deslanted, 3x3 and 2-pixel shifts": ("mnist-deslant-sv", "mnist-deslant-vsv", "mnist-deslant-vsv2"),
    "Table 10: 3 against 8 from 400 digits, 3x3 shifts": ("3v8-sv", "3v8-query-jitter", "3v8-vsv", "3v8-jsv"),
    "Table 10: deslanted, 5x5 shifts": ("3v8-5x5-sv", "3v8-5x5-query-jitter", "3v8-5x5-vsv", "3v8-5x5-jsv"),
    "Figure 5: the errors that are left": ("mnist-deslant-vsv2",),
    "Scale, rotation and thickness should mend more of them": ("mnist-best",),
}
RATES = {  # as above, in percent
    "MNIST, degree 5: 1.4 %, 1.0 % with virtual SVs, 0.8 % at degree 9 after it": (
        "mnist-sv-degree5",
        "mnist-vsv-degree5",
        "mnist-vsv-degree5-9",
    ),
    "The virtual SV method, for each machine by itself": ("mnist-sv-degree5", "mnist-vsv-degree5"),
}


@all_cases(("paper", "item"), EVERY, ids=[f"{paper.name}: {item.title}" for paper, item in EVERY])
def test_what_an_item_names_is_known(paper, item):
    assert item.kind in KINDS
    assert item.state in STATES
    assert item.said.endswith(".")
    assert not item.show or item.show in TABLES.keys() | figures.FIGURES.keys()
    assert not item.page or (ROOT / f"pages/{item.page}.py").is_file()
    assert set(item.recipes) <= RECIPES.keys() | xtrain.STUDIES.keys()
    assert item.state == "open" or item.show or item.page or item.recipes, "what is here can be seen"
    if item.page == "train" and item.query:
        assert Recipe().with_texts(item.query).texts().items() >= item.query.items()


def test_every_table_and_figure_is_an_item_of_a_paper():
    assert all(of(name) for name in (*TABLES, *figures.FIGURES))
    assert of("usps-table1") == of("decoste") == "decoste"
    assert of("xtrain-table1") == "bakir"
    assert of("nothing") == ""


@pytest.mark.parametrize(("title", "names"), ERRORS.items())
def test_errors_that_a_sentence_tells_are_those_measured(title, names):
    said = next(item.said for _, item in EVERY if item.title == title)
    runs = measured.read("runs")
    assert [int(n) for n in re.findall(r"\d+", said)][: len(names)] == [runs[name]["errors"] for name in names]


@pytest.mark.parametrize(("title", "names"), RATES.items())
def test_rates_that_a_sentence_tells_are_those_measured(title, names):
    said = next(item.said for _, item in EVERY if item.title == title)
    runs = measured.read("runs")
    rates = [f"{100 * runs[name]['errors'] / runs[name]['n_test']:.2f}" for name in names]
    assert re.findall(r"\d+\.\d+", said)[: len(names)] == rates


def test_each_paper_opens_section_by_section_and_by_state(home):
    for name, paper in PAPERS.items():
        app = open_page("paper", paper=name)
        assert [header.value for header in app.subheader] == [f"{s.number}\u2002{s.title}" for s in paper.sections]
        told = [text.value for text in app.markdown if "] **" in text.value]
        assert len(told) == len(paper.items)
    app = open_page("paper", paper="decoste", state="differs")
    told = [text.value for text in app.markdown if "] **" in text.value]
    assert len(told) == sum(item.state == "differs" for item in PAPERS["decoste"].items)
    assert all("Differs" in text for text in told)


def test_a_link_to_a_table_opens_the_paper_that_has_it(home):
    app = open_page("paper", show="xtrain-table1")
    assert app.session_state["paper_name"] == "bakir"
    assert app.dataframe
