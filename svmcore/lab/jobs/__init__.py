"""Runs in the background: submit, follow, pause, resume, cancel, from any page, session or thread."""

from svmcore.lab.jobs.job import Status
from svmcore.lab.jobs.queue import (
    QueueFull,
    active,
    cancel,
    forecast,
    move,
    pause,
    resume,
    status,
    submit,
    wait,
    waiting,
)
from svmcore.lab.jobs.welcome import ensure_preset

__all__ = [
    "QueueFull", "Status", "active", "cancel", "ensure_preset", "forecast", "move", "pause", "resume", "status",
    "submit", "wait", "waiting",
]  # fmt: skip
