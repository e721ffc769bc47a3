"""The Playground: its address, its points, its machine against the estimators, and the page as a whole."""

import json
import re
import subprocess
import sys
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn import svm
from sklearn.multiclass import OneVsRestClassifier
from streamlit.testing.v1 import AppTest

from data import plane
from pages.playground import layers, plot
from pages.ui.kit.text import plain, rounded, short
from pages.ui.play import opening, setting, solve, solved
from pages.ui.recipe import config
from svmcore import RBF, SVC, PointJitters, VirtualSVC
from svmcore.explain.balance import balance
from tests import test_pages_hostile as hostile
from tests.cases import all_cases
from tests.driven import captions, open_page, whole_app  # noqa: F401  (a fixture for every test here)

ROOT = Path(__file__).parent.parent
ADDRESSES = (
    {},
    {"problem": "turn"},
    {"problem": "xor", "kernel": "poly", "degree": "5", "C": "0.5", "virtual": "true", "noise": "0.1"},
    {"problem": "question", "virtual": "true", "by": "turn", "seed": "12"},
    {"C": "3.7", "gamma": "1.25", "kernel": "rbf", "points": "b12_-40~x17~f3~o0_0", "tape": "5"},
    {"problem": "banana", "C": "3.7", "tape": "60", "along": "C"},
    {"problem": "own", "points": "b12_-40~o0_0~q-5_30", "layer": "hulls"},
    {"problem": "turn", "kernel": "sigmoid", "coef0": "-1.5", "gamma": "2"},
    {"problem": "turn", "tape": "3", "along": "rounds", "inner": "SLSQP"},
    {"problem": "rings", "virtual": "true", "points": "g12_-40~f3~f3", "noise": "0.1"},
    {"problem": "rings", "kernel": "linear", "of": "green", "tape": "5", "layer": "forces"},
    {"problem": "own", "points": "b12_-40~o0_0~g-50_30"},
)


@pytest.mark.parametrize("query", ADDRESSES)
def test_an_address_and_its_setting_say_the_same(query):
    shown, wrong = setting.read(query)
    assert not wrong
    assert shown.query() == query
    assert setting.read(shown.query()) == (shown, [])


@all_cases(
    ("name", "text"),
    [
        ("problem", "moons"),
        ("kernel", "poly:degree=9"),
        ("degree", "10"),
        ("degree", "2.5"),
        ("gamma", "nan"),
        ("C", "inf"),
        ("C", "0"),
        ("virtual", "yes"),
        ("by", "box:1"),
        ("seed", "-1"),
        ("seed", "9" * 5000),
        ("noise", "0.9"),
        ("tape", "-1"),
        ("tape", "last"),
        ("along", "gamma"),
        ("inner", "MINOS"),
        ("points", "b12_-400"),
        ("points", "x60"),
        ("points", "<img>"),
        ("coef0", "3"),
        ("layer", "arrows"),
        ("of", "red"),
        ("of", "blue"),
        ("points", "g1_1"),
        ("points", "~".join(f"b{i}_{j}" for i in range(50) for j in range(5))),
    ],
)
def test_what_cannot_be_is_left_out_and_told(name, text):
    shown, wrong = setting.read({name: text})
    assert shown == setting.of_problem("shift")
    assert [said.partition(" in the address")[0] for said in wrong] == [f"{name}={short(text, 80)}"]


def test_edits_change_the_points_they_name():
    X, y = plane.PROBLEMS["shift"].sample(0)
    shown, _ = setting.read({"points": "x3~f5~b10_-20~o-97_0"})
    given = setting.points(shown)
    assert len(given.y) == 61
    assert "3" not in given.token
    np.testing.assert_array_equal(given.X[:-2], np.delete(X, 3, axis=0))
    np.testing.assert_array_equal(given.X[-2:], np.array([[0.1, -0.2], [-0.97, 0]], np.float32))
    assert given.y[given.token.index("5")] == -y[5]
    assert given.y[-2:].tolist() == [1, -1]
    assert given.token[-2:] == ["b10_-20", "o-97_0"]


def test_points_that_a_problem_has_not_are_told():
    shown, wrong = setting.read({"problem": "own", "points": "x3~b1_1~f5"})
    assert shown.points == "b1_1"
    assert "x3~f5" in wrong[0]


def test_the_question_is_where_it_was_put_last():
    shown, _ = setting.read({"points": "q1_1~q12_-40", "kernel": "rbf"})
    assert shown.question == (0.12, -0.4)
    assert len(setting.points(shown).y) == 60
    machine = solve.fitted(replace(shown, points=""))
    f = machine.decision_function([[0.12, -0.4]])[0]
    assert solve.picture(shown).question == ("blue" if f > 0 else "orange", pytest.approx(f, abs=1e-6))


def at_random(number, colours="bo"):
    """A setting of the reader's own points and of all that decides the machine, and its address."""
    rng = np.random.default_rng(number)
    kernel, places = rng.choice(list(setting.KERNELS)), rng.integers(-97, 98, (int(rng.integers(2, 30)), 2))
    spread, k = rng.choice([1.0, 0.3]), len(colours)
    shifts = np.rint(40 * (spread < 1) * np.array([[-1, 0], [1, 0], [0, 1]])).astype(int)
    edits = [
        f"{colours[i % k]}{int(spread * x + shifts[i % k, 0])}_{int(spread * y + shifts[i % k, 1])}"
        for i, (x, y) in enumerate(places)
    ]
    problems = [name for name, own in plane.PROBLEMS.items() if own.classes >= k and own.make]
    shown = setting.of_problem(rng.choice(["own", "own", "own", *problems]))
    return replace(
        shown, kernel=kernel, C=float(10 ** rng.uniform(-2, 4)), gamma=float(rng.choice([0.2, 2.0, 20.0])),
        coef0=float(rng.choice([-1.0, 0.0])), degree=int(rng.integers(1, 6)), virtual=bool(rng.random() < 0.2),
        noise=round(float(rng.choice([0, 0.2])), 2), points="~".join(dict.fromkeys(edits)),
        of=rng.choice(list(setting.OF)) if k == 3 and rng.random() < 0.5 else "all",
    )  # fmt: skip


@pytest.mark.parametrize("begin", range(0, 300, 50))
@pytest.mark.parametrize("colours", ["bo", "bog"])
def test_the_sentence_of_the_picture_is_true_of_any_problem(begin, colours):
    """Each figure of it, counted afresh by f as the browser has it; colours: of the reader's points."""
    several = 0
    for number in range(begin, begin + 50):
        shown = at_random(number, colours)
        given, picture = setting.points(shown), solve.picture(shown)
        text, several = solved.described(shown, given, picture), several + (len(picture.machines) > 1)
        f = [solve.kernel(shown).exact(given.X, m.X) @ (m.alpha * m.sign) + m.bias for m in picture.machines]
        (one, other), labels = shown.sides.values(), np.array(list(shown.colours))
        wrong = int((labels[np.argmax(f >= np.max(f, axis=0) - solve.TIE, axis=0)] != given.y).sum())
        counts = [f"{(given.y == label).sum()} {colour}" for label, colour in shown.colours.items()]
        if len(f) > 1:
            begins = f"Of {counts[0]}, {counts[1]} and {counts[2]} points, {wrong or 'none'} "
        else:
            (f,), own = f, given.y == next(iter(shown.sides))
            wrong = int(((f > 0) != own).sum())
            sides = f"{own.sum()} {one} from {(~own).sum()} {'other' if len(labels) > 2 else other} points"
            if (f > 0).all() or not (f > 0).any():
                begins = f"The machine predicts {one if f[0] > 0 else other} for all {len(f)} points, {wrong} wrongly."
            else:
                begins = f" divides {sides}, {wrong} of them on" if wrong else f" separates {sides}."
        assert begins in text, (number, text)
        assert len(picture.wrong) == wrong
        held = text.partition(" By machine: ")[2].split(";") if len(picture.machines) > 1 else [text]
        for machine, colour, part in zip(picture.machines, shown.colours.values(), held, strict=False):
            kinds = (r"support vectors?", "of them virtual copies", "of them bounded")
            told = (re.search(rf"(\d+) {kind}", part) for kind in kinds)
            kept, copies, bounded = (int(found[1]) if found else 0 for found in told)
            assert colour in part or len(held) == 1
            assert kept == (machine.alpha > 0).sum()
            assert copies == (machine.alpha[len(given.y) :] > 0).sum()
            assert bounded == (machine.alpha >= shown.C).sum()  # as the browser rings them
        assert ("stopped early" in text) == any(bool(solve.fitted(each).ending_) for each in shown.machines)
        if wide := re.search(r"is ([\d.,]+) wide", text):
            (machine,) = picture.machines
            rise = (np.array([machine.w / np.linalg.norm(machine.w)]) @ machine.w)[0]
            assert float(wide[1].replace(",", "")) == pytest.approx(2 / rise, rel=0.06)
    assert several > 10 or colours == "bo"


@pytest.mark.parametrize("number", range(40))
def test_three_machines_are_those_of_svc_and_of_scikit_learn(number):
    """Each colour against the rest: SVC and VirtualSVC of three classes, and OneVsRestClassifier of scikit-learn."""
    shown = replace(at_random(number, "bog"), of="all", virtual=number % 4 == 0, C=float(10 ** (number % 7 - 2)))
    given = setting.points(shown)
    if len(shown.colours) < 3:
        return
    grid = np.random.default_rng(number).uniform(-1, 1, (200, 2)).astype(np.float32)
    picture, ours = solve.picture(shown), solve.estimator(shown).fit(given.X, given.y)
    f = np.column_stack([solve.fitted(one).decision_function(grid) for one in shown.machines])
    order = [list(ours.classes_).index(label) for label in shown.colours]
    together = ours.decision_function(grid)[:, order]
    np.testing.assert_allclose(f, together, atol=1e-2 * max(1, abs(together).max()))
    counts = [np.count_nonzero(ours.machine_.alpha[row]) for row in order]
    assert [machine.n_sv for machine in picture.machines] == counts
    ranked = np.sort(ours.decision_function(given.X), axis=1)
    sure = ranked[:, -1] - ranked[:, -2] > 1e-3
    wrong = np.isin(np.arange(len(given.y)), picture.wrong)
    np.testing.assert_array_equal(wrong[sure], (ours.predict(given.X) != given.y)[sure])
    if shown.virtual or shown.kernel == "sigmoid":
        return
    how = {"poly": {"gamma": 0.5, "coef0": 0.5, "degree": shown.degree}, "rbf": {"gamma": shown.gamma}}
    peer = OneVsRestClassifier(svm.SVC(kernel=shown.kernel, C=shown.C, tol=1e-5, **how.get(shown.kernel, {})))
    theirs = peer.fit(given.X, given.y).decision_function(grid)[:, order]
    np.testing.assert_allclose(f, theirs, atol=1e-2 * max(1, abs(theirs).max()))


@pytest.mark.parametrize("number", range(40))
def test_layers_are_true_of_any_linear_machine(number):
    """Forces against the library's sums; hulls by their distance, which is |w| / S; other lines separate."""
    shown = at_random(number, ("bo", "bog")[number % 2])
    shown = replace(shown, kernel="linear", of=list(setting.OF)[1 + number % 3])  # "of" counts where there are three
    machine, given = solve.solve(shown), setting.points(shown)
    found = {name: layers.layer(replace(shown, layer=name), solve.picture(shown)) for name in setting.LAYERS}
    assert found["none"] == layers.NONE
    if np.linalg.norm(machine.w) < 1e-6 * machine.alpha.sum():
        assert "no line" in found["hulls"].says
        return
    total, *rows = found["forces"].rows
    sums = balance(solve.fitted(shown).machine_)
    assert sorted(row["Force"] for row in rows) == pytest.approx(sorted(sums.force))
    assert sorted(abs(row["Torque"]) for row in rows) == pytest.approx(
        sorted(sums.torque), rel=1e-2, abs=2e-3 * shown.C
    )
    assert (total["Force"], total["Torque"]) == (0, 0)
    ends, w = np.array(found["hulls"].shapes["segment"]), machine.w
    S = machine.alpha[machine.sign > 0].sum()
    np.testing.assert_allclose(S * (ends[0] - ends[1]), w, rtol=1e-6, atol=1e-9 * S)
    if "halves" in found["hulls"].says and not shown.virtual:
        assert abs(ends.mean(axis=0) @ w + machine.bias) < 2e-3  # tol of the machine
    for ends in found["lines"].shapes.get("lines", []):
        (x1, y1), (x2, y2) = ends
        side = np.sign((x2 - x1) * (given.X[:, 1] - y1) - (y2 - y1) * (given.X[:, 0] - x1))
        own = given.y == next(iter(shown.sides))
        assert shown.virtual or set(side[own]) == {-side[~own][0]}


def test_the_sigmoid_kernel_has_negative_eigenvalues_and_is_said_to():
    app = open_page("playground", problem="turn", kernel="sigmoid", coef0="-1")
    shown = replace(setting.of_problem("turn"), kernel="sigmoid", coef0=-1.0)
    X = setting.points(shown).X.astype(float)
    lowest = np.linalg.eigvalsh(np.tanh(X @ X.T - 1))[0]
    assert lowest < -1
    assert f"the smallest is {rounded(lowest)}" in captions(app)
    assert solve.solve(replace(shown, kernel="rbf")).lowest is None
    assert None not in solve.frames(replace(shown, kernel="rbf", along="C"))["margin"]


def test_points_of_one_s_own_begin_with_none():
    app = open_page("playground", problem="own")
    assert "two colours" in app.info[0].value
    assert not [one for one in app.button if one.key == "play_new"]
    app = open_page("playground", problem="own", points="b-50_0~o50_0", kernel="linear", layer="forces")
    assert figures(app)["Support vectors"][0] == "2"
    assert "Errors on 400 new points" not in figures(app)
    assert "1 blue from 1 orange" in captions(app)
    assert app.dataframe[0].value["Force"].tolist()[0] == 0
    assert not app.number_input  # no seed: another one would only take the points away
    app.segmented_control(key="play_problem").set_value("turn").run()
    assert "points" not in address(app)
    app.segmented_control(key="play_problem").set_value("own").run()
    assert address(app)["points"] == "b-50_0~o50_0"


def test_noise_flips_its_share_of_the_labels():
    y = plane.PROBLEMS["turn"].sample(4)[1]
    shown, _ = setting.read({"problem": "turn", "seed": "4", "noise": "0.2"})
    assert np.count_nonzero(setting.points(shown).y != y) == 12


@pytest.mark.parametrize("query", [q | {"C": "10"} for q in ADDRESSES])
def test_the_picture_is_the_estimator_s_machine(query):
    """f by the numbers that the browser gets, against the library's own estimator put together here."""
    shown, _ = setting.read(query)
    shown = next(iter(shown.machines))
    solved, (X, y), given = solve.solve(shown.still), solve.signs(shown), setting.points(shown)
    machine = solve.estimator(shown).fit(X, y)
    grid = np.random.default_rng(1).uniform(-1, 1, (300, 2)).astype(np.float32)
    f = machine.kernel_.exact(grid, solved.X) @ (solved.alpha * solved.sign) + solved.bias
    np.testing.assert_allclose(f, machine.decision_function(grid), atol=1e-6, rtol=1e-9)
    assert solved.n_sv == len(machine.support_)
    assert solve.picture(shown.still).wrong.tolist() == np.flatnonzero(machine.predict(X) != y).tolist()
    np.testing.assert_array_equal(solved.X[: len(given.y)], given.X)


def test_copies_stand_where_their_parents_moves_put_them():
    shown, _ = setting.read({"problem": "question", "virtual": "true", "by": "turn"})
    solved, given = solve.solve(shown), setting.points(shown)
    copies = solved.copy
    radius = np.linalg.norm(solved.X, axis=1)
    np.testing.assert_allclose(radius[copies], radius[solved.parent[copies]], rtol=1e-5)
    np.testing.assert_array_equal(solved.sign[copies], given.y[solved.parent[copies]])
    assert solved.n_virtual > 0
    by_hand = VirtualSVC(SVC(RBF(1.0), C=100.0), jitters=PointJitters("turn", plane.MOVES["turn"])).fit(
        given.X, given.y
    )
    f = by_hand.decision_function(np.array([plane.PROBLEMS["question"].question]))[0]
    assert solve.picture(shown).question[1] == pytest.approx(f)


@pytest.mark.parametrize("virtual", ["true", "false"])
def test_the_frames_for_the_browser_end_in_the_machine_it_shows(virtual):
    shown, _ = setting.read({"problem": "banana", "virtual": virtual, "noise": "0.1", "C": "20"})
    solved, frames = solve.solve(shown), solve.frames(shown)
    alpha, stage = np.zeros(len(solved.alpha)), 0
    for t, changed in enumerate(frames["changed"]):
        if frames["stage"][t] != stage:
            alpha[:], stage = 0, frames["stage"][t]
        alpha[changed] = frames["alpha"][t]
    np.testing.assert_array_equal(alpha, solved.alpha)
    assert frames["bias"][-1] == solved.bias
    assert len(frames["steps"]) == 1 + (virtual == "true")


@pytest.mark.parametrize("virtual", ["true", "false"])
def test_a_path_for_the_browser_passes_through_the_machine_it_shows(virtual):
    query = {"problem": "banana", "virtual": virtual, "noise": "0.1", "C": "3.7", "along": "C"}
    shown, _ = setting.read(query)
    solved, frames = solve.solve(shown.still), solve.frames(shown)
    alpha, trained = np.zeros(len(solved.alpha)), frames["trained"]
    for changed, now in zip(frames["changed"][: trained + 1], frames["alpha"], strict=False):
        alpha[changed] = now
    assert frames["C"][trained] == 3.7
    assert sorted(frames["C"]) == frames["C"]
    bounded = alpha >= frames["C"][trained]
    np.testing.assert_array_equal(bounded, solved.bound)
    K = solve.kernel(shown).exact(solved.X, solved.X)
    f, other = (K @ (each * solved.sign) for each in (alpha, solved.alpha))
    np.testing.assert_allclose(f + frames["bias"][trained], other + solved.bias, atol=5e-3)
    assert frames["margin"][trained] == pytest.approx(2 / np.sqrt(other @ (solved.alpha * solved.sign)), rel=1e-2)
    assert frames["wrong"][trained] == len(solve.picture(shown.still).wrong)
    assert frames["wrong"][0] > frames["wrong"][-1]


@pytest.mark.parametrize("inner", setting.INNER)
def test_the_rounds_for_the_browser_end_at_the_machine_it_shows(inner):
    shown, _ = setting.read({"problem": "banana", "noise": "0.1", "C": "3.7", "along": "rounds", "inner": inner})
    solved, frames = solve.solve(shown.still), solve.frames(shown)
    alpha = np.zeros(len(solved.alpha))
    for changed, now in zip(frames["changed"], frames["alpha"], strict=True):
        alpha[changed] = now
    K = solve.kernel(shown).exact(solved.X, solved.X)
    f, other = (K @ (each * solved.sign) for each in (alpha, solved.alpha))
    np.testing.assert_allclose(f + frames["bias"][-1], other + solved.bias, atol=5e-3)
    assert frames["trained"] == len(frames["inside"]) - 1
    assert set(np.flatnonzero(alpha)) <= set(frames["inside"][-1])
    assert len(frames["inside"][0]) == 2


def test_what_the_browser_sends_is_not_trusted(monkeypatch):
    took, right = [], {"text": "x1", "seq": 1, "held": False, "sample": "turn 0", "clean": False}
    less = {name: value for name, value in right.items() if name != "held"}
    wrong = ({"text": 3}, {"seq": True}, {"held": 0}, {"sample": None}, {"clean": "x"}, {"more": 1})
    for sent in (None, "x", less, *(right | one for one in wrong), right):
        monkeypatch.setattr(plot.st, "session_state", {plot.KEY: {"points": sent}})
        plot._hand_on(lambda **parts: took.append(parts), "points")
    assert took == [right]


# The page


@pytest.fixture(scope="module", autouse=True)
def own_home(tmp_path_factory):
    """A home in which the preset begins behind the first page."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SVMLAB_HOME", str(tmp_path_factory.mktemp("play")))
        yield


def test_its_first_picture_needs_no_library():
    code = "import sys, pages.playground.plot; "
    code += "print(sorted({'svmcore', 'numba', 'sklearn', 'scipy'} & sys.modules.keys()))"
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_the_first_machine_is_kept_as_what_the_solver_makes_of_it():
    begins = setting.of_problem(setting.FIRST_PROBLEM)
    first, picture = solved.first(begins), solve.picture(begins)
    (kept,), (now,) = first.machines, picture.machines
    assert kept.alpha == pytest.approx(now.alpha, rel=1e-3, abs=1e-3)
    assert (kept.bias, first.fresh_wrong) == (pytest.approx(now.bias, abs=1e-3), picture.fresh_wrong)
    assert first.wrong.tolist() == picture.wrong.tolist()
    for name in ("X", "sign", "parent", "copy", "bound"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(now, name))
    assert solved.first(replace(begins, C=1.0)) is None


def test_the_first_picture_has_its_machine_before_the_library_is_there(monkeypatch):
    monkeypatch.setattr(opening, "ready", lambda: False)
    monkeypatch.setattr(opening, "load", Future)  # that has not ended
    app = open_page("playground")
    begins = setting.of_problem(setting.FIRST_PROBLEM)
    assert figures(app)["Support vectors"][0] == str(solve.solve(begins).n_sv)
    app.select_slider(key="play_C").set_value(1.0).run()  # answered at once, without a machine
    assert not app.metric
    assert "The line for these points appears" in app.info[0].value
    assert not open_page("playground", problem="xor").metric


def address(app):
    """Parameter -> its last text."""
    return {name: text if isinstance(text, str) else text[-1] for name, text in dict(app.query_params).items()}


def figures(app):
    return {metric.label: (metric.value, metric.delta) for metric in app.metric}


def test_the_page_shows_counts_and_copies_change_them():
    app = open_page("playground")
    assert opening.ready()
    assert "keeps only the ringed points" in " ".join(text.value for text in app.markdown)
    before = figures(app)
    assert app.toggle(key="play_virtual").value is False
    app.toggle(key="play_virtual").set_value(True).run()
    after = figures(app)
    assert "virtual" in after["Support vectors"][0]
    old, new = (int(f["Errors on 400 new points"][0]) for f in (before, after))
    assert new < old / 3
    assert after["Errors on 400 new points"][1] == str(new - old)
    assert address(app)["virtual"] == "true"
    app.run()
    assert figures(app) == after  # nothing changed since the last setting


def test_the_whole_setting_is_read_from_the_address_and_written_back():
    query = {"problem": "xor", "kernel": "poly", "degree": "4", "C": "3.7", "seed": "9", "noise": "0.1", "points": "x3"}
    app = open_page("playground", **query)
    assert address(app).items() >= query.items()
    assert app.select_slider(key="play_C").value == 3.7
    assert app.slider(key="play_noise").value == 10
    app.button(key="play_new").click().run()
    assert address(app)["seed"] == "10"
    assert "points" not in address(app)
    app.segmented_control(key="play_problem").set_value("turn").run()
    assert app.segmented_control(key="play_kernel").value == "rbf"
    assert not app.exception


def test_three_colours_are_three_machines_and_each_is_shown_alone():
    app = open_page("playground", problem="rings", layer="hulls", along="C")
    assert figures(app)["Support vectors"][0].count("+") == 2
    assert "Of 20 blue, 20 orange and 20 green points, none is predicted wrongly." in captions(app)
    assert "Hulls* are drawn for one machine" in captions(app)
    app.segmented_control(key="play_of").set_value("orange").run()
    assert "separates 20 orange from 40 other points" in captions(app)
    assert address(app).items() >= {"problem": "rings", "of": "orange", "along": "C"}.items()
    assert "tape" in address(app)  # a path is of one machine
    app.segmented_control(key="play_problem").set_value("shift").run()
    assert "of" not in address(app)
    assert not [each for each in app.segmented_control if each.key == "play_of"]
    app.segmented_control(key="play_problem").set_value("rings").run()
    assert app.segmented_control(key="play_of").value == "all"
    app = open_page("playground", problem="own", points="b0_0~o50_50~g-50_30", of="green", tape="2")
    assert not app.warning
    app = open_page("playground", problem="own", points="b0_0~o50_50~g-50_30", tape="2")
    assert "three are shown; add of=blue" in app.warning[0].value


def test_a_widget_that_comes_back_has_the_setting_s_value():
    app = open_page("playground")
    app.segmented_control(key="play_kernel").set_value("rbf").run()
    assert app.select_slider(key="play_gamma").value == 1
    app.select_slider(key="play_gamma").set_value(5.0).run()
    app.segmented_control(key="play_kernel").set_value("poly").run()
    assert app.slider(key="play_degree").value == 3
    app.segmented_control(key="play_kernel").set_value("rbf").run()
    assert app.select_slider(key="play_gamma").value == 5
    app.toggle(key="play_virtual").set_value(True).run()
    assert app.segmented_control(key="play_by").value == "shift"
    assert address(app).items() >= {"kernel": "rbf", "gamma": "5", "virtual": "true"}.items()


def test_a_choice_reported_as_empty_stays_what_it_was():
    """As a browser does that is clicked while it draws the page anew."""
    app = open_page("playground", problem="turn", kernel="poly", degree="5", virtual="true")
    before = address(app)
    for key in ("play_problem", "play_kernel", "play_by"):
        app.segmented_control(key=key).set_value(None).run()
        assert not app.exception, key
        assert address(app) == before, key


def test_what_the_address_has_wrong_is_said_until_something_changes():
    app = open_page("playground", problem="<img src=x>", C="1e9", tape="x")
    said = " ".join(warning.value for warning in app.warning)
    assert plain("<img src=x>") in said
    assert len(app.warning) == 3
    app.toggle(key="play_virtual").set_value(True).run()
    assert not app.warning


def test_a_path_is_open_at_the_trained_machine_and_stays_open_while_the_machine_changes():
    app = open_page("playground", problem="turn", C="3.7", along="C")
    trained = int(address(app)["tape"])
    assert "Support vectors" in figures(app)  # of the trained machine
    app.select_slider(key="play_C").set_value(10.0).run()
    assert address(app)["along"] == "C"
    assert int(address(app)["tape"]) > trained
    assert "Support vectors" not in figures(open_page("playground", problem="turn", along="C", tape="3"))


def test_a_step_beyond_the_tape_is_said():
    app = open_page("playground", tape="9999")
    assert "tape" in app.warning[0].value
    assert int(address(app)["tape"]) < 9999


def test_a_hostile_address_is_said_as_text():
    texts = [hostile.IMAGE.replace(":", ""), hostile.TAG.replace(":", ""), hostile.LONG]
    for text in texts:
        app = open_page("playground", run=text, **dict.fromkeys(setting.NAMES, text))
        assert len(app.warning) >= len(setting.NAMES)
        assert hostile.live_texts(app) == []
        assert app.title[0].value == "Playground"


def test_while_presenting_the_plane_stands_alone_and_the_form_unfolds():
    app = open_page("playground", present="true", problem="turn")
    assert not app.tabs  # of one figure
    assert app.segmented_control(key="play_problem").value == "turn"


def test_the_question_gets_two_answers():
    sides = {}
    for by in ("shift", "turn"):
        app = open_page("playground", problem="question", virtual="true", by=by)
        sides[by] = figures(app)["Class of ?"][0]
    assert sides == {"shift": "blue", "turn": "orange"}


def test_one_colour_alone_is_said():
    gone = "~".join(f"x{i}" for i in range(0, 60, 2))
    app = open_page("playground", points=gone)
    assert "two colours" in app.info[0].value
    assert not app.metric


@pytest.mark.parametrize("query", [{"dataset": "digits-8x8", "C": "5"}, {"kernel": "rbf:gamma=2"}, {"method": "vsv"}])
def test_links_from_when_train_was_the_first_page_open_train(query):
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file("../app.py", default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    app.run()
    assert app.title[0].value == "Train"
    assert not app.exception
    assert address(app).items() >= query.items()
    assert set(query) & set(config.names())


def test_what_trains_behind_the_page_is_told():
    app = open_page("playground")
    assert "real digits" in captions(app)


def _edited(*edits):
    import json

    import streamlit as st

    from pages.playground import controls

    controls.begin()
    for edit in edits if controls.HELD in st.session_state else ():  # once the widgets have been drawn
        controls.edited(**edit)
    st.session_state[controls.HELD] = False
    controls.FORM.write(controls.draw(controls.FORM.base))
    st.text(json.dumps(controls.FORM.base.query()))


@pytest.mark.parametrize(
    ("edits", "left"),
    [
        ([{"text": "x3~b10_20"}], {"points": "x3~b10_20", "noise": "0.2", "seed": "4"}),
        ([{"text": "b10_20", "sample": "turn 3"}], {"points": "x1", "noise": "0.2", "seed": "4"}),  # of another seed
        ([{"text": "", "clean": True}], {"seed": "4"}),
        ([{"text": "", "clean": True}, {"text": "o1_1"}], {"points": "o1_1", "seed": "4"}),
        ([{"text": "b99_0"}], {"points": "x1", "noise": "0.2", "seed": "4"}),  # outside
    ],
)
def test_edits_of_the_browser_are_taken_for_the_points_that_it_showed(edits, left):
    whole = {"seq": 1, "held": False, "sample": "turn 4", "clean": False}
    app = AppTest.from_function(_edited, args=[whole | edit for edit in edits], default_timeout=30)
    for name, text in {"problem": "turn", "points": "x1", "noise": "0.2", "seed": "4"}.items():
        app.query_params[name] = text
    app.run()
    app.run()
    assert not app.exception
    assert json.loads(app.text[0].value) == {"problem": "turn"} | left


def _rested():
    import streamlit as st

    from pages.playground import controls

    controls.begin()
    if seen := st.session_state.get("seen"):  # by the browser, which tells a step of it only now
        controls.scrubbed(7, "rounds", seen)
    st.session_state.setdefault("seen", controls.hand(controls.FORM.base)["of"])
    controls.FORM.write(controls.draw(controls.FORM.base))
    st.text(controls.FORM.base.tape)


def test_a_step_of_a_tape_that_was_closed_meanwhile_does_not_open_another_one():
    app = AppTest.from_function(_rested, default_timeout=30)
    for name, text in {"problem": "turn", "along": "rounds", "tape": "3"}.items():
        app.query_params[name] = text
    app.run()
    assert app.text[0].value == "3"
    app.run()
    assert app.text[0].value == "7"
    app.selectbox(key="play_inner").set_value("SLSQP").run()
    assert app.text[0].value == "None"
    app.run()
    assert app.text[0].value == "None"


def _lost():
    import streamlit as st

    from pages.playground import controls

    controls.begin()
    now = controls.FORM.base
    for name in ("C", "gamma", "noise"):
        st.session_state.pop(controls.FORM.key(name), None)
    st.text(controls.draw(now).query())


def test_widgets_that_have_lost_what_they_showed_show_it_again():
    app = AppTest.from_function(_lost, default_timeout=30)
    for name, text in {"problem": "turn", "C": "5", "gamma": "2", "noise": "0.1"}.items():
        app.query_params[name] = text
    app.run()
    assert not app.exception
    query = app.text[0].value
    assert "'C': '5'" in query
    assert "'noise': '0.1'" in query
    assert "0.05" not in query
