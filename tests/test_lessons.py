"""Lessons: every step can be opened and answered, with any seed, and what it says is worked out from the runs."""

import re
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import svm
from streamlit.testing.v1 import AppTest

from data import load
from pages.lessons import course, handout, places, plane
from pages.lessons.course import LESSONS
from pages.lessons.machines import BY_C, BY_DEGREE, MACHINES, PAGED, TURNS
from pages.lessons.parts import AUTHORS, FIGURES, TEXTS, Facts, recipe_of
from pages.lessons.plane import Plane
from pages.paper import outline
from pages.scramble import twins
from pages.ui.kit import words
from pages.ui.kit.parameters import address
from pages.ui.run import stored
from pages.ui.run.report import marks
from pages.ui.studies.study import Results
from svmcore.lab import jobs
from svmcore.lab.forecast import estimate
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import runs
from tests.cases import all_cases
from tests.driven import SECONDS, finished, open_page, to_page, whole_app  # noqa: F401  (a fixture for every test here)

PAGES = Path(__file__).parent.parent / "pages"
SEEDS = (0, 7)
STEPS = [(lesson, number, step) for lesson in LESSONS for number, step in enumerate(lesson.steps, 1)]
NAMED = [f"{lesson.name}.{number}" for lesson, number, _ in STEPS]
IMAGE = "![p](http://evil.example/1.png)"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A home with every machine of every lesson, for each of SEEDS, trained by the app's own queue."""
    folder = tmp_path_factory.mktemp("lessons")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SVMLAB_HOME", str(folder))
        everything = [recipe_of(name, seed) for name in MACHINES for seed in SEEDS]
        recipes = list({recipe.digest(): recipe for recipe in everything if stored.at_hand(recipe)}.values())
        ids = [jobs.submit(recipe, looks=False) for recipe in recipes]
        deadline = time.monotonic() + 300
        for run_id in ids:
            while jobs.status(run_id).state in runs.ACTIVE and time.monotonic() < deadline:
                jobs.wait(run_id, 1)
            assert jobs.status(run_id).state == "done", jobs.status(run_id).message
    return folder


@pytest.fixture
def kept(trained, monkeypatch):
    monkeypatch.setenv("SVMLAB_HOME", str(trained))
    return trained


def judged(name, seed):
    """What is right at a step such as `virtual.2`, and why."""
    at = course.read(name, seed)
    return at.step.judge(at.facts)


def need_data(lesson, step):
    """Skip a step whose dataset is not on this computer."""
    for recipe in (MACHINES[name] for name in step.after):
        if not stored.at_hand(recipe):
            pytest.skip(f"needs the dataset {recipe.dataset!r}")


def test_names_are_unique_and_lessons_short():
    assert len({lesson.name for lesson in LESSONS}) == len(LESSONS) == 12
    assert len({lesson.title for lesson in LESSONS}) == len(LESSONS)
    assert all(4 <= len(lesson.steps) <= 6 for lesson in LESSONS)


@all_cases("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_has_three_sentences_and_a_section_of_a_paper(lesson):
    assert len(lesson.remember) == 3
    assert all(sentence.endswith(".") and len(sentence.split()) <= 25 for sentence in lesson.remember)
    paper = outline.PAPERS[lesson.source.paper]
    assert paper.short == AUTHORS[lesson.source.paper]
    assert len([one for one in paper.sections if one.number == lesson.source.section]) == 1


@pytest.mark.parametrize("lesson", {one.source.paper: one for one in LESSONS}.values(), ids=lambda one: one.name)
def test_a_lesson_ends_at_the_section_of_a_paper(home, lesson):
    """One lesson for each paper."""
    (section,) = (one for one in outline.PAPERS[lesson.source.paper].sections if one.number == lesson.source.section)
    app = open_page("paper", **lesson.source.query)
    assert not app.warning
    assert [heading.value for heading in app.subheader] == [f"{section.number}\u2002{section.title}"]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_what_is_to_be_tried_opens_without_a_warning(home, lesson):
    there = lesson.attempt[1]
    assert not open_page(there.page, **places.texts(there.query)).warning


@all_cases(("lesson", "number", "step"), STEPS, ids=NAMED)
def test_a_step_names_pages_and_machines_that_there_are(lesson, number, step):
    assert 2 <= len(step.choices) == len(set(step.choices)) <= 4
    for view in (step.ask, step.look):
        assert view.page in places.PLACES
        assert (PAGES / f"{view.page}.py").exists()
        assert not view.run or view.run in MACHINES
    assert len(step.choices) in (len(step.limits or step.choices[1:]) + 1, 3 if step.beside else 0)
    assert not step.ends or len(step.ends) == len(step.choices)
    paths = [f"{{{path}}}" for path in (step.value, step.beside) if isinstance(path, str) and path]
    texts = step.question, step.because, *step.ends, *paths
    names = {re.split(r"[.\[]", field)[0] for text in texts for _, field, _, _ in TEXTS.parse(text) if field}
    of_the_judge = {"value", "beside", "ratio", "change", "end"}
    assert names <= {*MACHINES, *FIGURES, *of_the_judge, "ask", "look", "clouds", "seed"}


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_the_machines_take_less_than_ten_seconds(home, lesson):
    for name in lesson.machines:
        assert estimate(MACHINES[name]).seconds < 10


@all_cases("seed", SEEDS)
@all_cases(("lesson", "number", "step"), STEPS, ids=NAMED)
def test_exactly_one_choice_is_right_and_the_reason_is_text(kept, lesson, number, step, seed):
    need_data(lesson, step)
    facts = Facts(seed, step)
    verdict = step.judge(facts)
    assert step.choices[verdict.right]
    if seed:
        assert verdict == step.judge(Facts(seed, step))
    assert not re.search(r"[{}]|nan|inf\b|None|object at", facts.filled(step.question) + verdict.because + step.where)
    for view in (step.ask, step.look):
        assert all(isinstance(text, str | list) for text in places.texts(view.parameters(facts)).values())


class Only(Facts):
    """With some machines alone."""

    names: tuple[str, ...] = ()

    def found(self, name):
        assert name in self.names, f"{name} is not among {self.names}"
        return super().found(name)


@all_cases(("lesson", "number", "step"), STEPS, ids=NAMED)
def test_a_step_names_all_machines_that_it_needs(kept, lesson, number, step):
    """A link to it trains these and no others."""
    need_data(lesson, step)
    facts = Only(7, step)
    facts.names = step.before
    assert facts.filled(step.question)
    assert step.ask.parameters(facts) is not None
    facts.names = step.after
    assert step.look.parameters(facts) is not None
    assert step.judge(facts)


def test_another_seed_draws_other_digits_and_the_same_seed_the_same(kept):
    a, b, again = (Facts(seed) for seed in (0, 7, 7))
    rows = [facts.run("plain").train_index() for facts in (a, b, again)]
    assert not np.array_equal(rows[0], rows[1])
    assert np.array_equal(rows[1], rows[2])
    assert recipe_of("plain", 0).digest() != recipe_of("plain", 7).digest()


def test_the_shifted_forms_are_counted_as_by_hand(kept):
    """Nine shifts made by slicing, each asked of the machine alone."""
    facts = Facts(7)
    row, label = facts["digit"].row, facts["digit"].label
    machine, picture = facts.run("plain").machine(), load("mnist-5k").X_train[row].reshape(28, 28).astype(float)
    wide, right = np.pad(picture, 1), 0
    for dy in range(3):
        for dx in range(3):
            moved = wide[dy : dy + 28, dx : dx + 28].ravel()
            f = machine.decision_values((moved / np.linalg.norm(moved)).astype(np.float32)[None])[0, 0]
            right += machine.classes[int(f > 0)] == label
    assert f"{right} of 9" in judged("virtual.1", 7).because


def test_errors_and_support_vectors_are_those_of_the_run(kept):
    facts = Facts(0)
    test, machine = facts.run("virtual").test(), facts.run("virtual").machine()
    wrong, kept = np.sum(test.y_true != test.y_pred), len(machine.support_vectors)
    assert f"{wrong} of {len(test.y_true)} digits are wrong now" in judged("virtual.3", 0).because
    assert judged("virtual.4", 0).because.startswith(f"The second machine keeps {kept:,} support vectors.")


@pytest.mark.parametrize("seed", [0, 1, 2, 7])
def test_the_road_in_the_plane_is_that_of_libsvm(seed):
    for C in (0.1, 10.0):
        shown = Plane.of({"C": C}, seed)
        other = svm.SVC(kernel="linear", C=C, tol=1e-6).fit(shown.machine.X, shown.machine.sign)
        assert shown.width == pytest.approx(2 / np.linalg.norm(other.coef_), rel=2e-3)
    clouds = Plane.of({}, seed)
    assert plane.same(clouds.machine, clouds.edited(clouds.idle.edit).machine)
    assert not plane.same(clouds.machine, clouds.edited(clouds.ringed.edit).machine)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_page_scramble_finds_the_runs_of_its_lesson_and_says_the_same(kept, seed):
    facts = Facts(seed)
    plan = twins.plan([facts.run("plain"), facts.run("jittered")], seed)
    found = runs.stored(plan.recipes.values())
    pairs = twins.pairs(Results(plan, dict(zip(plan.recipes, found, strict=True))))
    assert [pair.scrambled.id for pair in pairs] == [facts.run(f"{n}_scrambled").id for n in ("plain", "jittered")]
    assert [twins.outcome(pair).same for pair in pairs] == [True, False]
    assert judged("jittering.6", seed).right == 1


@pytest.mark.parametrize("seed", [0, 1, 2, 7])
def test_the_point_that_goes_has_the_colour_that_is_said(seed):
    """Counted on the Playground's own points: one blue, or one orange, is missing."""
    clouds = Plane.of({}, seed)
    for point in (clouds.idle, clouds.ringed):
        before, after = clouds.machine.sign, clouds.edited(point.edit).machine.sign
        assert point.colour == ("blue" if np.sum(after > 0) < np.sum(before > 0) else "orange")


SWEPT = [(BY_C, ("c0.02", "c1", "c10")), (TURNS, ("upright", "tilted", "upside")), (BY_DEGREE, ("d1", "d3", "d9"))]


@pytest.mark.parametrize(("sweep", "names"), SWEPT)
def test_a_sweep_of_a_lesson_is_what_its_page_draws(kept, sweep, names):
    """The page finds the runs that the lesson has trained: each value is done."""
    found = runs.stored([recipe.replace(seed=7) for recipe in sweep.recipes().values()])
    assert [run.id for run in found] == [Facts(7).run(name).id for name in names]


def test_the_page_digestion_finds_both_runs_of_its_lesson(kept):
    app, facts = at("speed.6", 7), Facts(7)
    until = time.monotonic() + SECONDS
    while not app.dataframe and time.monotonic() < until:  # beside busy cores the page says first that it trains
        app.run()
    assert not [button for button in app.button if button.key == "queue_all"]
    assert app.session_state["n_mnist-5k_none"] == PAGED.n_train
    costs = [words.count(facts[name]["kernel_evals"]) for name in ("digested", "undigested")]
    assert app.dataframe[0].value["Kernel evaluations"].tolist() == costs


def at(lesson, seed=None, **query):
    """The app at a step, opened cold by its link."""
    app = AppTest.from_file("../app.py", default_timeout=SECONDS)
    for name, value in ({"lesson": lesson} | ({} if seed is None else {"seed": str(seed)}) | query).items():
        app.query_params[name] = value
    to_page(app, course.read(lesson, 0).step.ask.page).run()
    assert not app.exception
    return app


def said(app):
    return " ".join(element.value for kind in (app.markdown, app.warning, app.error) for element in kind)


@pytest.mark.parametrize("name", NAMED)
def test_every_step_opens_asks_and_answers_without_a_warning(kept, name):
    """Each is answered rightly; the first of a lesson wrongly before, and asked again."""
    at_step = course.read(name, 7)
    step, first = at_step.step, at_step.number == 1
    need_data(at_step.lesson, step)
    app, facts = at(name, 7), Facts(7, step)
    verdict = step.judge(facts)
    for right, choice in (*[(False, (verdict.right + 1) % len(step.choices))] * first, (True, verdict.right)):
        assert facts.filled(step.question) in said(app)
        assert not app.warning
        app.radio(key=f"lesson_guess_{name}_7").set_value(choice).run()
        app.button(key="lesson_look").click().run()
        assert not app.exception
        assert not app.warning
        assert not [box.value for box in app.error]
        assert verdict.because in " ".join(box.value for box in (app.success if right else app.info))
        if not right:
            app.button(key="lesson_again").click().run()


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_handout_asks_every_question_and_gives_no_answer_away(kept, lesson):
    """A whole file that asks no server; what is right stands on the teacher's sheet alone."""
    for number in range(1, len(lesson.steps) + 1):
        need_data(lesson, lesson.step(number))
    link = f"http://lab.example/lessons?lesson={lesson.name}.1&seed=7"
    plain, answered = handout.sheet(lesson, 7, link), handout.sheet(lesson, 7, answers=True)
    for number in range(1, len(lesson.steps) + 1):
        step, facts = (one := course.At(lesson, number, 7)).step, one.facts
        asked, because = map(marks.emphasised, (facts.filled(step.question), step.judge(facts).because))
        assert asked in plain
        assert because not in plain
        assert because in answered
    assert answered.count("class=right") == len(lesson.steps)
    pictures = re.findall("<svg[^>]*>", plain)
    assert pictures
    assert all("viewBox=" in one for one in pictures)  # else it is cut, not shrunk: the QR code, too
    for sheet in (plain, answered):
        assert "Not shown" not in sheet
        assert not re.findall(r'(?:src|href)="(?!data:)', sheet)
        assert all(marks.emphasised(sentence) in sheet for sentence in lesson.remember)
    assert "class=right" not in plain
    for step in lesson.steps:  # a page that has answered before is left to be drawn, or filled in
        if step.ask.page in handout.FILLED_IN:
            empty, full = (handout._figure(step.ask, Facts(7, step), filled) for filled in (False, True))
            assert empty in plain
            assert full in answered
            numbers = re.findall(r"<td>[^<]+</td>|<path[^>]*stroke-width|text-anchor=.end.", full)
            assert numbers
            assert not re.findall(r"<td>[\d,]+</td>|<path[^>]*stroke-width|text-anchor=.end.", empty)


def test_the_notes_follow_the_step_of_another_window(kept):
    window, lesson = at("margin.1", 7), course.BY_NAME["margin"]
    notes = open_page("notes")
    for number in (1, 2):
        verdict = judged(f"margin.{number}", 7)
        assert f"{number} of 5" in " ".join(box.value for box in notes.subheader)
        assert verdict.because in [box.value for box in notes.success]
        assert f"**{lesson.step(number).choices[verdict.right]}**" in said(notes)
        if number == 1:
            window.radio(key="lesson_guess_margin.1_7").set_value(0).run()
            window.button(key="lesson_look").click().run()
            window.button(key="lesson_next").click().run()
            notes.run()
    window.button(key="lesson_leave").click().run()
    assert "Open a lesson" in said(notes.run())


@pytest.mark.parametrize(
    "text", ["", "nothing", "virtual.99", "virtual.0", "virtual.-1", "virtual.²", "virtual.1e1", "virtual.1.1"]
)
def test_a_lesson_that_there_is_not_is_refused(text):
    with pytest.raises(ValueError, match="steps 1 to 5" if text.startswith("virtual") else "Lessons are keeps"):
        course.read(text, 0)


def test_a_lesson_that_there_is_not_is_said(kept):
    app = open_page("errors", lesson=IMAGE)
    assert "not a step of a lesson" in said(app)
    assert "![p]" not in said(app).replace("\\!\\[", "")


@pytest.mark.parametrize("seed", ["-1", "²", IMAGE])
def test_a_seed_that_cannot_be_is_said(kept, seed):
    app = at("virtual.3", seed)
    assert "Showing seed 0" in said(app)


def test_who_wanders_off_is_shown_the_way_back(kept):
    app = at("virtual.3", 7)
    app.switch_page("pages/datasets.py").run()
    assert "This step is on the page *Errors*" in said(app)
    assert app.query_params["lesson"] in ("virtual.3", ["virtual.3"])
    app.button(key="lesson_leave").click().run()
    assert "lesson" not in app.query_params
    assert "This step is on" not in said(app)


@pytest.mark.parametrize("lesson", [LESSONS[0], LESSONS[-1]], ids=lambda lesson: lesson.name)
def test_who_leaves_in_the_middle_goes_on_at_the_question_that_is_open(kept, lesson):
    app = at(f"{lesson.name}.1", 7)
    app.radio(key=f"lesson_guess_{lesson.name}.1_7").set_value(0).run()
    app.button(key="lesson_look").click().run()
    app.button(key="lesson_leave").click().run()
    assert "lesson" not in app.query_params
    to_page(app, "lessons").run()
    assert "1 answered" in " ".join(caption.value for caption in app.caption)
    assert app.button(key=f"lesson_start_{lesson.name}").label == "Go on"
    app.button(key=f"lesson_start_{lesson.name}").click().run()
    assert not app.exception
    second = course.At(lesson, 2, 7)
    assert second.facts.filled(second.step.question) in said(app)


def test_a_step_without_its_machine_offers_to_train_it(home):
    app = at("virtual.3", 3)
    assert "must be trained first" in said(app)
    assert [button for button in app.button if button.key == "queue_lesson"]


def test_the_run_of_a_step_stays_when_the_browser_still_sends_the_address_of_before(home, monkeypatch):
    """The step writes the address itself, and the page may be begun anew before the browser has heard of it."""
    before = finished(RECIPES["moons"])
    context = SimpleNamespace(context_info=object())
    monkeypatch.setattr(address, "get_script_run_ctx", lambda **how: context)
    app = at("virtual.1")
    assert app.query_params["run"] in (before.id, [before.id])
    run = finished(recipe_of("plain", 0))
    app.run()
    assert app.session_state["run"] == run.id
    context.context_info = object()
    app.query_params["run"] = before.id  # of a browser that has not heard yet
    app.run()
    assert app.session_state["run"] == run.id
    assert "uses another run" not in said(app)
    context.context_info = object()  # another request: the browser has the address that was written
    app.run()
    app.query_params["run"] = before.id  # and is led to that of before
    app.run()
    assert app.session_state["run"] == before.id


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_step_can_be_walked_without_a_network(monkeypatch, home, lesson):
    monkeypatch.setenv("SVMLAB_DATA", "")
    for number in range(1, len(lesson.steps) + 1):
        assert all(stored.at_hand(MACHINES[name]) for name in lesson.step(number).after)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_step_without_its_data_asks_of_others_and_is_walked_to_its_end(kept, monkeypatch, seed):
    monkeypatch.setenv("SVMLAB_DATA", "")
    if stored.at_hand(MACHINES["clothes"]):  # downloaded, and no mirror's
        pytest.skip("Fashion-MNIST is on this computer")
    lesson, app = course.BY_NAME["keeps"], at("keeps.6", seed)
    step = lesson.step(6)
    facts = Facts(seed, step)
    confused = facts["confused"]
    assert step is lesson.steps[5].instead
    assert f"digits {confused.true} that this machine calls {confused.called}" in said(app)
    assert app.session_state["cells"] == [confused.cell]
    app.radio(key=f"lesson_guess_keeps.6_{seed}").set_value(2).run()
    app.button(key="lesson_look").click().run()
    assert not app.exception
    assert not app.warning
    assert step.judge(facts).because in " ".join(box.value for box in (*app.success, *app.info))
    run, test = facts.run("plain"), facts.run("plain").test()
    wrong = (test.y_true == confused.true) & (test.y_pred == confused.called)
    f = confused.pull.sum() + run.machine().bias[0] * (1 if confused.called == 8 else -1)
    assert f == pytest.approx(np.abs(test.decision[wrong]).max(), abs=1e-4)
    assert {"lesson_back", "lesson_end"} <= {button.key for button in app.button}


def test_next_leads_through_all_questions_of_all_lessons_and_ends():
    at, walked = course.At(LESSONS[0], 1, 7), []
    while at is not None:
        walked.append((at.lesson.name, at.number, at.seed))
        at = at.following
    assert walked == [(name, n + 1, 7) for name in course.ORDER for n in range(len(course.BY_NAME[name].steps))]


@pytest.mark.parametrize("name", [course.ORDER[0], course.ORDER[-1]])
def test_the_end_of_a_lesson_leads_to_the_next_one_and_that_of_the_last_says_so(home, name):
    app = AppTest.from_file("../app.py", default_timeout=SECONDS)
    app.query_params.update({"end": name, "seed": "7"})
    to_page(app, "lessons").run()
    assert not app.warning
    lesson, first = course.BY_NAME[name], said(app)[: said(app).index("1. What an SVM keeps")]
    assert all(sentence in first for sentence in (*lesson.remember, lesson.attempt[0]))
    ways = [button for button in app.button if button.key == "lesson_following"]
    assert bool(ways) == (name != course.ORDER[-1])
    if ways:
        assert course.BY_NAME[course.ORDER[1]].title in ways[0].label
        ways[0].click().run()
        assert app.session_state["lesson_at"] == f"{course.ORDER[1]}.1"
        assert app.session_state["lesson_seed"] == 7
    else:
        assert "This was the last lesson." in said(app)


def test_the_coat_that_is_called_a_shirt_is_the_first_of_its_page(kept):
    lesson = course.BY_NAME["keeps"]
    need_data(lesson, lesson.steps[5])
    facts = Facts(0)
    run, test = facts.run("clothes"), facts.run("clothes").test()
    f = facts["coats"].pull.sum() + run.machine().bias[0]
    wrong = (test.y_true == "Coat") & (test.y_pred == "Shirt")
    assert f == pytest.approx(test.decision[wrong].max(), abs=1e-4)


def test_the_errors_of_a_step_stay_chosen_when_its_run_is_new_to_the_page(kept):
    need_data(lesson := course.BY_NAME["keeps"], lesson.steps[5])
    app = at("virtual.3", 7)
    app.query_params["lesson"] = "keeps.6"
    app.run()
    assert app.session_state["run"] == Facts(7).run("clothes").id
    assert app.session_state["cells"] == ["Coat → Shirt"]


def test_the_page_lessons_gives_links_with_the_seed(kept):
    app = AppTest.from_file("../app.py", default_timeout=SECONDS)
    app.query_params["seed"] = "12"
    app.run()
    for one in LESSONS:
        app.session_state[f"lesson_link_{one.name}"] = True  # Share is open
    app.switch_page("pages/lessons.py").run()
    assert not app.exception
    assert [box.value.partition("?")[2] for box in app.code] == [f"lesson={one.name}.1&seed=12" for one in LESSONS]
