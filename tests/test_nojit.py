"""Compiled code run as plain Python (NUMBA_DISABLE_JIT=1): an index out of range shows instead of reading on.

The same tests hold, and objectives are those of compiled code to 1e-6; iteration counts may differ.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from svmcore import RBF, SVC, Digestion, Poly, VirtualSVC
from svmcore.gram.products import Operand
from svmcore.gram.sources import Cached, Streamed
from svmcore.preprocess import Preprocessor
from svmcore.solvers import decomposition, digestion
from svmcore.solvers.progress import Progress
from svmcore.solvers.session import Session

ROOT = Path(__file__).parent.parent
CHOSEN = (  # those that plain Python runs in a second or two
    "test_kernels.py",
    "test_products.py",
    "test_gram.py",
    "test_smo.py::test_smo_reaches_the_objective_of_a_general_optimiser",
    "test_smo.py::test_rows_in_segments_are_rows",
    "test_smo.py::test_examples_with_no_room_stay_out",
    "test_nu.py::test_pairs_stay_within_a_class",
    "test_digestion.py::test_the_rules_stand_in_the_papers_order",
    "test_local.py::test_blocks_agree_with_the_definition",
    "test_local.py::test_cosine_puts_one_on_the_diagonal_and_zero_for_empty_images",
    "test_jittering.py::test_blocks_agree_with_the_papers_procedure",
    "test_jittering.py::test_both_sides_find_the_nearest_pair_of_forms",
    "test_jittering.py::test_kernels_are_symmetric_and_serve_every_part_of_an_operand",
    "test_suppression.py",
    "test_preprocess_faces.py::test_the_plane_is_the_least_squares_fit_inside_the_oval",
    "test_preprocess_faces.py::test_equalising_ranks_and_shares_ties",
    "test_scan.py::test_pictures_are_resized_as_pillow_does",
    "test_scan.py::test_block_means_are_means_of_blocks",
)
LEFT_OUT = (  # of those files: a minute each
    "test_gram.py::test_exact_sums_are_those_of_the_kernel_in_double_precision",
    "test_gram.py::test_the_store_keeps_its_budget",
    "test_gram.py::test_two_fits_may_ask_one_cache_at_the_same_time",
)
pytestmark = pytest.mark.ci
SCRIPT = "import json; from tests import test_nojit; print(json.dumps(test_nojit.objectives()))"


def objectives() -> dict[str, float]:
    """Dual objectives of small problems by every solver, with caches and working sets that are too small for them."""
    X, label = load_digits(return_X_y=True)
    X, y = (X[:130] / 16).astype(np.float32), np.where(label[:130] == 8, 1.0, -1.0)
    Y, C, kernel, tol = y[None], np.full((1, 130), 5.0), RBF(0.2), 1e-8
    small = decomposition.sample.LARGEST, decomposition.working_set.GROWTH
    decomposition.sample.LARGEST, decomposition.working_set.GROWTH = 40, 20
    try:
        found = {
            "smo": SVC(kernel, C=5, tol=tol).fit(X, y).history_[-1],
            "streamed": last(decomposition.solve, Streamed(Operand(X), kernel), Y, C, tol=tol),
            "cached": last(decomposition.solve, Cached(Operand(X), kernel, 4 * 130 * 9), Y, C, tol=tol),
        }
    finally:
        decomposition.sample.LARGEST, decomposition.working_set.GROWTH = small
    rules = Digestion(wait=0, force=300, rows=7)
    found["digestion"] = last(digestion.solve, Operand(X, "dense"), kernel, Y, C, tol=tol, settings=rules)
    images, pair = X[:40].reshape(-1, 8, 8), np.where(label[:40] < 5, 1, -1)
    for name, steps in (("orbit", ("unit-norm",)), ("expanded", ("standardise",))):
        virtual = VirtualSVC(SVC(Poly(3, 1, 1), C=2, tol=tol), jitters="plus:1", prepare=Preprocessor(*steps))
        found[name] = virtual.fit(images, pair).history_[-1]
    return {name: float(progress.dual) for name, progress in found.items()}


def last(solve, *arguments, **options) -> Progress:
    """The last report of a solve."""
    session = Session()
    solve(*arguments, session, **options)
    return session.history[-1]


def without_jit(*command) -> str:
    """Standard output of a Python command run without compiling; fails with all that it said."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(900)  # plain Python beside a busy core
def test_chosen_tests_pass_without_compiling():
    names = [f"tests/{name}" for name in CHOSEN] + [f"--deselect=tests/{name}" for name in LEFT_OUT]
    out = without_jit("-m", "pytest", "-q", "-p", "no:cacheprovider", *names)
    assert int(out.rpartition(" passed")[0].split()[-1]) > 100


@pytest.mark.slow
def test_objectives_do_not_depend_on_compiling():
    plain = json.loads(without_jit("-c", SCRIPT))
    compiled = objectives()
    assert plain.keys() == compiled.keys()
    assert plain == pytest.approx(compiled, rel=1e-6)
