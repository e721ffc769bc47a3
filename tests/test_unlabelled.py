"""Datasets that are partly labelled: read from whatever they come in, kept, labelled by verdicts, and trained on."""

import json

import numpy as np
import pytest

from data import DataError, catalogue, load, revisions, verdicts
from data.dataset import Arrays
from data.verdicts import KEEP, LABEL, OUT, UNLABELLED, UNSURE, Verdict
from svmcore.kernels import RBF
from svmcore.lab import Recipe
from svmcore.lab.tasks import task_of
from svmcore.lab.train import execute, prepare
from tests.uploads import GREY, PAIR, archive, image, npz, read_upload

N, KNOWN = 12, 7


@pytest.fixture(autouse=True)
def _home(home):
    """A home of its own."""


def half(seed=0, labels=("ant", "bee"), n=80, pool=50, n_test=20, title="Half"):
    """A dataset of the reader's own, `pool` examples of which have no label; all of its labels."""
    rng = np.random.default_rng(seed)
    y = np.array(labels)[rng.permutation(n + pool + n_test) % len(labels)]
    X = rng.normal(size=(len(y), 3)).astype(np.float32) + (y == labels[0])[:, None]
    test = slice(n + pool, None)
    arrays = Arrays(X[: n + pool], y[:n], X[test], y[test])
    return catalogue.keep(title, arrays, replace=True).load(), y[: n + pool]


def csv(labels, mark=";"):
    lines = [mark.join(("length", "width", "kind"))]
    lines += [mark.join((f"{k}.5", str(k * k), labels[k])) for k in range(len(labels))]
    return "\n".join(lines).encode()


def tree(folder="unlabelled", test=False):
    files = {f"{('cat', 'dog')[PAIR[k]]}/{k}.png": image(GREY[k]) for k in range(KNOWN)}
    files |= {f"{'test/' * test}{folder}/{k}.png": image(GREY[k]) for k in range(KNOWN, N)}
    return archive(files)


WORDS = [["cat", "dog"][k % 2] if k not in (1, 4, 9) else "" for k in range(N)]
NUMBERS = [str(k % 2) if k % 3 else "" for k in range(N)]
UPLOADS = {
    "a csv of words": ("a.csv", csv(WORDS), WORDS),
    "a csv of numbers": ("a.csv", csv(NUMBERS), NUMBERS),
    "a csv with a header in spaces": ("a.csv", csv(WORDS, ",").replace(b"kind", b" kind "), WORDS),
    "texts of an npz": ("a.npz", npz(X=np.arange(2.0 * N).reshape(N, 2), y=np.array(WORDS)), WORDS),
    "numbers of an npz": (
        "a.npz",
        npz(X=np.arange(2.0 * N).reshape(N, 2), y=np.array([float(c) if c else np.nan for c in NUMBERS])),
        NUMBERS,
    ),
}


@pytest.mark.parametrize("way", UPLOADS)
def test_an_empty_label_is_one_that_is_not_known(way):
    name, content, labels = UPLOADS[way]
    preview = read_upload(name, content)
    arrays, whole = preview.arrays, read_upload(name, content, image_shape=()).arrays.X_train
    known = [k for k in range(N) if labels[k]]
    unknown = [k for k in range(N) if not labels[k]]
    assert [str(label) for label in arrays.y_train.tolist()] == [labels[k] for k in known]
    order = np.argsort(whole[:, 0], kind="stable")  # the first column grows with the row
    assert np.argsort(order).tolist() == [*known, *unknown]
    assert f"{len(unknown)} of {N} examples have no label yet" in preview.notes


def test_an_empty_label_among_empty_cells_is_no_bad_row():
    table = b"kind,a,b\n" + b"".join(b"%d,%d,%d\n" % (k % 2, k, k + 1) for k in range(8)) + b",4,x\n,5,6\n"
    preview = read_upload("t.csv", table, skip=True)
    assert len(preview.arrays.y_train) == 8
    assert preview.arrays.X_train[8:].tolist() == [[5, 6]]


@pytest.mark.parametrize("folder", ["unlabelled", "Unlabeled", "UNKNOWN"])
@pytest.mark.parametrize("test", [False, True])
def test_images_in_a_folder_of_their_own_have_no_label(folder, test):
    preview = read_upload("pets.zip", tree(folder, test))
    entry = catalogue.draft("Pets", preview.arrays).entry
    assert (entry.classes, entry.n_train, entry.unlabelled, entry.n_test) == (("cat", "dog"), KNOWN, N - KNOWN, 0)
    assert np.array_equal(preview.arrays.X_train[KNOWN:], GREY[KNOWN:])
    assert f"Images in the folder '{folder}' have no label" in preview.notes


def test_images_without_a_class_in_the_table_beside_them_have_none():
    kinds = [("dog", "cat")[PAIR[k]] if k < KNOWN else "" for k in range(N)]
    lines = "file,class\n" + "".join(f"{k}.png,{kinds[k]}\n" for k in range(N))
    preview = read_upload(
        "pets.zip", archive({f"{k}.png": image(GREY[k]) for k in range(N)} | {"l.csv": lines.encode()})
    )
    assert len(preview.arrays.y_train) == KNOWN
    assert set(preview.arrays.y_train.tolist()) == {"cat", "dog"}
    assert len(preview.arrays.X_train) == N


def test_what_has_no_labels_at_all_or_none_to_test_by_is_refused():
    with pytest.raises(DataError, match="No example has a label"):
        read_upload("a.csv", csv(N * [""]))
    y = np.array(WORDS)
    with pytest.raises(DataError, match="y_test has no label for example 1"):
        read_upload("a.npz", npz(X=GREY, y=PAIR.astype(str), X_test=GREY, y_test=y))


@pytest.mark.parametrize("labels", [("ant", "bee"), (0, 1, 2), ("=a", "b")])
def test_kept_and_read_again_it_is_the_same(labels):
    kept, y = half(labels=labels)
    catalogue.keep("again", Arrays(kept.rows, kept.y_train, kept.X_test, kept.y_test))
    again = load("own:again")
    assert again.content_hash == kept.content_hash
    assert (again.entry.n_train, again.entry.unlabelled) == (80, 50)
    assert np.array_equal(again.X_train, again.rows[:80])
    assert again.label("train", 79) == y[79]
    assert again.label("train", 80) is None
    fewer = catalogue.draft("x", Arrays(kept.rows[:-1], kept.y_train, kept.X_test, kept.y_test))
    assert fewer.content_hash != kept.content_hash, "the examples without a label count"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("labels", [("ant", "bee", "cow"), (-1, 1)])
def test_verdicts_are_the_labels_and_the_rows_stay_where_they_are(seed, labels):
    base, y = half(seed, labels)
    name, rng = "own:half@checked", np.random.default_rng(seed)
    assert revisions.standing(name, base.entry) == {}
    asked = rng.permutation(np.arange(80, 130))[:20].tolist()
    said = {row: y[row].item() for row in asked[:15]}
    given = [Verdict("train", row, UNLABELLED, LABEL, label) for row, label in said.items()]
    given += [Verdict("train", row, UNLABELLED, OUT) for row in asked[15:18]]
    given += [Verdict("train", row, UNLABELLED, UNSURE) for row in asked[18:]]
    revisions.add(name, base, given)
    found = load(name)
    assert (found.entry.n_train, found.entry.unlabelled, found.entry.out) == (95, 32, (0, 0))
    assert found.X_train is base.rows
    assert found.labelled.tolist() == [*range(80), *sorted(said)]
    assert [found.label("train", row) for row in range(130)] == [
        y[row].item() if row < 80 else said.get(row) for row in range(130)
    ]
    assert revisions.compared(name, base, revisions.export(name, base.entry).encode()).unlike == []
    last = revisions.undo(name, base)
    assert last.row == asked[-1]
    assert f"{catalogue.pinned(name)}" == "own:half@checked.21"
    assert load("own:half@checked.15").entry.unlabelled == 35
    taken_back = revisions.undo(name, base), revisions.undo(name, base)
    assert [one.verdict for one in taken_back] == [UNSURE, OUT]
    for _ in range(17):
        revisions.undo(name, base)
    assert load(name).content_hash == base.content_hash, "verdicts that change nothing"


RECIPE = Recipe(dataset="own:half", preprocess=("zscore",), kernel=RBF(0.5), C=1.0)


@pytest.mark.parametrize("changes", [{}, {"split": "given"}, {"n_train": 40}, {"classes": ("bee",)}, {"noise": 0.1}])
def test_what_was_labelled_trains_and_never_tests(changes):
    base, y = half(labels=("ant", "bee", "cow"))
    recipe = RECIPE.replace(**changes)
    before = prepare(recipe)
    assert before.train_index.max() < 80
    said = {row: y[row].item() for row in (120, 85, 101)}
    revisions.add("own:half@checked", base, [Verdict("train", r, UNLABELLED, LABEL, c) for r, c in said.items()])
    after = prepare(recipe.replace(dataset="own:half@checked"))
    assert after.train_index.tolist() == [*before.train_index.tolist(), 85, 101, 120]
    assert np.array_equal(after.test_index, before.test_index)
    one = recipe.classes[:1]
    learned = [(1 if said[row] == "bee" else -1) if one else said[row] for row in (85, 101, 120)]
    assert after.y_train[-3:].tolist() == learned
    assert after.y_train[:-3].tolist() == before.y_train.tolist()
    size = task_of(recipe).size(recipe.replace(dataset="own:half@checked"))
    assert size.n_train == len(after.train_index)
    result = execute(recipe.replace(dataset="own:half@checked", folds=3)).result
    assert result["n_train"] == len(after.train_index)
    assert result["validation"]["n_test"] == len(after.train_index)


def test_only_the_classes_that_a_recipe_asks_for_join_and_none_is_left_over():
    base, y = half(labels=("ant", "bee", "cow"))
    given = [Verdict("train", row, UNLABELLED, LABEL, y[row].item()) for row in range(80, 100)]
    revisions.add("own:half@checked", base, given)
    recipe = RECIPE.replace(classes=("ant", "cow"), dataset="own:half@checked", n_train=20)
    problem = prepare(recipe)
    asked = problem.train_index[problem.train_index >= 80]
    assert asked.tolist() == [row for row in range(80, 100) if y[row] != "bee"]
    aside = task_of(recipe).with_aside(recipe, problem, lambda stage: None).aside
    assert len(aside.y) == (base.y_train != "bee").sum() - 20, "those that have a label of the base alone"


def test_verdicts_that_cannot_be_are_refused():
    base, _ = half()
    wrong = {
        "has no label that the verdict keep could confirm": Verdict("train", 80, UNLABELLED, KEEP),
        "has no label, but the column `given` has 'ant'": Verdict("train", 80, "ant", LABEL, "bee"),
        "has a label, but the column `given` has none": Verdict("train", 79, UNLABELLED, LABEL, "bee"),
        "there is no example '130'": Verdict("train", 130, UNLABELLED, LABEL, "bee"),
        "has no class 'cow'": Verdict("train", 81, UNLABELLED, LABEL, "cow"),
    }
    for words, verdict in wrong.items():
        with pytest.raises(DataError, match=words):
            revisions.add("own:half@checked", base, [Verdict("train", 90, UNLABELLED, OUT), verdict])
    assert revisions.known() == []
    blob = verdicts.written([Verdict("train", 80, UNLABELLED, LABEL, "bee")], "own:half", base.content_hash[:12])
    assert [one.says for one in revisions.compared("own:half@x", base, blob.encode()).new] == [(LABEL, "bee")]


@pytest.mark.parametrize("said", [-1, "3", 1.5, 2**70, True])
def test_a_stored_file_that_lies_about_them_is_damaged(said, home):
    half()
    path = home / "own" / "half.npz"
    with np.load(path) as file:
        arrays = dict(file)
    entry = json.loads(str(arrays.pop("entry"))) | {"unlabelled": said}
    np.savez(path, **arrays, entry=np.array(json.dumps(entry)))
    assert [one.name for one in catalogue.damaged()] == ["own:half"]


def test_a_set_stored_before_there_were_such_examples_is_read_as_it_was(home):
    kept, _ = half(pool=0)
    path = home / "own" / "half.npz"
    with np.load(path) as file:
        arrays = dict(file)
    entry = json.loads(str(arrays.pop("entry")))
    assert entry.pop("unlabelled") == 0
    np.savez(path, **arrays, entry=np.array(json.dumps(entry)))
    again = load("own:half")
    assert (again.entry.unlabelled, again.content_hash) == (0, kept.content_hash)
    assert again.rows is again.X_train
