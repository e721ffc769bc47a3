"""Rows that belong together, such as several views of one picture: read, kept on one side, virtual examples."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import svm
from sklearn.datasets import load_digits

from data import DataError, catalogue
from data.__main__ import main
from data.loaders.sieve import Unusable
from pages.ui.compare.pairs import all_pairs
from svmcore import RBF, SVC, VirtualSVC
from svmcore.lab import split
from svmcore.lab.analyses.comparison import together
from svmcore.lab.analyses.sweep import Sweep
from svmcore.lab.jobs.sweeping import sweep
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.tasks import task_of
from svmcore.lab.tasks.classify import labelled
from svmcore.lab.train import execute
from svmcore.metrics import paired_test
from tests.trained import submitted
from tests.uploads import GREY, archive, image, npz, read_upload

RNG = np.random.default_rng(3)
SIZES = RNG.integers(1, 5, 90)  # of the groups
NAMES = np.array([f"p{k}" for k in RNG.permutation(90)])
GROUPS, Y = np.repeat(NAMES, SIZES), np.repeat(np.arange(90) % 3, SIZES)
X = np.repeat(RNG.normal(size=(90, 4)) + np.eye(3, 4)[np.arange(90) % 3] * 1.5, SIZES, axis=0)
X = X + 0.2 * RNG.normal(size=X.shape)
MIXED = RNG.permutation(len(Y))
X, Y, GROUPS = X[MIXED], Y[MIXED], GROUPS[MIXED]
LARGE = np.flatnonzero(np.repeat(SIZES, SIZES)[MIXED] > 1)  # rows of groups of several


def same_partition(numbers, names):
    return len(set(zip(numbers, names))) == len(set(numbers)) == len(set(names))


def table(groups=GROUPS, name="group", y=Y):
    return pd.DataFrame({"a": X[:, 0], name: groups, "b": X[:, 1], "c": X[:, 2], "d": X[:, 3], "label": y})


def test_groups_are_read_from_npz_csv_and_parquet():
    ready = np.isin(GROUPS, NAMES[:60])
    parted = npz(X=X[ready], y=Y[ready], groups=GROUPS[ready], X_test=X[~ready], y_test=Y[~ready],
                 groups_test=GROUPS[~ready])  # fmt: skip
    both = np.concatenate([GROUPS[ready], GROUPS[~ready]])
    csv, lists = table().to_csv(index=False).encode(), {"embedding": X.tolist(), "label": Y, "group": GROUPS}
    for name, content, wanted in (
        ("f.npz", npz(X=X, y=Y, groups=GROUPS), GROUPS),
        ("f.npz", npz(X=X, y=Y, groups=np.unique(GROUPS, return_inverse=True)[1] - 0.5), GROUPS),
        ("f.npz", parted, both),
        ("f.csv", csv, GROUPS),
        ("f.parquet", pd.DataFrame(lists).to_parquet(), GROUPS),
    ):
        preview = read_upload(name, content)
        assert same_partition(preview.arrays.groups, wanted), name
        assert preview.arrays.X_train.shape[1] == 4
        assert any(f"{len(Y)} rows in 90 groups" in note for note in preview.notes)
    chosen = read_upload("f.csv", table(name="who").to_csv(index=False).encode(), group="who")
    assert chosen.features == ("a", "b", "c", "d")
    assert same_partition(chosen.arrays.groups, GROUPS)
    assert read_upload("f.csv", csv, group="").arrays.groups is None
    for other in (RNG.integers(0, 9, len(Y)), np.arange(len(Y)), Y):  # a feature that is called so
        preview = read_upload("f.csv", table(other).to_csv(index=False).encode())
        assert preview.arrays.groups is None
        assert preview.features[1] == "group"
        assert any("Column 'group' is read as a feature" in note for note in preview.notes)
    with pytest.raises(DataError, match=r"npz has no columns, so there is no column 'who'"):
        read_upload("f.npz", npz(X=X, y=Y), group="who")


def test_rows_without_a_label_and_rows_left_out_take_their_groups_along():
    y = Y.astype(float)
    unknown = np.isin(GROUPS, NAMES[:9])
    y[unknown] = np.nan
    groups = read_upload("f.npz", npz(X=X, y=y, groups=GROUPS)).arrays.groups
    assert same_partition(groups, np.concatenate([GROUPS[~unknown], GROUPS[unknown]]))
    lines = table().to_csv(index=False).splitlines()
    lines[5] = "x" + lines[5]
    kept = read_upload("f.csv", "\n".join(lines).encode(), skip=True)
    assert same_partition(kept.arrays.groups, np.delete(GROUPS, 4))
    lines = table(np.where(np.arange(len(Y)) == 9, "", GROUPS)).to_csv(index=False)
    with pytest.raises(Unusable, match=r"f\.csv: line 11 has an empty cell in column 'group'"):
        read_upload("f.csv", lines.encode(), group="group")
    kept = read_upload("f.csv", lines.encode(), group="group", skip=True)
    assert same_partition(kept.arrays.groups, np.delete(GROUPS, 9))
    files = {f"{k}.png": image(GREY[k % 12])[: 30 if k == 7 else None] for k in range(len(Y))}
    packed = npz(X=X, y=Y, groups=GROUPS, paths=np.array(list(files)))
    kept = read_upload("f.zip", archive(files | {"f.npz": packed}), skip=True)
    assert same_partition(kept.arrays.groups, np.delete(GROUPS, 7))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"groups": GROUPS[1:]}, f"X has {len(Y)} entries, but groups has {len(Y) - 1}"),
        ({"groups": np.array("p1")}, f"X has {len(Y)} entries, but groups has 1"),
        ({"groups": np.full(len(Y), 7)}, f"All {len(Y)} examples are in one group, 7"),
        ({"groups": Y}, "Class 0 is in only one group"),
        ({"groups": np.roll(GROUPS, 1)}, r"The group 'p\d+' has examples of several classes: \d and \d"),
        ({"groups": np.where(Y == 0, "", GROUPS)}, r"Example \d+ has no group"),
        ({"groups": np.where(Y == 0, np.nan, Y)}, "groups has the shape"),
        ({"groups": np.stack([Y, Y], 1)}, "groups has the shape"),
        ({"groups": GROUPS, "X_test": X[:3], "y_test": Y[:3]}, "no array groups_test for the 3 test rows"),
        (
            {"groups": GROUPS, "X_test": X[:1], "y_test": Y[:1], "groups_test": GROUPS[:1]},
            f"The group '{GROUPS[0]}' is in the training set and the test set",
        ),
        (
            {"groups": GROUPS, "y": np.where(np.arange(len(Y)) == LARGE[0], np.nan, Y)},
            f"The group '{GROUPS[LARGE[0]]}' has examples of several classes: {Y[LARGE[0]]} and .no label",
        ),
    ],
)
def test_groups_that_cannot_be_are_refused(arrays, message):
    with pytest.raises(DataError, match=message):
        read_upload("f.npz", npz(**{"X": X, "y": Y} | arrays))
    with pytest.raises(DataError, match="no column 'x' besides the labels"):
        read_upload("f.csv", table().to_csv(index=False).encode(), group="x")


@pytest.fixture
def grouped(home, tmp_path, capsys):
    """The dataset of the rows above, kept by the command line, and the groups of its examples."""
    table(name="who").to_csv(tmp_path / "views.csv", index=False)
    assert main(["keep", str(tmp_path / "views.csv"), "--group", "who"]) == 0
    assert "in 90 groups" in capsys.readouterr().out
    data = catalogue.load("own:views")
    assert data.entry.groups == 90
    assert same_partition(data.groups, GROUPS)
    return Recipe(dataset="own:views", split="stratified", kernel=RBF(0.3), C=2.0, preprocess=())


def test_content_differs_by_groups(grouped):
    arrays = catalogue.load("own:views").arrays
    hashes = {
        catalogue.draft("views", arrays._replace(groups=groups)).content_hash
        for groups in (None, arrays.groups, np.arange(len(Y)))
    }
    assert len(hashes) == 3


@pytest.mark.parametrize("sizes", [{}, {"n_test": 60}, {"n_train": 80}, {"n_train": 50, "n_test": 90}])
def test_split_and_folds_keep_groups_on_one_side(grouped, sizes):
    data = catalogue.load("own:views")
    for seed in range(5):
        recipe = grouped.replace(seed=seed, folds=4, **sizes)
        parts = labelled(recipe)
        assert not set(data.groups[parts.train]) & set(data.groups[parts.test])
        for rows in (parts.train, parts.test):
            classes = data.y_train[rows][np.unique(data.groups[rows], return_index=True)[1]]
            assert np.ptp(np.bincount(classes, minlength=3)) <= 1  # 30 groups of each class
        for name, rows in (("n_train", parts.train), ("n_test", parts.test)):
            assert abs(len(rows) - sizes.get(name, len(rows))) <= 15
            if name in sizes:  # whole groups
                assert np.isin(np.flatnonzero(np.isin(data.groups, data.groups[rows])), rows).all()
        assert not set(data.groups[split.left_over(recipe, data, 1000)]) & set(
            data.groups[np.concatenate([parts.train, parts.test])]
        )
        held = []
        for fold in split.folds(recipe, parts):
            assert not set(data.groups[fold.train]) & set(data.groups[fold.test])
            held += fold.test.tolist()
        assert sorted(held) == sorted(parts.train)


def test_folds_are_limited_by_the_groups_of_a_class(grouped):
    with pytest.raises(RecipeError, match="2 to 24, the number of groups in the smallest class"):
        execute(grouped.replace(folds=25))


def by_hand(X, y, groups, gamma, C):
    """Of two classes: scikit-learn's machine on the first row of each group, and the one on all rows of the groups of
    its support vectors, with these rows."""
    first = np.array([i for i, group in enumerate(groups) if group not in groups[:i]])
    base = svm.SVC(kernel="rbf", gamma=gamma, C=C, tol=1e-6).fit(X[first], y[first])
    rows = np.flatnonzero(np.isin(groups, groups[first[base.support_]]))
    return svm.SVC(kernel="rbf", gamma=gamma, C=C, tol=1e-6).fit(X[rows], y[rows]), rows, first[base.support_]


def test_virtual_svs_of_groups_are_those_of_scikit_learn():
    own = SVC(RBF(0.3), C=2.0, tol=1e-6)
    machine = VirtualSVC(own, jitters="none").fit(X, Y, groups=GROUPS)
    assert machine.machine_.jitter is None
    for c in range(3):
        theirs, rows, first = by_hand(X, np.where(c == Y, 1, -1), GROUPS, 0.3, 2.0)
        assert machine.n_virtual_[c] == len(rows)
        own_first = machine.base_.support_[machine.base_.dual_coef_[c] != 0]
        np.testing.assert_array_equal(np.sort(own_first), np.sort(first))
        np.testing.assert_allclose(machine.decision_function(X)[:, c], theirs.decision_function(X), atol=2e-4)
    plain = VirtualSVC(own, jitters="none").fit(X, Y, groups=np.arange(len(Y)))
    np.testing.assert_allclose(plain.decision_function(X), own.fit(X, Y).decision_function(X), atol=2e-4)


def test_rows_of_groups_are_jittered_like_their_first_one():
    pictures, y = load_digits(return_X_y=True)
    pictures, y = (part[y < 2][:120] for part in (pictures / 16, y))
    groups = np.empty(120, int)
    for c in range(2):
        groups[y == c] = 1000 * c + np.arange(np.count_nonzero(y == c)) // 2
    machine = VirtualSVC(SVC(RBF(0.05), C=5.0, tol=1e-6), jitters="shift:0,1", image_shape=(8, 8)).fit(
        pictures, y, groups=groups
    )
    first = np.array([i for i in range(120) if groups[i] not in groups[:i]])
    base = svm.SVC(kernel="rbf", gamma=0.05, C=5.0, tol=1e-6).fit(pictures[first], y[first])
    rows = np.flatnonzero(np.isin(groups, groups[first[base.support_]]))
    moved = np.pad(pictures.reshape(-1, 8, 8), ((0, 0), (0, 0), (1, 0)))[:, :, :-1].reshape(-1, 64)
    theirs = svm.SVC(kernel="rbf", gamma=0.05, C=5.0, tol=1e-6)
    theirs.fit(np.concatenate([pictures[rows], moved[rows]]), np.tile(y[rows], 2))
    assert machine.n_virtual_.tolist() == [2 * len(rows)]
    np.testing.assert_allclose(machine.decision_function(pictures), theirs.decision_function(pictures), atol=5e-3)


def test_what_groups_cannot_be_for_virtual_svs():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        VirtualSVC(jitters="none").fit(X, Y, groups=GROUPS[1:])
    with pytest.raises(ValueError, match="allowed: draws = 0"):
        VirtualSVC(jitters="none", scope="union", draws=5).fit(X, Y, groups=GROUPS)


def test_a_run_takes_the_other_rows_of_groups_as_virtual_examples(grouped):
    recipe = grouped.replace(method="vsv", jitters="none", tol=1e-6, folds=3)
    outcome, data, parts = execute(recipe), catalogue.load("own:views"), labelled(recipe)
    rows = data.X_train[parts.train]
    for c in range(3):
        y = np.where(parts.y_train == c, 1, -1)
        theirs, chosen, _ = by_hand(rows, y, data.groups[parts.train], 0.3, 2.0)
        assert outcome.result["n_virtual"][c] == len(chosen)
        expected = theirs.decision_function(data.X_train[parts.test])
        np.testing.assert_allclose(outcome.test.decision[:, c], expected, atol=2e-4)
    kept = submitted(recipe)
    np.testing.assert_allclose(
        kept.machine().decision_values(data.X_train[parts.test]), outcome.test.decision, atol=1e-6
    )
    assert task_of(recipe).size(recipe).grouped == pytest.approx(len(Y) / 90)


def test_without_groups_or_with_jitters_of_pixels_virtual_svs_of_rows_are_refused(grouped):
    with pytest.raises(RecipeError, match="the other rows of an example's group serve as its virtual copies"):
        execute(grouped.replace(method="vsv", jitters="box:1"))
    for method in ("jsv", "vsv-search", "tangent"):
        with pytest.raises(RecipeError, match="are not images") as refused:
            execute(grouped.replace(method=method))
    allowed = refused.value.allowed.partition(", as")[0].split(", ")
    assert {"sv", "vsv"} < set(allowed)
    catalogue.keep("plain", catalogue.load("own:views").arrays._replace(groups=None))
    plain = grouped.replace(dataset="own:plain", method="vsv", jitters="none")
    with pytest.raises(RecipeError, match="as the examples of own:plain are not images") as refused:
        execute(plain)
    able = refused.value.allowed.partition(", as")[0].split(", ")
    assert able == [name for name in allowed if name != "vsv"]
    assert "nu-sv" in able
    for method in ("sv", "nu-sv"):
        assert execute(grouped.replace(dataset="own:plain", method=method, jitters="")).result["n_test"]


@pytest.mark.parametrize("folds", [3, 6])
def test_each_step_of_halving_has_groups_for_each_fold(grouped, folds):
    recipe = grouped.replace(n_test=40)
    points = sweep(recipe, "C", ["0.001", "0.1", "1", "10"], folds=folds, rungs=3)
    assert len(Sweep(recipe.replace(folds=folds), "C", ("1", "2"), rungs=3).steps()) > 1
    assert all(len(point.fold_errors) == folds for point in points)


def test_intervals_count_groups_and_leave_one_out_refuses_them(grouped):
    """An end p of the score interval solves (p - rate)^2 = z^2 p (1 - p) / groups."""
    z = stats.norm.ppf(0.975)

    def ends(rate, interval, groups):
        assert [(p - rate) ** 2 for p in interval] == pytest.approx([z**2 * p * (1 - p) / groups for p in interval])

    recipe = grouped.replace(folds=3)
    run, parts = submitted(recipe), labelled(recipe)
    groups = catalogue.load("own:views").groups
    n, result = len(np.unique(groups[parts.test])), run.result
    assert result["n_groups"] == n < result["n_test"]
    ends(result["error_rate"], result["interval"], n)
    assert f"interval from {n} independent groups" in task_of(recipe).headline(result)
    held = result["validation"]
    assert held["n_groups"] == len(np.unique(groups[parts.train]))
    ends(held["error_rate"], held["interval"], held["n_groups"])
    (point,) = sweep(recipe, "C", ["2"], folds=3)
    assert (point.n_groups, point.test_groups) == (held["n_groups"], n)
    ends(point.validation[0], point.validation[1:], point.n_groups)
    ends(point.test[0], point.test[1:], n)
    assert np.array_equal(run.test().groups, groups[parts.test])
    other = submitted(recipe.replace(C=1e-3))
    answers = together([run, other])
    assert np.array_equal(answers.groups, groups[answers.index])
    wrong = [one.test().y_pred != one.test().y_true for one in (run, other)]
    assert all_pairs(answers)[0, 1].p == paired_test(*wrong, groups[parts.test]).p_value != paired_test(*wrong).p_value
    said = "own:views has groups, and leave-one-out would train on other examples of the same group"
    with pytest.raises(RecipeError, match=said):
        task_of(recipe).size(recipe.replace(bounds=True))
