"""Images beside a table of their names and classes, in the spellings that people have."""

import unicodedata

import numpy as np
import pytest

from data import DataError
from data.__main__ import main
from data.loaders import images, labelled
from data.loaders.pictures import are_pictures
from data.loaders.sieve import Unusable
from tests.cases import all_cases
from tests.test_data_upload import by_value
from tests.uploads import BOXES, GREY, PAIR, ROWS, archive, csv, idx, image, npz, read_upload

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
    said = r"t\.csv has no column 'x' besides images and classes\. Accepted: one of who, age"
    with pytest.raises(DataError, match=said):
        read_upload("a.zip", archive(files), group="x")
    files["t.csv"] = table.replace(lines[4], lines[4].replace(who[4], "")).encode()
    with pytest.raises(Unusable, match=r"img_4\.png has no group in t\.csv"):
        read_upload("a.zip", archive(files), group="who")


def test_of_two_columns_of_classes_either_can_be_chosen(tmp_path, capsys):
    fine = [f"{KINDS[PAIR[k]]}{k % 2}" for k in range(12)]
    table = "name,coarse,fine\n" + "".join(f"img_{k}.png,{KINDS[PAIR[k]]},{fine[k]}\n" for k in range(12))
    content = archive(PICTURES | {"labels.csv": f"{table}img_0.png,{KINDS[PAIR[0]]},third\n".encode()})
    usual = read_upload("pets.zip", content).arrays
    assert set(usual.y_train.astype(str)) == set(KINDS)
    with pytest.raises(Unusable, match=r"img_0\.png has the classes .* in labels\.csv"):
        read_upload("pets.zip", content, label="fine")
    found = read_upload("pets.zip", content, label="fine", skip=True)
    assert by_value(found.arrays.X_train, found.arrays.y_train) == by_value(GREY[1:], fine[1:])
    assert "The classes are in column 'fine' of labels.csv" in found.notes
    said = r"labels\.csv has no column 'kind' besides the names of images\. Accepted: one of coarse, fine"
    with pytest.raises(DataError, match=said):
        read_upload("pets.zip", content, label="kind")
    (tmp_path / "pets.zip").write_bytes(archive(PICTURES | {"labels.csv": table.encode()}))
    assert main(["keep", str(tmp_path / "pets.zip"), "--label", "fine"]) == 0
    assert f"{len(set(fine))} classes" in capsys.readouterr().out


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
    said = rf"labels\.csv: only {said} an image of the upload; there is no image 'photo_{n}\.png'"
    with pytest.raises(DataError, match=said):
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


@all_cases(
    "names", [("Cat", "cat"), ("cat ", "cat"), ("old cat", "old_cat"), ("caf\u00e9", "cafe\u0301"), ("a\u200bb", "ab")]
)
@all_cases("kind", ["npz", "folders", "table beside images", "csv"])
def test_classes_that_a_reader_would_take_for_one_are_named_with_the_way_out(names, kind):
    """Whatever reads them. A table has no blanks at the ends of its cells, and no name has its accents apart."""
    y = [names[k % 2] if k < 8 else "dog" for k in range(12)]
    if kind == "npz":
        content = npz(X=GREY, y=np.array(y))
    elif kind == "csv":
        content = csv(ROWS, y, "label,a,b,c")
    elif kind == "folders":
        content = archive({f"{label}/{k}.png": image(GREY[k]) for k, label in enumerate(y)})
    else:
        table = "file,class\n" + "".join(f"img_{k}.png,{label}\n" for k, label in enumerate(y))
        content = archive(PICTURES | {"labels.csv": table.encode()})
    preview = read_upload(f"pets.{'csv' if kind == 'csv' else 'npz' if kind == 'npz' else 'zip'}", content)
    notes = [note for note in preview.notes if "If they are one class, give them one name" in note]
    joined = len(set(preview.arrays.y_train)) == 2
    assert joined == ("caf\u00e9" in names or (kind in ("csv", "table beside images") and "cat " in names))
    assert len(notes) == (not joined)
    for note in notes:
        assert all(repr(name) in note for name in names)


def test_groups_and_categories_that_a_reader_would_take_for_one_are_named():
    who = [f"{'pP'[k // 2 % 2]}{k % 4 + 4 * (k // 4 % 2)}" for k in range(24)]
    both = np.array([*who, *(name.swapcase() for name in who)])
    y = np.array([int(name[1]) % 2 for name in both])
    notes = read_upload("a.npz", npz(X=np.arange(96.0).reshape(48, 2), y=y, groups=both)).notes
    assert sum("The groups 'p0' and 'P0' differ only" in note and "(8 groups of such" in note for note in notes) == 1
    rows = "colour,size,label\n" + "".join(f"{['red', 'Red', 'blue'][k % 3]},{k},{'xy'[k % 2]}\n" for k in range(30))
    preview = read_upload("a.csv", rows.encode())
    assert preview.arrays.X_train.shape == (30, 4)
    assert any("In column 'colour', the categories 'Red' and 'red' differ only" in note for note in preview.notes)


def test_test_examples_of_numbered_classes_beside_named_ones_are_read_and_an_unknown_class_is_named_with_its_like():
    own = ["1", "2", "x"] * 4
    files = {f"{'test/' if k > 8 and own[k] != 'x' else 'train/'}{own[k]}/{k}.png": image(GREY[k]) for k in range(12)}
    arrays = read_upload("a.zip", archive(files)).arrays
    assert (arrays.y_test.tolist(), sorted(set(arrays.y_train))) == (["1", "2"], ["1", "2", "x"])
    files = {f"{'test' if k > 7 else 'train'}/{('CAT' if k > 7 else 'cat', 'dog')[k % 2]}/{k}.png": image(GREY[k])
             for k in range(12)}  # fmt: skip
    said = r"The test set has the label 'CAT', but the training set does not \(it has 'cat'\)"
    with pytest.raises(DataError, match=said):
        read_upload("a.zip", archive(files))


def test_names_that_only_capitals_tell_apart_are_two_images():
    names = ["A.png", "a.png", "B.png", "b.png"]
    table = "file,class\n" + "".join(f"{name},{'xy'[k % 2]}\n" for k, name in enumerate(names))
    files = {name: image(GREY[k]) for k, name in enumerate(names)} | {"labels.csv": table.encode()}
    preview = read_upload("a.zip", archive(files))
    assert by_value(*preview.arrays[:2]) == by_value(GREY[:4], ["x", "y", "x", "y"])


TOLD = {
    "README": b"my pets", "cat/LICENSE.pdf": b"%PDF\0", "notes.txt": b"of 2024", "licences.csv": b"folder,by\ncat,me\n",
    "files.csv": b"file,width\ncat/1.png,9\ndog/0.png,9\n", "dog/camera.json": b"{}", "empty.log": b"",
}  # fmt: skip
JUNK = {"Thumbs.db": b"\0", "cat/desktop.INI": b"x", "cat/.DS_Store": b"\0", "cat/@eaDir/1.png/S.jpg": b"\0"}


def test_texts_beside_class_folders_are_left_out_with_a_note_and_what_may_be_data_is_refused():
    pictures = {f"{KINDS[PAIR[k]]}/img_{k}.png": image(GREY[k]) for k in range(12)}
    preview = read_upload("pets.zip", archive(pictures | TOLD | JUNK))
    assert by_value(*preview.arrays[:2]) == by_value(GREY, [KINDS[k] for k in PAIR])
    assert [note for note in preview.notes if "not read" in note] == [
        f"Files that are not read: {', '.join(list(TOLD)[:5])}, ..."
    ]
    for name, content in {"rows.npz": npz(X=ROWS, y=PAIR), "numbers.csv": csv(ROWS, PAIR, "label,a,b,c"),
                          "cat/1.raw": bytes(range(99))}.items():  # fmt: skip
        with pytest.raises(DataError, match="npz" if name.endswith("npz") else name):
            read_upload("pets.zip", archive(pictures | {name: content}), skip=name.endswith("npz"))
    kept = read_upload("pets.zip", archive(pictures | {"numbers.csv": csv(ROWS, PAIR, "label,a,b,c")}), skip=True)
    assert "1 of 13 files left out: numbers.csv" in kept.notes


def test_a_readme_beside_other_formats_is_left_out_with_a_note():
    pair = {"train-images-idx3-ubyte": idx(GREY), "train-labels-idx1-ubyte": idx(PAIR)}
    preview = read_upload("a.zip", archive(pair | {"README.md": b"digits"}))
    assert (preview.arrays.X_train == GREY).all()
    assert "Files that are not read: README.md" in preview.notes
