"""Remedies: the ladder, the weakest change and the counts, against slow and obvious ones."""

import numpy as np
import pytest

from svmcore import SVC, JitterSet, Poly
from svmcore.explain import moved, remedy
from svmcore.metrics import wilson
from svmcore.model import answers
from svmcore.preprocess import Preprocessor

SHAPE = (9, 9)
LADDER = remedy.Ladder(SHAPE)
SMALL = remedy.Ladder(SHAPE, (remedy.Family("shift", "Shift", ("plus:1", "box:1")),), ())


@pytest.fixture(scope="module")
def trained():
    """A machine on crosses, bars and corners at one place, and examples of them that stand elsewhere."""
    rng = np.random.default_rng(1)
    X, y = np.zeros((90, *SHAPE), np.float32), np.arange(90) % 3
    for i, (picture, label) in enumerate(zip(X, y)):
        row, column = (4, 4) if i < 45 else rng.integers(2, 7, 2)
        picture[row - 2 : row + 3, column] = 1
        if label == 0:
            picture[row, column - 2 : column + 3] = 1
        if label == 1:
            picture[row + 2, column - 2 : column + 3] = 1
        picture += 0.15 * rng.random(SHAPE)
    prepare = Preprocessor("unit-norm", image_shape=SHAPE).transform
    return SVC(Poly(5, 1, 1), C=2.0).fit(prepare(X[:45]), y[:45]).machine_, prepare, X[45:], y[45:]


def decided(trained, ladder=LADDER):
    machine, prepare, X, y = trained
    return moved.decided(machine, prepare, ladder.everything.apply(X)), np.searchsorted(machine.classes, y)


def test_the_ladder_holds_every_change_once():
    assert LADDER.everything.names[0] == "identity"
    assert len(set(LADDER.everything.names)) == len(LADDER.everything)
    assert LADDER.members[:, 0].all()
    for text, own in zip(LADDER.texts, LADDER.members):
        names = {name for name, held in zip(LADDER.everything.names, own) if held}
        assert names == set(JitterSet.parse(text).names)


def test_changes_of_a_family_rise_in_strength():
    shift, turn, thick = (LADDER.changes(family) for family in LADDER.families[:3])
    offsets = [LADDER.everything.jitters[j].offset for j in shift]
    assert len(offsets) == 24
    assert [np.hypot(*o) for o in offsets] == sorted(np.hypot(*o) for o in offsets)
    assert [abs(float(LADDER.everything.names[j][5:-1])) for j in turn] == [3, 3, 6, 6, 9, 9, 12, 12, 15, 15]
    assert [LADDER.everything.names[j].split()[1] for j in thick] == ["0.25", "0.25", "0.5", "0.5", "1", "1"]


def test_the_remedy_is_what_trying_one_change_after_the_other_finds(trained):
    machine, prepare, X, y = trained
    f, true = decided(trained)
    wins = answers(f) == true
    wrong = np.flatnonzero(~wins[0])
    assert len(wrong) > 5
    for i in wrong:
        expected = {}
        for family in LADDER.families:
            tried = []
            for j, jitter in enumerate(LADDER.everything.jitters):
                member = any(jitter.key == o.key
                             for text in family.texts for o in JitterSet.parse(text).jitters)  # fmt: skip
                if j and member:
                    form = LADDER.everything.apply(X[i : i + 1])[j].reshape(1, *SHAPE)
                    if machine.predict(prepare(form))[0] == y[i]:
                        tried.append((remedy.strength(jitter), j))
            if tried:
                expected[family.name] = min(tried)[1]
        assert {fix.family.name: fix.change for fix in remedy.weakest(LADDER, wins[:, i])} == expected


def test_the_surest_answer_of_a_set_is_its_largest_value(trained):
    several, _ = decided(trained)
    for f in (several, several[:, :, :1]):  # several machines, and one
        said = remedy.surest(LADDER, f)
        for s, own in enumerate(LADDER.members):
            for i in range(0, f.shape[1], 7):
                forms = f[own, i] if f.shape[2] > 1 else np.hstack([-f[own, i], f[own, i]])
                assert said[s, i] == np.unravel_index(forms.argmax(), forms.shape)[1]


def test_counts_by_hand():
    """Two classes, one machine: f of five forms (identity, plus:1) of three errors of class 1."""
    assert [str(j.offset) for j in SMALL.everything.jitters[:2]] == ["(0, 0)", "(-1, 0)"]
    f = np.full((9, 3, 1), -0.5)  # box:1 has nine forms
    f[1, 0] = 2.0  # mended by one pixel up, and surely
    f[1, 1] = 0.2  # mended, but the identity is surer
    tally = remedy.add(SMALL, remedy.empty(SMALL), f, np.ones(3, int), "wrong")
    assert tally.wrong == 3
    assert tally.some_right.tolist() == [2, 2]
    assert tally.mended.tolist() == [1, 1]
    assert tally.change_mended.tolist() == [0, 2, 0, 0, 0, 0, 0, 0, 0]
    tally = remedy.add(SMALL, tally, -f, np.ones(3, int), "close")
    assert (tally.close, tally.broken.tolist()) == (3, [1, 1])
    tally = remedy.add(SMALL, tally, -f, np.ones(3, int), "drawn")
    assert (tally.drawn, tally.some_wrong.tolist(), tally.change_broken.tolist()) == (3, [2, 2], [0, 2] + 7 * [0])
    assert remedy.net(tally, 0).value == pytest.approx(0)


def test_adding_in_pieces_is_adding_at_once(trained):
    f, true = decided(trained)
    for kind in ("wrong", "close", "drawn"):
        once = remedy.add(LADDER, remedy.empty(LADDER), f, true, kind)
        pieces = remedy.empty(LADDER)
        for rows in np.array_split(np.arange(len(true)), 4):
            pieces = remedy.add(LADDER, pieces, f[:, rows], true[rows], kind)
        for a, b in zip(once, pieces):
            np.testing.assert_array_equal(a, b)


def test_close_calls_are_the_nearest_that_are_left():
    wrong, right = np.array([-0.5, -0.1, -0.11]), np.array([3.0, 0.1, 0.45, 0.6, 2.0])
    assert remedy.as_close(wrong, right).tolist() == [1, 2, 3]
    assert remedy.as_close(wrong, right[:1]).tolist() == [0]
    assert remedy.as_close(np.array([]), right).tolist() == []
    rng = np.random.default_rng(0)
    found = remedy.as_close(-rng.random(40), rng.random(60))
    assert len(set(found.tolist())) == 40


def test_the_net_and_its_interval():
    """Newcombe (1998), Table II, method 10: 56/70 against 48/80 gives 0.0524 to 0.3339."""
    tally = remedy.empty(SMALL)._replace(wrong=70, close=80, mended=np.array([56, 0]), broken=np.array([48, 0]))
    net = remedy.net(tally, 0)
    assert [net.value / 70, net.low / 70, net.high / 70] == pytest.approx([0.2, 0.0524, 0.3339], abs=1e-4)
    none = remedy.net(tally, 1)
    assert none.low < 0 < none.high
    assert none.high == pytest.approx(70 * wilson(0, 70)[1])
    assert remedy.net(remedy.empty(SMALL), 0) == (0, 0, 0)
