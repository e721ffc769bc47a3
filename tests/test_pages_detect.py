"""Detect and On a photograph in every state, driven from app.py, on runs made up for it."""

import csv
import io
import json

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from data import DataError, load, pictures, revisions
from data.loaders.objects import coco
from data.loaders.sieve import Sieve
from data.verdicts import LABEL, OUT, Verdict
from pages.detect import froc, labels, more, operate, others, photo, viewer
from pages.detect.view import view_of
from pages.ui.kit.text import with_sign
from svmcore import SVC
from svmcore.detection import curve
from svmcore.lab import jobs
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import runs
from svmcore.lab.tasks import task_of
from tests import uploads
from tests.detections import detections, stored, two_parts
from tests.driven import SECONDS, captions, open_page, whole_app  # noqa: F401  (a fixture for every test here)

RECIPE = RECIPES["volcano-synthetic"]


@pytest.fixture(autouse=True)
def no_preset(monkeypatch):
    """Homes that begin empty would each train the preset, and compile for it, beside these tests."""
    monkeypatch.setattr(jobs, "ensure_preset", lambda: None)


def addressed(**query):
    """The Detect page at an address that the Train page, which comes first, has not seen."""
    app = AppTest.from_file("../app.py", default_timeout=SECONDS)
    app.run()
    app.switch_page("pages/detect.py").run()
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def words_of(app):
    return " ".join(text.value for text in app.markdown).replace("\\", "") + captions(app)


@pytest.fixture(scope="module")
def done():
    """A finished run, which no test changes."""
    return stored(RECIPE, two_parts())


def test_with_no_run_the_form_offers_the_recipes_and_says_what_it_needs(home):
    app = open_page("detect")
    assert "**A sample**" in app.info[0].value
    assert app.selectbox(key="detect_pick").value == "volcano-synthetic"
    assert app.selectbox(key="detect_dataset").value == "venus-like"
    assert app.button(key="detect_start").label in ("Start", "Queue")
    assert "of memory" in captions(app)


def test_the_address_of_the_form_is_its_recipe(home):
    app = addressed(task="detect", dataset="venus-like", C="7", chip="17", method="vsv")
    assert app.number_input(key="detect_C").value == 7
    assert app.number_input(key="detect_detect_chip").value == 17
    assert app.selectbox(key="detect_method").value == "vsv"
    assert {"C": "7", "chip": "17", "method": "vsv"}.items() <= dict(app.query_params).items()


def test_the_name_of_a_recipe_in_the_address_opens_the_form(done):
    app = addressed(recipe="volcano-synthetic", C="7")
    assert app.selectbox(key="detect_dataset").value == "venus-like"
    assert app.number_input(key="detect_C").value == 7
    assert app.query_params["C"] == "7"


def test_beside_a_form_of_other_pictures_stands_one_of_these_and_not_the_sample(home):
    app = open_page("detect", recipe="faces-lfw")
    assert app.selectbox(key="detect_dataset").value == "lfw-faces"
    assert "**A sample**" not in app.info[0].value
    assert "No run on" in app.info[0].proto.title
    assert "that are searched" in captions(app)
    app.selectbox(key="detect_pick").set_value("volcano-synthetic").run()
    assert "**A sample**" in app.info[0].value


@pytest.mark.parametrize("asked", [{"recipe": "volcano-synthetik"}, {"chip": "900"}, {"recipe": "mnist-vsv"}])
def test_what_an_address_without_a_task_has_wrong_is_said(home, asked):
    ((name, text),) = asked.items()
    (said,) = (warning.value.replace("\\", "") for warning in addressed(**asked).warning)
    assert name in said
    assert text in said
    assert "synthetik" not in text or "volcano-synthetic" in said


def test_what_is_wrong_in_the_address_of_the_form_is_said(home):
    app = addressed(task="detect", dataset="mars", chip="900")
    said = " ".join(warning.value for warning in app.warning).replace("\\", "")
    assert "mars" in said
    assert "900" in said


def test_a_set_that_is_not_at_hand_leads_to_where_it_is_fetched(home, monkeypatch):
    monkeypatch.setenv("SVMLAB_DATA", str(home))
    app = addressed(task="detect", dataset="venus")
    assert any("not on this computer yet" in warning.value for warning in app.warning)
    assert not any(button.key == "detect_start" for button in app.button)


def test_a_finished_run_opens_at_offset_0_and_counts_what_a_slow_count_finds(done):
    app = open_page("detect", run=done.id)
    view = view_of(done)
    scores, hit = view.judged.scores[:, 0], view.judged.hit
    alarms, found = int(np.sum((scores > 0) & (hit < 0))), len(set(hit[(scores > 0) & (hit >= 0)]))
    zero = curve.at_threshold(operate.trial(view, 0), 0.0)
    assert float(app.select_slider(key="fa").value) == pytest.approx(zero.alarms / 3, rel=1e-3)
    assert zero.alarms - alarms == int(np.sum((scores == 0) & (hit < 0)))
    assert f"SVM: {zero.found} of 8 volcanoes detected" in words_of(app)
    assert zero.found >= found


def test_a_point_of_offset_0_that_lies_below_the_curve_says_why(home):
    boxes = [(0, 0, 9, 9), (20, 20, 29, 29)]
    part = detections([0, 0, 0], [1.0, -0.5, -1.0], [0, 1, -1], boxes, [0, 0])
    app = open_page("detect", run=stored(RECIPE, [part]).id)
    assert "SVM: 1 of 2 volcanoes detected (50 %)** with 0 false alarms" in words_of(app)
    assert "Lowering the threshold would detect 1 volcano more without adding a false alarm" in words_of(app)
    app.select_slider(key="fa").set_value("1").run()
    assert "Lowering the threshold" not in words_of(app)


def test_moving_the_point_moves_the_counts(done):
    app = open_page("detect", run=done.id)
    label = app.select_slider(key="fa").options[-1]
    app.select_slider(key="fa").set_value(label).run()
    judged = view_of(done).judged
    assert f"{judged.object_found.sum()} of 8 volcanoes detected" in words_of(app)
    assert f"{np.sum(judged.hit < 0)} false alarms in 3 pictures" in words_of(app)


def test_the_galleries_hold_as_many_windows_as_are_counted(done):
    app = open_page("detect", run=done.id, fa="2")
    view = view_of(done)
    point = curve.at_alarms(operate.trial(view, 0), operate.labels(view)[app.select_slider(key="fa").value])
    wanted = {"Hits": point.found, "Missed": 8 - point.found, "False alarms": point.alarms}
    for kind, n in wanted.items():
        app.segmented_control(key="gallery").set_value(kind).run()
        assert f"{n} {'window' if kind == 'False alarms' else 'object'}" in captions(app)


def test_published_figures_stand_beside_the_papers_own_pictures_alone(done):
    assert "Published" not in open_page("detect", run=done.id).segmented_control(key="more").options


def test_every_further_look_is_drawn(done, monkeypatch):
    monkeypatch.setattr("pages.detect.more.OF_PAPERS", (done.recipe.dataset,))
    app = open_page("detect", run=done.id)
    looks = {
        "By category": "Each curve counts the objects of one category",
        "Ambiguous labels": "may be volcanoes after all",
        "Mined false alarms": "bootstrapping",
        "Published": "Figures 7 to 9",
        "Export": "pixels from the upper left corner of the picture",
        "First chips": "Figure 6",
    }
    for look, says in looks.items():
        app.segmented_control(key="more").set_value(look).run()
        assert not app.exception
        assert says in captions(app)


def test_a_window_is_explained_and_one_that_is_not_there_is_said(done):
    app = open_page("detect", run=done.id, window="1.0")
    said = words_of(app)
    assert "The window covers a **volcano**" in said
    assert "bias" in said
    app = open_page("detect", run=done.id, window="5.99")
    assert any("does not name a window" in warning.value for warning in app.warning)


@pytest.mark.parametrize("name", ["fa", "by", "picture", "axis", "per"])
def test_what_cannot_be_in_the_address_is_said(name, done):
    app = open_page("detect", run=done.id, **{name: "zz"})
    assert any(f"{name}=zz in the address" in warning.value for warning in app.warning), [w.value for w in app.warning]
    assert not app.exception


def test_bad_parameters_are_said_aloud(done):
    wrong = {"by": "oracle", "picture": "img99", "axis": "cubic", "fa": "many", "more": "less"}
    app = open_page("detect", run=done.id, **wrong)
    said = " ".join(warning.value for warning in app.warning)
    assert all(value in said for value in wrong.values())


def test_a_run_at_work_shows_the_parts_that_are_judged(home):
    run = stored(RECIPE, two_parts()[:1], state="running")
    try:
        app = open_page("detect", run=run.id)
        assert "1 of 4 splits are evaluated" in captions(app)
        assert "Pending" in captions(app)
        assert app.button(key="cancel")
        assert "of 6 volcanoes detected" in words_of(app)
    finally:
        run.set_state("cancelled")
        run.release()


@pytest.mark.parametrize(("state", "title"), [("failed", "This run failed"), ("cancelled", "This run was cancelled")])
def test_a_run_that_ended_early_says_so_and_shows_what_it_had(home, state, title):
    run = stored(RECIPE, two_parts()[:1], state=state, message="the disk is full")
    app = open_page("detect", run=run.id)
    assert title in [box.title for box in (*app.error, *app.warning)]
    assert "Not evaluated" in captions(app)
    run = stored(RECIPE, [], state=state, message="the disk is full")
    app = open_page("detect", run=run.id)
    assert "there are no results" in captions(app)


def test_an_unknown_run_is_answered_with_words(done):
    app = addressed(run="20200101-000000-000-abcdef")
    assert any("no run" in warning.value.lower() for warning in app.warning)


def test_degenerate_searches_have_a_page(home):
    parts = (detections(), detections([0, 0], [1.0, -1.0], [-1, -1]), detections([], [], [], [(1, 1, 9, 9)], [0]))
    made = [stored(RECIPE, [part], state="cancelled") for part in parts]
    app = open_page("detect", run=made[0].id)
    for run in made[1:]:
        app.session_state["run"] = run.id
        app.run()
        assert not app.exception


def test_other_pages_lead_a_detection_run_to_its_own(done):
    for page in ("errors", "support_vectors", "train"):
        app = open_page(page, run=done.id)
        assert any("See the detections" in str(link.proto.label) for link in app.get("page_link"))
    app.switch_page("pages/runs.py").run()
    assert not app.exception


def test_a_link_to_an_example_of_a_set_of_digits_opens_beside_a_search(done):
    app = open_page("train", run=done.id, digit="digits-8x8/train/3")
    assert "Training example 3" in " ".join(text.value for text in app.markdown)


def test_a_second_run_lies_beside_the_first(done):
    other = stored(RECIPE.replace(C=2.0), two_parts(seed=5))
    app = open_page("detect", run=done.id, beside=other.id)
    assert app.multiselect(key="beside").value == [other.id]
    assert "minus that of this run" in captions(app)


def test_repeats_with_other_seeds_are_laid_beside_each_other(home):
    mine = [stored(RECIPE.replace(seed=seed), two_parts(seed)) for seed in (0, 1, 2)]
    other = [stored(RECIPE.replace(C=5, seed=seed), two_parts(seed + 7)) for seed in (0, 1)]
    app = addressed(run=mine[0].id, beside=other[0].id)
    table = next(one.value for one in app.dataframe if "Repeats" in one.value)
    assert table["Repeats"].tolist() == [3, 2]
    scores = [task_of(RECIPE).rate(run.result) for run in mine]
    assert table["Mean rate, %"][0] == pytest.approx(100 * np.mean(scores))
    assert table["Seeds shared"][1] == 2


def test_machines_of_other_weights_are_joined_at_their_operating_points(done):
    weighted = [RECIPE.replace(class_weight={"1": w, "-1": 1.0}) for w in (0.3, 30.0)]
    views = [view_of(stored(recipe, two_parts(seed=seed))) for seed, recipe in enumerate(weighted)]
    points = others.of_each_point(view_of(done), views)
    assert len(points) == 3
    assert [p.alarms for p in points] == sorted(operate.judging.trained(operate.trial(v, 0)).alarms
                                                for v in (view_of(done), *views))  # fmt: skip
    own, _ = operate.all_lines(view_of(done), views)[0]
    figure = froc.froc_figure([own], per=1.0, unit="picture", points=points)
    (joined,) = [trace for trace in figure.data if trace.line.dash == "dot"]
    assert list(joined.y) == [p.rate for p in points]
    assert others.of_each_point(view_of(done), views[:1]) == []
    another = view_of(stored(RECIPE.replace(seed=7), two_parts(seed=5)))
    assert others.of_each_point(view_of(done), [*views, another]) == []


def test_the_curves_as_csv_hold_each_machines_rates(done):
    view = view_of(done)
    rows = list(csv.DictReader(io.StringIO(more.curves_csv(view, []))))
    assert {row["machine"] for row in rows} == {"SVM", "matched filter"}
    for row in rows[:: max(1, len(rows) // 20)]:
        column = view.judged.names.index(row["machine"])
        point = curve.at_alarms(operate.trial(view, column), int(row["false_alarms"]))
        assert float(row["rate"]) == pytest.approx(point.rate)
        assert float(row["per_picture"]) == pytest.approx(int(row["false_alarms"]) / 3, rel=1e-4)
        assert float(row["per_km2"]) == pytest.approx(int(row["false_alarms"]) / 300, rel=1e-4)


def test_the_detections_as_csv_hold_each_candidate_once_with_its_objects_number(done):
    judged = view_of(done).judged
    rows = list(csv.DictReader(io.StringIO(more.detections_csv(view_of(done)))))
    assert len(rows) == len(judged.hit)
    scores = [float(row["SVM"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    names = [picture.name for picture in pictures.load("venus-like").pictures]
    counted = sorted((names.index(row["picture"]), int(row["object"])) for row in rows if row["object"])
    wanted = []
    for picture, hit in zip(judged.picture, judged.hit):
        if hit >= 0:
            own = np.flatnonzero(judged.object_picture == picture)
            wanted.append((int(picture), int(np.flatnonzero(own == hit)[0])))
    assert counted == sorted(wanted)


def test_the_detections_as_coco_json_are_read_again_as_they_are(done):
    judged = view_of(done).judged
    whole = json.loads(more.detections_coco(view_of(done)))
    assert [image["file_name"] for image in whole["images"]] == [
        pictures.load("venus-like").pictures[p].name for p in judged.tested
    ]
    found = list(coco.read("detections.json", whole, Sieve()))
    surest = np.argsort(-judged.scores[:, 0], kind="stable")
    taken = surest[judged.scores[surest, 0] > 0]
    assert np.allclose([one.box for one in found], judged.box[taken], atol=0.02)
    assert {one.kind for one in found} == {"volcano"}
    scores = [one["score"] for one in whole["annotations"]]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0


def test_names_of_files_are_safe():
    assert operate.safe("../My volcano: é?/x") == "my-volcano-x"
    assert operate.safe("///") == "picture"


def png(width, height, form="PNG"):
    out = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (height, width), np.uint8)).save(out, form)
    return out.getvalue()


@pytest.mark.parametrize("content", [b"", b"GIF89a...", png(8, 8), b"\x89PNG\r\n\x1a\n" + b"x" * 50])
def test_what_is_no_photograph_is_refused_with_what_is(content):
    with pytest.raises(DataError, match="photo") as refusal:
        photo.upload("photo.png", content)
    assert refusal.value.accepted


def test_a_photograph_is_told_by_its_content_and_reduced_before_it_is_searched():
    large = photo.upload("a.png", png(1500, 900))
    assert large.key == photo.upload("b.png", png(1500, 900)).key != photo.upload("c.png", png(600, 300)).key
    image, full, _ = photo._grey(large)
    assert full == (900, 1500)
    assert max(image.shape) == photo.LONGEST
    with pytest.raises(DataError, match="cannot be read"):
        photo._grey(large._replace(content=large.content[:3000]))


@pytest.mark.parametrize("form", ["PNG", "JPEG"])
@pytest.mark.parametrize("notes", uploads.BROKEN_EXIF, ids=["type", "header", "short", "cut off"])
def test_a_photograph_whose_exif_is_broken_is_searched(form, notes):
    image, full, _ = photo._grey(photo.upload("a", uploads.photograph(uploads.STREETS[0], notes, form)))
    assert sorted(image.shape) == sorted(full) == [40, 60]


def test_a_photograph_of_16_bits_is_searched_on_a_scale_of_its_own_and_that_is_said():
    values = np.random.default_rng(0).integers(0, 4000, (40, 60)).astype(np.uint16)
    image, _, notes = photo._grey(photo.upload("a.png", uploads.image(values)))
    assert (image == values // 16).all()
    assert notes == ["The photograph has 16 bits per pixel, of which 12 are used: values are divided by 16"]


def test_a_photograph_that_its_camera_turned_is_searched_upright_and_its_size_is_that_of_the_file():
    pixels = np.zeros((1000, 2000, 3), np.uint8)
    pixels[:, :1000] = 200
    image, full, _ = photo._grey(photo.upload("a", uploads.photograph(pixels, uploads.exif(6), "JPEG")))
    assert (image.shape, full) == ((480, 240), (2000, 1000))
    assert (image[:200].mean(), image[300:].mean()) == pytest.approx((200, 0), abs=3)


@pytest.mark.parametrize(("width", "height"), [(2_000_000, 20), (20, 1000), (480, 18), (640, 25)])
def test_a_photograph_that_holds_no_window_when_it_is_searched_is_refused(width, height):
    limits = "at least 19 pixels a side, the longer side at most 25 times the shorter one"
    with pytest.raises(DataError, match=f"{width:,} x {height:,} pixels.*{limits}"):
        photo.upload("a.png", uploads.image(np.zeros((height, width), np.uint8)))
    assert photo.upload("a.png", png(481, 20))
    with pytest.raises(DataError, match="at least 30 pixels a side"):
        photo.upload("a.png", png(481, 20), side=30)


def test_without_a_machine_the_small_demo_is_offered(home):
    app = open_page("photograph")
    assert app.button(key="photo_train").label == "Train the small demo"


def test_while_the_first_machine_trains_its_run_is_one_click_away(home):
    run = runs.create(RECIPES["faces-lfw"])
    app = open_page("photograph")
    (link,) = (one.proto for one in app.get("page_link") if one.proto.label.startswith("Watch, pause or cancel"))
    assert link.page == "detect"
    assert f"run={run.id}" in link.query_string


@pytest.fixture
def faces(home):
    """A finished run that scans, with a machine of little sense."""
    rng = np.random.default_rng(3)
    part = detections([0], [1.0], [0], [(1, 1, 9, 9)], [0])._replace(
        train_chips=rng.integers(0, 255, (40, 19, 19), dtype=np.uint8), unit="picture", rivals=np.empty((1, 0)),
        rival_names=np.empty(0, "U1"), rival_seconds=np.empty(0),
    )  # fmt: skip
    return stored(RECIPES["faces-lfw"].replace(lost=None, stride=9, scale_step=2.0, enlarge=1.25), [part])


def test_a_photograph_is_searched_and_the_boxes_follow_the_threshold(faces):
    run = faces
    photograph = photo.Photograph("camera", "camera", None)
    found, floor = photo.search(run, photograph)[0].result(60), run.recipe.option("floor")
    assert found.looked > 1000
    assert (np.diff(found.f) <= 0).all()
    app = open_page("photograph", run=run.id, photo="camera", at=str(floor))
    assert f"{found.looked:,} windows" in captions(app)
    assert f"{len(found.f)} window" in captions(app)
    app.slider(key="at").set_value(floor + 0.5).run()
    assert f"{np.sum(found.f >= floor + 0.5)} window" in captions(app)
    assert "small demo" in captions(app)


def test_a_run_without_rivals_has_no_choice_of_scores(faces):
    app = open_page("detect", run=faces.id)
    assert not any(control.key == "by" for control in app.segmented_control)


def test_a_search_that_failed_is_said_and_can_be_tried_again(faces, monkeypatch):
    def refuse(*args):
        raise DataError("it is too dark")

    photograph = photo.Photograph("chelsea", "chelsea", None)
    with monkeypatch.context() as dark:
        dark.setattr(photo, "searched", refuse)
        assert photo.search(faces, photograph)[0].exception(60)
    app = open_page("photograph", run=faces.id, photo="chelsea")
    assert any("too dark" in error.value for error in app.error)
    app.button(key="photo_again").click().run()
    assert photo.search(faces, photograph)[0].result(60).looked > 0


def test_the_gallery_of_an_address_is_shown_or_said_to_be_none_by_its_old_name_too(done):
    for name in ("gallery", "windows"):
        app = open_page("detect", run=done.id, **{name: "Missed"})
        assert app.segmented_control(key="gallery").value == "Missed"
        assert not app.warning
        app = open_page("detect", run=done.id, **{name: "zz"})
        assert app.segmented_control(key="gallery").value == "Hits"
        assert "gallery=zz in the address; allowed: Hits, Missed" in app.warning[0].value


def test_the_view_of_a_window_says_what_it_is_leads_on_and_lets_vectors_be_switched_off(done):
    app = open_page("detect", run=done.id, windows="False alarms")
    refs = next(refs for title, refs in app.session_state["walk"] if title == "false alarms")
    app = open_page("detect", run=done.id, windows="False alarms", window=refs[0])
    assert "#### False alarm in" in words_of(app)
    assert f"**1 of {len(refs):,}** false alarms" in captions(app)
    assert app.button(key="why_previous").disabled
    app.button(key="why_next").click().run()
    assert app.query_params["window"] in (refs[1], [refs[1]])  # a text from a fragment
    assert f"**2 of {len(refs):,}** false alarms" in captions(app)
    machine, part = done.machine(int(refs[1].split(".")[0])), refs[1].split(".")[0]
    app.session_state["window_off"] = f"{done.id}.{part}", frozenset(range(len(machine.support_vectors)))
    app.run()
    assert f"**f = {with_sign(machine.bias[0], 3)}**" in words_of(app)
    app.button(key="window_on").click().run()
    assert "switched off, **f" not in words_of(app)


def test_windows_of_a_photograph_are_asked_why_and_marked_and_join_the_next_training(faces):
    photograph = photo.Photograph("coffee", "coffee", None)
    search, now = photo.search(faces, photograph)
    found = search.result(60)
    assert now.looked == now.of == found.looked
    app = open_page("photograph", run=faces.id, photo="coffee", at=str(faces.recipe.option("floor")), window="0.0")
    assert "#### Window in coffee" in words_of(app)
    assert "bias" in words_of(app)
    pills = next(control for control in app.get("button_group") if control.key == "photo_mark_0")
    pills.set_value(-1).run()
    app.run()
    assert app.button(key="photo_retrain")
    recipe = photo.with_marked(faces, found, {0: -1, 1: 1})
    problem = task_of(recipe).prepare(recipe, lambda _: None)
    assert (problem.search.chips[-2:] == found.chips[:2]).all()
    assert problem.search.y[-2:].tolist() == [-1, 1]
    mined = recipe.option("bootstraps") * recipe.option("mined")
    assert task_of(recipe).size(recipe).n_train == len(problem.y_train) + mined  # they are counted beforehand
    f = SVC(problem.kernel, C=1e4).fit(problem.X_train, problem.y_train).decision_function(problem.X_train[-2:])
    assert f[0] < 0 < f[1]


def test_windows_of_a_test_picture_do_not_train_the_run_again(faces):
    """Whatever file the picture comes from: as a sample, and as a JPEG of another size."""
    known = pictures.load(faces.recipe.dataset)
    tested = known.pictures[0]
    out = io.BytesIO()
    Image.fromarray(tested.image).resize((420, 420)).save(out, "JPEG", quality=60)
    h, w = tested.image.shape
    for changed in (
        tested.image[h // 10 : -h // 10, w // 10 : -w // 10],
        tested.image[:, w // 20 :],
        tested.image[:, ::-1],
        np.rot90(tested.image),
        np.clip(tested.image.astype(int) + 60, 0, 255).astype(np.uint8),
    ):
        assert photo._is_copy(changed, tested.image)
    others = [picture.image for picture in (*known.pictures[1:], *known.empty)]
    assert not any(photo._is_copy(tested.image, other) for other in others)
    for photograph, refused in (
        (photo.Photograph(tested.name, tested.name, None), True),
        (photo.upload("copy.jpg", out.getvalue()), True),
        (photo.Photograph("coffee", "coffee", None), False),
    ):
        image = photo._grey(photograph)[0]
        found = photo.Searched(image, image.shape, *[np.empty(0)] * 2, 0, 0, 0.0, *[np.empty(0)] * 3)
        why = photo.obstacle(faces, photograph, found)
        assert f"the photograph is its test picture {tested.name}" in why if refused else why == ""


def test_a_face_that_no_window_was_kept_of_joins_the_next_training_by_the_box_drawn_around_it(faces):
    found = photo.search(faces, photo.Photograph("camera", "camera", None))[0].result(60)
    h, w = found.image.shape
    side = found.chips.shape[1]
    recipe = photo.with_marked(faces, found, {}, [(30.0, 40.0, 30.0 + side - 1, 40.0 + side - 1)])
    problem = task_of(recipe).prepare(recipe, lambda _: None)
    assert (problem.search.chips[-1] == found.image[40 : 40 + side, 30 : 30 + side]).all()
    assert problem.search.y[-1] == 1
    drawn = []
    for edges in ([10, 10, 30, 30], [10, 10, 11, 11], [-50, -50, 1e9, 1e9], [float("nan")] * 4):
        viewer._square((h, w), drawn.append, edges)
    assert drawn == [(10, 10, 30, 30), (0, 0, w, h)], "only what can be seen, and within the picture"


def test_labels_of_windows_are_judged_and_the_detector_trains_on_them(faces):
    X, y = labels.first_windows(faces)
    app = open_page("detect", run=faces.id, more="First chips")
    app.button(key="detect_labels").click().run()
    (started,) = [run for run in runs.newest_first() if run.parent == faces.id]
    assert jobs.wait(started.id, 120).state == "done", runs.get(started.id).message
    base = load(started.recipe.dataset)
    assert (base.X_train == X).all()
    assert base.y_train.tolist() == y.tolist()
    checked = f"{base.entry.name}@checked"
    given, other = y[:2].tolist(), -int(y[1])
    revisions.add(checked, base, [Verdict("train", 0, given[0], OUT), Verdict("train", 1, given[1], LABEL, other)])
    app = open_page("labels", run=started.id, doubted="test")
    app.button(key="label_detector").click().run()
    (again,) = [run for run in runs.newest_first() if run.parent == faces.id and run.id != started.id]
    assert again.recipe == faces.recipe.replace(windows=f"{checked}.2", name="custom", title=again.recipe.title)
    problem = task_of(again.recipe).prepare(again.recipe, lambda _: None)
    assert (problem.search.chips == X[1:]).all()
    assert problem.search.y.tolist() == [-int(y[1]), *y[2:].tolist()]
    jobs.cancel(again.id)


def test_a_search_that_is_cancelled_ends_and_says_so(faces):
    now = photo.Looking()
    now.stopped = True
    with pytest.raises(DataError, match="cancelled"):
        photo.searched(faces, photo.Photograph("camera", "camera", None), now)
