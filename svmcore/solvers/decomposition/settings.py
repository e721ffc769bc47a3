"""The settings of the decomposition: how large the working set is, and how it is filled from round to round."""

from dataclasses import dataclass, fields

from svmcore.allowed import check, flag, one_of, optional, whole

CHOICES = ("most-violating", "first-found")


@dataclass(frozen=True)
class Decomposition:
    """How examples come into the working set B.

    As it comes, B is as large as memory allows, and all violators are priced in every round, the worst first.

    Parameters
    ----------
    working_set : int or None, default None
        Examples in B, |B|. The machine then holds |B|^2 kernel values at a time, and all alpha outside B are 0. Where
        the support vectors do not fit, the answer is the best one found with |B| of them, and it says so. None: what
        memory allows.
    new_points : int or None, default None
        Violators that may enter in a round; None for all.
    lookahead : int or None, default None
        Examples that are priced (have their optimality condition evaluated) before the round starts with the violators
        found among them; where there is none, pricing goes on to the first one. None for all.
    choice : {"most-violating", "first-found"}, default "most-violating"
        Of the violators; with the latter pricing ends as soon as `new_points` are found.
    keep_exited : bool, default False
        Whether examples that left B are kept on a list and priced first.

    Raises
    ------
    ValueError
        Naming the setting for a value that cannot be.

    References
    ----------
    Osuna, Freund and Girosi (1997), section 3.2.2, step 1: the working set.
    Osuna, Freund and Girosi (1997), section 3.2.3: new points, lookahead.
    Osuna, Freund and Girosi (1997), section 3.3: pivoting, and support vectors that exceed B.

    Examples
    --------
    >>> from svmcore import SVC, Decomposition
    >>> SVC(solver=Decomposition(working_set=300, new_points=50)).solver.new_points
    50
    """

    working_set: int | None = None
    new_points: int | None = None
    lookahead: int | None = None
    choice: str = "most-violating"
    keep_exited: bool = False

    def __post_init__(self):
        sizes = {"working_set": optional(whole(2)), "new_points": optional(whole(1)), "lookahead": optional(whole(1))}
        check(self, "decomposition: ", **sizes, choice=one_of(CHOICES), keep_exited=flag)

    @property
    def usual(self) -> bool:
        """Whether all settings are the defaults."""
        return all(getattr(self, field.name) == field.default for field in fields(self))
