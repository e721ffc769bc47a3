"""Weka's ARFF files: what a csv of the same table gives, or a refusal that names the line."""

import csv
import io
import time

import numpy as np
import pytest

from data import DataError
from tests.uploads import read_upload

HEAD = """% Title: a small table
%
@RELATION small

@ATTRIBUTE 'petal length'\tREAL
@attribute width numeric   % in cm
@Attribute colour {red, 'dark blue', "it\\'s"}
@attribute class{Iris-a,Iris-b}

@DATA
"""
ROWS = [(5.1, 3.5, "red", "Iris-a"), (4.9, 3, "dark blue", "Iris-b"), (4.7, 3.25, "it's", "Iris-a")] * 4
CSV = "petal length,width,colour,class\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)
QUOTED = {"red": "red", "dark blue": "'dark blue'", "it's": '"it\\\'s"'}


def dense(mark):
    return "% more\n\n".join(f"{a}{mark}{b}{mark}{QUOTED[c]}{mark}{d}\n" for a, b, c, d in ROWS)


def same(preview, other):
    assert (preview.arrays.X_train == other.arrays.X_train).all()
    assert preview.arrays.y_train.tolist() == other.arrays.y_train.tolist()
    assert preview.features == other.features
    assert preview.notes == other.notes


@pytest.mark.parametrize("mark", [",", ", ", " , ", "\t", "  "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_arff_is_read_as_a_csv_of_the_same_table(mark, end):
    preview = read_upload("a.arff", (HEAD + dense(mark)).replace("\n", end).encode())
    assert preview.format == "arff"
    same(preview, read_upload("a.csv", CSV.encode()))
    assert preview.features == ("petal length", "width", "colour = dark blue", "colour = it's", "colour = red")


def test_sparse_lines_leave_out_what_is_0_or_the_first_of_its_kind():
    lines = [f"{{0 {a}, 1 {b}{'' if c == 'red' else f', 2 {QUOTED[c]}'}{'' if d[-1] == 'a' else f', 3 {d}'}}}\n"
             for a, b, c, d in ROWS]  # fmt: skip
    same(read_upload("a.arff", (HEAD + "".join(lines)).encode()), read_upload("a.csv", CSV.encode()))
    preview = read_upload("a.arff", (HEAD + "".join(lines) + "{}\n{1 2}\n").encode())
    assert preview.arrays.X_train[-2:].tolist() == [[0, 0, 0, 0, 1], [0, 2, 0, 0, 1]]


@pytest.fixture
def loadarff():
    """SciPy's reader, which lifts the limit of a cell's length for the whole process."""
    limit = csv.field_size_limit()
    from scipy.io import arff

    yield arff.loadarff
    csv.field_size_limit(limit)


def test_numbers_are_those_that_scipy_reads(loadarff):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 5)).round(4), np.arange(30) % 3
    head = "@relation r\n" + "".join(f"@attribute a{j} real\n" for j in range(5)) + "@attribute kind {0,1,2}\n@data\n"
    text = head + "".join(",".join(map(str, row)) + f",{k}\n" for row, k in zip(X, y))
    found = read_upload("a.arff", text.encode(), label="kind").arrays
    theirs, _ = loadarff(io.StringIO(text))
    assert np.allclose(found.X_train, np.array(theirs[[f"a{j}" for j in range(5)]].tolist()), rtol=1e-6)
    assert found.y_train.tolist() == theirs["kind"].astype(int).tolist()


def test_question_marks_are_missing_values_and_labels():
    text = HEAD + dense(",") + "?,3,red,Iris-a\n4,2,?,Iris-a\n9,9,red,?\n"
    with pytest.raises(DataError, match=r"line 45 has an empty cell in column 'petal length'; 2 of 15 rows"):
        read_upload("a.arff", text.encode())
    preview = read_upload("a.arff", text.encode(), empty="fill")
    assert "1 of 15 examples have no label yet" in preview.notes
    assert preview.arrays.X_train[12, 0] == pytest.approx(np.median([5.1, 4.9, 4.7] * 4 + [4, 9]))


REFUSED = {
    "a quote left open": (HEAD + dense(",") + "1,2,'dark,Iris-a\n", r"line 45 has a quote that is never closed.*'dark"),
    "letters behind a quote": (HEAD + "1,2,'dark'x,Iris-a\n", r"line 11 .* text next to a quoted value"),
    "a value less": (HEAD + dense(",") + "1,2,Iris-a\n", r"[Ll]ine 45 .*has 3 values, but the first line has 4"),
    "a place too far": (HEAD + "{4 1}\n", r"line 11 has an invalid entry: '4 1'.*places from 0 to 3"),
    "a brace left open": (HEAD + "{0 1\n", r"line 11 has an invalid entry"),
    "a table in a table": (
        HEAD.replace("REAL", "relational"),
        r"line 5 has an attribute of the unknown type 'relational'",
    ),
    "no type": (HEAD.replace("\tREAL", ""), r"line 5 does not declare .*a name, then numeric"),
    "no data": (HEAD.replace("@DATA", "") + dense(","), r"line 11 before @data is .*'5\.1,3\.5"),
    "no examples": (HEAD, "no examples after @data"),
    "no attributes": ("@relation r\n", "no attributes before @data"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_wrong_is_named_by_its_line(kind):
    text, said = REFUSED[kind]
    with pytest.raises(DataError, match=said) as refusal:
        read_upload("a.arff", text.encode())
    assert refusal.value.accepted


@pytest.mark.parametrize(
    "hostile",
    [
        HEAD + "x" + " " * 300_000 + "'\n",
        HEAD + "'" + "\\'" * 300_000 + "\n",
        HEAD + "\"'" * 300_000 + "x\n",
        HEAD.replace("width", "w" * 300_000).replace(" numeric", ""),
        HEAD.replace("{Iris-a", "{" + "} " * 300_000 + "'"),
        HEAD + "{" + "0 1, " * 300_000 + "'\n",
    ],
)
def test_long_lines_take_no_more_than_their_length(hostile):
    start = time.process_time()
    with pytest.raises(DataError):
        read_upload("a.arff", hostile.encode())
    assert time.process_time() - start < 20  # of minutes, if it went by the square
