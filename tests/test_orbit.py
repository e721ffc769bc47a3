"""The orbit Gram against the Gram matrix of explicitly jittered, padded images."""

import numpy as np
import pytest

from svmcore import RBF, Poly
from svmcore.gram.orbit import Orbit, block_bytes, moved, relative, shifted
from svmcore.gram.products import Operand
from svmcore.gram.sources import Cached, Dense, Work
from svmcore.jitter import JitterSet
from svmcore.solvers import decomposition
from svmcore.solvers.progress import Stopped
from svmcore.solvers.session import Session
from tests import naive

SHAPE = (15, 13)  # with a margin of 3


@pytest.fixture(scope="module")
def images():
    X = np.random.default_rng(0).uniform(0, 1, (23, 9, 7)).astype(np.float32)
    X[X < 0.6] = 0
    return np.pad(X, ((0, 0), (3, 3), (3, 3))).reshape(23, -1)


def unit(X):
    return X / np.linalg.norm(X, axis=-1, keepdims=True)


def orbit(images, jitters, kernel, work=None):
    factors = jitters.factor()
    bases = unit(factors.rest.apply(images))
    return Orbit(bases, SHAPE, factors.index, factors.offsets, kernel, work or Work())


@pytest.mark.parametrize("kernel", [Poly(9), RBF(1.5)], ids=repr)
@pytest.mark.parametrize(
    ("text", "blocks"), [("box:1", 25), ("vsv2", 41), ("box:2", 81), ("shift:0,3", 3), ("box:1*flip:h", 100)]
)
def test_every_entry_is_that_of_the_padded_images(images, kernel, text, blocks):
    jitters = JitterSet.parse(text, image_shape=SHAPE)
    gram = orbit(images, jitters, kernel)
    padded = unit(jitters.apply(images, pad=jitters.reach)).reshape(len(jitters) * 23, -1)
    K = kernel.exact(padded, padded)
    np.testing.assert_allclose(gram.rows(np.arange(gram.n), Work()), K, rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(gram.diag, np.diagonal(K), rtol=1e-5)
    lay = jitters.factor()[1:]
    assert len(gram.blocks) == blocks == len(relative(*lay)[0])
    assert gram.blocks.nbytes == block_bytes(23, *lay)


def test_mixed_sets_share_their_translations(images):
    jitters = JitterSet.parse("box:1+flip:h", image_shape=SHAPE)
    gram = orbit(images, jitters, Poly(3))
    padded = unit(jitters.apply(images, pad=1)).reshape(len(jitters) * 23, -1)
    np.testing.assert_allclose(
        gram.rows(np.arange(gram.n), Work()), Poly(3).exact(padded, padded), rtol=2e-5, atol=2e-6
    )


def test_all_sources_make_the_same_machine(images):
    jitters, kernel = JitterSet.parse("box:1", image_shape=SHAPE), Poly(5)
    padded = unit(jitters.apply(images, pad=1)).reshape(9 * 23, -1).astype(np.float32)
    Y = np.where(np.tile(np.arange(23) % 3, 9) == np.arange(3)[:, None], 1.0, -1.0)
    C = np.full_like(Y, 2.0)
    sources = (
        orbit(images, jitters, kernel),
        Cached(Operand(padded), kernel, 10**6),
        Dense(kernel.block(padded, padded)),
    )
    duals = []
    for gram in sources:
        session = Session()
        decomposition.solve(gram, Y, C, session, tol=1e-5)
        duals.append(session.history[-1].dual)
    assert duals == pytest.approx([duals[0]] * 3, rel=1e-6)


def test_half_of_the_products_are_transposes(images):
    work = Work()
    orbit(images, JitterSet.parse("box:1", image_shape=SHAPE), Poly(3), work)
    assert work.evaluations == 13 * 23 * 23


@pytest.mark.parametrize("text", ["box:1", "box:2", "box:1*flip:h"])
def test_forms_that_a_shift_clips_have_rows_of_their_own(images, text):
    """Every value, and sums in double precision, are those of the images as they are: clipped, and normalised anew."""
    jitters, rng = JitterSet.parse(text, image_shape=SHAPE), np.random.default_rng(4)
    images = images.reshape(-1, *SHAPE).copy()
    images[:4, 0, 4], images[4, 7, -1] = 0.5, 1 / 255  # ink on the rim
    images, factors = images.reshape(len(images), -1), jitters.factor()
    forms, bases = unit(jitters.apply(images)), unit(factors.rest.apply(images))
    apart = np.flatnonzero(~moved(forms, bases, SHAPE, factors.index, factors.offsets))
    ink = [np.count_nonzero(form, axis=1) < np.count_nonzero(images, axis=1) for form in forms]
    np.testing.assert_array_equal(apart, np.flatnonzero(ink))
    forms = forms.reshape(-1, forms.shape[-1])
    gram = Orbit(bases, SHAPE, factors.index, factors.offsets, Poly(5), Work(), None, forms[apart])
    examples = np.concatenate([forms, forms[apart]]).astype(np.float64)
    used = np.setdiff1d(np.arange(gram.n), apart)
    K = Poly(5).exact(examples, examples)
    np.testing.assert_allclose(gram.rows(used, Work())[:, used], K[np.ix_(used, used)], rtol=2e-5, atol=2e-6)
    idx, cols = rng.permutation(used)[:90], rng.permutation(used)[:70]
    coef = 1e4 * rng.normal(size=70)
    sums = gram.exact_sums(idx, cols, coef, Work())
    np.testing.assert_allclose(sums, K[np.ix_(idx, cols)] @ coef, atol=1e-6 * abs(coef).sum())
    Y = np.where(np.arange(gram.n) % 3 == np.arange(3)[:, None], 1.0, -1.0)
    C = np.full_like(Y, 100.0)
    C[:, apart] = 0
    solution = decomposition.solve(gram, Y, C, Session(), tol=1e-4)
    assert not solution.alpha[:, apart].any()
    assert solution.alpha[:, len(forms) :].any()
    for y, c, alpha in zip(Y[:, used], C[:, used], solution.alpha[:, used], strict=True):
        assert naive.kkt_gap(K[np.ix_(used, used)], y, c, alpha) <= 1.1e-4


@pytest.mark.parametrize("text", ["box:1", "box:1*flip:h"])
def test_exact_sums_are_those_of_the_padded_images(images, text):
    jitters, rng = JitterSet.parse(text, image_shape=SHAPE), np.random.default_rng(4)
    gram = orbit(images, jitters, Poly(5))
    padded = unit(jitters.apply(images, pad=1)).reshape(len(jitters) * 23, -1)
    idx, cols = rng.permutation(gram.n)[:90], rng.permutation(gram.n)[:70]
    coef = 1e4 * rng.normal(size=70)
    expected = Poly(5).exact(padded[idx], padded[cols]) @ coef
    np.testing.assert_allclose(gram.exact_sums(idx, cols, coef, Work()), expected, atol=1e-6 * abs(coef).sum())


def test_the_work_can_be_stopped(images):
    class Stopping(Work):
        def check(self):
            raise Stopped

    with pytest.raises(Stopped):
        Orbit(unit(images)[None], SHAPE, [0], [[0, 0]], Poly(3), Stopping())


def test_shifting_past_the_frame_leaves_nothing(images):
    assert not shifted(images, SHAPE, 15, 0).any()
    np.testing.assert_array_equal(shifted(images, SHAPE, 0, 0), images)
