"""Runs in the background: submit, follow, pause, resume, cancel, from any page, session or thread."""

from svmcore.lab.jobs.queue import (
    EXIT_SECONDS,
    QueueFull,
    Status,
    active,
    cancel,
    ensure_preset,
    pause,
    resume,
    status,
    submit,
    wait,
)

__all__ = [
    "EXIT_SECONDS",
    "QueueFull",
    "Status",
    "active",
    "cancel",
    "ensure_preset",
    "pause",
    "resume",
    "status",
    "submit",
    "wait",
]
