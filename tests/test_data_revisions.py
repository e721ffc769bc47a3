"""Revisions: labels as verdicts have them, whatever is done to the file; what cannot be is said, nothing is lost."""

import csv
import io

import numpy as np
import pytest

from data import DataError, UnknownDataset, catalogue, judging, revisions, verdicts
from data.dataset import Arrays
from data.revisions import _path, parse_name
from data.verdicts import KEEP, LABEL, OUT, UNDO, UNSURE, Verdict


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMLAB_HOME", str(tmp_path))


def rows(n=60, n_test=12, labels=("ant", "bee", "cow"), title="Mine", seed=0):
    """A table of the reader's own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + n_test, 4)).astype(np.float32)
    y = np.array(labels)[np.arange(n + n_test) % len(labels)]
    catalogue.keep(title, Arrays(X[:n], y[:n], X[n:], y[n:]), replace=True)
    return catalogue.load(f"own:{title.lower()}")


def on(base, part, row, verdict, label=None):
    y = base.y_train if part == "train" else base.y_test
    return Verdict(part, row, y[row].item(), verdict, label)


def drawn(base, n, seed):
    """Random verdicts, undoing among them, and what they come to by a naive account."""
    rng, lines, left = np.random.default_rng(seed), [], []
    for _ in range(n):
        if left and rng.random() < 0.25:
            lines.append(left.pop()._replace(verdict=UNDO, label=None))
            continue
        part = ("train", "test")[int(rng.random() < 0.3)]
        row = int(rng.integers(len(base.y_train if part == "train" else base.y_test)))
        verdict = (KEEP, LABEL, OUT, UNSURE)[rng.integers(4)]
        label = base.entry.classes[rng.integers(len(base.entry.classes))] if verdict == LABEL else None
        left.append(on(base, part, row, verdict, label))
        lines.append(left[-1])
    labels, out = {"train": base.y_train.tolist(), "test": base.y_test.tolist()}, {"train": set(), "test": set()}
    for key, said in {one.key: one for one in left}.items():
        if said.verdict == LABEL:
            labels[key[0]][key[1]] = said.label
        if said.verdict == OUT:
            out[key[0]].add(key[1])
    return lines, labels, out


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("labels", [("ant", "bee", "cow"), (-1, 1), ("=a", "'=a", "a,b")])
def test_a_revision_is_its_base_with_what_the_verdicts_say(seed, labels):
    base = rows(labels=labels)
    lines, y, out = drawn(base, 80, seed)
    for at in range(0, len(lines), 7):
        revisions.add("own:mine@checked", base, lines[at : at + 7])
    judging._logs.clear()  # as another process reads it
    found = catalogue.load("own:mine@checked")
    assert found.y_train.tolist() == y["train"]
    assert found.y_test.tolist() == y["test"]
    assert (set(found.train.out.tolist()), set(found.test.out.tolist())) == (out["train"], out["test"])
    assert found.X_train is base.X_train
    assert found.entry.out == (len(out["train"]), len(out["test"]))
    assert not found.y_train.flags.writeable


def test_a_state_stays_what_it_was_and_has_a_hash_of_its_own():
    base, name = rows(), "own:mine@checked"
    revisions.add(name, base, [on(base, "train", 3, KEEP)])
    assert catalogue.load(name).content_hash == base.content_hash
    revisions.add(name, base, [on(base, "train", 4, LABEL, "cow")])
    pinned = catalogue.pinned(name)
    assert pinned == "own:mine@checked.2"
    then = catalogue.load(pinned)
    hashes = {base.content_hash, then.content_hash}
    for more in (on(base, "train", 4, LABEL, "ant"), on(base, "train", 9, OUT), on(base, "test", 9, OUT)):
        revisions.add(name, base, [more])
        hashes.add(catalogue.load(name).content_hash)
    assert len(hashes) == 5
    assert catalogue.load(pinned).content_hash == then.content_hash
    assert catalogue.load(pinned).y_train[4] == "cow"
    assert catalogue.pinned(pinned) == pinned
    assert catalogue.pinned("own:mine") == "own:mine"


def test_undo_takes_back_one_verdict_after_the_other():
    base, name = rows(), "own:mine@checked"
    first, second = on(base, "train", 4, LABEL, "cow"), on(base, "train", 4, OUT)
    revisions.add(name, base, [first, second])
    assert revisions.undo(name, base) == second
    assert revisions.standing(name, base.entry) == {("train", 4): first}
    assert revisions.undo(name, base) == first
    assert revisions.standing(name, base.entry) == {}
    assert revisions.undo(name, base) is None
    assert catalogue.load(name).content_hash == base.content_hash


def test_a_file_is_read_again_when_it_has_changed_and_only_then(monkeypatch):
    base, name = rows(), "own:mine@checked"
    revisions.add(name, base, [on(base, "train", 1, OUT)])
    path, whole, read = _path(parse_name(name)), judging._whole, []
    assert catalogue.entry(name).out == (1, 0)
    monkeypatch.setattr(judging, "_whole", lambda path: [read.append(path), whole(path)][1])
    for _ in range(3):
        assert catalogue.entry(name).judged == {OUT: 1}
        assert catalogue.entry(f"{name}.1").out == (1, 0)
    assert not read
    with path.open("a") as file:  # as another process adds to it
        file.write(verdicts.written([on(base, "train", 2, KEEP)], base.entry.name, base.content_hash[:12], head=False))
    assert catalogue.entry(name).judged == {OUT: 1, KEEP: 1}
    assert catalogue.entry(f"{name}.1").judged == {OUT: 1}
    assert read == [path]


@pytest.mark.parametrize("cut", [1, 9, 30])
def test_what_a_kill_left_half_written_costs_that_verdict_alone(cut):
    base, name = rows(), "own:mine@checked"
    revisions.add(name, base, [on(base, "train", 1, OUT), on(base, "train", 2, OUT)])
    path = _path(parse_name(name))
    path.write_bytes(path.read_bytes()[:-cut])
    assert set(revisions.standing(name, base.entry)) == {("train", 1)}
    revisions.add(name, base, [on(base, "train", 5, OUT)])
    judging._logs.clear()
    assert set(revisions.standing(name, base.entry)) == {("train", 1), ("train", 5)}


def test_a_catalogue_lists_revisions_and_what_became_of_those_without_a_base():
    base = rows()
    revisions.add("own:mine@checked", base, [on(base, "train", 1, OUT)])
    assert catalogue.entries()[-1].name == "own:mine@checked"
    assert "1 excluded" in catalogue.entries()[-1].note
    assert not catalogue.damaged()
    catalogue.forget("own:mine")
    assert "own:mine@checked" not in [entry.name for entry in catalogue.entries()]
    (damage,) = catalogue.damaged()
    assert "own:mine, the base of the revision own:mine@checked, was deleted" in damage.reason
    with pytest.raises(DataError, match="was deleted"):
        catalogue.load("own:mine@checked")
    catalogue.forget("own:mine@checked")
    assert not catalogue.damaged()
    with pytest.raises(UnknownDataset, match="own:mine@checked"):
        catalogue.load("own:mine@checked")


def test_a_base_that_was_replaced_is_found_out():
    base = rows()
    revisions.add("own:mine@checked", base, [on(base, "train", 1, OUT)])
    other = rows(seed=1)
    with pytest.raises(DataError, match="own:mine was replaced after the verdicts"):
        catalogue.load("own:mine@checked")
    with pytest.raises(DataError, match="was replaced after"):
        revisions.add("own:mine@checked", other, [on(other, "train", 2, OUT)])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("mine", "yours"), "it belongs to the dataset 'own:yours'"),
        ((",train,", ",valid,"), "neither train nor test"),
        ((",train,1,", ",train,60,"), "no example '60' in the training set, which has 60"),
        ((",train,1,", ",train,-1,"), "no example '-1'"),
        ((",train,1,", ",train,1e0,"), "no example '1e0'"),
        ((",bee,", ",bear,"), "no class 'bear'"),
        ((",label,", ",rename,"), "the verdict is 'rename', not one of"),
        ((",cow", ",sow"), "no class 'sow'"),
        ((",label,cow", ",keep,cow"), "the verdict keep must not have a label"),
        ((",label,cow", ",label,"), "no class ''"),
        ((",label,cow", ",label"), "6 cells"),
        (("dataset,", "data,"), "The first line is 'data,"),
    ],
)
def test_what_a_csv_cannot_say_is_told_with_its_line(change, told):
    base = rows()
    name = "own:mine@checked"
    revisions.add(name, base, [on(base, "train", 1, LABEL, "cow")])
    blob = revisions.export(name, base.entry).replace(*change).encode()
    with pytest.raises(DataError, match=told) as raised:
        revisions.compared("own:mine@other", base, blob)
    assert "Line 2" in str(raised.value) or "first line" in str(raised.value)
    _path(parse_name(name)).write_bytes(blob)
    (damage,) = catalogue.damaged()
    assert damage.name == name


def test_a_csv_of_other_examples_or_with_two_minds_is_refused():
    base = rows()
    text = verdicts.written([on(base, "train", 1, OUT), on(base, "train", 1, KEEP)], "own:mine", base.content_hash[:12])
    with pytest.raises(
        DataError, match="Example 1 of the training set has two verdicts: excluded, and label confirmed"
    ):
        revisions.compared("own:mine@checked", base, text.encode())
    with pytest.raises(DataError, match="another version of 'own:mine'"):
        revisions.compared("own:mine@checked", base, text.replace(base.content_hash[:12], 12 * "0").encode())
    with pytest.raises(DataError, match="Example 1 of the training set of own:mine has the label bee"):
        revisions.compared("own:mine@checked", base, text.replace(",bee,", ",ant,").encode())
    with pytest.raises(DataError, match="not UTF-8 text"):
        revisions.compared("own:mine@checked", base, b"\xff\xfe\x00")
    with pytest.raises(DataError, match="The file is too large"):
        revisions.compared("own:mine@checked", base, bytes(verdicts.MAX_BYTES + 1))


def test_verdicts_that_cannot_be_change_nothing():
    base, name = rows(), "own:mine@checked"
    revisions.add(name, base, [on(base, "train", 1, OUT)])
    before = _path(parse_name(name)).read_bytes()
    for wrong in (
        Verdict("train", 99, "ant", OUT),
        Verdict("train", 2, "ant", OUT),  # it is a cow
        on(base, "train", 2, LABEL, "sow"),
        on(base, "train", 2, UNDO),
    ):
        with pytest.raises(DataError):
            revisions.add(name, base, [wrong])
        assert _path(parse_name(name)).read_bytes() == before
    with pytest.raises(DataError, match="is itself a revision"):
        revisions.named(name, "again")
    for bad in ("own:mine@../x", "own:mine@", "own:mine@a.01", "own:mine@UP", "@x", "own:mine@a@b", "own:mine@a.9"):
        with pytest.raises(DataError):
            catalogue.entry(bad)


def test_what_is_exported_is_merged_elsewhere_and_no_spreadsheet_runs_it():
    base = rows(labels=("=1+1", "@x", "ok"))
    mine = [on(base, "train", 1, LABEL, "=1+1"), on(base, "train", 2, OUT), on(base, "test", 3, KEEP)]
    theirs = [on(base, "train", 1, LABEL, "=1+1"), on(base, "train", 2, UNSURE), on(base, "test", 4, OUT)]
    revisions.add("own:mine@mine", base, [*mine, on(base, "train", 9, OUT), on(base, "train", 9, UNDO)])
    revisions.add("own:mine@theirs", base, theirs)
    text = revisions.export("own:mine@theirs", base.entry)
    cells = [cell for line in csv.reader(io.StringIO(text)) for cell in line]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    found = revisions.compared("own:mine@mine", base, text.encode())
    assert (found.new, found.alike, found.unlike) == ([theirs[2]], [theirs[0]], [(mine[1], theirs[1])])
    again = revisions.compared("own:mine@mine", base, revisions.export("own:mine@mine", base.entry).encode())
    assert (len(again.new), len(again.alike), len(again.unlike)) == (0, 3, 0)


def test_a_hundred_thousand_verdicts_are_read_once_and_added_to():
    base, name = rows(), "own:mine@many"
    lines = [on(base, "train", i % 60, LABEL, ("ant", "bee", "cow")[i % 3]) for i in range(100_000)]
    revisions.add(name, base, lines)
    log = revisions.read(name, base.entry)
    revisions.add(name, base, [on(base, "train", 0, OUT)])
    grown = revisions.read(name, base.entry)
    assert grown.number == log.number  # not read anew from its beginning
    assert len(grown.lines) == 100_001
    assert catalogue.load(f"{name}.100000").train.out.tolist() == []
    assert catalogue.load(name).train.out.tolist() == [0]
