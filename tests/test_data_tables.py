"""Tables as spreadsheets, statistics programs and notebooks write them: read right, or refused with a way out."""

import io
import re
from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest
from openpyxl import Workbook

from data import DataError, catalogue
from data.loaders import sheets
from data.loaders.cells import days, number
from data.loaders.sieve import Unusable
from data.loaders.upload import opened
from svmcore import RBF
from svmcore.lab import train
from svmcore.lab.fields import RecipeError
from svmcore.lab.recipe import Recipe
from svmcore.lab.tasks import task_of
from tests.cases import all_cases
from tests.uploads import archive, read_upload

N = 12
AGES = [30 + k for k in range(N)]
SIZES = [1.5 + k / 8 for k in range(N)]
KINDS = ["ja" if k % 3 else "nein" for k in range(N)]


def lines(*rows, mark=";", end="\r\n"):
    return end.join(mark.join(map(str, row)) for row in rows) + end


def comma(value):
    return str(value).replace(".", ",")


def excel(*sheets_, title="Tabelle"):
    book = Workbook()
    book.remove(book.active)
    for k, rows in enumerate(sheets_, 1):
        sheet = book.create_sheet(f"{title}{k}")
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def parquet(frame):
    out = io.BytesIO()
    frame.to_parquet(out)
    return out.getvalue()


HEAD = ("Alter", "Größe", "Befund")
ROWS = list(zip(AGES, SIZES, KINDS))
GERMAN = lines(HEAD, *((age, comma(size), kind) for age, size, kind in ROWS))
QUOTED = ",".join(f'"{title}"' for title in HEAD) + "\n"
QUOTED += "".join(f'"{age}","{comma(size)}","{kind}"\n' for age, size, kind in ROWS)
SAME = {  # what stands in all of these is the same table
    "comma": ("a.csv", lines(HEAD, *ROWS, mark=",").encode()),
    "Excel in Germany, UTF-8 with a mark": ("a.csv", GERMAN.encode("utf-8-sig")),
    "Excel in Germany, Windows-1252": ("a.csv", GERMAN.encode("cp1252")),
    "Excel's Unicode text": ("a.txt", lines(HEAD, *((a, comma(s), k) for a, s, k in ROWS), mark="\t").encode("utf-16")),
    "sep=": ("a.csv", ("sep=;\r\n" + GERMAN).encode("utf-8-sig")),
    "sep= an odd mark": ("a.csv", ("sep=|\r\n" + GERMAN.replace(";", "|")).encode()),
    "decimal comma in quotes": ("a.csv", QUOTED.encode()),
    "old line ends": ("a.csv", GERMAN.replace("\r\n", "\r").encode()),
    "blank lines": ("a.csv", GERMAN.replace("\r\n", "\r\n\r\n").encode()),
    "R, row names": ("a.csv", '"","Alter","Größe","Befund"\n'.encode() + "".join(
        f'"{k}",{a},{s},"{kind}"\n' for k, (a, s, kind) in enumerate(ROWS, 1)).encode()),
    "pandas, its index": ("a.csv", pd.DataFrame(ROWS, columns=HEAD).to_csv().encode()),
    "trailing mark": ("a.csv", GERMAN.replace("\r\n", ";\r\n").encode()),
    "Excel": ("a.xlsx", excel([HEAD, *ROWS])),
    "Excel, a note first and space around": (
        "a.xlsx", excel([["Export vom 3. Mai"]], [[], [None, *HEAD], *([None, *row] for row in ROWS), [None] * 9])),
    "Excel in a zip": ("a.zip", archive({"a.xlsx": excel([HEAD, *ROWS])})),
    "Parquet": ("a.parquet", parquet(pd.DataFrame(ROWS, columns=HEAD))),
    "Parquet, categories": ("a.parquet", parquet(pd.DataFrame(ROWS, columns=HEAD).astype({"Befund": "category"}))),
}  # fmt: skip


@all_cases("which", SAME)
def test_one_table_in_many_spellings(which):
    preview = read_upload(*SAME[which])
    assert preview.arrays.X_train.tolist() == [[age, size] for age, size, _ in ROWS]
    assert preview.arrays.y_train.tolist() == KINDS
    assert preview.features == ("Alter", "Größe")
    assert preview.format == ("xlsx" if "Excel" in which and SAME[which][0] != "a.csv" and SAME[which][0] != "a.txt"
                              else "parquet" if "Parquet" in which else "csv")  # fmt: skip


def test_what_was_decided_is_said():
    notes = read_upload(*SAME["Excel in Germany, Windows-1252"]).notes
    assert any("Windows-1252" in note for note in notes)
    assert "Numbers are read with a decimal comma" in notes
    assert any("number the rows: ''" in n or "number the rows: 'column 1'" in n
               for n in read_upload(*SAME["R, row names"]).notes)  # fmt: skip
    notes = read_upload(*SAME["Excel, a note first and space around"]).notes
    assert "The sheet 'Tabelle2' is read; 1 other sheet is ignored" in notes
    assert any("they contain no values" in note for note in read_upload(*SAME["trailing mark"]).notes)


@all_cases(("cell", "point", "comma_"), [
    ("12", 12, 12), ("-1.5", -1.5, None), ("1,5", None, 1.5), ("1.234", 1.234, 1234), ("1,234", 1234, 1.234),
    ("1.234,5", None, 1234.5), ("1,234.5", 1234.5, None), ("1 234", 1234, 1234), ("1'234.50", 1234.5, None),
    ("0.123", 0.123, None), ("12 %", 12, 12), ("€ 3,50", None, 3.5), ("3.50 EUR", 3.5, None), ("2e3", 2000, 2000),
    ("−4", -4, -4), (".5", 0.5, None), ("inf", np.inf, None), ("1_000", None, None), ("1,23,4", None, None),
    ("abc", None, None), ("1.2.3", None, None), ("2024-01-31", None, None), ("12 345 678,9", None, 12345678.9),
])  # fmt: skip
def test_a_number_by_point_and_by_comma(cell, point, comma_):
    for found, wanted in zip((number(cell, False), number(cell, True)), (point, comma_)):
        assert np.isnan(found) if wanted is None else found == wanted


def one_column(*cells):
    """A table of a column x, each of its cells three times, one of numbers, and labels."""
    return "x;b;class\n" + "".join(f"{cell};{k % 5};{'pq'[k % 2]}\n" for k, cell in enumerate(cells * 3))


@all_cases(
    ("cells", "values", "unit"),
    [
        (("5 kg", "7.5kg", "-1e1 kg"), (5, 7.5, -10), "kg"),
        (("1,5 kg", "2,25 kg", "3 kg"), (1.5, 2.25, 3), "kg"),
        (("1,500 m", "2 m", "12,345.5 m"), (1500, 2, 12345.5), "m"),
        (("5\u00a0µg", "6 μg", "7 µg"), (5, 6, 7), "µg"),  # two letters that look alike
        (("5 m2", "6 m²", "\u22127 m2"), (5, 6, -7), "m2"),
        (("5 mL", "6 ml", "7mL"), (5, 6, 7), "ml"),
        (("20 °C", "21.5°C", "22 °C"), (20, 21.5, 22), "°C"),
        (("1 year", "2 years", "3 Years"), None, None),
        (("1 year", "2 years", "30 years"), (1, 2, 30), "year"),
        (("5 min.", "6 mins", "7 min"), (5, 6, 7), "min"),
        (("1 hour", "2 hours", "3 hours"), (1, 2, 3), "hour"),
        (("1 day", "2 days", "3 days"), (1, 2, 3), "day"),
        (("1 item", "2 items", "3 items"), (1, 2, 3), "item"),
        (("1 lb", "2 lbs", "3lbs"), (1, 2, 3), "lb"),
        (("5 Ws", "6 Ws", "7 Ws"), (5, 6, 7), "Ws"),
        (("5 kg/s", "6 kg/s", "7 kg/s"), (5, 6, 7), "kg/s"),
        (("5g", "6g", "7 g"), (5, 6, 7), "g"),
        (("5 V", "12 V", "230 V"), (5, 12, 230), "V"),
        (("5 %", "6%", "7 %"), (5, 6, 7), "%"),
        (("5 EUR", "€6", "7 €"), (5, 6, 7), "€"),
    ],
)
def test_numbers_with_one_unit_are_numbers_and_the_unit_is_told(cells, values, unit):
    preview = read_upload("a.csv", one_column(*cells).encode())
    if values is None:
        assert preview.features[:-1] == tuple(f"x = {cell}" for cell in sorted(cells))
        return
    assert preview.features == ("x", "b")
    assert preview.arrays.X_train[:3, 0].tolist() == pytest.approx(values)
    assert f"Numbers are read without their units: x ({unit})" in preview.notes


@all_cases(
    "cells",
    [
        *(("1st", "2nd", "3rd"), ("5th", "6th", "7th"), ("5a", "5b", "7a"), ("5a", "5g", "5m"), ("12A", "12B", "14A")),
        *(("12A", "14A"), ("7 A", "8 A", "7 B"), ("4G", "5G"), ("12 Main", "14 Elm"), ("3 PM", "4 AM")),
        *(("1.5.2", "1.6.1"), ("5 boxes", "6 boxes", "many"), ("5-10 kg", "10-20 kg"), ("12ab", "34cd")),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_number_with_a_unit_stays_a_category(cells):
    features = read_upload("a.csv", one_column(*cells).encode()).features
    shown = sorted(cells)[1:] if len(cells) == 2 else sorted(cells)
    assert features == (*(f"x = {cell}" for cell in shown), "b")


def test_what_is_no_number_among_numbers_with_a_unit_is_named_with_its_line():
    with pytest.raises(Unusable, match="line 4 has 'heavy' instead of a number in column 'x'; 3 of 12 rows"):
        read_upload("a.csv", one_column("5 kg", "6 kg", "heavy", "7 kg").encode())


@pytest.mark.parametrize(
    ("cells", "named"),
    [
        (["5 %", "0.05"], "'0.05' and '5 %'"),
        (["$5", "€7"], "'$5' and '€7'"),
        (["5 EUR", "€7", "6"], "'5 EUR' and '6'"),
        (["5 %"] * 11 + ["7"], "'5 %' and '7'"),
        (["5 kg", "5000 g"], "'5 kg' and '5000 g'"),
        (["5kg", "5000g"], "'5kg' and '5000g'"),
        (["20 C", "68 F"], "'20 C' and '68 F'"),
        (["5 V", "5000 mV"], "'5000 mV' and '5 V'"),
        (["5 ms", "5 s"], "'5 ms' and '5 s'"),
        (["5 CHF", "6 EUR"], "'5 CHF' and '6 EUR'"),
        (["5 mA", "6 mAs"], "'5 mA' and '6 mAs'"),  # a current and a charge
        (["5 W", "6 Ws"], "'6 Ws' and '5 W'"),
        (["5 V", "6 Vs"], "'6 Vs' and '5 V'"),
        (["5 A", "6 As"], "'6 As' and '5 A'"),
        (["5kW", "6kWs"], "'5kW' and '6kWs'"),
        (["5 mPa", "6 mPas"], "'5 mPa' and '6 mPas'"),  # a pressure and a viscosity
        (["5 kg"] * 11 + ["7"], "'5 kg' and '7'"),
    ],
)
def test_a_column_of_unlike_units_is_refused_not_read_as_one(cells, named):
    """5 % is 0.05, and a dollar is no euro."""
    rows = [(cells[k % len(cells)], k, "ab"[k % 2]) for k in range(N)]
    with pytest.raises(DataError, match=f"Column 'share' has numbers in different units, {re.escape(named)}"):
        read_upload("a.csv", lines(("share", "size", "kind"), *rows, mark=";").encode())
    alike = [(f"{k} EUR" if k % 2 else f"€{k}", k, "ab"[k % 2]) for k in range(N)]
    assert read_upload("a.csv", lines(("share", "size", "kind"), *alike, mark=";").encode())


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("before", ["# made in May\n", "#\n# one; two, three, and more\n# x\n\n"])
def test_comments_before_the_header_are_passed_over(mark, before):
    rows = lines(("age", "size", "kind"), *ROWS, mark=mark, end="\n")
    plain, said = read_upload("a.csv", rows.encode()), read_upload("a.csv", (before + rows).encode())
    assert said.features == plain.features
    np.testing.assert_array_equal(said.arrays.X_train, plain.arrays.X_train)
    np.testing.assert_array_equal(said.arrays.y_train, plain.arrays.y_train)
    bad = before + rows.replace(f"{AGES[3]}{mark}", f"x{mark}", 1)
    with pytest.raises(DataError, match=f"line {5 + before.count(chr(10))} has 'x'"):
        read_upload("a.csv", bad.encode())


@all_cases("mark", [",", ";", "\t", " "])
@all_cases("before", ["", "# made by me\n", "# one, two\n#\n"])
@all_cases("sign", ["# ", "#", "## "])
def test_a_header_behind_a_comment_sign_names_the_columns(mark, before, sign):
    """As NumPy writes it. y could be the labels as well, so that only the name tells which column is."""
    rows = [(k % 2, k, k // 2) for k in range(N)]
    upload = read_upload("a.csv", (before + sign + lines(("label", "x", "y"), *rows, mark=mark, end="\n")).encode())
    assert upload.features == ("x", "y")
    assert upload.arrays.y_train.tolist() == [k % 2 for k in range(N)]
    assert upload.arrays.X_train.tolist() == [[k, k // 2] for k in range(N)]


@pytest.mark.parametrize("values", [(1, 2), ("red", "small")])
def test_a_comment_that_may_be_the_header_is_refused_with_a_way_out(values):
    table = lines(("label", "colour", "size"), *(("ab"[k % 2], *values) for k in range(N)), mark=",", end="\n")
    for before, line in (("# by me, in 2020, rev 3\n", 1), ("# words\n# by me, in 2020, rev 3\n", 2)):
        with pytest.raises(DataError, match=f"line {line} begins with # and may be a comment or.*without the #"):
            read_upload("a.csv", (before + table).encode())


def table(columns, **more):
    frame = pd.DataFrame(columns)
    return read_upload("t.csv", frame.to_csv(index=False, sep=";").encode(), **more)


def test_a_thousand_with_a_point_follows_the_other_columns():
    amounts = [f"{k}.000" for k in range(1, N + 1)]
    assert table({"y": KINDS, "a": amounts, "b": map(comma, SIZES)}).arrays.X_train[:, 0].tolist() == [
        1000 * k for k in range(1, N + 1)
    ]
    assert table({"y": KINDS, "a": amounts, "b": SIZES}).arrays.X_train[:, 0].tolist() == list(range(1, N + 1))


def test_commas_between_thousands_alone_are_no_decimals():
    thousands = [f"{k},000" for k in range(1, N + 1)]
    preview = table({"y": KINDS, "a": thousands, "b": AGES})
    assert preview.arrays.X_train[:, 0].tolist() == [1000 * k for k in range(1, N + 1)]
    assert "Commas are read as marks for thousands: a (1,000)" in preview.notes
    preview = table({"y": KINDS, "a": thousands, "b": map(comma, SIZES)})
    assert not any("thousands" in note for note in preview.notes)
    assert preview.arrays.X_train[:, 0].tolist() == list(range(1, N + 1))


@pytest.mark.parametrize(
    ("others", "value", "said"), [(SIZES, 1234, "Commas are read as marks for thousands: a (1,234)"),
                                  (list(map(comma, SIZES)), 1.234, "Points are read as marks for thousands: a (1.234)")]
)  # fmt: skip
def test_both_marks_before_three_digits_follow_the_other_columns_or_are_refused(others, value, said):
    both = ["1,234", "1.234"] * (N // 2)
    preview = table({"y": KINDS, "a": both, "b": others})
    assert preview.arrays.X_train[:2, 0].tolist() == pytest.approx([value, 1234 * 1.234 / value])
    assert said in preview.notes
    for undecided in (AGES, ["1,234", "2.345"] * (N // 2)):
        with pytest.raises(DataError, match=r"Column 'a' has '1,234' and '1\.234': the decimal mark .*one of"):
            table({"y": KINDS, "a": both, "b": undecided})
    assert table({"y": KINDS, "a": [*both[:-1], "0.5"], "b": AGES}).arrays.X_train[0, 0] == 1234


def test_categories_become_columns_of_0_and_1():
    colour = ["red", "green", "blue"] * (N // 3)
    smokes = ["yes", "no"] * (N // 2)
    preview = table({"colour": colour, "smokes": smokes, "age": AGES, "class": KINDS})
    assert preview.features == ("colour = blue", "colour = green", "colour = red", "smokes = yes", "age")
    assert preview.arrays.X_train[:2].tolist() == [[0, 0, 1, 1, 30], [0, 1, 0, 0, 31]]
    assert "Categories become columns of 0 and 1: colour (3), smokes (2)" in preview.notes


def test_dates_become_days_and_names_are_left_out_and_said():
    day = [f"{k + 9:02}.03.2024" for k in range(N)]
    month = [f"3/{k + 9}/24" for k in range(N)]
    time = [f"2024-03-{k + 1:02} 12:30:00" for k in range(N)]
    name = [f"Patient {k}" for k in range(N)]
    preview = table({"day": day, "month": month, "time": time, "name": name, "age": AGES, "class": KINDS})
    assert preview.features == ("day", "month", "time", "age")
    for column, cells, how in zip(range(3), (day, month, time), ("%d.%m.%Y", "%m/%d/%y", "%Y-%m-%d %H:%M:%S")):
        expected = (pd.to_datetime(cells, format=how) - pd.Timestamp(0)) / pd.Timedelta(days=1)
        np.testing.assert_allclose(preview.arrays.X_train[:, column], expected, atol=2e-3)  # float32: three minutes
    (note,) = (note for note in preview.notes if note.startswith("Dates become days since 1970"))
    assert "day (day first, unless the year comes first), month (month first, unless the year comes first)" in note
    assert any(
        note.startswith("Columns left out because they contain texts") and note.endswith("'name'")
        for note in preview.notes
    )
    book = excel(
        [["day", "age", "class"], *([date(2024, 3, k + 1), a, c] for k, (a, c) in enumerate(zip(AGES, KINDS)))]
    )
    assert read_upload("a.xlsx", book).arrays.X_train[0, 0] == 19783
    assert sheets._cell(datetime(2024, 3, 1, 8, 30)) == "2024-03-01 08:30:00"


@pytest.mark.parametrize(
    "cell", ["2024-03-31", "31.3.24", "31/12/1968 23:59:59", "2024-03-31T09:30:15.5+02:00", "1.2.2003 12:05 AM"]
)
def test_a_date_is_as_many_days_from_1970_as_pandas_says(cell):
    expected = pd.to_datetime(cell, dayfirst=not cell.startswith("2"), utc=True) - pd.Timestamp(0, tz="UTC")
    assert days(cell, True) == pytest.approx(expected / pd.Timedelta(days=1), abs=1e-9)


@pytest.mark.parametrize("bad", ["31.02.2024", "tomorrow", "1.1.2024 25:00"])
def test_a_cell_that_is_no_date_among_dates_is_named(bad):
    day = [*(f"{k + 9:02}.03.2024" for k in range(N - 1)), bad]
    with pytest.raises(DataError, match=f"line {N + 1} has '{bad}' instead of a date in column 'day'"):
        table({"day": day, "age": AGES, "class": KINDS})


HOLES = {"age": [30, "", 32, "NA", *AGES[4:]], "kind": ["a", "b", "", "a", *("ab" * 4)], "class": KINDS}


def test_empty_cells_are_refused_with_a_way_out():
    with pytest.raises(Unusable) as refusal:
        table(HOLES)
    assert len(refusal.value.bad) == 3
    assert "line 3 has an empty cell in column 'age'" in refusal.value.bad[0]
    assert "has 'NA', a missing" in refusal.value.bad[2]
    assert "a way to fill them" in refusal.value.accepted


@pytest.mark.parametrize("empty", ["fill", "tell"])
def test_empty_cells_are_filled_and_told(empty):
    preview = table(HOLES, empty=empty)
    X = preview.arrays.X_train
    there = [30, 32, *AGES[4:]]
    assert X[[1, 3], 0].tolist() == 2 * [np.median(there)]
    assert X[2, 1] == 0  # "a" is the commonest
    assert preview.features == ("age", "kind = b", *(("age is empty", "kind is empty") if empty == "tell" else ()))
    assert any("age (2), kind (1)" in note for note in preview.notes)
    if empty == "tell":
        assert np.flatnonzero(X[:, 2]).tolist() == [1, 3]
        assert np.flatnonzero(X[:, 3]).tolist() == [2]


def test_rows_with_empty_cells_are_left_out_on_request():
    preview = table(HOLES, skip=True)
    assert len(preview.arrays.X_train) == N - 3
    assert "3 of 12 rows left out: line 3, line 4, line 5" in preview.notes


def test_a_word_among_numbers_is_named_even_where_holes_are_filled():
    with pytest.raises(Unusable, match="line 6 has 'x' instead of a number in column 'age'"):
        table(HOLES | {"age": [30, "", 32, "NA", "x", *AGES[5:]]}, empty="fill")
    assert len(table({"age": AGES, "class": [*KINDS[:2], "", *KINDS[3:]]}, empty="fill").arrays.y_train) == N - 1


def test_where_the_labels_are_is_guessed_and_whether_that_is_clear():
    def found(columns):
        return opened("t.csv", pd.DataFrame(columns).to_csv(index=False, sep=";").encode()).labels

    assert found({"age": AGES, "size": SIZES, "kind": KINDS}) == (("age", "size", "kind"), 2, True)
    assert found({"kind": KINDS, "age": AGES, "size": SIZES})[1:] == (0, True)
    assert found({"size": SIZES, "kind": KINDS, "weight": SIZES})[1:] == (1, False)
    assert found({"first": KINDS, "age": SIZES, "last": KINDS[::-1]})[1:] == (2, False)
    assert found({"a": SIZES, "Class": KINDS, "b": KINDS})[1:] == (1, True)
    with pytest.raises(DataError, match="not a complete zip"):
        opened("a.npz", b"PK not a zip")
    assert opened("a.svm", b"1 1:2\n-1 2:1\n").labels is None


def test_the_labels_may_be_any_column_even_without_a_header():
    content = lines(*zip(AGES, KINDS, SIZES), mark=",").encode()
    assert opened("t.csv", content).labels.names == ("column 1", "column 2", "column 3")
    preview = read_upload("t.csv", content, label="column 2")
    assert preview.arrays.y_train.tolist() == KINDS
    assert preview.arrays.X_train.tolist() == [[age, size] for age, size, _ in ROWS]


def test_a_header_may_run_over_two_lines():
    content = '"Größe\n(in m)",Alter,class\n' + lines(*zip(SIZES, AGES, KINDS), mark=",", end="\n")
    preview = read_upload("t.csv", content.encode())
    assert preview.features == ("Größe (in m)", "Alter")
    inches = "size,note,class\n" + "".join(f'{s},5",{k}\n' for s, k in zip(SIZES, KINDS))
    with pytest.raises(DataError):  # a quote without end: refused, not waited for
        read_upload("t.csv", inches.encode())


REFUSED = {
    "UTF-16 without a mark": ("a.csv", "a,b\n1,2\n".encode("utf-16-le"), "zero bytes"),
    "half of UTF-16": ("a.csv", "a,b\n1,2\n".encode("utf-16")[:-1], "not UTF-16 text"),
    "OpenDocument": ("a.ods", archive({"mimetype": b"x", "content.xml": b"<x/>"}), "OpenDocument.*xlsx or csv"),
    "Numbers": ("a.numbers", archive({"Index/Document.iwa": b"x"}), "iWork.*xlsx or csv"),
    "an old workbook": ("a.xls", b"\xd0\xcf\x11\xe0" + bytes(100), "old or password-protected Office.*xlsx or csv"),
    "an empty workbook": ("a.xlsx", excel([[]]), "no sheet with at least two rows"),
    "a workbook cut off": ("a.xlsx", archive({"xl/workbook.xml": b"<x"}), "cannot be read as an Excel workbook"),
    "a Parquet file cut off": ("a.parquet", SAME["Parquet"][1][:200], "cannot be read as a Parquet file"),
    "no pictures in Parquet": (
        "a.parquet",
        parquet(pd.DataFrame({"image": [{"bytes": b"x"}] * 4, "label": [0, 1, 0, 1]})),
        "row 0 cannot be read as an image",
    ),
    "texts alone": ("a.csv", lines(("a", "class"), *((f"t{k}", KINDS[k]) for k in range(N))).encode(), "no column of"),
    "a number and no more": ("a.csv", lines(("id", "class"), *enumerate(KINDS)).encode(), "no column besides 'class'"),
}  # fmt: skip


@pytest.mark.parametrize("which", REFUSED)
def test_what_cannot_be_read_is_refused_with_words(which):
    name, content, words = REFUSED[which]
    with pytest.raises(DataError, match=words) as refusal:
        read_upload(name, content)
    assert refusal.value.accepted


def test_a_sheet_of_too_many_cells_is_refused_before_it_is_kept(monkeypatch):
    monkeypatch.setattr(sheets, "MAX_CELLS", 20)
    with pytest.raises(DataError, match="more than 20 cells"):
        read_upload("a.xlsx", excel([HEAD, *ROWS]))
    monkeypatch.setattr(sheets, "MAX_VALUES", 20)
    with pytest.raises(DataError, match="36 values"):
        read_upload(*SAME["Parquet"])
    monkeypatch.undo()
    monkeypatch.setattr(sheets, "MAX_BYTES", 100)
    with pytest.raises(DataError, match=r"MB as text|unpacks to"):
        read_upload(*SAME["Parquet"])


@pytest.mark.ci
def test_a_wide_table_with_one_hole_is_read_in_bounded_time():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (400, 784)).astype(object)
    X[5, 7] = ""
    y = np.arange(400) % 10
    content = lines(["label", *(f"p{k}" for k in range(784))], *np.column_stack([y, X]).tolist(), mark=",").encode()
    preview = read_upload("t.csv", content, empty="fill")
    assert preview.arrays.X_train.shape == (400, 28, 28)


FAR = {
    "dates": [f"2024-03-31 14:{k // 30 % 10:02}:{2 * (k % 30):02}" for k in range(290)],
    "seconds": [1_711_900_000.25 + 2 * k for k in range(290)],
    "thousandths": [20000 + k / 300_000 for k in range(290)],
}


@pytest.mark.parametrize("what", FAR)
def test_numbers_far_from_0_keep_their_differences_until_they_are_standardised(home, what):
    """From the file to the decision values, against scikit-learn on the same column centred by hand."""
    y = ["early" if k < 140 else "late" for k in range(290)]
    preview = table({"when": FAR[what], "class": y})
    assert len(np.unique(preview.arrays.X_train)) == 290
    assert any("in column 'when', so" in note and "double precision" in note for note in preview.notes)
    entry = catalogue.keep("far", preview.arrays, features=preview.features)
    assert len(np.unique(entry.load().X_train)) == 290
    plain = Recipe(dataset=entry.name, kernel=RBF(0.5), C=10.0, n_train=200, n_test=90, tol=1e-5, preprocess=())
    with pytest.raises(
        RecipeError, match=r"zscore or centre among the steps, because single precision rounds .*'when'"
    ):
        train.execute(plain)
    tidy = np.arange(290.0)[np.argsort(np.argsort(entry.load().X_train[:, 0]))][:, None]
    standardised = plain.replace(preprocess=("zscore",))
    problem = task_of(standardised).prepare(standardised, lambda stage: None)
    rows = tidy[problem.train_index]
    wanted = (tidy[problem.test_index] - rows.mean()) / rows.std()
    assert np.abs(problem.X_test - wanted).max() < 1e-4
    assert train.execute(standardised).result["errors"] <= 1


@pytest.mark.parametrize("what", ["an unknown time", "two dates"])
def test_times_keep_their_differences_beside_one_far_away(what):
    """Against the numbers themselves: the deviation of the column hides what float32 does to most of them."""
    times = 1.7e9 + np.arange(600) + 0.25
    times[7] = 0 if what == "an unknown time" else times[7]
    times[300:] += 0 if what == "an unknown time" else 1e9
    preview = table({"when": times.tolist(), "class": ["early" if k % 100 < 50 else "late" for k in range(600)]})
    np.testing.assert_array_equal(preview.arrays.X_train[:, 0], times)
    assert any("in column 'when', so" in note and "double precision" in note for note in preview.notes)
    kept = (times - np.median(times)).astype(np.float32)
    told = any("for column 'when': numbers there form groups" in note for note in preview.notes)
    assert told == (len(np.unique(kept)) < 590)


MIXED = pd.DataFrame(
    {
        "age": [float(age) if k != 3 else None for k, age in enumerate(AGES)],
        "whole": range(N),
        "size": [comma(size) for size in SIZES],
        "weight": [f"{k + 50} kg" for k in range(N)],
        "day": [date(2024, 3, k + 1) for k in range(N)],
        "time": [datetime(2024, 3, k + 1, 8, 30) for k in range(N)],
        "smokes": [k % 2 == 0 for k in range(N)],
        "group": [("a", "b\nc", None)[k % 3] for k in range(N)],
        "class": [k % 2 + 3 for k in range(N)],
    }
)


@pytest.mark.parametrize("empty", ["fill", "tell"])
def test_a_table_is_the_same_as_csv_workbook_and_parquet(empty):
    book = io.BytesIO()
    MIXED.to_excel(book, index=False)
    as_csv, *others = (
        read_upload(name, content, empty=empty)
        for name, content in {
            "a.csv": MIXED.to_csv(index=False).encode(),
            "a.xlsx": book.getvalue(),
            "a.parquet": parquet(MIXED),
        }.items()
    )
    for other in others:
        assert other.features == as_csv.features
        np.testing.assert_array_equal(other.arrays.X_train, as_csv.arrays.X_train)
        np.testing.assert_array_equal(other.arrays.y_train, as_csv.arrays.y_train)
        assert other.notes[-len(as_csv.notes) :] == as_csv.notes


def test_a_row_of_a_workbook_is_named_by_its_number_in_the_sheet():
    rows = [[], HEAD, *(row if k != 4 else (None, *row[1:]) for k, row in enumerate(ROWS))]
    with pytest.raises(DataError, match=r"line 7 has an empty cell in column 'Alter'"):
        read_upload("a.xlsx", excel(rows))
    frame = pd.DataFrame(ROWS, columns=HEAD).astype({"Alter": float})
    frame.loc[4, "Alter"] = np.inf
    with pytest.raises(DataError, match=r"row 4 has 'inf', an infinite or too large value, in column 'Alter'"):
        read_upload("a.parquet", parquet(frame))


def test_columns_of_a_parquet_file_may_be_named_by_numbers():
    frame = pd.DataFrame({str(k): [k + row for row in range(N)] for k in range(3)} | {"3": KINDS})
    preview = read_upload("a.parquet", parquet(frame), label="3")
    assert preview.features == ("0", "1", "2")
    assert len(preview.arrays.X_train) == N
