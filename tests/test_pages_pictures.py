"""The Datasets page with sets of pictures: shown, searched through, uploaded, refused, kept and removed."""

import shutil

import numpy as np
import pytest

from data import catalogue, pictures
from data.loaders.pictures import read_pictures
from pages.datasets import picture_sets
from pages.ui.kit.words import many, plain, plural
from svmcore.lab.presets import RECIPES
from tests import damage
from tests.driven import captions, open_page, whole_app  # noqa: F401  (a fixture for every test here)
from tests.test_pages_hostile import IMAGE, TAG, live_texts
from tests.uploads import BOXES, GREY, PAIR, archive, image, npz, read_upload, street_files


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("done")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SVMLAB_HOME", str(folder))
        return damage.finished(RECIPES["moons"], "A run").path


@pytest.fixture(autouse=True)
def one_run(home, run_folder):
    """A home with a run, so that no page starts one."""
    shutil.copytree(run_folder, home / "runs" / run_folder.name)


def cards(app):
    return [button.key.removeprefix("show_") for button in app.button if button.key.startswith("show_")]


def views(app):
    return app.segmented_control(key="look").options


def test_sets_of_pictures_have_a_list_of_their_own():
    app = open_page("datasets")
    assert "mnist-5k" in cards(app)
    assert "venus-like" not in cards(app)
    app.segmented_control(key="kind").set_value("Pictures with objects").run()
    assert not app.exception
    assert cards(app) == ["venus-like", "lfw-faces", "venus", "cmu-faces"]
    assert app.subheader[0].value == plain("Venus-like scenes (synthetic)")
    app.button(key="show_lfw-faces").click().run()
    assert app.subheader[0].value == "Faces, a small demo"
    app.button(key="add_own").click().run()
    assert app.subheader[0].value == "Add your own data"
    assert not cards(app)
    app.button(key="to_sets").click().run()
    assert cards(app) == ["venus-like", "lfw-faces", "venus", "cmu-faces"]
    assert not app.warning


def test_the_list_is_short_and_searched_and_begins_with_own_sets():
    assert cards(open_page("datasets")) == ["mnist-5k", "digits-8x8", "mnist", "usps"]
    catalogue.keep("letters", read_upload("a.npz", npz(X=GREY, y=PAIR)).arrays)
    app = open_page("datasets", set="banana")
    assert cards(app) == ["own:letters", "mnist-5k", "digits-8x8", "banana"]
    app.text_input(key="find_set").set_value("WAVE").run()
    assert cards(app) == ["waveform"]
    app.text_input(key="find_set").set_value("*nothing").run()
    assert not cards(app)
    assert "No dataset has *nothing in its title or id." in captions(app).replace("\\", "")
    app.text_input(key="find_set").set_value("").run()
    app.toggle(key="all_sets").set_value(True).run()
    assert len(cards(app)) == len(catalogue.entries())


@pytest.mark.parametrize("look", ["Pictures", "Experiments", "Windows to train on", "Without objects", "About"])
def test_every_view_of_a_set_of_pictures_draws(look):
    app = open_page("datasets", set="lfw-faces", look=look)
    assert app.segmented_control(key="look").value == look
    assert views(app) == ["Pictures", "Experiments", "Windows to train on", "Without objects", "About"]
    assert "4 pictures · 3 faces" in captions(app)
    assert not app.warning
    app.button(key="show_venus-like").click().run()
    assert not app.exception
    assert not app.warning
    assert views(app) == ["Pictures", "Experiments", "About"]


def test_the_picture_looked_at_is_in_the_address_and_forgotten_with_its_set():
    app = open_page("datasets", set="venus-like", picture="8")
    assert "scene8, 512 × 512 pixels, usable area 1,475 km²: 23 volcanoes." in captions(app).replace("*", "")
    assert "A wider line marks a more certain label: definitely" in captions(app)
    app.button(key="show_lfw-faces").click().run()
    assert "astronaut" in captions(app)
    assert not app.warning
    app = open_page("datasets", set="venus-like", picture="9")
    assert "1 to 8" in app.warning[0].value.replace("\\", "")


def test_an_experiment_says_what_it_lacks(monkeypatch):
    if not pictures.entry("venus").at_hand:
        pytest.skip("needs the pictures 'venus' in a folder of SVMLAB_DATA")
    here = len(pictures.load("venus").pictures)
    app = open_page("datasets", set="venus", look="Experiments")
    if here < 134:
        assert f"{here} of 134 pictures are available" in captions(app)
    table = app.table[0].value
    assert table["Searched"].tolist()[:2] == [plain("22,232 km²"), plain("185,309 km²")]
    assert table["Labelled objects"].tolist()[0] == "163"
    assert table["Volcanoes that count"].tolist()[0] == "161"
    if here == 42:
        lacks = [text.value.replace("\\", "") for text in app.markdown if "lacks" in text.value]
        assert lacks[-1].endswith("lacks 5 pictures: img46, img50, img68 to img69, img75.")


def test_a_set_that_is_not_at_hand_says_where_to_put_it(monkeypatch):
    monkeypatch.setenv("SVMLAB_DATA", "")
    app = open_page("datasets", set="venus")
    assert any("SVMLAB_DATA" in text.value for text in app.markdown)
    assert not app.error


def test_own_pictures_are_previewed_named_kept_and_removed(home):
    app = open_page("datasets", set="new-pictures")
    app.file_uploader(key="own_files").upload("town.zip", archive(dict(street_files()))).run()
    assert "3 pictures · 3 objects" in captions(app)
    app.text_input(key="pictures_title").set_value("My town")
    app.text_input(key="pictures_object").set_value("house")
    app.button(key="FormSubmitter:pictures_keep-Save").click().run()
    assert not app.exception
    assert app.subheader[0].value == "My town"
    assert "3 pictures · 3 houses" in captions(app)
    assert "own:pictures:my-town" in cards(app)
    app.segmented_control(key="look").set_value("About").run()
    app.button(key="remove_own:pictures:my-town").click().run()
    assert not app.exception
    assert list((home / "own" / "pictures").iterdir()) == []


def test_a_taken_name_and_a_wrong_table_are_refused_with_the_reason():
    pictures.keep("town", read_pictures(street_files()))
    app = open_page("datasets", set="new-pictures")
    uploader = app.file_uploader(key="own_files")
    uploader.upload("town.zip", archive(dict(street_files()))).run()
    app.button(key="FormSubmitter:pictures_keep-Save").click().run()
    assert "already a set of pictures" in app.error[0].value
    table = BOXES.replace("21,12", "21,one")
    app = open_page("datasets", set="new-pictures")
    app.file_uploader(key="own_files").upload("bad.zip", archive(dict(street_files(table)))).run()
    said = app.error[0].value.replace("\\", "")
    why = "boxes.csv, line 2, column ymax: invalid value 'one'"
    assert said == f"{why}. Accepted: a number of pixels, such as 12 or 12.5."


def test_a_damaged_set_is_named_and_can_be_removed(home):
    pictures.keep("town", read_pictures(street_files()))
    path = home / "own" / "pictures" / "town.npz"
    path.write_bytes(path.read_bytes()[:500])
    app = open_page("datasets", set="own:pictures:town")
    assert "town.npz" in app.error[0].value.replace("\\", "")
    app.button(key="remove_own:pictures:town").click().run()
    assert not app.exception
    assert not path.exists()


@pytest.mark.parametrize("look", ["Pictures", "Experiments", "About"])
def test_no_name_of_a_picture_is_more_than_text(look):
    name = IMAGE.replace("/", "_").replace(":", "") + ".png"
    table = f'image,x,y,radius,category\n"{name}",9,9,5,1\na.png,9,9,5,2\n'
    upload = read_pictures([*street_files(table), (name, image(np.zeros((20, 20), np.uint8)))])
    kept = pictures.keep(f"{TAG} town", upload, "**x**")
    app = open_page("datasets", set=kept.name, look=look, picture="1")
    assert kept.n_pictures == 4
    assert live_texts(app) == []
    assert live_texts(open_page("datasets", set="new-pictures", look=IMAGE, picture=TAG)) == []


def test_plurals_and_runs_of_names():
    assert [plural(word) for word in ("volcano", "face", "box")] == ["volcanoes", "faces", "boxes"]
    assert (many(1, "fold"), many(1200, "false alarm")) == ("1 fold", "1,200 false alarms")
    assert picture_sets._ranges(("img7", "img8", "img9", "img11", "map")) == "img7 to img9, img11, map"
