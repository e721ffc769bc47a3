"""A scheduler and workers as pages/README.md starts them, each a process of its own on this computer."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from tests.homes import lend_compiled

ROOT = Path(__file__).parent.parent
HERE = "127.0.0.1"
LOCAL = ["--host", HERE, "--dashboard-address", f"{HERE}:0"]


class Machines:
    """A scheduler, and workers that are added and killed by name. Their home folder is none of the app's."""

    def __init__(self, folder):
        self.folder = folder
        self.home = lend_compiled(folder / "home of the workers")
        self.processes = {}
        self.address = f"tcp://{HERE}:{free_port()}"

    def start(self):
        self._start("scheduler", ["scheduler", "--port", self.address.rpartition(":")[2], *LOCAL])

    def add(self, name, folder=ROOT):
        how = ["--nthreads", "1", "--no-nanny", "--memory-limit", "0", *LOCAL, "--local-directory", str(self.folder)]
        self._start(name, ["worker", self.address, "--name", name, *how], folder)

    def kill(self, name):
        process = self.processes.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait(10)

    def stop(self):
        for name in reversed(list(self.processes)):  # the scheduler last
            self.kill(name)

    def _start(self, name, arguments, folder=ROOT):
        environment = os.environ | {"SVMLAB_HOME": str(self.home)}
        with open(self.folder / f"{name}.log", "wb") as log:
            command = [sys.executable, "-m", "dask", *arguments]
            self.processes[name] = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)


def free_port():
    with socket.socket() as one:
        one.bind((HERE, 0))
        return one.getsockname()[1]
