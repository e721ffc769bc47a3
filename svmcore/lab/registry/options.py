"""The fields that belong to one task, method or solver alone, by name."""

from svmcore.lab.registry.fields import Field
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.registry.solvers import SOLVERS
from svmcore.lab.registry.tasks import TASKS


def own_fields(task: str, method: str, solver: str) -> dict[str, Field]:
    """Name -> Field of the options that this task, this method and this solver have."""
    return {field.name: field for owner in (TASKS[task], METHODS[method], SOLVERS[solver]) for field in owner.fields}


def option_fields() -> dict[str, Field]:
    """Name -> Field of every option of any task, method or solver, the first of a name."""
    every = [f for known in (*SOLVERS.values(), *METHODS.values(), *TASKS.values()) for f in known.fields]
    return {field.name: field for field in reversed(every)}
