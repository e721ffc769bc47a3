"""What a reduction may be asked for: every refusal names the field, its value and what is allowed."""

import numpy as np

from svmcore.allowed import Allowed, above, check, is_whole, number, one_of, optional, require, whole
from svmcore.estimator import transformed_rows
from svmcore.gram.threads import CORES
from svmcore.kernels import RBF, Kernel, Precomputed
from svmcore.memory import MB, BudgetError, ceiling_bytes
from svmcore.methods.reduced.answers import Answers
from svmcore.methods.reduced.exact import dimensions
from svmcore.methods.reduced.joint import Rho
from svmcore.methods.reduced.quadratic import has_eigenvectors
from svmcore.methods.reduced.search import SEARCHES
from svmcore.methods.reduced.start import EXAMPLES, STARTS
from svmcore.model import Machine

TEACHERS = ("labels", "machine")
METHODS = ("auto", "exact", "quadratic", "rho", *SEARCHES, "answers", "direct")
BY_EXAMPLES = METHODS[-2:]  # what goes by training examples, and knows no rho
THRESHOLDS = ("auto", "train", "fewest", "kept")
MANY = 20_000  # training examples that gradient steps on answers want


def method_for(kernel: Kernel, machines: int, shared: bool, n_train: int) -> str:
    """The method that "auto" stands for, where a number of vectors is asked for."""
    alone = machines == 1 or not shared
    if alone and has_eigenvectors(kernel):
        return "quadratic"
    return "rho" if kernel.definite and (alone or n_train < MANY) else "answers"


def check_parameters(owner, machine) -> None:
    """ValueError for a parameter of a ReducedSet that is not allowed, whatever the machine."""
    require(isinstance(machine, Machine), "machine", machine, "a Machine, or a fitted estimator with machine_")
    check(
        owner,
        method=one_of(METHODS),
        start=one_of(("auto", *STARTS, EXAMPLES)),
        thresholds=one_of(THRESHOLDS),
        shared=one_of((True, False)),
        n_vectors=Allowed("a whole number from 1, a fraction between 0 and 1, None", _is_size),
        max_rho=optional(number(0, 1)),
        tol=number(0, 1),
        exact_tol=number(0),
        iterations=whole(0),
        steps=optional(whole(1)),
    )
    n = owner.n_vectors
    if owner.method != "auto" and (n is None) != (owner.method == "exact"):
        raise ValueError(
            f"n_vectors = {n!r} with method = {owner.method!r}; allowed: None with method = 'exact', a number otherwise"
        )


def _is_size(n) -> bool:
    return n is None or is_whole(n, 1) or (isinstance(n, float) and 0 < n < 1)


def check_against(owner, machine: Machine, method: str, n_train: int, pixels: int | None = None) -> None:
    """ValueError where machine, method and examples do not go together; BudgetError where memory would not do. pixels:
    numbers of an image that is deformed, where the machine takes its features."""
    if isinstance(machine.kernel, Precomputed):
        raise ValueError(
            "machine: kernel = precomputed; allowed: a kernel of examples, because vectors are constructed"
        )
    used = int(np.count_nonzero(machine.coef.any(axis=0)))
    if not used:
        raise ValueError("machine: no support vectors; allowed: at least one")
    each = machine.n_sv
    some = np.flatnonzero(each)  # a machine without support vectors is its bias, and stays so
    sizes = [used] if owner.shared else each[some].tolist()
    if is_whole(owner.n_vectors, 1) and owner.n_vectors > min(sizes):
        of = "" if owner.shared else f" of machine {some[np.argmin(sizes)] + 1} of {len(each)}"
        allowed = f"1 to {min(sizes)}, the number of support vectors{of}"
        raise ValueError(f"n_vectors = {owner.n_vectors}; allowed: {allowed}")
    if method == "quadratic" and not has_eigenvectors(machine.kernel):
        raise ValueError(f"method = 'quadratic' for {machine.kernel}; allowed: only with Poly of degree 2, coef0 >= 0")
    if method == "quadratic" and owner.shared and len(machine.bias) > 1:
        raise ValueError(
            "shared = True with method = 'quadratic'; allowed: False, because each machine has its own vectors"
        )
    if method == "fixed-point" and not isinstance(machine.kernel, RBF):
        raise ValueError(f"method = 'fixed-point' for {machine.kernel}; allowed: RBF, the Gaussian kernel")
    if owner.start == EXAMPLES and method != "answers":
        raise ValueError(f"start = 'examples' with method = {method!r}; allowed: only with method = 'answers'")
    if method in ("rho", *SEARCHES, *BY_EXAMPLES):
        machine.kernel.slopes(*np.ones((3, 1, 1)))
    if method in ("exact", "rho", *SEARCHES, "direct") and not machine.kernel.definite:  # rho has no least value
        other = "; or method = 'answers'" if method != "exact" else ""
        allowed = f"only with a positive definite kernel{other}"
        raise ValueError(f"method = {method!r} for {machine.kernel}; allowed: {allowed}")
    if method in BY_EXAMPLES and not n_train:
        raise ValueError(f"method = {method!r} without X and y; allowed: only with training examples")
    if method == "answers":
        _check_answers(owner, machine, n_train, pixels or machine.support_vectors.shape[1])
    if owner.thresholds in ("train", "fewest") and not n_train:
        raise ValueError(
            f"thresholds = {owner.thresholds!r} without X and y; allowed: training examples, or thresholds = 'kept'"
        )
    _check_memory(owner, machine, method, sizes)


def examples(machine: Machine, name: str, X, y, prepare=None):
    """X (n, d) float32 and y (n,), checked, or None. `name`: X or X_val; prepare: preprocessing yet to be applied."""
    own = name.replace("X", "y")
    if X is None and y is None:
        return None
    if X is None or y is None:
        raise ValueError(f"{name if X is None else own} = None; allowed: both of {name} and {own}, or neither")
    X = X if prepare is None else transformed_rows(prepare, X)
    X, y, d = np.asarray(X, np.float32), np.asarray(y), machine.support_vectors.shape[1]
    if X.ndim != 2 or X.shape[1] != d or not len(X):
        raise ValueError(f"{name} has shape {X.shape}; allowed: (n, {d}), preprocessed as for the machine")
    if not np.isfinite(X).all():
        raise ValueError(f"{name} has numbers that are not finite; allowed: finite numbers")
    if y.shape != (len(X),):
        raise ValueError(f"{own} has shape {y.shape}; allowed: ({len(X)},)")
    if len(strange := np.setdiff1d(y, machine.classes)):
        raise ValueError(f"{own}: label {strange[0]}; allowed: {', '.join(map(str, machine.classes))}")
    return X, y


def numbers(n_vectors, sizes) -> list[int]:
    """How many vectors parts of these sizes get: n_vectors each, or its share of each."""
    return [int(n_vectors) if n_vectors >= 1 else max(1, round(n_vectors * n)) for n in sizes]


def _check_answers(owner, machine: Machine, n_train: int, d: int) -> None:
    if not owner.shared and len(machine.bias) > 1:
        raise ValueError(
            "shared = False with method = 'answers'; allowed: True, because the method fits all decision values jointly"
        )
    check(owner, answers=optional(Allowed("an Answers", lambda value: isinstance(value, Answers))))
    rates = dict.fromkeys(("rate", "weight_rate", "sharpness"), above(0))
    counts = dict.fromkeys(("epochs", "batch", "directions"), whole(1))
    check(owner.answers or Answers(), "answers: ", **rates, **counts, deform=number(0), by=one_of(TEACHERS))
    if owner.image_shape is not None and int(np.prod(owner.image_shape)) != d:
        raise ValueError(f"image_shape = {owner.image_shape}; allowed: a shape of {d} numbers, like an example")


def _check_memory(owner, machine: Machine, method: str, sizes) -> None:
    counts = sizes if owner.n_vectors is None else numbers(owner.n_vectors, sizes)
    d, k = machine.support_vectors.shape[1], len(machine.bias)
    need = memory(machine.kernel, method, owner.start, owner.shared, sizes, counts, d, k)
    ceiling = ceiling_bytes(owner.cache_mb)
    if need > ceiling:
        fewer = "" if method == "quadratic" else ", or a smaller n_vectors"
        raise BudgetError(
            f"cache_mb: the reduction needs {need / MB:.0f} MB and the ceiling is {ceiling / MB:.0f} MB; allowed: "
            f"cache_mb of at least {need / MB:.0f}{fewer}"
        )


def memory(kernel: Kernel, method: str, start: str, shared: bool, sizes, counts, d: int, k: int) -> float:
    """Bytes that a reduction takes beside the machine: parts of `sizes` support vectors to `counts` vectors each, of d
    numbers, k machines. Of several parts the largest are at work side by side."""
    greedy = method == "exact" or start == "greedy" or (start == "auto" and method in ("rho", *SEARCHES, "direct"))
    most, each = dimensions(kernel, d), []
    for n, m in zip(sizes, counts, strict=True):
        factor = 8 * n * min(m, most) if greedy else 8 * n * most if most < n else 0  # exact.py, start.py
        each.append(max(factor, Rho.nbytes(n, m, d) if method in ("rho", *SEARCHES, "direct") else 40 * m * d))
    need = CORES * 24 * (d + 1) ** 2 if method == "quadratic" else sum(sorted(each)[-CORES:])
    return need + 16 * k * sum(sizes) + (0 if shared else 4 * d * sum(sizes))  # parts hold their vectors apart
