"""The tasks that the lab knows; one more is a file here and a line below."""

from svmcore.lab.registry.methods import METHODS
from svmcore.lab.registry.task import Task
from svmcore.lab.registry.tasks.classify import Classify

TASKS: dict[str, Task] = {task.name: task for task in (Classify(),)}


def task_of(method: str) -> Task:
    """The task that a method, by its name, solves."""
    return TASKS[METHODS[method].task]
