"""Split: which examples of a dataset train and which test, by the recipe or by one fold of its training set.

A revision (data.revisions) is split as its base is, by the labels of before any verdict; then what its verdicts say is
done. So the runs of a base and of its revisions train and test on the same examples but for those taken out, and label
noise swaps the same ones: a verdict has the last word on its example's label, before noise or after. An example that
had no label joins those that train with the verdict that says it, and no test, as it may have been chosen.

Label noise: a share of the examples is given another class, drawn by the seed.

    swapped(y, share, seed) -> y with round(share n) labels changed        flipped(n, share, seed) -> which

More noise changes the same examples and further ones, so that runs of growing noise differ by what is added.

Where the dataset has groups, examples that a split draws are drawn by the group, and folds keep groups together, too.
Bakir, Bottou and Weston (2004), section 4.2.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from svmcore.lab.fields import RecipeError
from svmcore.metrics import stratified_folds


class Split(NamedTuple):
    """Positions of the examples in the dataset, and their labels."""

    train: np.ndarray  # (n_train,) int64, into X_train
    test: np.ndarray  # (n_test,) int64, into the part
    part: str  # "test" | "train"
    y_train: np.ndarray  # with the recipe's label noise
    y_test: np.ndarray  # without
    y_noisy: np.ndarray | None = None  # (n_test,) with it, where there is some
    groups: np.ndarray | None = None  # (n_train,) int64 of the training examples, where the dataset has them


def whole(recipe, data, share: float = 0.0) -> Split:
    """The recipe's training and test set, this share of labels swapped. RecipeError for impossible split or folds."""
    found = _noisy(recipe, _whole(recipe, data.base or data), share)
    if data.base is not None:
        found = _revised(recipe, data, found)
    found = found._replace(groups=data.groups_of("train", found.train))
    if recipe.folds is not None and recipe.folds > (smallest := smallest_class(found.y_train, found.groups)):
        what = "examples" if found.groups is None else "groups"
        raise RecipeError("folds", recipe.folds, f"2 to {smallest}, the number of {what} in the smallest class")
    return found


def _whole(recipe, data) -> Split:
    train, test, part = positions(recipe, data)
    y_test = data.y_test if part == "test" else data.y_train
    return Split(train, test, part, labels(recipe, data.y_train[train]), labels(recipe, y_test[test]))


def smallest_class(y: np.ndarray, groups: np.ndarray | None = None) -> int:
    """How many examples, or groups of them, the class has that has the fewest."""
    label = np.unique(y, return_inverse=True)[1]
    if groups is not None:
        label = np.unique([label, groups], axis=1)[0]
    return int(np.bincount(label).min())


def possible_folds(recipe, parts, most: int) -> int:
    """So many folds, or as many as the smallest class allows. RecipeError for a class of one example or group."""
    smallest = smallest_class(parts.y_train, parts.groups)
    if smallest < 2:
        raise RecipeError("dataset", recipe.dataset, "classes of at least 2 training examples, one of them held out")
    return min(most, smallest)


def _noisy(recipe, split: Split, share: float) -> Split:
    """The split with this share of its labels swapped: of the training examples, and of the test's beside theirs."""
    if not share:
        return split
    y_noisy = swapped(split.y_test, share, recipe.seed, TEST)
    return split._replace(y_train=swapped(split.y_train, share, recipe.seed), y_noisy=y_noisy)


def _revised(recipe, data, split: Split) -> Split:
    """The split of a revision's base after the verdicts: without the rows taken out, or that have a label by now which
    the recipe does not ask for; RecipeError where that leaves nothing."""
    part = data.test if split.part == "test" else data.train
    ys = [y for y in (split.y_test, split.y_noisy) if y is not None]
    train, y_train = _joined(recipe, data, *_judged(recipe, data.train, split.train, split.y_train))
    test, *ys = _judged(recipe, part, split.test, *ys)
    if len(np.unique(y_train)) < 2 or len(test) == 0 < len(split.test):
        raise RecipeError("dataset", recipe.dataset, "a revision with a test set and two classes to train on")
    return Split(train, test, split.part, y_train, *ys)


def _judged(recipe, part, rows: np.ndarray, *ys: np.ndarray) -> list[np.ndarray]:
    """Those of the rows of a part that are left, and their labels: by the verdict, where there is one."""
    kept = ~np.isin(rows, part.out) & (_wanted(recipe, part.y[rows]) | ~np.isin(rows, part.mended))
    rows, mended = rows[kept], np.isin(rows[kept], part.mended)
    return [rows, *(np.where(mended, labels(recipe, part.y[rows]), y[kept]) for y in ys)]


def _joined(recipe, data, train: np.ndarray, y_train: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The training examples of a revision, those behind them whose label its verdicts alone tell."""
    asked = data.train.mended[data.train.mended >= len(data.base.y_train)]
    asked = asked[_wanted(recipe, data.train.y[asked])]
    return np.concatenate([train, asked]), np.concatenate([y_train, labels(recipe, data.train.y[asked])])


def fold(recipe, split: Split, number: int) -> Split:
    """Part `number` of the recipe's folds of a training set held out from the others."""
    return next(islice(folds(recipe, split), number, None))


def folds(recipe, split: Split) -> Iterator[Split]:
    """All of them, in their order."""
    for kept, held in stratified_folds(split.y_train, recipe.folds, recipe.seed, split.groups):
        groups = None if split.groups is None else split.groups[kept]
        sides = split.train[kept], split.train[held], "train", split.y_train[kept], split.y_train[held]
        yield Split(*sides, groups=groups)


def held_out(recipe, n: int, n_classes: int) -> int:
    """How many of n examples test, without a test part: those requested, else those left by training, or a fifth, but
    at least one a class. RecipeError where that leaves none to train on."""
    n_test = recipe.n_test or max(n_classes, n - recipe.n_train if recipe.n_train else n // 5)
    if n_test >= n:
        of = recipe.dataset if len(recipe.classes) < 2 else f"these classes of {recipe.dataset}"
        raise RecipeError("n_test", n_test, f"fewer than the {n} examples of {of}", max(n_classes, n // 5))
    return n_test


def positions(recipe, data) -> tuple[np.ndarray, np.ndarray, str]:
    """Of a set that is no revision: positions (n_train,) and (n_test,), and the part that the latter count in."""
    train = np.flatnonzero(_wanted(recipe, data.y_train))
    test, part = np.flatnonzero(_wanted(recipe, data.y_test)), "test"
    if not len(data.y_test):
        if recipe.split != "stratified":
            raise RecipeError("split", recipe.split, f"stratified, because {recipe.dataset} has no test set of its own")
        n_test = held_out(recipe, len(train), len(np.unique(data.y_train[train])))
        own = data.groups_of("train", np.arange(len(data.y_train)))
        train, test = _draw(recipe, train, data.y_train, own, len(train) - n_test, n_test, "n_test")
        part = "train"
    elif recipe.split == "stratified":
        own = data.groups_of("test", np.arange(len(data.y_test)))
        test = _some(recipe, test, data.y_test, own, recipe.n_test, "n_test")
    else:
        test = test[: recipe.n_test]
    if recipe.split == "stratified":
        own = data.groups_of("train", np.arange(len(data.y_train)))
        train = _some(recipe, train, data.y_train, own, recipe.n_train, "n_train")
    elif recipe.split == "first-of-each":
        own, classes = data.y_train[train], np.unique(data.y_train[train])
        each = len(train) if recipe.n_train is None else recipe.n_train // len(classes)
        train = np.sort(np.concatenate([train[own == label][:each] for label in classes]))
    else:
        train = train[: recipe.n_train]
    return train, test, part


def left_over(recipe, data, most: int) -> np.ndarray:
    """(n,) positions into X_train of examples that neither train nor test: at most so many of them, by the seed."""
    train, test, part = positions(recipe, data.base or data)
    used = np.union1d(train, test) if part == "train" else train
    if data.base is not None:
        used = np.union1d(used, data.train.out)
    labelled = (data.base or data).y_train
    rows = np.setdiff1d(np.flatnonzero(_wanted(recipe, data.y_train[: len(labelled)])), used)
    if data.groups is not None:
        rows = rows[~np.isin(data.groups[rows], data.groups[used])]
    return np.sort(np.random.default_rng(recipe.seed).permutation(rows)[:most])


def _wanted(recipe, y: np.ndarray) -> np.ndarray:
    """(n,) bool: the examples of the classes asked for; all of them when one class stands against the rest."""
    if len(recipe.classes) < 2:
        return np.ones(len(y), bool)
    return np.isin(y.astype(str), [str(label) for label in recipe.classes])


def labels(recipe, y: np.ndarray) -> np.ndarray:
    """The labels to learn: +1 and -1 for one class against the rest."""
    if len(recipe.classes) != 1:
        return y
    own = y.astype(str) == str(recipe.classes[0])
    return np.where(own, 1, -1)


def _some(recipe, index, y, groups, n, field):
    if n is None or n >= len(index):
        return index
    if groups is not None and len(np.unique(groups[index])) * (1 - n / len(index)) < len(np.unique(y[index])):
        return index  # about n already, as whole groups are drawn
    return _draw(recipe, index, y, groups, n, len(index) - n, field)[0]


def _draw(recipe, index, y, groups, n_first, n_second, field):
    """Two disjoint sorted parts of `index`, each class in its proportion where every class has enough. groups: of all
    rows of y, which stay together, so that sizes are met about where groups differ in size."""
    if groups is not None:
        leaders = index[np.unique(groups[index], return_index=True)[1]]
        n = round(n_first * len(leaders) / len(index))
        parts = _draw(recipe, leaders, y, None, n, len(leaders) - n, field)
        return tuple(index[np.isin(groups[index], groups[part])] for part in parts)
    try:
        parts = train_test_split(
            index, train_size=n_first, test_size=n_second, stratify=y[index], random_state=recipe.seed
        )
    except ValueError:
        least = len(np.unique(y[index]))
        wanted = f"two parts, each of at least {least}, one of each class (here {n_first} and {n_second})"
        if smallest_class(y[index]) < 2:
            wanted = "classes of at least 2 examples"
        raise RecipeError(field, n_second if field == "n_test" else n_first, wanted) from None
    return np.sort(parts[0]), np.sort(parts[1])


TRAIN, TEST = 0, 1


def flipped(n: int, share: float, seed: int, part: int = TRAIN) -> np.ndarray:
    """(n,) bool: the training (or test) examples, in the order of a run's split, whose labels are swapped."""
    chosen = np.zeros(n, bool)
    chosen[np.random.default_rng([seed, part]).permutation(n)[: round(share * n)]] = True
    return chosen


def swapped(y: np.ndarray, share: float, seed: int, part: int = TRAIN) -> np.ndarray:
    """(n,) the labels, those of flipped examples replaced by another class: of two the other, of more any."""
    classes, code = np.unique(y, return_inverse=True)
    step = np.random.default_rng([seed, part, 1]).integers(1, max(len(classes), 2), len(y))
    return classes[(code + step * flipped(len(y), share, seed, part)) % len(classes)]
