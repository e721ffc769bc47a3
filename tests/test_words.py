"""Words that the lab no longer uses in texts for users, with what to say instead.

Checked: string literals and f-strings of the Python files, and string values of the TOML and JSON files, in the files
FINISHED. A literal counts as a text if it has a space or begins with a capital letter; names, keys and addresses do
not, nor what an address of an earlier version says, on a line that ends with "# in the address". Docstrings are not
checked. Add a folder to FINISHED when its texts have been rewritten, and a word to RETIRED when the last text that used
it is gone.
"""

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FINISHED = (  # patterns of files
    "data/**/*",
    "svmcore/explain/**/*",
    "svmcore/detection/**/*",
    "svmcore/preprocess/**/*",
    "svmcore/jitter/**/*",
    "svmcore/methods/**/*",
    "svmcore/*.py",
    "svmcore/lab/**/*",
    "svmcore/kernels/**/*",
    "svmcore/solvers/**/*",
    "svmcore/gram/**/*",
    "svmcore/exchange/**/*",
    "app.py",
    "pages/*.py",
    "pages/menu.toml",
    "pages/*/**/*",
)
RETIRED = {  # pattern, in any case -> what to say instead
    r"data sets?": "dataset",
    r"(test|training|train) parts?": "test set, training set",
    r"cross-validation parts?": "cross-validation fold",
    r"at hand": "available",
    r"(be|been|is|are|was|were) fetched|to fetch": "downloaded, download",
    r"(take|takes|taken|taking|took) (it |them |one |some )?out": "exclude an example; delete a file or run",
    r"put back": "restore, undo",
    r"(take|takes|taken) (it |them )?away": "export, download",
    r"(bring|brings|brought) (it |them )?along": "import, upload",
    r"hand(s|ed)? out": "export, download",
    r"(another|a first|the other) label": "relabel an example; label it for the first time",
    r"suspects?": "likely label errors",
    r"doubt(s|ed|ful)": "likely label errors",
    r"bills?": "contributions of the support vectors",
    r"rivals?": "baselines",
    r"errands?": "background task",
    r"comes? out here": "reproduce",
    r"not sure": "abstain",
    r"far from (its|their) class": "outliers",
    r"kernel values computed": "kernel evaluations",
    r"at work": "running",
    r"told": "given, stated; or name what states it",
    r"looked for": "detected, searched for",
    r"passed over": "ignored, skipped",
    r"once more": "again",
    r"so (many|much)": "name the number",
    r"cut off": "incomplete, truncated",
    r"left open": "never closed",
    r"if you like": "optionally",
    r"(?<!there )(is|are) no (?!longer|more)\w+": "is not a",
    r"(folder|file|line|row|label|example|split) an? (class|row|line|picture|example|image)": "per",
    r"unlike units": "different units",
    r"said": "stated; or name what states it",
}
TAG = re.compile("<[^>]*>")
WORDS = [(re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])", re.IGNORECASE), say) for pattern, say in RETIRED.items()]


def is_text(literal: str) -> bool:
    """Whether a literal may be shown to a user: a phrase or a label, not a name or a key."""
    return " " in literal.strip() or literal[:1].isupper()


def python_texts(source: str) -> Iterator[tuple[int, str]]:
    """(line, text) of the string literals of a Python file; the fields of an f-string are left empty."""
    tree = ast.parse(source)
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(node.value)  # a docstring
        elif isinstance(node, ast.arg | ast.AnnAssign):
            skipped.add(node.annotation)  # a type in quotes
        elif isinstance(node, ast.FunctionDef):
            skipped.add(node.returns)
        elif isinstance(node, ast.JoinedStr):
            skipped.update(node.values)
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield node.lineno, "".join(parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in skipped:
            yield node.lineno, node.value


def stored_texts(source: str, content) -> Iterator[tuple[int, str]]:
    """(line, text) of the string values of a TOML or JSON file, its keys not among them."""
    if isinstance(content, dict):
        content = list(content.values())
    if isinstance(content, list):
        for value in content:
            yield from stored_texts(source, value)
    elif isinstance(content, str):
        first = content.strip().partition("\n")[0]
        yield source.count("\n", 0, max(source.find(first), 0)) + 1, content


def complaints(path: Path) -> list[str]:
    """A line for each retired word in the texts of a file: place, word, text, what to say instead."""
    source = path.read_text(encoding="utf-8")
    source_lines = source.splitlines()
    if path.suffix == ".py":
        texts = python_texts(source)
    else:
        texts = stored_texts(source, (tomllib if path.suffix == ".toml" else json).loads(source))
    return [
        f"{path}:{line}: {match[0]!r} in {text[:80]!r}; say: {say}"
        for line, text in texts
        if is_text(text) and not source_lines[line - 1].endswith("# in the address")
        for pattern, say in WORDS
        for match in pattern.finditer(TAG.sub("", text))
    ]


def test_texts_use_no_retired_words():
    files = [
        path.relative_to(ROOT)
        for pattern in FINISHED
        for path in sorted(ROOT.glob(pattern))
        if path.suffix in (".py", ".toml", ".json")
    ]
    assert files
    retired = [complaint for path in files for complaint in complaints(path)]
    assert not retired, "\n" + "\n".join(retired)


def test_a_retired_word_is_named_with_its_place(tmp_path):
    (tmp_path / "a.py").write_text('"""At hand."""\nx = f"Sets at hand: {len(at_hand)}"\nname = "at_hand"\n')
    (tmp_path / "b.toml").write_text('at_hand = 1\n[a]\ntitle = "A title"\nnote = """\nA data set"""\n')
    (tmp_path / "c.json").write_text('{"at hand": 1,\n"note": ["Two", "data sets"]}')
    assert [complaints(tmp_path / name)[0].partition(": ")[2] for name in ("a.py", "b.toml", "c.json")] == [
        "'at hand' in 'Sets at hand: {}'; say: available",
        "'data set' in 'A data set'; say: dataset",
        "'data sets' in 'data sets'; say: dataset",
    ]
    assert complaints(tmp_path / "a.py")[0].startswith(f"{tmp_path / 'a.py'}:2:")
    assert complaints(tmp_path / "b.toml")[0].startswith(f"{tmp_path / 'b.toml'}:5:")
