"""Uploads on the page Datasets, driven in process: what is bad is named, and left out when the reader says so."""

import base64
import io
import threading

import numpy as np
import pytest
import streamlit as st
from PIL import Image
from streamlit.testing.v1 import AppTest

from pages.datasets import keeping
from pages.ui.kit.gallery import sheet
from svmcore.lab.presets import PRESET, RECIPES
from svmcore.lab.store import runs
from tests.annotations import SAME, files_of
from tests.browser.uploads import BROKEN
from tests.cases import all_cases
from tests.driven import open_page, whole_app  # noqa: F401
from tests.test_data_tables import GERMAN, HOLES, lines
from tests.uploads import GREY, PAIR, archive, image, tree


@pytest.fixture
def queued(home):
    """A home with a run, so that no preset starts."""
    runs.create(RECIPES[PRESET])


def test_bad_files_are_named_and_left_out_with_a_tick(queued):
    app = open_page("datasets", set="new")
    spoilt = archive(tree(GREY, PAIR) | {"set/0/*x*.png": b"hello", "set/1/y.png": b"no"})
    app.file_uploader(key="own_files").upload("pets.zip", spoilt).run()
    assert not app.exception
    assert "set/0/*x*.png cannot be read" in app.error[0].value.replace("\\", "")
    assert "BytesIO" not in app.error[0].value
    assert "y.png" in app.text[0].value
    assert not [field for field in app.text_input if field.key == "own_title"]
    (tick,) = [box for box in app.checkbox if box.key.startswith("skip_bad")]
    assert tick.label == "Ignore these 2 and read the other 12"
    tick.check().run()
    assert not app.error
    assert any("2 of 14 files left out" in text.value.replace("\\", "") for text in app.markdown)
    assert app.text_input(key="own_title").value == "pets"


def test_images_are_classed_and_grouped_by_columns_of_their_table_by_choice(queued):
    pets = {f"{k}.png": image(GREY[k]) for k in range(12)}
    table = "file,class,who\n" + "".join(f"{k}.png,{'ab'[PAIR[k]]},{k // 4}{PAIR[k]}\n" for k in range(12))
    app = open_page("datasets", set="new")
    app.file_uploader(key="own_files").upload("pets.zip", archive(pets | {"t.csv": table.encode()})).run()
    assert not app.exception
    assert "in 6 groups" not in captions(app)
    (box,) = [box for box in app.selectbox if box.label == "Group rows by"]
    assert box.options == ["a column named group", "nothing", "who"]
    box.set_value("who").run()
    assert not app.exception
    assert "12 rows in 6 groups" in captions(app)
    assert "12 examples in 6 groups" in captions(app)
    (box,) = [box for box in app.selectbox if box.label == "Column of labels"]
    assert (box.value, box.options) == ("class", ["class", "who"])
    box.set_value("who").run()
    assert not app.exception
    assert " · 6 classes · " in captions(app)


@all_cases("name", list(BROKEN))
def test_broken_files_are_refused_with_the_reason_and_what_would_do(queued, name):
    files, words = BROKEN[name]
    app = open_page("datasets", set="new")
    app.file_uploader(key="own_files").set_value([(file, content, "") for file, content in files.items()]).run()
    assert not app.exception
    (refusal,) = (error.value.replace("\\", "") for error in app.error)
    assert words in refusal
    assert "Accepted: " in refusal


def captions(app):
    return " ".join(text.value.replace("\\", "") for text in (*app.caption, *app.markdown))


def test_an_excel_table_from_germany_is_understood_and_kept(queued):
    app = open_page("datasets", set="new")
    app.file_uploader(key="own_files").upload("praxis.csv", GERMAN.encode("cp1252")).run()
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert "Numbers are read with a decimal comma." in captions(app)
    assert "12 examples · 2 features · 2 classes" in captions(app).replace("\u00a0", " ")
    app.button(key="FormSubmitter:own_keep-Save").click().run()
    assert not app.exception
    assert app.subheader[0].value == "praxis"
    app.segmented_control(key="view").set_value("Columns").run()
    assert not app.exception
    assert set(app.dataframe[0].value["column"]) == {"Alter", "Größe"}
    assert app.selectbox(key="across").options == app.dataframe[0].value["column"].tolist()


@pytest.mark.parametrize(
    ("file", "suggests"),
    [
        (f"{'measured by hand ' * 4}.csv", "measured by hand measured by hand measured by hand measured"),
        (f"{'x' * 80}.csv", "x" * 60),
    ],
)
def test_a_long_name_is_cut_before_it_is_seen_at_a_word(queued, file, suggests):
    app = open_page("datasets", set="new")
    app.file_uploader(key="own_files").upload(file, GERMAN.encode("cp1252")).run()
    assert app.text_input(key="own_title").value == suggests


def test_of_a_zip_of_tables_one_is_chosen(queued):
    tables = {f"{n}.csv": lines(("a", "b", "kind"), *((k / 3, k / 7, "xy"[k % 2]) for k in range(n))) for n in (8, 12)}
    app = open_page("datasets", set="new")
    content = archive({name: table.encode() for name, table in tables.items()})
    app.file_uploader(key="own_files").upload("year.zip", content).run()
    assert not app.exception
    assert not app.error
    assert "The upload has 2 tables" in app.info[0].value
    assert "12 examples" in captions(app).replace("\u00a0", " ")
    (which,) = [box for box in app.selectbox if box.key.startswith("own_table")]
    which.set_value("8.csv").run()
    assert not app.error
    assert "8 examples" in captions(app).replace("\u00a0", " ")


def test_the_labels_are_asked_for_where_they_are_not_clear(queued):
    table = lines(("a", "kind", "b"), *((k / 3, "xy"[k % 2], k / 7) for k in range(12)), mark=",")
    app = open_page("datasets", set="new")
    app.file_uploader(key="own_files").upload("t.csv", table.encode()).run()
    assert "It is not clear which column has the labels; *kind* is a guess" in app.warning[0].value
    (label,) = [box for box in app.selectbox if box.label == "Column of labels"]
    assert (label.options, label.value) == (["a", "kind", "b"], "kind")
    label.set_value("a").run()
    assert "y has the label" in app.error[0].value


def test_empty_cells_are_named_then_filled_by_choice(queued):
    table = lines(tuple(HOLES), *zip(*HOLES.values()))
    app = open_page("datasets", set="new")
    app.file_uploader(key="own_files").upload("t.csv", table.encode()).run()
    assert "line 3 has an empty cell" in app.error[0].value
    app.selectbox(key="own_empty").set_value("tell").run()
    assert not app.error
    assert "Empty cells are filled with the median or" in captions(app)
    assert "4 features" in captions(app)


def test_pictures_with_boxes_are_known_for_what_they_are_whichever_kind_was_shown(queued):
    for tool, address in (("COCO of CVAT", "new"), ("YOLO of Roboflow", "new-pictures")):
        app = open_page("datasets", set=address)
        app.file_uploader(key="own_files").upload("town.zip", archive(dict(files_of(SAME[tool])))).run()
        assert not app.exception
        assert not app.error
        assert "3 pictures · 3 cars" in captions(app).replace("\u00a0", " ")
        assert app.text_input(key="pictures_object").value == "car"


def reading():
    """A page that reads what a field names, and is stopped where the session holds something else instead."""
    import streamlit as st

    from pages.datasets import keeping

    def work(report):
        while not st.tests_done.is_set():
            report(0, 0, "")
        return 1

    keeping.behind(st.text_input("key", key="key"), work)


def test_a_session_holds_its_last_readings_and_stops_what_it_does_not_hold(monkeypatch):
    monkeypatch.setattr(keeping, "SOON", 0.0)
    monkeypatch.setattr(st, "tests_done", done := threading.Event(), raising=False)
    first, second = (AppTest.from_function(reading, default_timeout=60).run() for _ in range(2))
    (mine,), (others,) = (app.session_state[keeping.LAST].values() for app in (first, second))
    assert mine is not others
    for key in ("a", "", "b"):
        first.text_input(key="key").set_value(key).run()
    assert list(first.session_state[keeping.LAST]) == ["", "b"]
    assert first.session_state[keeping.LAST][""] is mine
    mine.stop()
    assert mine.wait(60).phase == "stopped"
    done.set()
    assert others.wait(60).phase == "done"


def test_a_page_of_photographs_is_short_enough_for_a_browser():
    photographs = np.random.default_rng(0).integers(0, 256, (100, 128, 128, 3), dtype=np.uint8)
    whole = sheet(photographs, 56)
    assert len(whole["sheet"]) < 2 << 20  # bytes; Chromium draws no longer address
    form, _, encoded = whole["sheet"].partition(";base64,")
    assert form == "data:image/jpeg"
    drawn = np.asarray(Image.open(io.BytesIO(base64.b64decode(encoded))))
    assert drawn.shape == (10 * 128, 10 * 128, 3)
    assert sheet(photographs[:4], 56)["sheet"].startswith("data:image/png")  # exact where it is short
