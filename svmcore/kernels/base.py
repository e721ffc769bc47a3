"""Kernel: what every kernel can do, the registry that rebuilds one from its description, and checks of its numbers."""

from dataclasses import MISSING, asdict, field, fields, replace
from functools import lru_cache
from types import UnionType
from typing import ClassVar, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np

from svmcore.allowed import Allowed, check
from svmcore.kernels.apart import (
    Side,
    _finish_rows,
    _subtract_far_rows,
    as_columns,
    far_features,
    squared_norms,
    taken_apart,
)
from svmcore.kernels.compiled import EXACT, INNER, KernelCode

KERNELS: "dict[str, type[Kernel]]" = {}
LARGEST = float(np.finfo(np.float32).max)  # products are made in single precision


class Columns(NamedTuple):
    """Examples that others are compared with, near features and far ones apart (apart.py)."""

    X: np.ndarray  # (n, d)
    far: np.ndarray  # (F,)
    side: Side


class Kernel:
    """Base of all kernels: frozen, hashable, and rebuilt by `kernel_from_dict`."""

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""  # in the form; without one a kernel is not offered there
    constant_diagonal: ClassVar[bool] = False  # K(u, u) is the same for every u
    centrable: ClassVar[bool] = False  # a machine is the same but for its bias, whatever all examples are moved by
    reach: ClassVar[float] = np.inf  # |x|^2 up to which its values come from inner products alone (apart.py)
    differentiable: ClassVar[bool] = False  # has `slopes`
    fills: ClassVar[bool] = False  # is no function of u.v and the norms: brings its own blocks (methods/blockwise.py)
    derives: ClassVar[bool] = False  # makes so much of an operand's examples that one should serve all blocks
    moved: ClassVar[tuple | None] = None  # (base, shifts, image shape) of the largest `base` over shifted images
    definite: ClassVar[bool] = True  # positive (semi-)definite: sum_ij c_i c_j K(u_i, u_j) >= 0, a squared length

    @property
    def formula(self) -> str:
        """K(u, v) in TeX."""
        return rf"\text{{{self.name}}}"

    @property
    def brief(self) -> str:
        """The kernel in a few characters: `poly 9`, `rbf 0.02`, `linear`."""
        number = getattr(self, "degree", getattr(self, "gamma", None))
        return self.name if number is None else f"{self.name} {number:g}"

    @property
    def work(self) -> float:
        """How many values of a plain kernel, a function of u.v and the norms, take as long as one of this."""
        return 1.0

    @property
    def compiled(self) -> bool:
        """Whether the compiled pass makes its values (compiled.py); else `value` makes them of inner products."""
        return type(self).code is not Kernel.code

    @classmethod
    def of_numbers(cls, **numbers) -> "Kernel":
        """The kernel that scikit-learn means by its name and these numbers; it takes those that are fields of it."""
        return cls(**{name: value for name, value in numbers.items() if name in {f.name for f in fields(cls)}})

    def block(self, A, B, out=None):
        """Kernel values of every row of A (m, d) against every row of B (n, d): (m, n) float32, into `out` if given."""
        A, B = _rows(A), _rows(B)
        if A.shape[1] != B.shape[1]:
            raise ValueError(f"A has {A.shape[1]} features and B has {B.shape[1]}; they must agree")
        out = np.empty((len(A), len(B)), np.float32) if out is None else out
        columns = _columns(B, self.reach)
        A, u = taken_apart(A, columns.far)
        np.matmul(A, columns.X.T, out=out)
        _finish_rows(self.code(), out, u, columns.side, 0)
        self.finish(out, u.sq, columns.side.sq)
        return out

    def finish(self, block, su, sv) -> None:
        """What the compiled pass has left undone of a block (m, n) of inner products, su (m,), sv (n,), in place."""
        if not self.compiled:
            block[:] = self.value(block, su[:, None], sv)

    def products(self, A, B, su=None, sv=None):
        """What `value` and `slopes` take of the rows of A (m, d) and B (n, d), of one precision: u.v (m, n), |u|^2
        (m, 1) and |v|^2 (1, n), or where those lose the digits of distances what stands for them (apart.py).

        su (m,), sv (n,): |u|^2 and |v|^2, where they are known.
        """
        columns = _columns(B, self.reach, sv)
        dots, su = _dots(A, columns, su)
        return dots, su[:, None], columns.side.sq[None, :]

    def exact(self, A, B):
        """The same values in double precision, (m, n) float64: slower, and the same whatever the rows' company. B is
        (n, d), or what `columns` made of it.

        Kernels that fill their own blocks are as exact as those are.
        """
        if self.fills:
            return self.block(A, B).astype(np.float64)
        columns = B if isinstance(B, Columns) else self.columns(B)
        dots, su = _dots(np.asarray(A, np.float64), columns)
        code = self.code()
        if not self.compiled or code.kind not in EXACT:
            return self.value(dots, su[:, None], columns.side.sq[None, :])
        EXACT[code.kind](code, dots, su, columns.side.sq)
        return dots

    def columns(self, B) -> "Columns":
        """The rows of B (n, d) as `exact` takes them for many A; B itself for a kernel that fills its own blocks."""
        return _columns(np.asarray(B, np.float64), self.reach)

    def require(self, **kinds: Allowed) -> None:
        """ValueError for the first field that is not of its kind."""
        check(self, f"kernel {self.name}: ", **kinds)

    def value(self, dots, su, sv):
        """K from inner products u.v and squared norms |u|^2, |v|^2 (arrays that broadcast, any precision)."""
        raise TypeError(f"{type(self).__name__} is not a function of inner products")

    def slopes(self, dots, su, sv):
        """K and its derivatives by u.v and by |v|^2, the latter None where K does not depend on norms, from arrays as
        `value` takes them: dK/dv = by_dot u + 2 by_norm v. ValueError for a kernel without them.
        """
        allowed = ", ".join(name for name, kind in KERNELS.items() if kind.differentiable)
        raise ValueError(f"kernel = {self.name}, which has no gradient; allowed: {allowed}")

    def diag(self, A, sq=None):
        """K(u, u) of every row u of A (m, d): (m,) float32; sq (m,): |u|^2, where it is known."""
        sq = squared_norms(_rows(A)) if sq is None else sq
        with np.errstate(over="ignore"):
            return self.value(sq, sq, sq).astype(np.float32)

    def get_params(self, deep: bool = True) -> dict:
        """The fields, and with `deep` those of an inner kernel as inner__field, for scikit-learn's searches."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        inner = {
            f"{name}__{key}": v for name, k in own.items() if isinstance(k, Kernel) for key, v in k.get_params().items()
        }
        return own | (inner if deep else {})

    def with_params(self, **params) -> "Kernel":
        """This kernel with other fields; inner__field is a field of an inner kernel. ValueError for unknown ones."""
        own = self.get_params(deep=False)
        changed, inner = {}, {}
        for name, value in params.items():
            head, _, rest = name.partition("__")
            if head not in own or (rest and not isinstance(own[head], Kernel)):
                raise ValueError(f"kernel {self.name}: unknown field {name!r}; allowed: {', '.join(self.get_params())}")
            if rest:
                inner.setdefault(head, {})[rest] = value
            else:
                changed[head] = value
        for head, of_inner in inner.items():
            changed[head] = changed.get(head, own[head]).with_params(**of_inner)
        return replace(self, **changed)

    def __sklearn_clone__(self) -> "Kernel":
        return self  # never changed

    def code(self) -> KernelCode:
        """The kernel in plain numbers, for the compiled pass; of one that it does not know inner products alone."""
        return INNER

    def to_dict(self) -> dict:
        """JSON-able description that `kernel_from_dict` reads back."""
        return {"name": self.name} | asdict(self)


def numeral(default, label: str, help: str, low=None, high=None, step=None):
    """A number (or flag) of a kernel, with its words and range for forms."""
    return field(default=default, metadata={"label": label, "help": help, "low": low, "high": high, "step": step})


def register(name: str):
    """Class decorator: make a kernel known to `kernel_from_dict` under `name`."""

    def enter(cls):
        cls.name = name
        KERNELS[name] = cls
        return cls

    return enter


def named_kernels() -> list[str]:
    """Kernels that a few numbers make, which an SVC takes by their names."""
    return [name for name, kind in KERNELS.items() if all(f.metadata for f in fields(kind))]


def kernel_from_dict(description: dict) -> Kernel:
    """The kernel that `to_dict` described.

    Parameters
    ----------
    description : dict
        Its name and its numbers.

    Returns
    -------
    Kernel
        Equal to the one described.

    Raises
    ------
    ValueError
        Naming the field, its value and what is allowed.

    Examples
    --------
    >>> from svmcore import Poly, kernel_from_dict
    >>> kernel_from_dict({"name": "poly", "degree": 9}) == Poly(9)
    True
    """
    if not isinstance(description, dict) or description.get("name") not in KERNELS:
        name = description.get("name") if isinstance(description, dict) else description
        raise ValueError(f"kernel: {name!r} is unknown; allowed: {', '.join(sorted(KERNELS))}")
    cls = KERNELS[description["name"]]
    values = {key: value for key, value in description.items() if key != "name"}
    declared, needed = _declared(cls)
    allowed = ", ".join(declared) or "none"
    if unknown := sorted(set(values) - set(declared)):
        raise ValueError(f"kernel {cls.name}: unknown field {unknown[0]!r}; allowed: {allowed}")
    if missing := [name for name in needed if name not in values]:
        raise ValueError(f"kernel {cls.name}: {missing[0]} is missing; allowed: {allowed}")
    values |= {name: kernel_from_dict(value) for name, value in values.items() if declared[name] is Kernel}
    strange = next((name for name, value in values.items() if not _is_a(value, declared[name])), None)
    try:
        made = cls(**values)  # its own checks say more of what is allowed
    except TypeError:
        if strange is None:
            raise
    if strange is not None:
        kind = getattr(declared[strange], "__name__", declared[strange])
        raise ValueError(f"kernel {cls.name}: {strange} = {repr(values[strange])[:60]}; allowed: {kind}")
    return made


@lru_cache(maxsize=64)
def _declared(cls: type[Kernel]) -> tuple[dict[str, object], list[str]]:
    """Types of the fields of a kernel, and the names of those without a default."""
    hints, own = get_type_hints(cls), fields(cls)
    return {f.name: hints[f.name] for f in own}, [f.name for f in own if f.default is MISSING]


def _is_a(value, declared) -> bool:
    """Whether a value read from a file is of the type that a field declares; numbers are finite ones."""
    if isinstance(declared, UnionType):
        return any(_is_a(value, one) for one in get_args(declared))
    if get_origin(declared) is tuple:
        return isinstance(value, list | tuple) and all(_is_a(one, get_args(declared)[0]) for one in value)
    if declared in (int, float):
        numbers = int | np.integer if declared is int else int | float | np.number
        return isinstance(value, numbers) and not isinstance(value, bool) and abs(value) <= LARGEST
    return isinstance(value, declared)


def _columns(B, reach: float, sq=None) -> Columns:
    """The rows of B (n, d) of either precision as Columns; sq (n,): |b|^2, where it is known."""
    sq = squared_norms(B) if sq is None else sq
    far = far_features(B, reach, sq)
    X, side = taken_apart(B, far, sq)
    return Columns(X, far, as_columns(side))


def _dots(A, columns: Columns, sq=None) -> tuple[np.ndarray, np.ndarray]:
    """Inner products (m, n) of the rows of A (m, d) with the columns, far features as distances, and |a'|^2 (m,)."""
    A, u = taken_apart(A, columns.far, sq)
    dots = A @ columns.X.T
    if len(columns.far):
        _subtract_far_rows(dots, u.far, columns.side.far)
    return dots, u.sq


def _rows(A) -> np.ndarray:
    A = np.ascontiguousarray(A, np.float32)
    if A.ndim != 2:
        raise ValueError(f"expected examples in rows, (n, d); got an array of shape {A.shape}")
    return A


FINITE = Allowed("a finite number of single precision", lambda value: _is_a(value, float))
POSITIVE = Allowed("a number above 0 of single precision", lambda value: _is_a(value, float) and value > 0)
