"""`pip install .` brings the library alone: what it needs is listed once, and the lab says what it lacks."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CALLED = {
    "scikit-learn": "sklearn",
    "scikit-image": "skimage",
}  # package -> what is imported, where that is another name
WITH_OTHERS = {"llvmlite"}  # that come with numba
AT_MOST = {"pooch", "onnx", "onnxruntime"}  # used where they are there
LIBRARY = [
    path for path in (ROOT / "svmcore").rglob("*.py") if path.relative_to(ROOT).parts[1] not in ("lab", "__main__.py")
]
ABSENT = ("data", "pages", "app", "streamlit", "plotly", "mlxtend", "pooch", "openpyxl", *AT_MOST)
ALONE = f"import sys; sys.modules.update(dict.fromkeys({ABSENT})); "


def listed(name):
    """Package -> range, of a file of requirements."""
    lines = [line.partition("#")[0].strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines()]
    return dict(re.match(r"([\w-]+)(.*)", line).groups() for line in lines if line)


def asked(lines):
    return dict(re.match(r"([\w-]+)(.*)", line).groups() for line in lines)


def alone(code):
    command = [sys.executable, "-c", ALONE + code]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_the_ranges_are_those_of_the_requirements():
    assert asked(PROJECT["dependencies"]).items() <= listed("requirements.txt").items()
    for extra in ("onnx", "cluster"):
        assert asked(PROJECT["optional-dependencies"][extra]) == listed(f"requirements-{extra}.txt")


def test_the_library_imports_what_it_asks_for_and_no_more():
    found = set()
    for path in LIBRARY:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            found |= {name.partition(".")[0] for name in names}
    asked_for = {CALLED.get(name, name) for name in asked(PROJECT["dependencies"])}
    assert asked_for <= found
    assert found <= asked_for | WITH_OTHERS | AT_MOST | {"svmcore"} | sys.stdlib_module_names


def test_it_works_alone_and_names_what_it_lacks():
    made = "from svmcore import SVC, to_onnx; m = SVC(C=1).fit([[0.0], [1.0]], ['a', 'b']); print(m.predict([[2]])); "
    done = alone(f"{made}to_onnx(m, [[0.0]])")
    assert done.stdout == "['b']\n"
    assert "ImportError: ONNX needs onnx and onnxruntime, which are not installed here" in done.stderr


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import svmcore.lab", marks=pytest.mark.ci),
        "import runpy; runpy.run_module('svmcore', run_name='__main__')",
    ],
)
def test_the_lab_says_what_it_lacks(code):
    done = alone(code)
    assert done.returncode == 1
    assert "ImportError: svmcore.lab needs the package `data`" in done.stderr
    assert "requirements.txt" in done.stderr


def test_its_types_are_told():
    assert (ROOT / "svmcore" / "py.typed").exists()
