"""The orbit Gram against the Gram matrix of explicitly jittered, padded images."""

import numpy as np
import pytest

from svmcore import RBF, Poly
from svmcore.gram.cached import Cached
from svmcore.gram.orbit import Orbit, block_bytes, relative, shifted
from svmcore.gram.products import Operand
from svmcore.gram.sources import Dense, Work
from svmcore.jitter import JitterSet
from svmcore.solvers import decomposition
from svmcore.solvers.progress import Stopped
from svmcore.solvers.session import Session

SHAPE = (9, 7)


@pytest.fixture(scope="module")
def images():
    X = np.random.default_rng(0).uniform(0, 1, (23, *SHAPE)).astype(np.float32)
    X[X < 0.6] = 0
    return X.reshape(23, -1)


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
    assert len(gram.blocks) == blocks == len(relative(gram.index, gram.offsets)[0])
    assert gram.blocks.nbytes == block_bytes(23, gram.index, gram.offsets)


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
    assert not shifted(images, SHAPE, 9, 0).any()
    np.testing.assert_array_equal(shifted(images, SHAPE, 0, 0), images)
