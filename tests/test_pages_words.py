"""What a page says beside what it shows, read off the syntax of pages/: a help text and a key for every control, words
for whoever does not see a figure."""

import ast
import tomllib
from pathlib import Path

import pytest

from pages.ui.kit.text import command, distinct, isolated, rounded, small, with_sign
from pages.ui.kit.words import file_size

ROOT = Path(__file__).parents[1]
FILES = sorted([*(ROOT / "pages").rglob("*.py"), ROOT / "app.py"])
CONTROLS = {
    "button", "checkbox", "download_button", "file_uploader", "form_submit_button", "menu_button", "multiselect",
    "number_input", "pagination", "radio", "segmented_control", "selectbox", "select_slider", "slider", "text_area",
    "text_input", "toggle", "pills", "color_picker", "camera_input", "feedback", "date_input",
}  # fmt: skip
NO_HELP = {"pagination", "feedback"}  # these take none
NO_KEY = {"form_submit_button"}  # its label makes one, together with the key of its form
PICTURES = {"image", "plotly_chart", "dataframe", "table"}


def calls(path):
    """(name of the method, names of its keywords, or None where a ** adds others, line) of each call of an attribute,
    but for the functions of the project's own modules."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("pages", "svmcore", "data"))
        for name in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if isinstance(node.func.value, ast.Name) and node.func.value.id in own | {"run"}:
                continue
            named = {keyword.arg for keyword in node.keywords}
            yield node.func.attr, named, node.lineno


def lacking(names, word, excused=()):
    """Where a call of one of these methods has no such keyword, and no ** that might hold it."""
    return [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in FILES
        for name, named, line in calls(path)
        if name in names and name not in excused and word not in named and None not in named
    ]


@pytest.mark.parametrize(("word", "excused"), [("help", NO_HELP), ("key", NO_KEY)])
def test_every_control_has_a_help_text_and_a_key(word, excused):
    assert lacking(CONTROLS, word, excused) == []


def test_every_picture_chart_and_table_has_words_for_those_who_do_not_see_it():
    assert lacking(PICTURES, "alt") == []


def test_every_gallery_has_words_too():
    missing = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            drawn = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "gallery"
            if drawn and "alt" not in {keyword.arg for keyword in node.keywords}:
                missing.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert missing == []


def test_every_page_is_in_the_menu_with_a_letter_of_its_own():
    listed = tomllib.loads((ROOT / "pages" / "menu.toml").read_text("utf-8"))
    groups = [*listed["menu"].values(), listed["tabs"], listed["studies"]]
    files, pages = zip(*(page for pages in groups for page in pages.items()), strict=True)
    letters = [page["letter"] for page in pages]
    assert len(set(letters)) == len(letters)
    assert sorted(files) == sorted(path.stem for path in (ROOT / "pages").glob("*.py"))


def test_a_number_with_its_sign_has_a_true_minus():
    """`{f:+.2f}` writes a hyphen for a minus: with_sign is for that."""
    pages = ROOT / "pages"
    found = {
        f"{path.relative_to(pages)}:{spec.lineno}"
        for path in pages.rglob("*.py")
        for value in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(value, ast.FormattedValue) and value.format_spec
        for spec in value.format_spec.values
        if isinstance(spec, ast.Constant) and spec.value.startswith("+")
    }
    assert {place.partition(":")[0] for place in found} == {"ui/kit/text.py"}, sorted(found)
    assert [with_sign(f) for f in (-1234.5, 0.25, 2)] == ["−1,234.50", "+0.25", "+2.00"]
    assert with_sign(-3, 0) == "−3"


@pytest.mark.parametrize(
    ("megabytes", "says"),
    [
        (0.00029, "290 bytes"),
        (0.0064, "6.4 kB"),
        (0.0098, "9.8 kB"),
        (0.06, "0.06 MB"),
        (1.13, "1.1 MB"),
        (12.4, "12 MB"),
    ],
)
def test_a_tiny_file_has_a_size_that_can_be_read(megabytes, says):
    assert file_size(megabytes).replace("\u00a0", " ") == says


@pytest.mark.parametrize(
    ("number", "digits", "shown"), [(0.05, 2, "0.05"), (4.1e-5, 2, "4.1e−05"), (1.23e-7, 1, "1e−07")]
)
def test_a_number_that_may_be_very_small_has_a_true_minus_too(number, digits, shown):
    assert small(number, digits) == shown


@pytest.mark.parametrize(
    ("number", "shown"), [(19720.4, "19,720"), (-1234567.0, "−1,234,567"), (14.307, "14.31"), (-0.07125, "−0.07125")]
)
def test_a_number_of_a_column_is_whole_where_it_is_long(number, shown):
    assert rounded(number, 4) == shown


def test_names_written_from_right_to_left_keep_their_place_before_and_behind_an_arrow():
    """By Unicode's rules a run of such letters with a neutral arrow between is one; within isolates each is a run."""
    names = ["قهوة", "cat", "חתול גדול מאוד"]
    cut = distinct(names, 9)
    assert cut == ["\u2068قهوة\u2069", "cat", "\u2068חתול גדו…\u2069"]
    assert isolated("קפה → cat") == "\u2068קפה\u2069 → cat"
    assert [name.strip("\u2068\u2069") for name in distinct(names)] == names


@pytest.mark.parametrize(
    ("python", "said"), [(ROOT / ".venv" / "bin" / "python", ".venv/bin/python"), (Path("/usr/bin/python3"), "python")]
)
def test_a_command_names_the_python_of_the_app_where_it_lies_in_its_folder(monkeypatch, python, said):
    monkeypatch.setattr("sys.executable", str(python))
    assert command("data") == f"{said} -m data"
