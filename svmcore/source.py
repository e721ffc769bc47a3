"""Where a fit takes its kernel values from: the Gram source that suits the kernel, the solver and the ceiling.

    whole       all of K at once: few examples, or solver "smo"
    streamed    nothing kept: kernels of inner products
    cached      rows kept as the ceiling allows: kernels that fill their own blocks

X (n, d) float32; ceiling: bytes for all that grows with the data; machines: of the fit; beside: bytes held already.
"""

from typing import NamedTuple

import numpy as np

from svmcore.estimator import require_memory
from svmcore.gram.filed import PACKED, FiledOperand
from svmcore.gram.products import Operand
from svmcore.gram.sources import STEP, Cached, Dense, Gram, Streamed, Work
from svmcore.kernels import Kernel
from svmcore.rows import PIECE, FileRows
from svmcore.solvers.decomposition import Decomposition, Interior

NUMBERS = 9  # of 8 bytes that the rounds hold of each example and machine
PLACES = 6  # of these of each example, whatever the machines: which are columns, and which lie outside a set
BESIDE = 40  # of these of each example of a file: labels, weights, lengths, and what lies between two steps
TOUCHED = 0.85  # of that for sets: memory that a larger one has used stays while steps use what a smaller one spares
FILED = 0.25  # share of a ceiling's rest that rows of a file are kept in
SMALLEST_FILED = 500  # examples of a set of them, at least
SMO_UP_TO = 3000  # examples, for one machine, up to which "auto" computes the whole Gram matrix; twice that for several


class Source(NamedTuple):
    """Where a fit takes its kernel values from."""

    gram: Gram
    square_bytes: int  # left for the Gram matrices of working sets, and what is computed beside them
    evaluations: int = 0  # kernel values that it took to make
    interior: Interior | None = None  # machines of fits that share all of K

    @property
    def nbytes(self) -> int:
        """What is held of it by now."""
        return self.gram.nbytes + (self.interior.nbytes if self.interior else 0)


def gram_source(X, kernel: Kernel, solver, ceiling: int, machines: int, beside: int = 0) -> Source:
    """The source for examples X and a solver as of SVC. BudgetError where the ceiling is too low for any."""
    n, in_file = len(X), isinstance(X, FileRows)
    operand = FiledOperand(X) if in_file else Operand(X)
    if not np.isfinite(operand.diag(kernel)).all():
        raise ValueError(f"X: values of {kernel} overflow float32; scale the features first, for example to unit norm")
    operand.apart(kernel)  # what it holds for this kernel counts
    fixed = beside + operand.nbytes + 8 * n * (NUMBERS * machines + PLACES)
    whole = 4 * n * n
    if in_file:
        return _filed(operand, kernel, solver, fixed, ceiling)
    if isinstance(solver, Decomposition) and solver.working_set is not None:
        return _bounded(operand, kernel, min(solver.working_set, n), fixed, ceiling)
    small = n <= (SMO_UP_TO if machines == 1 else 2 * SMO_UP_TO)
    if solver == "smo" or (solver == "auto" and small and fixed + whole <= ceiling):
        require_memory(fixed + whole, ceiling, "the whole Gram matrix of solver 'smo'")
        return Source(Streamed(operand, kernel, whole=True), ceiling - fixed)
    if not kernel.fills:
        fixed += operand.nbytes + (4 * X.size if operand.layout == "dense" else 0)  # those not settled, again
        require_memory(fixed + 4 * STEP * n, ceiling, f"training on {n} examples")
        return Source(Streamed(operand, kernel), ceiling - fixed)
    require_memory(fixed + 2 * 4 * STEP * n, ceiling, f"training on {n} examples")
    free = ceiling - fixed - 4 * STEP * n
    square = min(free // 4, min(2, machines) * whole)
    return Source(Cached(operand, kernel, free - square), square)


def _filed(operand: FiledOperand, kernel: Kernel, solver, fixed: int, ceiling: int) -> Source:
    """A source of rows that stay in their file, of which as many are kept as a part of the ceiling holds."""
    size = solver.working_set if isinstance(solver, Decomposition) else None
    row, least = 4 * operand.d, size or SMALLEST_FILED
    need = fixed + BESIDE * 8 * operand.n + 4 * least**2 + PACKED * row * least + 4 * STEP * PIECE // row
    require_memory(need, ceiling, f"training on {operand.n} examples in a file")
    operand.keep = int(min((ceiling - need) * FILED, PACKED * row * operand.n))
    left, beside = TOUCHED * (ceiling - need - operand.keep) + 4 * least**2 + PACKED * row * least, PACKED * row
    largest = size or int((np.sqrt(beside**2 + 16 * left) - beside) / 8)  # 4 m^2 of K, and m rows beside it
    return Source(Streamed(operand, kernel), 4 * largest**2)


def _bounded(operand: Operand, kernel: Kernel, size: int, fixed: int, ceiling: int) -> Source:
    """A source beside a working set of `size` examples: nothing of it grows with n^2."""
    n = operand.n
    square, rows = 4 * size * size, 4 * STEP * n
    need = fixed + square + rows * (2 if kernel.fills else 1)
    require_memory(need, ceiling, f"a working set of {size} of {n} examples")
    if not kernel.fills:
        return Source(Streamed(operand, kernel), ceiling - need + square)
    return Source(Cached(operand, kernel, min(ceiling - need, 4 * n * size)), square)


def given_source(K, ceiling: int, machines: int) -> Source:
    """The source of a Gram matrix K (n, n) that the caller brings, sparse or not."""
    n, m = K.shape
    if n != m:
        raise ValueError(f"Precomputed matrix must be a square matrix. Input is a {n}x{m} matrix.")
    need = 4 * n * n + NUMBERS * 8 * machines * n
    require_memory(need, ceiling, "a precomputed matrix in single precision")
    return Source(Dense(K.toarray() if hasattr(K, "toarray") else K), ceiling - need)


def computed_once(source: Source) -> Source:
    """A source for several fits: one that gives all of K at once has it computed now, once."""
    if not (isinstance(source.gram, Streamed) and source.gram.whole):
        return source
    n = source.gram.n
    K = source.gram.square(np.arange(n), Work())
    return Source(source.gram.in_memory(K), source.square_bytes - K.nbytes, n * (n + 1) // 2, Interior())
