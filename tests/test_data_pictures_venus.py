"""Venus: tables and images as written, experiments that name what is missing, damage with its file and line."""

import gzip
import tracemalloc

import numpy as np
import pytest

from data import DataError, NotAtHand, pictures
from data.loaders import jartool

EXPERIMENTS = """%---- comment
A1; TRN = [2,3];   TST = [1];
A2; TRN = [1,3];   TST = [2];

B1; TRN = [1,3:5]; TST = [2];
"""
SCORING = "% Experiment, parts, area, opportunities\nA 2 300 7\nB 1 150 4"
AREAS = "% Image, area, volcanoes\n1 100 2\n2 200 5\n3 150.5 0\n4 10 1\n5 10 1\n"
SPR = "2\n6\n0.0\n1.0\n4\n0.0\n1.0\n0\n"
PIXELS = np.arange(24, dtype=np.uint8)
TRUTH = "1 2.5 1.0 1.5\n4 3 2 1\n"


def mirror(folder, numbers=(1, 2, 3), **files):
    """A folder of SVMLAB_DATA with a tiny set of Venus: the tables and images of 6 x 4 pixels."""
    base = folder / "volcanoes"
    for part in ("Images", "GroundTruths"):
        (base / part).mkdir(parents=True, exist_ok=True)
    tables = {
        "Experiments_Images_Table": EXPERIMENTS,
        "Experiments_Scoring_Table": SCORING,
        "Images_Area_Volcanoes_Table": AREAS,
    }
    for name, text in tables.items():
        (base / name).write_text(files.get(name, text))
    for n in numbers:
        (base / "Images" / f"img{n}.sdt").write_bytes(files.get("sdt", PIXELS.tobytes()))
        (base / "Images" / f"img{n}.spr").write_text(files.get("spr", SPR))
        (base / "GroundTruths" / f"img{n}.lxyr").write_text(files.get("lxyr", TRUTH))
    return base


@pytest.fixture
def at(tmp_path, monkeypatch, home):
    folder = tmp_path / "mirror"
    monkeypatch.setenv("SVMLAB_DATA", str(folder))
    return folder


# ---------------------------------------------------------------------------------------------------------- tables


def test_tables_and_images_as_written(at):
    mirror(at)
    venus = pictures.load("venus")
    assert [p.name for p in venus.pictures] == ["img1", "img2", "img3"]
    first = venus.pictures[0]
    assert (first.image == PIXELS.reshape(4, 6)).all()
    assert first.boxes.tolist() == [[1.0, -0.5, 4.0, 2.5], [2.0, 1.0, 4.0, 3.0]]
    assert np.allclose(first.circles, [[2.5, 1.0, 1.5], [3, 2, 1]])
    assert first.category.tolist() == [1, 4]
    assert [(p.area, p.opportunities) for p in venus.pictures] == [(100, 2), (200, 5), (150.5, 0)]
    a = venus.experiments["A"]
    assert [(part.name, part.train, part.test) for part in a.parts] == [("A1", (1, 2), (0,)), ("A2", (0, 2), (1,))]
    assert (a.area, a.opportunities, a.missing, a.tested) == (300, 7, (), (0, 1))
    assert (venus.entry.n_pictures, venus.entry.n_objects) == (3, 6)
    assert pictures.load("venus") is venus


def test_an_experiment_names_what_is_missing_and_keeps_its_complete_parts(at):
    mirror(at)
    b = pictures.load("venus").experiments["B"]
    assert (b.parts, b.missing, b.area, b.opportunities) == ((), ("img4", "img5"), 150, 4)
    table = "A1; TRN = [2]; TST = [1];\nA2; TRN = [1]; TST = [4];\nB1; TRN = [1,3:5]; TST = [2];"
    mirror(at, Experiments_Images_Table=table)
    a = pictures.load("venus").experiments["A"]
    assert [part.name for part in a.parts] == ["A1"]
    assert (a.missing, a.area, a.opportunities) == (("img4",), 100, 2)


def test_an_image_counts_when_all_three_of_its_files_are_there(at):
    base = mirror(at)
    (base / "GroundTruths" / "img3.lxyr").unlink()
    assert pictures.load("venus").experiments["A"].missing == ("img3",)
    for number in (1, 2):
        (base / "Images" / f"img{number}.sdt").unlink()
    with pytest.raises(NotAtHand, match=r"tables but no image.*img1\.sdt"):
        pictures.load("venus")


def test_files_may_be_gzipped(at):
    base = mirror(at)
    for path in (base / "Images" / "img1.sdt", base / "Experiments_Scoring_Table"):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert (pictures.load("venus").pictures[0].image == PIXELS.reshape(4, 6)).all()


DAMAGE = {
    "no part": (
        "Experiments_Images_Table",
        "A1 TRN = [2]",
        r"Experiments_Images_Table, line 1: invalid line 'A1 TRN.*TST = \[1\]",
    ),
    "nothing": ("Experiments_Images_Table", "% none\n", "has no experiments"),
    "a word": (
        "Experiments_Images_Table",
        "A1; TRN = [x]; TST = [1];",
        "line 1, TRN: invalid value 'x'.*such as 5 or 13:42",
    ),
    "an empty list": ("Experiments_Images_Table", "A1; TRN = []; TST = [1];", "line 1, TRN: invalid value ''"),
    "a run backwards": ("Experiments_Images_Table", "A1; TRN = [3:2]; TST = [1];", "line 1, TRN: invalid value '3:2'"),
    "image 0": ("Experiments_Images_Table", "A1; TRN = [0]; TST = [1];", "line 1, TRN: invalid value '0'"),
    "a huge run": (
        "Experiments_Images_Table",
        "A1; TRN = [1:99999999]; TST = [1];",
        "line 1, TRN: invalid value '1:99999999'",
    ),
    "twice": ("Experiments_Images_Table", "A1; TRN = [2,1:3]; TST = [4];", "line 1, TRN: an image is listed twice"),
    "a leak": ("Experiments_Images_Table", "A1; TRN = [1:3]; TST = [2];", "image 2 is in both TRN and TST"),
    "a part twice": (
        "Experiments_Images_Table",
        EXPERIMENTS + "A1; TRN = [1]; TST = [2];",
        "line 6: A1 occurs a second time",
    ),
    "an image unlisted": (
        "Experiments_Images_Table",
        EXPERIMENTS.replace("3:5", "3:9"),
        "Split B1 uses image 6, which the table of areas does not list",
    ),
    "no score": ("Experiments_Scoring_Table", "A 2 300 7", "Experiment B is not in the scoring table"),
    "other parts": (
        "Experiments_Scoring_Table",
        SCORING.replace("A 2", "A 3"),
        "A has 2 splits, but the scoring table lists 3",
    ),
    "a column short": (
        "Experiments_Scoring_Table",
        "A 2 300",
        r"Experiments_Scoring_Table, line 1: 3 values instead of 4.*4 values",
    ),
    "no letter": (
        "Experiments_Scoring_Table",
        "7 2 300 7",
        r"line 1, column 1 \(Experiment\): invalid value '7'.*letter",
    ),
    "no area": (
        "Experiments_Scoring_Table",
        "A 2 x 7",
        r"line 1, column 3 \(Total Image Area\): invalid value 'x'.*a number from 1",
    ),
    "half a volcano": (
        "Images_Area_Volcanoes_Table",
        "1 100 2.5",
        r"line 1, column 3 .*invalid value '2.5'.*a whole number from 0",
    ),
    "an image twice": (
        "Images_Area_Volcanoes_Table",
        AREAS + "1 2 3",
        r"line 7, column 1 \(Image number\): 1 occurs a second time",
    ),
    "NaN": ("Images_Area_Volcanoes_Table", "1 nan 2", r"column 2 \(Usable area\): invalid value 'nan'"),
    "category 5": (
        "lxyr",
        "1 2 2 1\n5 2 2 1",
        r"img1\.lxyr, line 2, column 1 \(category\): invalid value '5'.*from 1 to 4",
    ),
    "x outside": ("lxyr", "1 7 2 1", r"img1\.lxyr, line 1, column 2 \(x\): invalid value '7'.*from 0 to 6"),
    "no radius": ("lxyr", "1 2 2 0", r"column 4 \(radius\): invalid value '0'"),
    "five columns": ("lxyr", "1 2 2 1 1", "line 1: 5 values.*category, x, y, radius"),
    "binary": ("lxyr", "\x00\x01", "line 1: 1 values"),
    "another type": ("spr", SPR[:-2] + "4\n", r"img1\.spr declares 2 6.*uint8|img1\.spr declares"),
    "a giant": ("spr", SPR.replace("6", "60000"), r"img1\.spr declares.*up to 8192"),
    "a short header": ("spr", "2\n6\n", r"img1\.spr is not the header"),
    "cut off": ("sdt", PIXELS.tobytes()[:-1], r"img1\.sdt does not have the 6 x 4 bytes"),
    "too long": ("sdt", PIXELS.tobytes() + b"1", r"img1\.sdt does not have the 6 x 4 bytes"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_named_with_file_line_and_column(at, kind):
    name, content, words = DAMAGE[kind]
    mirror(at, **{name: content})
    with pytest.raises(DataError, match=words):
        pictures.load("venus")


def test_tables_that_are_no_text_or_endless_are_refused(tmp_path):
    path = tmp_path / "table"
    path.write_bytes(b"1 2\n\xff\xfe")
    with pytest.raises(DataError, match=r"not text \(byte 4\)"):
        jartool.read_areas(path)
    path.write_bytes(b"%" * (jartool.MAX_TEXT + 1))
    with pytest.raises(DataError, match="larger than"):
        jartool.read_areas(path)
    path.with_suffix(".gz").write_bytes(gzip.compress(AREAS.encode())[:-9])
    with pytest.raises(DataError, match="damaged"):
        jartool.read_areas(path.with_suffix(".gz"))


def test_runs_named_again_and_again_are_refused_at_the_second(tmp_path):
    path = tmp_path / "table"
    path.write_text(f"A1; TRN = [{','.join(200 * ['1:9999'])}]; TST = [1];")
    tracemalloc.start()
    with pytest.raises(DataError, match="an image is listed twice"):
        jartool.read_experiments(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4e6
