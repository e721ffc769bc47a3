"""The task that finds objects: parts, what a run keeps of them, and that nothing is chosen by the pictures tested."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from data import catalogue, pictures
from data import pictures as picture_sets
from data.dataset import Arrays
from data.pictures import synthetic
from data.pictures.kinds import Contents, Part, Picture, counted, leave_out
from svmcore import __main__ as cli
from svmcore.detection import curve
from svmcore.kernels import Poly
from svmcore.lab import jobs, train
from svmcore.lab.finders import findings
from svmcore.lab.forecast import estimate
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store import runs
from svmcore.lab.tasks import TASKS

SMALL = RECIPES["volcano-synthetic"].replace(dataset="small", miss_rate=0.1)


def small_set(name="small", shuffle=None):
    """Four scenes of 288 x 288 pixels, in two parts; with `shuffle` the objects that the first part is tested on lie
    elsewhere."""
    scenes = [synthetic.scene(f"scene{k}", seed=k, side=288) for k in range(4)]
    scenes = [replace(scene, image=scene.image.copy()) for scene in scenes]
    if shuffle is not None:
        for at in (0, 2):
            moved = shuffle.permutation(scenes[at].boxes.ravel()).reshape(-1, 4)
            moved[:, 2:] = moved[:, :2] + 12
            scenes[at] = replace(scenes[at], boxes=moved)
    experiments = {"S": leave_out(tuple(scenes), "S", "S: leave two out", 2)}
    experiments["empty"] = counted("empty", "nothing at hand", (), tuple(scenes), ("img99", "img100"))
    contents = Contents(tuple(scenes), experiments)
    return replace(picture_sets.entry("venus-like"), name=name, parse=lambda _: contents)


@pytest.fixture
def small(home, monkeypatch):
    monkeypatch.setitem(picture_sets._BUILT_IN, "small", small_set())
    return SMALL


@pytest.fixture
def done(small):
    run_id = jobs.submit(small)
    assert jobs.wait(run_id, 120).state == "done", jobs.status(run_id).message
    return runs.get(run_id)


def test_a_run_keeps_every_part(done):
    known = pictures.load("small")
    assert done.parts() == 2
    tests = [done.test(part) for part in range(2)]
    assert [test.tested.tolist() for test in tests] == [[0, 2], [1, 3]]
    for part, test in enumerate(tests):
        machine = done.machine(part)
        assert set(test.train_picture) == set(range(4)) - set(test.tested)
        np.testing.assert_allclose(machine.decision_function(test.chips)[:, 0], test.decision, atol=1e-5)
        assert machine.support.max() < len(test.train_y)
        for at in test.tested:
            np.testing.assert_array_equal(test.objects[test.object_picture == at], known.pictures[at].boxes)
    done.check()
    result = done.result
    assert result["n_test"] == sum(len(picture.boxes) for picture in known.pictures)
    assert len(result["n_sv"]) == 2
    assert result["fit_seconds"] > 0
    assert TASKS["detect"].headline(result).startswith(f"{100 * result['offset']['found'] / result['n_test']:.0f} % of")
    single = result | {"offset": result["offset"] | {"alarms": 1}, "pictures": 1}
    assert "with 1 false alarm in 1 picture;" in TASKS["detect"].headline(single)


def test_nothing_is_looked_for_where_a_picture_has_a_gap(home, monkeypatch):
    known = small_set("gaps")
    contents = known.parse([])
    scenes = list(contents.pictures)
    for at in (0, 3):  # in one that trains and in one that tests, whichever part it is
        image = np.maximum(scenes[at].image, 1)
        image[:, 200:] = 0
        scenes[at] = replace(scenes[at], image=image)
    monkeypatch.setitem(
        picture_sets._BUILT_IN,
        "gaps",
        replace(known, blank=0, parse=lambda _: replace(contents, pictures=tuple(scenes))),
    )
    for part, tested in enumerate((0, 3)):
        problem = TASKS["detect"].prepare(SMALL.replace(dataset="gaps"), lambda _: None, part)
        beside = problem.search.box[problem.search.picture == tested]
        assert len(beside) > 3
        assert beside[:, 2].max() <= 200
        assert (problem.search.box[problem.search.picture != tested][:, 2] > 200).any()
        assert (problem.search.train_chips[problem.search.train_picture == 3 - tested] > 0).all()


def test_the_strongest_candidate_of_an_object_can_train_alone(small):
    """Of several that cover one object the weaker ones are no examples, and no false alarms either."""
    every, alone = (
        TASKS["detect"].prepare(small.replace(strongest=flag, reach=40.0), lambda _: None).search
        for flag in (False, True)
    )
    assert (alone.train_y < 0).sum() == (every.train_y < 0).sum()
    assert (every.train_y > 0).sum() > (alone.train_y > 0).sum() > 5
    known = pictures.load("small")
    n_objects = sum(len(known.pictures[at].boxes) for at in np.unique(alone.train_picture))
    assert (alone.train_y > 0).sum() <= n_objects
    np.testing.assert_array_equal(alone.hit, every.hit)  # what is judged is the same


def test_the_baselines_of_a_machine_of_features_see_pixels(small):
    steps = (("standardise", "unit-norm"), ("gradients:3", "unit-norm"))
    pixels, features = (TASKS["detect"].prepare(small.replace(preprocess=one), lambda _: None) for one in steps)
    assert features.X_train.shape[1] == 72
    np.testing.assert_allclose(features.search.rivals, pixels.search.rivals)


def test_the_figures_are_those_of_all_parts_together(done):
    tests = [done.test(part) for part in range(2)]
    found = findings.joined(tests)
    trial = found.trial(found.decision)
    assert done.result["machines"]["machine"]["rates"]["10"] == pytest.approx(curve.rates_at(trial, [10])[0])
    shown = [np.unique(test.hit[(test.decision >= 0) & (test.hit >= 0)]) for test in tests]
    alarms = [np.count_nonzero((test.decision >= 0) & (test.hit < 0)) for test in tests]
    assert done.result["offset"] == {"found": sum(map(len, shown)), "alarms": sum(alarms)}
    assert done.result["reachable"] == sum(len(np.unique(test.hit[test.hit >= 0])) for test in tests)
    assert set(done.result["machines"]) == {"machine", "matched filter", "Gaussian"}


def test_labels_of_the_pictures_tested_change_nothing_before_the_count(small, monkeypatch):
    """Not one candidate, training example, score or baseline."""
    before = train.prepare(small)
    fitted = train.fit(small, before)
    told = train.judge(small, fitted).test
    monkeypatch.setitem(picture_sets._BUILT_IN, "other", small_set("other", np.random.default_rng(0)))
    other = train.prepare(small.replace(dataset="other"))
    blind = train.judge(small, train.fit(small, other)).test
    for name in findings.Detections._fields:
        same = np.array_equal(getattr(told, name), getattr(blind, name))
        assert same == (name not in ("hit", "objects", "object_found", "rival_seconds")), name


def test_a_virtual_sv_machine_and_weights_by_category(small):
    vsv = train.execute(
        small.replace(method="vsv", jitters="plus:1@edge", preprocess=RECIPES["volcano-A-vsv"].preprocess)
    )
    assert vsv.machine.support_vectors.shape[1] == 169
    assert vsv.machine.parent.max() < len(vsv.test.train_y)
    weighed = train.prepare(small.replace(category_weight={"3": 0.5, "4": 0}))
    plain = train.prepare(small)
    assert plain.weight is None
    dropped = len(plain.y_train) - len(weighed.y_train)
    assert dropped > 0
    assert set(np.unique(weighed.weight)) <= {0.5, 1.0}
    assert (weighed.y_train > 0).sum() < (plain.y_train > 0).sum()
    with pytest.raises(RecipeError, match="category_weight = '9'; allowed: the categories of small: 1 definitely"):
        train.prepare(small.replace(category_weight={"9": 1}))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"experiment": "Z"}, "experiment = 'z'; allowed: s, empty"),
        ({"experiment": "empty"}, "allowed: s; the pictures img99, img100 are not available"),
        ({"chip": 4}, "chip = 4; allowed: a whole number from 5"),
        ({"miss_rate": 1}, "miss_rate = 1"),
        ({"folds": 3}, "folds = 3; allowed: none"),
        ({"method": "query-jitter"}, "allowed: sv, vsv, jsv, tangent, reduced for the task detect"),
    ],
)
def test_what_cannot_be_is_named(small, changes, said):
    with pytest.raises(RecipeError, match=said):
        train.prepare(small.replace(**changes))


def test_a_cancelled_run_keeps_the_parts_that_are_done(small, monkeypatch):
    finished = jobs.submit(small)
    kept = runs.Run.save_part

    def stop_after(run, machine, test, part=0):
        kept(run, machine, test, part)
        jobs.cancel(run.id)

    monkeypatch.setattr(runs.Run, "save_part", stop_after)
    assert jobs.wait(finished, 120).state == "cancelled"
    run = runs.get(finished)
    assert run.parts() == 1
    assert len(run.test(0).tested) == 2


def test_a_damaged_part_is_named(done):
    (done.path / "test-1.npz").write_bytes(b"PK nothing")
    with pytest.raises(ValueError, match=r"test-1\.npz is damaged"):
        done.check()
    assert done.state == "damaged"


def test_detections_that_refer_to_nothing_are_refused(done):
    test = done.test(0)
    for name, value, said in (
        ("hit", np.full(len(test.hit), 999), "hit refers to objects"),
        ("picture", np.full(len(test.hit), 7), "picture refers to a picture"),
        ("picture", test.picture[::-1], "object of another picture"),
        ("rivals", np.where(test.hit[:, None] < 0, np.nan, test.rivals), "not all finite"),
        ("tested", np.array([0, 0]), "refers to a picture"),
    ):
        with pytest.raises(ValueError, match=said):
            TASKS["detect"].judged({n: np.asarray(v) for n, v in test._replace(**{name: value})._asdict().items()})


def test_detections_as_a_table(done):
    rows = list(csv.DictReader(io.StringIO(done.table("candidates"))))
    assert len(rows) == done.result["candidates"]
    assert set(rows[0]) == {"picture", "xmin", "ymin", "xmax", "ymax", "object", "f", "matched filter", "Gaussian"}
    assert {int(row["picture"]) for row in rows} == set(range(4))


def test_from_the_command_line(small, capsys, monkeypatch):
    monkeypatch.setitem(RECIPES, "small", small)
    assert cli.main(["run", "small", "--set", "miss_rate=0.2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert set(result["machines"]["Gaussian"]["rates"]) == {"10", "25", "50", "100", "200"}
    assert {"opportunities", "area", "unit", "fit_seconds"} <= set(result)
    assert runs.get(result["run"]).recipe.option("miss_rate") == 0.2


def test_a_link_and_an_estimate(small):
    assert Recipe().with_texts(small.to_query()) == small.replace(name=small.name, title=small.title)
    assert estimate(small).fits
    assert len(estimate(small).parts) == 2
    assert "task" not in RECIPES["moons"].to_query()


def faces_set():
    """Crosses to be found by a scan: two pictures without any to learn from, two with some, windows of their own."""
    rng = np.random.default_rng(0)

    def cross(side):
        image = rng.integers(80, 120, (side, side))
        image[side // 2 - 1 : side // 2 + 2] += 100
        image[:, side // 2 - 1 : side // 2 + 2] += 100
        return image

    def scene(name, *places):
        image = rng.integers(60, 140, (90, 120))
        image[::17] += 60  # lines, which a machine may take for crosses
        for x, y in places:
            image[y : y + 15, x : x + 15] = cross(15)
        boxes = np.array([(x, y, x + 15, y + 15) for x, y in places], float).reshape(-1, 4)
        return Picture(name, image.astype(np.uint8), boxes, np.ones(len(boxes), int), 1.0, len(boxes))

    tested = scene("a", (20, 30), (70, 50)), scene("b", (50, 10))
    chips = np.stack([cross(11) for _ in range(60)] + [rng.integers(60, 140, (11, 11)) for _ in range(60)])
    windows = chips.astype(np.uint8), np.repeat([1, -1], 60)
    experiments = {"A": counted("A", "all", (Part("A1", (), (0, 1)),), tested)}
    contents = Contents(tested, experiments, windows, (scene("c"), scene("d")))
    return replace(picture_sets.entry("lfw-faces"), name="crosses", window=11 / 15, parse=lambda _: contents)


CROSSES = Recipe(task="detect", dataset="crosses").replace(
    finder="scan", chip=11, bootstraps=2, votes=0.3, floor=-0.5, C=10.0,
    kernel=Poly(2, 1.0, 1.0), preprocess=("standardise", "unit-norm"), method="vsv", jitters="plus:1@edge",
    scope="all-positive", lost=0.01, turned=True,
)  # fmt: skip


def test_a_scan_finds_objects_and_learns_from_its_false_alarms(home, monkeypatch):
    monkeypatch.setitem(picture_sets._BUILT_IN, "crosses", faces_set())
    run_id = jobs.submit(CROSSES)
    assert jobs.wait(run_id, 120).state == "done", jobs.status(run_id).message
    run = runs.get(run_id)
    run.check()
    test, result = run.test(), run.result
    assert result["machines"]["machine"]["rates"]["10"] == 1.0
    assert set(result["machines"]) == {"machine"}
    assert (test.train_round > 0).any()
    assert (test.train_y[test.train_round > 0] == -1).all()
    assert len(test.train_y) == result["n_train"] > 120
    f = run.machine().decision_function(test.chips)[:, 0]
    np.testing.assert_allclose(f + test.votes, test.decision, atol=1e-3)
    assert (test.votes >= 0).all()
    assert test.votes.max() > 0
    assert (f >= -0.5 - 1e-3).all()


def test_a_set_without_windows_gives_them_itself(home, monkeypatch):
    given = faces_set()
    contents = given.parse(None)
    own = Contents(contents.pictures, {"S": leave_out(contents.pictures, "S", "one out", 2)})
    monkeypatch.setitem(picture_sets._BUILT_IN, "bare", replace(given, name="bare", parse=lambda _: own))
    problem = train.prepare(CROSSES.replace(dataset="bare"))
    assert set(problem.search.picture) == {1}
    assert (problem.y_train > 0).sum() == 1
    assert (problem.y_train < 0).sum() >= 200
    monkeypatch.setitem(picture_sets._BUILT_IN, "crosses", given)
    with pytest.raises(RecipeError, match="chip = 9"):
        train.prepare(CROSSES.replace(chip=9))


def test_windows_of_ones_own_are_a_part_of_what_a_run_belongs_to(home, monkeypatch):
    """And none may show an object that tests, brighter or not."""
    crosses = faces_set()
    monkeypatch.setitem(picture_sets._BUILT_IN, "crosses", crosses)
    chips, labels = crosses.parse(None).chips
    name = catalogue.keep("windows", Arrays.unsplit(chips, labels)).name
    recipe = CROSSES.replace(windows=name, bootstraps=0, method="sv", jitters="", turned=False, lost=None)
    run_id = jobs.submit(recipe)
    assert jobs.wait(run_id, 120).state == "done", jobs.status(run_id).message
    assert runs.is_current(runs.get(run_id))
    catalogue.keep("windows", Arrays.unsplit(chips[:-1], labels[:-1]), replace=True)
    assert not runs.is_current(runs.get(run_id))
    image, (box, *_) = (getattr(crosses.parse(None).pictures[0], field) for field in ("image", "boxes"))
    x, y = ((box[:2] + box[2:]) / 2 - 5.5).astype(int)
    tested = image[y : y + 11, x : x + 11].astype(float)
    leaking = np.concatenate([chips, np.clip(1.1 * tested - 9, 0, 255)[None].astype(np.uint8)])
    catalogue.keep("windows", Arrays.unsplit(leaking, np.append(labels, 1)), replace=True)
    with pytest.raises(RecipeError, match="1 of 121 show an object"):
        train.prepare(recipe)


@pytest.mark.parametrize("method", ["jsv", "tangent"])
def test_kernels_that_know_jitters_serve_too(small, method):
    outcome = train.execute(small.replace(method=method, jitters="plus:1"))
    assert outcome.result["machines"]["machine"]["rates"]["200"] > 0.5
    np.testing.assert_allclose(
        outcome.machine.decision_function(outcome.test.chips)[:, 0], outcome.test.decision, atol=1e-4
    )


@pytest.mark.full
def test_the_embedded_demo_finds_faces_at_its_own_operating_point(home, monkeypatch):
    """Half a minute. The settings were chosen on these pictures: this keeps what the demo shows, and measures nothing
    else."""
    monkeypatch.setenv("SVMLAB_DATA", "")
    test = train.execute(RECIPES["faces-lfw"]).test
    known = pictures.load("lfw-faces")
    shown = test.decision > 0
    found = {known.pictures[at].name for at in test.object_picture[np.unique(test.hit[shown & (test.hit >= 0)])]}
    assert found >= {"astronaut", "grace_hopper"}
    assert np.count_nonzero(shown & (test.hit < 0)) <= 30
    assert curve.rates_at(test.trial(test.decision), [10])[0] >= 2 / 3
