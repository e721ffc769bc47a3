"""Images beside a table of their names and classes, in the spellings that people have."""

import unicodedata

import pytest

from data import DataError
from data.__main__ import main
from data.loaders import images, labelled
from data.loaders.pictures import are_pictures
from data.loaders.sieve import Unusable
from tests.cases import all_cases
from tests.test_data_upload import by_value
from tests.uploads import BOXES, GREY, PAIR, archive, image, read_upload

KINDS = ["dog", "cat"]
PICTURES = {f"img_{k}.png": image(GREY[k]) for k in range(12)}
TABLES = {
    "names": "filename,label\n" + "".join(f"img_{k}.png,{KINDS[PAIR[k]]}\n" for k in range(12)),
    "stems, as Kaggle has them": "id_code,diagnosis\n" + "".join(f"img_{k},{PAIR[k]}\n" for k in range(12)),
    "semicolons and a class before the name": "Klasse;Datei\r\n"
    + "".join(f"{KINDS[PAIR[k]]};IMG_{k}.PNG\r\n" for k in range(12)),
    "tabs, no header": "".join(f"img_{k}.png\t{KINDS[PAIR[k]]}\n" for k in range(12)),
    "more columns": "image,age,site,kind,note\n"
    + "".join(f"img_{k}.png,{20 + k},{k},{KINDS[PAIR[k]]},seen {k}\n" for k in range(12)),
    "lines of other images": "file,class\n" + "".join(f"img_{k}.png,{KINDS[k % 2]}\n" for k in range(18)),
}


@all_cases("folder", ["", "photos/"])
@all_cases("kind", TABLES)
def test_the_classes_are_those_of_the_table(kind, folder):
    files = {f"{folder}{name}": content for name, content in PICTURES.items()}
    content = archive(files | {"labels.csv": TABLES[kind].encode()})
    assert not are_pictures([("pets.zip", content)])
    preview = read_upload("pets.zip", content)
    found = {label for _, label in by_value(preview.arrays.X_train, preview.arrays.y_train)}
    numbered = "Kaggle" in kind
    assert found == ({"0", "1"} if numbered else set(KINDS))
    own = [str(PAIR[k]) if numbered else KINDS[PAIR[k]] for k in range(12)]
    assert by_value(preview.arrays.X_train, preview.arrays.y_train) == by_value(GREY, own)
    assert "labels.csv" in preview.notes[0]


@all_cases("form", ["NFC", "NFD"])
@all_cases("other", ["NFC", "NFD"])
@all_cases("source", ["zip", "zip without its flag", "folder"])
def test_names_with_accents_are_the_same_however_they_are_written(form, other, source, tmp_path):
    """macOS writes an accent as a character of its own, and does not mark names in a zip as UTF-8."""
    files = {unicodedata.normalize(form, f"Bäume/fôto_{k}.png"): image(GREY[k]) for k in range(12)}
    table = "Datei,Klasse\n" + "".join(f"fôto_{k}.png,{['Käfer', 'Löwe'][PAIR[k]]}\n" for k in range(12))
    files["labels.csv"] = unicodedata.normalize(other, table).encode()
    content = archive(files) if source == "zip" else unmarked(archive(files))
    if source == "folder":
        content = tmp_path / form / other
        for name, whole in files.items():
            (content / name).parent.mkdir(parents=True, exist_ok=True)
            (content / name).write_bytes(whole)
    preview = read_upload("pets.zip", content)
    own = [["Käfer", "Löwe"][PAIR[k]] for k in range(12)]
    assert by_value(preview.arrays.X_train, preview.arrays.y_train) == by_value(GREY, own)


def unmarked(content):
    """A zip whose names are in UTF-8, without the flag that says so."""
    changed = bytearray(content)
    for mark, at in ((b"PK\3\4", 7), (b"PK\1\2", 9)):  # the upper byte of the flags, in both headers of a file
        start = changed.find(mark)
        while start >= 0:
            changed[start + at] &= ~8
            start = changed.find(mark, start + 4)
    return bytes(changed)


def test_folders_of_one_name_are_one_class_in_both_forms_and_names_in_another_encoding_stay():
    forms = {
        unicodedata.normalize(form, f"Größe/{form}{k}.png"): image(GREY[k]) for form in ("NFC", "NFD") for k in (0, 1)
    }
    others = {f"Fu\xdf/{k}.png": image(GREY[k]) for k in (2, 3)}
    assert set(read_upload("a.zip", archive(forms | others)).arrays.y_train) == {"Größe", "Fuß"}
    german = archive({name.replace("\xdf", "b"): whole for name, whole in (forms | others).items()})
    german = german.replace(b"Fub/", b"Fu\xe1/")  # code page 437, as Windows writes it
    assert "Fuß" in set(read_upload("a.zip", german).arrays.y_train)


def test_files_side_by_side_are_one_upload():
    table = ("labels.csv", TABLES["names"].encode())
    (first, content), *others = PICTURES.items()
    preview = read_upload(first, content, [*others, table])
    assert sorted(set(preview.arrays.y_train.tolist())) == ["cat", "dog"]


def test_an_image_without_a_class_is_named_and_left_out_on_request():
    table = TABLES["names"].replace("img_3.png,cat\n", "")
    content = archive(PICTURES | {"labels.csv": table.encode()})
    with pytest.raises(Unusable, match=r"img_3\.png has no class in labels\.csv"):
        read_upload("a.zip", content)
    assert len(read_upload("a.zip", content, skip=True).arrays.X_train) == 11


def test_an_image_of_two_classes_is_named_and_rows_without_an_image_are_counted():
    table = TABLES["lines of other images"] + "img_3.png,cat\nimg_3.png,dog\n"
    content = archive(PICTURES | {"labels.csv": table.encode()})
    with pytest.raises(Unusable, match=r"img_3\.png has the classes 'cat' and 'dog' in labels\.csv"):
        read_upload("a.zip", content)
    preview = read_upload("a.zip", content, skip=True)
    assert len(preview.arrays.X_train) == 11
    assert "6 rows name no image of the upload, such as 'img_12.png'" in preview.notes


def test_a_column_beside_the_classes_says_which_images_belong_together():
    who = [f"p{k // 2 % 2}{PAIR[k]}" for k in range(12)]  # two of each class, which take turns
    for name, group in (("group", None), ("who", "who")):
        lines = [f"img_{k}.png,{KINDS[PAIR[k]]},{who[k]},{k}" for k in range(12)]
        table = "\n".join([f"file,class,{name},age", *lines])
        files = PICTURES | {"t.csv": table.encode()}
        preview = read_upload("a.zip", archive(files), group=group)
        of = {picture.tobytes(): who[k] for k, picture in enumerate(GREY)}
        pairs = set(zip(preview.arrays.groups.tolist(), (of[x.tobytes()] for x in preview.arrays.X_train)))
        assert len(pairs) == 4
        assert len({name for _, name in pairs}) == 4
        assert "Columns that are not read: 'age'" in preview.notes
    assert read_upload("a.zip", archive(files), group="").arrays.groups is None
    with pytest.raises(DataError, match=r"t\.csv has no column 'x' besides images and classes\. Accepted: who, age"):
        read_upload("a.zip", archive(files), group="x")
    files["t.csv"] = table.replace(lines[4], lines[4].replace(who[4], "")).encode()
    with pytest.raises(Unusable, match=r"img_4\.png has no group in t\.csv"):
        read_upload("a.zip", archive(files), group="who")


def test_images_of_one_name_are_told_apart_by_their_folders():
    files = {f"{place}/1.png": image(GREY[k]) for k, place in enumerate("abcd")}
    table = "file,class\n" + "".join(f"{place}/1.png,{'xy'[k % 2]}\n" for k, place in enumerate("abcd"))
    arrays = read_upload("a.zip", archive(files | {"t.csv": table.encode()})).arrays
    assert by_value(arrays.X_train, arrays.y_train) == by_value(GREY[:4], list("xyxy"))


def test_what_tells_objects_or_nothing_is_no_table_of_classes():
    assert are_pictures(
        [("a.zip", archive({"a.png": image(GREY[0]), "b.png": image(GREY[1]), "t.csv": BOXES.encode()}))]
    )
    with pytest.raises(DataError, match="not in a folder"):
        read_upload("a.zip", archive(PICTURES | {"notes.csv": b"when,what\nmonday,rain\ntuesday,sun\n"}))
    assert "or a csv of file names" in images.ACCEPTED


def test_a_table_alone_is_not_taken_apart_for_images_that_are_not_there(monkeypatch):
    monkeypatch.setattr(labelled, "_of_table", lambda *_: pytest.fail("it was taken apart"))
    assert not are_pictures([("a.csv", TABLES["names"].encode())])


@all_cases(("n", "said"), [(0, "0 of 12 rows name"), (5, "5 of 12 rows name")])
@all_cases("folder", ["", "photos/"])
def test_a_table_of_other_images_is_named_with_one_that_is_missing(n, said, folder):
    names = [f"img_{k}.png" if k < n else f"photo_{k}.png" for k in range(12)]
    table = "Datei,Klasse\n" + "".join(f"{name},{KINDS[PAIR[k]]}\n" for k, name in enumerate(names))
    content = archive({f"{folder}{name}": whole for name, whole in PICTURES.items()} | {"labels.csv": table.encode()})
    assert not are_pictures([("pets.zip", content)])
    with pytest.raises(DataError, match=rf"labels\.csv: {said} an image of the upload; 'photo_{n}\.png' is not in it"):
        read_upload("pets.zip", content)
    by_class = {f"{KINDS[PAIR[k]]}/{name}": whole for k, (name, whole) in enumerate(PICTURES.items())}
    preview = read_upload(
        "pets.zip", archive(by_class | {"others.csv": table.replace("img", "no").encode()}), skip=True
    )
    assert by_value(preview.arrays.X_train, preview.arrays.y_train) == by_value(GREY, [KINDS[k] for k in PAIR])


def test_a_note_beside_images_is_no_annotation_of_objects_and_a_wrong_one_is_told_on_the_command_line(tmp_path, capsys):
    assert not are_pictures([("pets.zip", archive(PICTURES | {"README.txt": b"my pets"}))])
    path = tmp_path / "pets.zip"
    path.write_bytes(archive(PICTURES | {"boxes.csv": b"image,left\nimg_1.png,4\n"}))
    assert main(["keep", str(path)]) == 1
    assert "boxes.csv, line 1: the header is 'image, left'" in capsys.readouterr().err
