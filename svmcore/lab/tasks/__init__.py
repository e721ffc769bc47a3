"""The tasks that the lab knows; one more is a file here and a line below."""

from svmcore.lab.task import Task
from svmcore.lab.tasks.classify import Classify
from svmcore.lab.tasks.detect import Detect

TASKS: dict[str, Task] = {task.name: task for task in (Classify(), Detect())}


def task_of(recipe) -> Task:
    """The task that a recipe sets."""
    return TASKS[recipe.task]
