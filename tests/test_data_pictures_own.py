"""A reader's own pictures: read from a zip or from files, every mistake named with its file, line and column."""

import contextlib
import zipfile
from collections import Counter

import numpy as np
import pytest

from data import DataError
from data.loaders import pictures as loader
from data.loaders.objects import table as boxes
from data.loaders.pictures import read_pictures
from data.loaders.sieve import Sieve, Unusable
from tests.cases import all_cases
from tests.uploads import BOXES as TABLE
from tests.uploads import STREETS, archive, image, png_of_16_bits
from tests.uploads import street_files as files

A, B, C = STREETS


def test_files_and_a_zip_of_them_are_the_same():
    plain = read_pictures(files())
    zipped = read_pictures([("town.zip", archive({f"town/{name}": content for name, content in files()}))])
    assert zipped.title == "town"
    assert zipped.names == ("town/a.png", "town/b.png", "town/c.png")
    for upload in (plain, zipped):
        assert all((found == given).all() for found, given in zip(upload.images, (A, B, C)))
        assert upload.boxes.tolist() == [[1, 2, 21, 12], [-5, 3.5, 10, 20], [30, 10, 70, 30]]
        assert upload.category.tolist() == [1, 2, 1]
        assert upload.picture.tolist() == [0, 1, 1]
        assert upload.shape == "box"
        assert upload.notes == (
            "1 picture has no object: any detection there is a false alarm",
            "2 objects extend beyond the edge of the picture",
        )


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_circles_in_any_order_of_columns_with_any_mark(mark, end):
    rows = [("Radius", "x", "image", "Y"), ("5", "20", "a.png", "10.5"), ("2.5", "1", " b.png", "39")]
    table = "\ufeff" + end.join(mark.join(row) for row in rows) + end + end
    upload = read_pictures(files(table))
    assert upload.shape == "circle"
    assert upload.boxes.tolist() == [[15, 5.5, 25, 15.5], [-1.5, 36.5, 3.5, 41.5]]
    assert upload.category.tolist() == [1, 1]


def test_colours_become_grey_and_paths_tell_namesakes_apart():
    red = np.zeros((40, 60, 3), np.uint8)
    red[..., 0] = 255
    table = "image,x,y,radius\none/a.png,9,9,5\ntwo/a.png,9,9,5"
    upload = read_pictures(files(table, a__png=None, **{"one/a__png": image(red, "BMP"), "two/a__png": image(A)}))
    assert upload.names[-2:] == ("one/a.png", "two/a.png")
    assert (upload.images[-2] == 54).all()
    assert upload.notes[0] == "Colour images are converted to grey"
    with pytest.raises(
        DataError, match=r"line 2, column image: 'a\.png' is ambiguous: it may be one/a\.png or two/a\.png.*the path"
    ):
        read_pictures(
            files(
                "image,x,y,radius\na.png,9,9,5", a__png=None, **dict(zip(("one/a__png", "two/a__png"), (image(A),) * 2))
            )
        )


def test_pictures_of_16_bits_share_one_scale():
    a, b = (street.astype(np.uint16) * 15 for street in (A // 9, B))  # 12 bits, the first much darker
    upload = read_pictures(files(a__png=image(a), b__png=image(b)))
    assert (upload.images[0] == a // 16).all()
    assert (upload.images[1] == b // 16).all()
    assert (upload.images[2] == C).all()
    assert "2 of 3 pictures have 16 bits per pixel, of which 12 are used: values are divided by 16" in upload.notes


def test_pictures_of_one_colour_in_16_bits_are_read_as_all_bits_are_used():
    blue = np.zeros((*A.shape, 3), np.uint16)
    blue[..., 2] = A.astype(np.uint16) * 257
    upload = read_pictures(files(a__png=png_of_16_bits(blue)))
    assert (upload.images[0] == np.rint(0.0721 * A)).all()


def lines(*rows, header="image,xmin,ymin,xmax,ymax"):
    return "\n".join((header, "a.png,1,2,21,12", *rows))


def circles(*rows):
    return "\n".join(("image,x,y,radius", "a.png,9,9,5", *rows))


WRONG = {
    "unknown image": (
        lines("bb.png,1,2,3,4"),
        r"boxes\.csv, line 3, column image: there is no image 'bb\.png'.*b\.png",
    ),
    "a path outside": (lines("../b.png,1,2,3,4"), "line 3, column image: there is no image"),
    "no image": (lines(",1,2,30,40"), "line 3, column image: no value.*the name of a picture"),
    "a word": (
        lines("b.png,1,x,30,40"),
        r"line 3, column ymin: invalid value 'x'.*a number of pixels, such as 12 or 12\.5",
    ),
    "a hole": (lines("b.png,1,,30,40"), "line 3, column ymin: no value"),
    "not a number": (lines("b.png,1,nan,30,40"), "line 3, column ymin: invalid value 'nan'"),
    "endless": (lines("b.png,1,2,inf,40"), "line 3, column xmax: invalid value 'inf'"),
    "backwards": (
        lines("b.png,30,2,10,20"),
        "line 3, column xmax: 10 is not greater than xmin = 30.*xmax greater than xmin",
    ),
    "flat": (lines("b.png,3,20,10,20"), "line 3, column ymax: 20 is not greater than ymin = 20"),
    "outside to the right": (lines("b.png,60,2,90,30"), "line 3, column xmax: .*x = 75, is outside b.png.*60 x 40"),
    "outside above": (lines("b.png,6,-20,9,3"), "line 3, column ymin: .*y = -8.5, is outside"),
    "tiny": (lines("b.png,6,2,7,30"), "line 3, column xmax: the object is 1 pixels across.*2 to 120"),
    "larger than the picture": (lines("b.png,-50,2,90,30"), "line 3, column xmax: the object is 140 pixels across"),
    "given twice": (lines("b.png,1,2,30,30", "b.png,1,2,30,30"), "line 4: the same object as in line 3"),
    "a column short": (lines("b.png,1,2,30"), "line 3: 4 values instead of 5.*5 values: image, xmin"),
    "a column more": (lines("b.png,1,2,30,40,1"), "line 3: 6 values"),
    "no header": ("a.png,1,2,21,12\nb.png,1,2,3,4", r"line 1: the header is 'a\.png.*image,xmin"),
    "another header": (lines(header="file,a,b,x2,y2"), "line 1: the header is 'file, a"),
    "a column twice": (lines(header="image,xmin,ymin,xmax,xmax"), "line 1: the header is"),
    "category 0": (
        TABLE + "a.png,1,2,5,6,0",
        "line 5, column category: invalid value '0'.*a whole number from 1 \\(most certain\\) to 9",
    ),
    "category 1.5": (TABLE + "a.png,1,2,5,6,1.5", "line 5, column category: invalid value '1.5'"),
    "no category": (TABLE + "a.png,1,2,5,6,", "line 5, column category: no value"),
    "radius 0": (circles("b.png,9,9,0"), "line 3, column radius: invalid value 0.*a radius above 0"),
    "radius below 0": (circles("b.png,9,9,-4"), "line 3, column radius: invalid value -4"),
    "a circle outside": (circles("b.png,9,99,5"), "line 3, column y: .*is outside"),
    "a giant circle": (circles("b.png,9,9,80"), "line 3, column radius: the object is 160 pixels across"),
    "nothing but a header": ("image,x,y,radius\n\n", r"boxes\.csv has a header but no objects"),
    "nothing": ("\n \n", r"boxes\.csv is empty"),
    "one picture only": (lines(), "objects in fewer than two pictures.*at least two pictures with objects"),
    "UTF-16 cut off": (lines().encode("utf-16")[:-1], "not UTF-16 text"),
    "zero bytes": (lines("b.png,1,2,\0,4"), "zero bytes"),
    "a quote left open": (lines('b.png,"1,2,3,4'), r"boxes\.csv, line 3: 2 values"),
    "a cell without end": (lines("b" * 200_000 + ",1,2,3,4"), "line 3: it cannot be read"),
}


@all_cases("kind", WRONG)
def test_a_wrong_table_is_refused_with_line_and_column(kind):
    table, words = WRONG[kind]
    with pytest.raises(DataError, match=words) as caught:
        read_pictures(files(table))
    assert caught.value.accepted


REFUSED = {
    "no table": (files(boxes__csv=None), "There are no annotations of objects.*a csv table"),
    "the same twice": (files(more__csv=TABLE), r"more\.csv, line 2: the same object as in line 2"),
    "told in two ways": (files(a__txt="0 .5 .5 .2 .2"), r"in two formats, a\.txt \(YOLO\) and boxes\.csv \(table\)"),
    "no image": ([("boxes.csv", TABLE.encode())], r"annotations, boxes\.csv, but no image"),
    "something else": (files(notes__doc="hi"), r"notes\.doc is neither an image nor a file of annotations"),
    "a name twice": ([*files(), ("a.png", image(B))], r"two images named a\.png"),
    "no image inside": (files(a__png="hello"), r"a\.png cannot be read as an image.*a csv table"),
    "cut off": (files(b__png=image(B)[:90]), r"b\.png cannot be read as an image"),
    "too large": (
        files(b__png=image(np.zeros((16, loader.images.MAX_SIDE + 1), np.uint8))),
        r"b\.png has 16 x 4097 pixels.*4096",
    ),
    "too small": (files(c__png=image(C[:9])), r"c\.png has 60 x 9 pixels.*at least 16 x 16"),
    "a long name": (files(**{"x" * 301 + "__png": image(A)}), "has 305 characters.*at most 300"),
    "a path outside": ([("a.zip", archive({"../a.png": image(A)}))], "a path outside the archive.*a csv table"),
    "a cut-off zip": ([("a.zip", archive(dict(files()))[:-50])], "not a complete zip"),
    "an empty zip": ([("a.zip", archive({}))], "contains no files"),
}


@all_cases("kind", REFUSED)
def test_wrong_files_are_refused(kind):
    upload, words = REFUSED[kind]
    with pytest.raises(DataError, match=words):
        read_pictures(upload)


def test_limits_on_numbers_and_bombs_hold(monkeypatch):
    bomb = archive({"a.png": b"\0" * 5_000_000, "boxes.csv": TABLE})
    monkeypatch.setattr(loader.bundle, "MAX_BYTES", 1_000_000)
    monkeypatch.setattr(loader.bundle._checked, "__defaults__", (1_000_000,))
    monkeypatch.setattr(loader.bundle._zip_members, "__defaults__", (1_000_000,))
    with pytest.raises(DataError, match=r"a\.png unpacks to more than 0 MB"):
        read_pictures([("bomb.zip", bomb)])
    monkeypatch.setattr(loader.bundle, "MAX_BYTES", 5000)
    with pytest.raises(DataError, match="take more than 0 MB as pixels"):
        read_pictures(files())
    monkeypatch.undo()
    monkeypatch.setattr(loader, "MAX_PICTURES", 2)
    with pytest.raises(DataError, match=r"There are 3 images.*at most 2"):
        read_pictures(files())
    monkeypatch.setattr(boxes, "MAX_OBJECTS", 2)
    with pytest.raises(DataError, match="line 4: more than 2 objects"):
        list(boxes.read("boxes.csv", TABLE.encode(), Sieve()))
    monkeypatch.setattr(boxes, "MAX_BYTES", 20)
    with pytest.raises(DataError, match="annotations of at most"):
        list(boxes.read("boxes.csv", TABLE.encode(), Sieve()))


def test_files_damaged_at_random_are_read_or_refused_but_never_crash():
    content, rng = bytearray(archive(dict(files()), zipfile.ZIP_STORED)), np.random.default_rng(0)
    table = TABLE.encode()
    for _ in range(200):
        damaged, cells = bytearray(content), bytearray(table)
        for at in rng.integers(0, len(content), 3):
            damaged[at] = rng.integers(256)
        for at in rng.integers(0, len(table), 2):
            cells[at : at + 1] = rng.choice(list(b',;\n"-.9e\xff')).tobytes()[:1]
        for upload in ([("a.zip", bytes(damaged))], files(bytes(cells))):
            with contextlib.suppress(DataError):
                read_pictures(upload)


def test_what_is_bad_is_named_and_left_out_on_request_with_its_objects():
    table = TABLE + "b.png,1,x,30,40,1\nd.png,1,2,21,12,1\nc.png,1,2,21,12,1\nb.png,3,4,30,20,1\n"
    spoilt = [*files(table, c__png="hello"), ("notes.doc", b"hi")]
    with pytest.raises(Unusable, match="4 of 12 files and lines cannot be used") as refusal:
        read_pictures(spoilt)
    assert len(refusal.value.bad) == 4
    upload = read_pictures(spoilt, skip=True)
    whole = read_pictures(files(TABLE + "b.png,3,4,30,20,1\n"))
    assert upload.names == ("a.png", "b.png")
    assert upload.boxes.tolist() == whole.boxes.tolist()
    assert upload.picture.tolist() == whole.picture.tolist()
    said = "4 of 12 files and lines left out: notes.doc, boxes.csv, line 5, c.png, boxes.csv, line 6"
    assert said in upload.notes
    bad = "".join(f"a.png,{k},x,30,40,1\n" for k in range(20))
    with pytest.raises(Unusable, match="20 of 27 files and lines cannot be used"):
        read_pictures(files(TABLE + bad))
    assert "20 of 27 files and lines left out" in read_pictures(files(TABLE + bad), skip=True).notes[0]
    with pytest.raises(DataError, match="none of"):
        read_pictures(files("image,x,y,radius\na.png,x,1,1\nb.png,y,1,1\n"), skip=True)


@pytest.mark.parametrize("suffix", ["doc", "png", "csv"])
def test_members_of_a_zip_are_sorted_out_by_looking_at_each_once(monkeypatch, suffix):
    looked = Counter()

    class Counted(loader.Member):
        def __eq__(self, other):
            looked["equal"] += 1
            return self is other

        __hash__ = None

    monkeypatch.setattr(loader.bundle, "Member", Counted)
    content = archive({f"a/{k}.{suffix}": b"x" for k in range(1500)} | dict(files()), zipfile.ZIP_STORED)
    with pytest.raises(DataError):
        read_pictures([("a.zip", content)])
    assert looked["equal"] < 10_000
