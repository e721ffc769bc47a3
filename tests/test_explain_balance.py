"""Forces and torques of the support vectors on the decision plane, against sums of outer products written out."""

import numpy as np
import pytest

from pages.paper import plane
from svmcore import SVC
from svmcore.explain.balance import balance
from svmcore.kernels import Linear, Poly


def features(kernel, X):
    """phi(x) of each row: x itself, or for ((u.v + 1) / 2)^2 the products of all pairs of (x, 1) / sqrt 2."""
    if kernel == Linear():
        return X.astype(float)
    Z = np.hstack([X, np.ones((len(X), 1))]) / 2**0.5
    return np.einsum("ni,nj->nij", Z, Z).reshape(len(Z), -1)


@pytest.mark.parametrize("kernel", [Linear(), Poly(2, 1.0, 1.0)])
def test_sums_are_those_of_vectors_and_outer_products_in_feature_space(kernel):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2)).astype(np.float32)
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=40) > 0, 1, -1)
    machine = SVC(kernel, C=1.0, tol=1e-6).fit(X, y).machine_
    found = balance(machine)
    Z = features(kernel, machine.support_vectors[found.row])
    u = found.force @ Z / np.linalg.norm(found.force @ Z)
    torques = [c * (np.outer(z, u) - np.outer(u, z)) / 2**0.5 for z, c in zip(Z, found.force, strict=True)]
    assert found.torque == pytest.approx([np.linalg.norm(one) for one in torques], rel=1e-4, abs=1e-6)
    so_far = np.linalg.norm(np.cumsum(torques, axis=0), axis=(1, 2))
    assert found.torque_sum == pytest.approx(so_far, rel=1e-4, abs=1e-5 * found.torque.sum())
    assert found.force_sum == pytest.approx(np.abs(np.cumsum(machine.coef[0, found.row])))
    assert max(found.left) < 1e-5


def test_forces_that_do_not_balance_are_seen():
    _, _, machine = plane.in_the_plane()
    machine.coef[0, np.flatnonzero(machine.coef[0])[0]] *= 1.5
    assert balance(machine).left[0] > 0.1
    machine.coef[:] = 0
    with pytest.raises(ValueError, match="no support vectors"):
        balance(machine)


def test_machines_of_the_page_are_in_balance(home):
    points, digits = balance(plane.in_the_plane()[2]), plane.of_digits()
    assert max(*points.left, *digits.left) < 1e-6
    assert digits.force_sum.max() > 1
