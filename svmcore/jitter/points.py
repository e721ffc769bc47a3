"""Jitters of points in the plane: the known invariance of a problem with two features, as copies of a point.

    T_j x = A_j x + t_j,    T_0 = the identity;    the true decision is the same for x and every T_j x

    shift     x + (s, 0)        moved along the first axis by each of `amounts`
    turn      R(s) x            turned about the centre (0, 0) by each of `amounts`, in degrees
    mirror    (-x1, x2)         the other side of the second axis

Symbols: X (n, 2) float32 or float64; J number of jitters; maps (J, 2, 3) float64, the columns of A_j and then t_j.

`VirtualSVC` takes such a set in the place of a JitterSet: both know their products (`power`, `after`) and make one form
of each example (`pick`). Horizontal translations of points are the invariance that DeCoste and Schölkopf, Machine
Learning 46 (2002), Figure 1 draws.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from svmcore.allowed import check, one_of, require

KINDS = ("shift", "turn", "mirror")
_SAME = 9  # digits after the point to which two maps are one


@dataclass(frozen=True)
class PointJitters:
    """Moves of points in the plane that leave the class as it is: the identity and one move for each amount.

    Parameters
    ----------
    kind : {"shift", "turn", "mirror"}
        Along the first axis, about the origin in degrees, or to the other side of the second axis.
    amounts : tuple of float, default ()
        One for each move; none for "mirror".
    times : int, default 1
        Moves after one another.

    Raises
    ------
    ValueError
        For a kind that there is not, or amounts that are not finite numbers.

    References
    ----------
    DeCoste and Schölkopf (2002), Figure 1.

    Examples
    --------
    >>> from svmcore import PointJitters
    >>> len(PointJitters("turn", (-10, 10)))
    3
    """

    kind: str
    amounts: tuple[float, ...] = ()
    times: int = 1

    image_shape = (2,)  # of one example
    reach = 0

    def __post_init__(self):
        check(self, kind=one_of(KINDS))
        amounts = tuple(float(amount) for amount in self.amounts)
        good = np.isfinite(amounts).all() and not (self.kind == "mirror" and amounts)
        require(good, "amounts", self.amounts, "finite numbers, and none for 'mirror'")
        object.__setattr__(self, "amounts", amounts)

    def __str__(self) -> str:
        text = f"{self.kind}:{','.join(f'{amount:g}' for amount in self.amounts)}" if self.amounts else self.kind
        return text if self.times == 1 else f"{text}^{self.times}"

    def __len__(self) -> int:
        return len(self.maps)

    @cached_property
    def maps(self) -> np.ndarray:
        """(J, 2, 3) float64, each distinct one once, the identity first."""
        known = {_key(_IDENTITY): _IDENTITY}
        for chosen in product([_IDENTITY, *self._single()], repeat=self.times):
            total = _IDENTITY
            for one in chosen:
                total = _then(total, one)
            known.setdefault(_key(total), total)
        return np.array(list(known.values()))

    @property
    def names(self) -> tuple[str, ...]:
        """Captions (J,) of the moves; those of products are numbers."""
        if self.times != 1 or len(self) != 1 + max(len(self.amounts), self.kind == "mirror"):
            return ("identity", *(str(j) for j in range(1, len(self))))
        if self.kind == "mirror":
            return "identity", "mirrored"
        unit = "°" if self.kind == "turn" else ""
        word = "turned by" if self.kind == "turn" else "shifted by"
        return ("identity", *(f"{word} {amount:+g}{unit}" for amount in self.amounts))

    def apply(self, X: np.ndarray) -> np.ndarray:
        """All forms (J, n, 2) of points X (n, 2), the identity first: float64 where X is, else float32."""
        X, dtype = np.asarray(X, np.float64), _precision(X)
        return (np.einsum("jab,nb->jna", self.maps[:, :, :2], X) + self.maps[:, None, :, 2]).astype(dtype)

    def pick(self, X: np.ndarray, which: np.ndarray) -> np.ndarray:
        """One form of each point, (n, 2) of the precision of `apply`: row i is jitter which[i] of point i."""
        maps, dtype = self.maps[which], _precision(X)
        return (np.einsum("nab,nb->na", maps[:, :, :2], np.asarray(X, np.float64)) + maps[:, :, 2]).astype(dtype)

    def power(self, exponent: int) -> "PointJitters":
        """The set of all products of `exponent` jitters of this one; the identity alone for 0."""
        return PointJitters(self.kind, self.amounts, self.times * exponent)

    def after(self, first: "PointJitters", second: "PointJitters") -> np.ndarray:
        """Numbers (len(first), len(second)) int64 that the products first[a] then second[b] have in this set.

        Raises KeyError when a product is not in this set.
        """
        number = {_key(one): at for at, one in enumerate(self.maps)}
        return np.array([[number[_key(_then(a, b))] for b in second.maps] for a in first.maps])

    def factor(self) -> None:
        """There are no pixels that a shift would move: nothing to gain from relative shifts."""

    def _single(self) -> list[np.ndarray]:
        if self.kind == "mirror":
            return [np.array([[-1.0, 0, 0], [0, 1, 0]])]
        if self.kind == "shift":
            return [np.array([[1.0, 0, amount], [0, 1, 0]]) for amount in self.amounts]
        turns = [(np.cos(angle), np.sin(angle)) for angle in np.radians(self.amounts)]
        return [np.array([[cos, -sin, 0], [sin, cos, 0]]) for cos, sin in turns]


_IDENTITY = np.array([[1.0, 0, 0], [0, 1, 0]])


def _then(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The map (2, 3) that does `first` and then `second`."""
    return np.column_stack([second[:, :2] @ first[:, :2], second[:, :2] @ first[:, 2] + second[:, 2]])


def _key(one: np.ndarray) -> tuple:
    return tuple((np.round(one, _SAME) + 0.0).ravel())


def _precision(X) -> type:
    return np.float64 if getattr(X, "dtype", None) == np.float64 else np.float32
