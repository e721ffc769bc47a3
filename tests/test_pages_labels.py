"""Labels without a browser: verdicts by button, undone, merged, trained on; practice; and what cannot be judged."""

from itertools import count

import numpy as np
import pytest

from data import catalogue, load, revisions, verdicts
from data.dataset import Arrays
from data.verdicts import LABEL, OUT, Verdict
from pages.labels import doubtful, judge, target
from pages.ui.kit.text import with_sign
from svmcore.kernels import RBF, Poly
from svmcore.lab import Recipe, jobs
from svmcore.lab.analyses import suspects
from svmcore.lab.analyses.suspects import searched
from svmcore.lab.jobs.analyses import RELATED, UNSEEN
from svmcore.lab.store import runs
from tests.driven import captions, finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)

NOISY = Recipe(dataset="digits-8x8", n_train=300, n_test=200, kernel=Poly(3, 1.0, 1.0), folds=3, title="noisy")
NOISY = NOISY.replace(options={"noise": 0.1})
CHECKED = "digits-8x8@checked"


@pytest.fixture
def run(home):
    return finished(NOISY)


def press(app, begins):
    """Press the button of the example that is shown whose key begins so."""
    (button,) = [one for one in app.button if one.key.startswith(f"label_{begins}_")]
    button.click().run()
    assert not app.exception
    return app


def shown(app):
    """(part, row) of the example that is shown."""
    part, row = next(one.key for one in app.button if one.key.startswith("label_keep_")).split("_")[2:]
    return part, int(row)


def texts(app):
    return " ".join([captions(app), *(m.value for m in app.markdown)]).replace("\\", "")


def test_to_keep_a_label_that_a_verdict_made_says_it_again():
    kept, mended, swapped = (
        target.meant("train", 3, 4, had, shown, shown) for had, shown in ((4, 4), (9, 9), (4, 9))
    )  # the base's own label, one by a verdict that the run was trained on, and one that label noise made
    assert (kept.verdict, mended.verdict, swapped.verdict) == ("keep", "label", "keep")
    assert mended.label == 9
    assert target.meant("train", 3, "", "", 9, "").verdict == "label"
    assert target.meant("train", 3, 4, 4, 4, 9).label == 4


def test_verdicts_are_given_undone_and_trained_on(run):
    app = open_page("labels", run=run.id, revision="checked")
    base, seen = load("digits-8x8"), []
    for begins in ("keep", "said", "out", "unsure"):
        seen.append(shown(app))
        press(app, begins)
    stands = revisions.standing(CHECKED, base.entry)
    assert [stands[key].verdict for key in seen] == ["keep", "label", "out", "unsure"]
    assert len(set(seen)) == 4
    assert "4 examples reviewed: 1 relabelled, 1 excluded, 1 confirmed, 1 unsure" in texts(app)
    press(app, "undo")
    assert shown(app) == seen[3], "it is looked at again"
    assert set(revisions.standing(CHECKED, base.entry)) == set(seen[:3])
    press(app, "is_7")
    assert revisions.standing(CHECKED, base.entry)[seen[3]].label == 7
    before = {one.id for one in runs.newest_first()}
    app.button(key="label_train").click().run()
    (new,) = {one.id for one in runs.newest_first()} - before
    assert jobs.wait(new, 120).state == "done"
    assert runs.get(new).recipe.dataset == "digits-8x8@checked.6"
    assert runs.get(new).result["n_train"] == 299
    app.run()
    assert "On the revision:" in texts(app)
    press(app, "out")
    assert "1 decision changed after the run on the revision." in texts(app)
    assert not app.exception
    errors = open_page("errors", run=new)
    assert not errors.error
    compared = open_page("compare", compare=[run.id, new])
    assert not compared.exception
    assert "fixes" in texts(compared)
    assert "checked 6" in texts(open_page("train", run=new))


def test_a_label_that_the_machine_says_too_is_not_said_to_be_called_another(home):
    run = finished(NOISY.replace(folds=None, options={}, classes=(3, 8), C=0.01))
    doubts = doubtful.doubted(run.id, "bound")
    agreed = [doubt.agreed for doubt in doubts]
    assert any(agreed), "within the margin, on the right side"
    at = agreed.index(True)
    said = texts(open_page("labels", run=run.id, at=str(at + 1)))
    assert f"Given {doubts[at].given} · also predicted; the second most likely class is {doubts[at].said}" in said
    found = suspects.suspects(run, "bound").first(len(doubts))
    assert agreed == (found.given == found.said).tolist()


def test_a_verdict_on_an_example_whose_label_noise_swapped_is_of_the_label_shown(run):
    app, base = open_page("labels", run=run.id), load("digits-8x8")
    swapped = doubtful.swapped(run)
    assert app.text_input(key="revision").value == "practice"
    doubts = doubtful.doubted(run.id, "folds")
    at = next(i for i, doubt in enumerate(doubts) if doubt.key in swapped)
    app = open_page("labels", run=run.id, at=str(at + 1))
    key = shown(app)
    true = base.y_train[key[1]].item()
    assert f"Given {doubts[at].given}" in texts(app)
    press(app, f"is_{true}")
    verdict = revisions.standing("digits-8x8@practice", base.entry)[key]
    assert (verdict.verdict, verdict.label, verdict.given) == (LABEL, true, true)
    assert "Noise swapped" not in texts(app)
    app.toggle(key="label_practice").set_value(True).run()
    assert "Noise swapped 30 training labels" in texts(app)
    assert (
        "You marked 1 label as wrong, of which 1 is swapped: precision 1.00, recall 0.03. Of these, 1 has its "
        "original label" in texts(app)
    )


@pytest.mark.parametrize("seed", range(3))
def test_precision_and_recall_are_those_of_a_count(seed):
    rng = np.random.default_rng(seed)
    swapped = {("train", int(row)) for row in rng.permutation(100)[:20]}
    ranked = [("train", int(row)) for row in rng.permutation(100)[:30]]
    hits = len(swapped & set(ranked))
    called = {key: Verdict(*key, 3, OUT) for key in ranked[:10]}
    right = len(swapped & set(called))
    told = judge.practised(swapped, ranked, called)
    assert (
        f"The list of 30 likely label errors has {hits} swapped label{'s' * (hits != 1)}: precision {hits / 30:.2f}, "
        f"recall {hits / 20:.2f}" in told
    )
    assert (
        f"You marked 10 labels as wrong, of which {right} {'is' if right == 1 else 'are'} swapped: "
        f"precision {right / 10:.2f}, recall {right / 20:.2f}" in told
    )
    assert "not marked any label as wrong yet" in judge.practised(swapped, ranked, {})


def test_a_run_without_folds_and_without_bounded_alphas_is_not_said_to_have_no_label_errors(home):
    run = finished(NOISY.replace(folds=None, options={}, classes=(3, 8), C=1e6, title="hard"))
    assert not run.machine().bound.any()
    app = open_page("labels", run=run.id)
    assert not app.success
    assert "No alpha is bounded" in app.info[0].value
    assert "This run stores no predictions of folds" in texts(app)
    assert app.button(key="label_folds")


@pytest.mark.parametrize("page", ["labels", "errors", "support_vectors"])
def test_a_run_without_a_machine_leads_to_the_newest_that_has_one(home, page):
    plain = NOISY.replace(folds=None, options={}, title="plain")
    finished(plain)
    newest = finished(plain.replace(C=2.0, title="later"))
    failed = runs.create(plain)
    failed.set_state("failed", "for this test")
    app = open_page(page, run=failed.id)
    assert "for this test" in app.error[0].value
    app.button(key="show_finished").click().run()
    assert app.session_state["run"] == newest.id
    assert not app.exception
    assert not app.error


def test_a_run_without_folds_says_what_is_missing_and_starts_it(home):
    run = finished(NOISY.replace(folds=None, options={}, title="plain"))
    app = open_page("labels", run=run.id)
    assert "This run stores no predictions of folds" in texts(app)
    app.button(key="label_folds").click().run()
    (new,) = [one for one in runs.newest_first() if one.id != run.id]
    assert new.recipe == searched(run.recipe).replace(name="custom", title=new.recipe.title)
    assert jobs.wait(new.id, 120).state == "done"
    app.run()
    assert app.session_state["run"] == new.id
    assert "0 of" in app.get("progress")[0].proto.text
    tested = open_page("labels", run=run.id, doubted="test")
    assert shown(tested)[0] == "train", "its test examples lie in the only part that the set has"
    assert "If you correct test labels where this machine disagrees" in tested.warning[0].value


def test_the_revision_may_be_damaged_of_another_set_or_of_no_name(run):
    path = revisions._path(revisions.parse_name(CHECKED))
    path.parent.mkdir(parents=True)
    path.write_text("=cmd|x\n", "utf-8")
    app = open_page("labels", run=run.id, revision="checked")
    assert "first line" in app.error[0].value.replace("\\", "")
    app.text_input(key="revision").set_value("another one").run()
    assert not app.error
    press(app, "out")
    assert "digits-8x8@another-one" in [entry.name for entry in catalogue.entries()]
    app.text_input(key="revision").set_value("§").run()
    assert "no letter a-z" in app.error[0].value.replace("\\", "")


def test_a_table_of_the_readers_own_is_judged_by_names_of_classes(home):
    rng, names = np.random.default_rng(0), np.array(["=ant", "bee", "cow's"])
    y = rng.integers(3, size=150)
    X = (np.eye(3)[y] * 3 + rng.normal(size=(150, 3))).astype(np.float32)
    catalogue.keep("rows", Arrays.unsplit(X, names[y]), ["length", "width", "age"])
    run = finished(Recipe(dataset="own:rows", preprocess=("zscore",), kernel=RBF(0.3), folds=3, C=1.0))
    app = open_page("labels", run=run.id)
    key = shown(app)
    press(app, "is_2")
    base = load("own:rows")
    assert revisions.standing("own:rows@checked", base.entry)[key].label in (None, "bee")
    assert "length" in str(app.dataframe[0].value)
    about = open_page("datasets", set="own:rows@checked", view="About")
    assert about.button(key="remove_own:rows@checked")
    catalogue.forget("own:rows")
    assert "was deleted" in " ".join(e.value for e in open_page("datasets").error)


def test_somebodys_verdicts_are_laid_beside_ones_own(run):
    base = load("digits-8x8")
    mine = [Verdict("train", row, base.y_train[row].item(), OUT) for row in (1, 2)]
    theirs = [mine[0], mine[1]._replace(verdict="keep"), Verdict("train", 5, base.y_train[5].item(), OUT)]
    revisions.add(CHECKED, base, mine)
    text = verdicts.written(theirs, "digits-8x8", base.content_hash[:12])

    def brought(text):
        app = open_page("labels", run=run.id, revision="checked")
        app.file_uploader(key="label_import").set_value(("theirs.csv", text.encode(), "text/csv")).run()
        assert not app.exception
        return app

    app = brought(text)
    said = "1 decision** on examples that you have not reviewed. 1 agrees with yours. You disagree on **1 example**"
    assert said in texts(app)
    app.button(key="label_merge_theirs").click().run()
    stands = revisions.standing(CHECKED, base.entry)
    assert [stands["train", row].verdict for row in (1, 2, 5)] == ["out", "keep", "out"]
    revisions.add(CHECKED, base, mine)
    app = brought(text)
    app.button(key="label_theirs_train_2").click().run()
    assert revisions.standing(CHECKED, base.entry)["train", 2].verdict == "keep"
    app.button(key="label_undo_any").click().run()
    app.button(key="label_mine_train_2").click().run()
    assert "You disagree on 1 example and kept your own decision on 1 of them." in texts(app).replace("*", "")
    assert revisions.standing(CHECKED, base.entry)["train", 2].verdict == "out"
    assert not any(button.key in ("label_merge_mine", "label_merge_theirs") for button in app.button)
    app.file_uploader(key="label_import").set_value(("other.csv", text.replace(",1,", ",9999,").encode(), "text/csv"))
    app.run()
    assert "no example '9999'" in app.error[0].value.replace("\\", "")


def test_copies_and_outliers_are_lists_of_their_own(home):
    rng, names = np.random.default_rng(1), np.array(["ant", "bee"])
    y = rng.integers(2, size=90)
    X = (np.eye(2)[y] * 4 + rng.normal(size=(90, 2)) * 0.3).astype(np.float32)
    X[[3, 40]], y[3], y[40] = X[3], 0, 1  # a copy with another label
    X[7] = 30  # far from everything
    test = [*range(80, 90), 0]  # the last one trains as well
    catalogue.keep("points", Arrays(X[:80], names[y[:80]], X[test], names[y[test]]))
    run = finished(Recipe(dataset="own:points", split="given", preprocess=(), kernel=RBF(0.3), folds=3, C=1.0))
    app = open_page("labels", run=run.id, doubted="pairs")
    assert shown(app) == ("train", 3)
    assert "Given ant · the other example is bee" in texts(app)
    assert "It equals 1 training example in every value: 40 (class bee)." in texts(app)
    told = doubtful.pairs(run)[2].sentence
    twin = f"training example 0 (class {names[y[0]]})"
    assert told == f"It equals {twin}, so this test example was also used for training."
    assert doubtful.pairs(run)[2].key == ("test", 10)
    assert RELATED.status(run.id).state == "done", "found once, beside the runs"
    app = open_page("labels", run=run.id, doubted="outliers")
    assert shown(app) == ("train", 7)
    press(app, "out")
    assert "1 excluded" in texts(app)


def test_the_bill_of_the_machine_that_did_not_see_it_is_a_key_away(run):
    app = open_page("labels", run=run.id)
    row, names = shown(app)[1], [str(c) for c in run.machine().classes]
    called = str(run.folded().y_true[run.folded().index == row][0])
    assert "Each row is a training example" not in texts(app)
    app.button(key="label_unseen").click().run()
    assert app.query_params["unseen"] == "true"
    now = UNSEEN.wait(run.id, row, timeout=60)
    assert now.state == "done", now.message
    app.run()
    folded = run.folded()
    f = folded.decision[folded.index == row][0]
    assert now.result.f == pytest.approx(f, abs=1e-6)
    assert f"{called} (given) has {with_sign(f[names.index(called)])}" in texts(app)
    assert f"a machine trained without fold {now.result.number + 1} of" in captions(app)
    assert "The prediction stored with the run differs" not in captions(app)
    app.button(key="label_unseen").click().run()
    assert "unseen" not in app.query_params
    assert "Each row is a training example" not in texts(app)


def test_what_is_being_found_can_be_stopped_and_what_failed_says_why(run, monkeypatch):
    monkeypatch.setattr(suspects, "related", lambda recipe, check: [check("comparing") for _ in count()])
    app = open_page("labels", run=run.id, doubted="pairs")
    assert "Step 3 of 3: Comparing examples" in [bar.proto.text.replace("\\", "") for bar in app.get("progress")]
    app.button(key="related_stop").click().run()
    assert RELATED.wait(run.id, timeout=60).state == "stopped"
    monkeypatch.setattr(suspects, "related", lambda recipe, check: 1 / 0)
    app = open_page("labels", run=run.id, doubted="pairs")
    app.button(key="related_begin").click().run()
    assert RELATED.wait(run.id, timeout=60).state == "failed"
    app = open_page("labels", run=run.id, doubted="pairs")
    assert app.error[0].value
    assert app.button(key="related_begin")


def test_without_any_doubt_a_list_says_so(run, monkeypatch):
    monkeypatch.setitem(doubtful.LISTS, "pairs", doubtful.LISTS["pairs"]._replace(find=lambda run: []))
    app = open_page("labels", run=run.id, doubted="pairs")
    assert doubtful.LISTS["pairs"].none in [box.value for box in app.success]


def test_judged_test_labels_are_counted_both_ways(run):
    base, test = load("digits-8x8"), run.test()
    rows, said = (of[test.y_pred != test.y_true].tolist() for of in (test.index, test.y_pred))
    given = [Verdict("train", row, base.y_train[row].item(), LABEL, label) for row, label in zip(rows, said)]
    out = test.index[test.y_pred == test.y_true][0].item()
    revisions.add(CHECKED, base, [*given, Verdict("train", out, base.y_train[out].item(), OUT)])
    after = finished(NOISY.replace(dataset=CHECKED))
    app = open_page("compare", compare=[run.id, after.id])
    told = " ".join(warning.value for warning in app.warning)
    assert f"{len(rows)} test examples have different labels" in told
    assert "exclude 1 test example." in told
    table = next(frame.value for frame in app.dataframe if "Test labels from run" in frame.value)
    assert table["A errors"].tolist() == [str(len(rows)), "0"]
    app.segmented_control(key="compare_labels").set_value("B").run()
    assert not app.exception
    assert "0 errors become" in texts(app)
