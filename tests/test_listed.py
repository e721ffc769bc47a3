"""Runs in lists: what they were started together for, the reader's tags, names that differ, and deleting several."""

import json

import numpy as np
import pytest

from pages.runs import listed
from pages.ui.kit.text import apart
from pages.ui.run import picker, stored
from svmcore.kernels import RBF, Poly
from svmcore.lab import jobs
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import RecipeError
from svmcore.lab.store import folders, runs, titles
from svmcore.lab.store.runs import Group
from tests import damage
from tests.driven import captions, finished, open_page, sent_with_a_look, whole_app  # noqa: F401  (a fixture for every test here)

MOONS = RECIPES["moons"].replace(title="")
SWEEP = Group.of("sweep", "Choose C · toy-moons", "moons")


def made(recipe=MOONS, group=None, parent=None, state="cancelled"):
    run = runs.create(recipe, parent, group)
    run.set_state(state)
    if state not in runs.ACTIVE:
        run.release()
    return run


def drawn(app, which):
    """The list of runs, an "entry" or a "member", that the sidebar shows now."""
    return next(box for box in app.selectbox if box.key.startswith(f"run_{which}"))


def test_a_group_is_kept_with_its_runs_and_found_by_whoever_submits_again(home):
    first = jobs.submit(MOONS, looks=False, group=SWEEP)
    jobs.cancel(first)
    jobs.wait(first, 30)
    assert runs.get(first).group == SWEEP
    stored.queue([MOONS.replace(C=0.3)], lambda recipe: Group.of("sweep", f"Again C {recipe.C:g}", "moons"))
    assert runs.newest_first()[0].group.key == SWEEP.key
    assert Group.of("sweep", "Choose C", "other").key != SWEEP.key
    assert len(Group.of("x", "word " * 100).title) <= 120


NO_GROUPS = (
    "", "[]", '{"key": "../x", "title": "t"}', '{"key": "a", "title": 3}', "{" * 3000,
    '{"key": "20260101-000000-000-abcdef", "title": "in the place of a run"}',
)  # fmt: skip


def test_a_damaged_group_leaves_a_run_that_stands_alone(home):
    run = damage.finished(MOONS)
    (run.path / "tags.json").write_text('["x", 7]')
    for content in NO_GROUPS:
        (run.path / "group.json").write_text(content)
        assert (run.group, run.tags, run.state) == (None, (), "done")
        assert "group.json is damaged" in run.oddity
        assert titles.folded([run]) == [titles.ListEntry(run.id, (run,))]
        app = open_page("runs")
        assert any("is shown without this file" in caption.value for caption in app.caption)


def test_tags_are_lines_of_the_readers_own(home):
    run = made()
    run.tag([" good  one ", "good one", "**bold** <b>"])
    assert run.tags == ("good one", "**bold** <b>")
    assert json.loads((run.path / "tags.json").read_text()) == list(run.tags)
    for bad in (["x" * 10_000], ["y" * 41], [""], [f"t{i}" for i in range(13)]):
        with pytest.raises(RecipeError, match="tags") as caught:
            run.tag(bad)
        assert len(str(caught.value)) < 300
    assert run.tags == ("good one", "**bold** <b>")
    run.tag([])
    assert run.tags == ()


def test_runs_of_one_title_are_told_apart_by_what_differs(home):
    title = MOONS.replace(title="Mine")
    told = [
        made(title),
        made(title.replace(C=7.0)),
        made(title.replace(C=7.0, kernel=RBF(3.0), seed=4)),
        made(title.replace(C=7.0)),
        made(MOONS.replace(title="Yours")),
        made(MOONS.replace(title="Mine · rbf 2 · C 1 · seed 0")),
    ]
    named = titles.of_runs(told[::-1])
    assert [named[run.id] for run in told] == [
        "Mine · rbf 2 · C 1 · seed 0",
        "Mine · rbf 2 · C 7 · seed 0",
        "Mine · rbf 3 · C 7 · seed 4",
        "Mine · rbf 2 · C 7 · seed 0 (2)",
        "Yours",
        "Mine · rbf 2 · C 1 · seed 0 (2)",
    ]
    assert list(named) == [run.id for run in told[::-1]]
    same_brief = [made(title.replace(kernel=Poly(2, gamma, 1.0))) for gamma in (1.0, 2.0)]
    assert len(set(titles.of_members(same_brief).values())) == 2


def test_what_was_started_together_is_one_entry_that_opens(home):
    alone = made(MOONS.replace(seed=9))
    swept = [made(MOONS.replace(C=C), SWEEP, state="cancelled") for C in (0.1, 1.0, 10.0)]
    entries = titles.folded(runs.everything())
    assert [len(entry.runs) for entry in entries] == [3, 1]
    assert titles.of_entries(entries)[SWEEP.key] == "Choose C · toy-moons · 3 runs"
    assert list(titles.of_members(entries[0].runs).values()) == ["C 10", "C 1", "C 0.1"]
    app = open_page("runs")
    assert app.session_state["run"] == alone.id, "what was started in the background is not what a visit begins with"
    assert len(drawn(app, "entry").options) == 2
    drawn(app, "entry").select(SWEEP.key).run()
    assert app.session_state["run"] == swept[0].id
    drawn(app, "member").select(swept[2].id).run()
    assert app.session_state["run"] == swept[2].id
    assert len(app.dataframe[0].value) == 2
    app = open_page("runs", open=SWEEP.key, compare=[swept[0].id, swept[1].id])
    assert len(app.dataframe[0].value) == 5
    assert "2 runs ticked" in " ".join(text.value for text in app.markdown)


def test_a_visit_begins_with_a_run_started_for_its_own_sake(home):
    grown = made(parent=made().id)
    assert picker.at_first(runs.everything()) == grown.parent
    together = made(group=SWEEP)
    assert picker.at_first(runs.everything()) == grown.parent
    assert picker.at_first([together]) == together.id


def test_a_page_shows_the_newest_run_that_it_can_and_the_choice_stands_elsewhere(home):
    older, usual = finished(MOONS), finished(MOONS.replace(C=2.0))
    objects = made(RECIPES["faces-lfw"], state="failed")
    stopped = made(MOONS.replace(C=3.0), state="cancelled")
    app = open_page("runs", run=objects.id)
    assert app.session_state["run"] == objects.id
    app.switch_page("pages/errors.py").run()
    assert app.session_state["run"] == usual.id
    assert "The newest run for this page." in captions(app)
    app.run()
    assert app.session_state["run"] == usual.id
    app.switch_page("pages/detect.py").run()
    assert app.session_state["run"] == objects.id
    app.switch_page("pages/support_vectors.py").run()
    assert app.session_state["run"] == usual.id
    drawn(app, "entry").select(older.id).run()
    assert app.session_state["run"] == older.id
    app.switch_page("pages/train.py").run()
    assert app.session_state["run"] == older.id
    assert "The newest run for this page" not in captions(app)
    assert open_page("errors").session_state["run"] == usual.id, "of a run that was cancelled there is nothing to see"
    app = open_page("errors", run=objects.id)
    assert app.session_state["run"] == objects.id, "what an address asks for is shown, and what is wrong with it said"
    app.run()
    assert app.session_state["run"] == objects.id
    app = open_page("errors", run=stopped.id)
    drawn(app, "entry").select(objects.id).run()
    assert app.session_state["run"] == objects.id


def test_a_click_from_before_a_run_was_shown_brings_none_back_however_late_it_comes(home):
    """A browser sends with it what it has drawn so far: the entry and the member of before, and either address."""
    swept, new = [made(MOONS.replace(C=C), SWEEP) for C in (0.1, 1.0)], made(MOONS.replace(seed=9))
    app = open_page("runs", run=swept[0].id)
    for entry, shown in ((SWEEP.key, new.id), (new.id, swept[0].id), (SWEEP.key, new.id)):
        before = sent_with_a_look(app)
        address = app.query_params["run"]
        assert drawn(app, "entry").value == entry
        app.session_state["run"] = shown  # as a callback shows one
        app.run()
        for late in (address, shown):
            app.query_params["run"] = late
            app._run(before)
            assert (app.session_state["run"], app.query_params["run"]) == (shown, shown)
        assert drawn(app, "entry").value == (SWEEP.key if shown == swept[0].id else new.id)
    drawn(app, "entry").select(SWEEP.key).run()  # the reader's choice
    assert app.session_state["run"] == swept[0].id
    before = sent_with_a_look(app)
    app.session_state["run"] = swept[1].id
    app.run()
    app._run(before)
    assert app.session_state["run"] == swept[1].id
    drawn(app, "member").select(swept[0].id).run()
    assert app.session_state["run"] == swept[0].id


def test_runs_are_filtered_by_words_tag_and_state(home):
    for C in (0.1, 1.0, 2.0, 3.0, 4.0, 5.0):
        made(MOONS.replace(C=C))
    other = made(RECIPES["circles"].replace(title="Round **things**"))
    other.tag(["keep", "![x](y)"])
    working = made(MOONS.replace(seed=5), state="queued")

    def shown(**query):
        return list(open_page("runs", **query).dataframe[0].value["State"])

    assert len(shown()) == 8
    assert shown(tag="keep") == ["cancelled"]
    assert shown(find="round THINGS") == ["cancelled"]
    assert shown(state="queued") == ["queued"]
    assert len(shown(data="toy-moons", how="sv")) == 7
    app = open_page("runs", find="no such run")
    assert not app.dataframe
    assert "Remove a filter" in app.info[0].value
    app = open_page("runs", tag="nowhere")
    assert any("nowhere" in warning.value for warning in app.warning)
    working.release()


def test_several_are_deleted_together_and_all_come_back(home, monkeypatch):
    monkeypatch.setattr(folders, "TRASHED", 2)
    several = [made(MOONS.replace(C=C)) for C in (0.1, 1.0, 2.0, 3.0)]
    working = made(MOONS.replace(title="At work"), state="queued")
    ids = [run.id for run in (*several, working)]
    app = open_page("runs", compare=ids, run=several[0].id)
    app.button(key="delete_together").click().run()
    assert [run.id for run in runs.everything()] == [working.id]
    assert "At work" in app.toast[0].value
    assert "Deleted 4 runs" in " ".join(text.value for text in app.markdown)
    assert app.session_state["run"] == working.id
    app.button(key="undo").click().run()
    assert {run.id for run in runs.everything()} == set(ids)
    assert app.session_state["run"] == several[0].id
    assert not app.exception
    working.release()


def test_a_run_that_another_tab_deleted_is_no_obstacle(home):
    run, other = made(), made(MOONS.replace(C=3.0))
    app = open_page("runs", compare=[run.id, other.id], run=run.id)
    run.delete()
    assert runs.delete([run]).refused == {run.id: "it was already deleted"}
    app.button(key="delete_together").click().run()
    assert not app.exception
    assert runs.everything() == []
    assert not app.toast, "what was to go is gone"
    app.button(key="undo").click().run()
    assert [r.id for r in runs.everything()] == [other.id]


def test_the_recipe_of_a_run_that_another_tab_deleted_is_not_asked_for(home):
    run, other = made(), made(MOONS.replace(C=3.0))
    app = open_page("train", run=run.id)
    app.button(key="change").click()
    run.delete()
    app.run()
    assert not app.exception
    assert app.session_state["run"] == other.id


def test_a_second_click_on_delete_or_undo_says_nothing(home):
    run, other = made(), made(MOONS.replace(C=3.0))
    app = open_page("runs", run=run.id)
    app.button(key=f"delete_{run.id}").click()
    run.delete()
    app.run()
    assert (len(app.exception), len(app.toast)) == (0, 0)
    app = open_page("runs", run=other.id)
    app.button(key=f"delete_{other.id}").click().run()
    app.button(key="undo").click()
    del app.session_state["deleted"]
    app.run()
    assert not app.exception


def test_a_run_that_is_gone_or_full_of_tags_keeps_no_tag_from_the_others(home):
    gone, full, other = (made(MOONS.replace(C=C)) for C in (0.1, 1.0, 2.0))
    full.tag([f"tag {k}" for k in range(12)])
    app = open_page("runs", compare=[gone.id, full.id, other.id], run=gone.id)
    app.text_input(key="tag_all").set_value("new").run()
    gone.delete()
    app.button(key="tag_add").click().run()
    assert (len(full.tags), other.tags) == (12, ("new",))
    assert "Not changed" in app.toast[0].value
    gone = runs.restore(gone.id)
    app = open_page("runs", run=gone.id)
    gone.delete()
    app.text_input(key=f"title_{gone.id}").set_value("Mine").run()
    assert app.toast[0].value.replace("\\", "") == ":material/block: Not changed: it was already deleted"
    assert not app.exception


def test_ticked_runs_are_tagged_together_and_an_emptied_name_returns(home):
    several = [made(MOONS.replace(C=C, title="Asked")) for C in (0.1, 1.0)]
    app = open_page("runs", compare=[run.id for run in several], run=several[0].id)
    app.text_input(key="tag_all").set_value("**both**").run()
    app.button(key="tag_add").click().run()
    assert [run.tags for run in several] == [("**both**",)] * 2
    app.text_input(key="tag_all").set_value("**both**").run()
    app.button(key="tag_remove").click().run()
    assert [run.tags for run in several] == [()] * 2
    key = f"title_{several[0].id}"
    app.text_input(key=key).set_value("Mine").run()
    app.text_input(key=key).set_value("  ").run()
    assert (several[0].title, app.text_input(key=key).value) == ("Asked", "Asked")


def test_rows_of_a_group_stand_for_all_of_its_runs():
    ids = [["a"], ["b", "c"], ["b"], ["c"]]
    assert listed._ids(ids, [1, 2, 9]) == ["b", "c"]


def test_a_choice_too_narrow_for_names_shows_where_they_differ():
    base = "MNIST, 70,000 digits · poly 9 · C 2 · vsv · box:1"
    names = [base, f"{base} (2)", base.replace("C 2", "C 5"), "MNIST, 5000 digits: ten machines of degree 9", "moons"]
    brief = apart(names, 26)
    assert len({cut[:26] for cut in brief.values()}) == len(names)
    assert brief[names[1]] == "MNIST, 70,000 di…box:1 (2)"
    assert "C 5" not in brief[base]
    assert [brief[name] for name in names[3:]] == names[3:]


def test_names_cut_alike_stay_whole():
    alike = ["8 against the rest, C 10 · seed 7", "8 against the rest, C 10, virtual SVs · seed 7"]
    shown = apart(alike, 26)
    assert len(set(shown.values())) == 2
    rng = np.random.default_rng(0)
    for _ in range(200):
        names = {" ".join(rng.choice(["aaaa", "b", "·", "…", "7"], 6)) for _ in range(8)}
        assert len(set(apart(names, 8).values())) == len(names)


def test_the_gap_of_each_machine_is_named_as_its_line_of_words_says(home):
    run = finished(RECIPES["digits-8x8-sv"].replace(n_train=300, n_test=100))
    app = open_page("runs", run=run.id)
    assert "The thin lines are single machines, named where they finish" in captions(app)
    gap = next(json.loads(one.proto.spec) for one in app.get("plotly_chart") if "card_gap" in one.proto.id)
    assert {note["text"] for note in gap["layout"]["annotations"]} & set("0123456789")
