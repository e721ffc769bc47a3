"""What runs were started together for: one sweep, one table, one comparison. It is kept with each of them."""

import hashlib
from typing import NamedTuple


class Group(NamedTuple):
    """Runs with the same key belong together; the title says to what."""

    key: str  # [a-z0-9-], at most 80 characters
    title: str  # one line, at most 120 characters

    @classmethod
    def of(cls, kind: str, title: str, *shared: object) -> "Group":
        """The group of the runs of this kind that have `shared` in common: started again, they come to the first."""
        said = hashlib.sha256("\n".join(map(str, shared)).encode()).hexdigest()[:12]
        return cls(f"{kind}-{said}", " ".join(title.split())[:120])
