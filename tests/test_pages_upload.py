"""Uploads on the page Datasets, driven in process: what is bad is named, and left out when the reader says so."""

import pytest

from svmcore.lab.recipes import PRESET, RECIPES
from svmcore.lab.store import runs
from tests.driven import open_page, whole_app  # noqa: F401
from tests.uploads import GREY, PAIR, archive, tree


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
    assert tick.label == "Leave these 2 out and read the other 12"
    tick.check().run()
    assert not app.error
    assert any("2 of 14 files left out" in text.value.replace("\\", "") for text in app.markdown)
    assert app.text_input(key="own_title").value == "pets"
