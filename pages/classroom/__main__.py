"""Serve a class: `python -m pages.classroom`. The teacher uses the app on 127.0.0.1, students use a second port.

    --port 8501      the teacher's, on 127.0.0.1 alone
    --room 8080      the students', on every network of this computer; or on those of --address alone
    --name lab.local another name by which students may reach it

Ctrl-C ends both.
"""

import argparse
import secrets
import socket
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path

import streamlit as st
import uvicorn
from streamlit import config
from streamlit.runtime.pages_manager import PagesManager

from data import permission
from pages.classroom import addresses
from pages.classroom.doors import MAX_MESSAGE, Doors
from pages.ui.kit import roles
from pages.ui.play import opening

ROOT = Path(__file__).parents[2]
LOOPBACK = "127.0.0.1"
TEACHERS_MESSAGE = 32 * MAX_MESSAGE  # bytes of a message of a websocket; files come another way


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m pages.classroom", description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8501, help="teacher's port, on 127.0.0.1 (default: %(default)s)")
    parser.add_argument("--room", type=int, default=8080, help="students' port (default: %(default)s)")
    parser.add_argument("--address", default="", help="the one address of this computer for students (default: all)")
    parser.add_argument("--name", action="append", default=[], help="another host name for students")
    parser.add_argument("--no-browser", action="store_true", help="do not open the teacher's page")
    asked = parser.parse_args()
    try:
        sockets = [_listening(LOOPBACK, asked.port), _listening(asked.address, asked.room)]
    except OSError as error:
        print(f"{error}. Choose others: --port, --room, --address.", file=sys.stderr)
        return 1
    port, room = (one.getsockname()[1] for one in sockets)
    word = secrets.token_urlsafe(32)
    roles.open_class(word)
    PagesManager.uses_pages_directory = False  # else the first visitor could open any file of pages/, past app.py
    app = st.App(ROOT / "app.py", on_script_error=_refused)
    config.set_option("server.port", port)
    addresses.open_to([asked.address] if asked.address else [], asked.name, room)
    print(f"Teacher, on this computer alone: http://{LOOPBACK}:{port}/classroom")
    print("Students:", ", ".join(addresses.urls()) or "no network was found; give an address: --address", flush=True)
    print("Loading the solver.", flush=True)  # compiled once for a machine
    _prepare()
    print("Ready. Ctrl-C stops the app for all.", flush=True)
    if not asked.no_browser:
        webbrowser.open(f"http://{LOOPBACK}:{port}/classroom")
    # Nobody is asked for the peer's address: with proxy_headers a proxy could say it
    how = {"ws": "websockets-sansio", "ws_max_size": TEACHERS_MESSAGE, "proxy_headers": False, "access_log": False}
    how |= {"log_level": "warning", "timeout_graceful_shutdown": 2, "server_header": False}
    with suppress(KeyboardInterrupt):
        uvicorn.Server(uvicorn.Config(Doors(app, port, word), **how)).run(sockets=sockets)
    return 0


def _listening(address: str, port: int) -> socket.socket:
    """A socket that listens; on every address of this computer for an empty one."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((address, port))
        listening.listen()  # at once: a second class that starts meanwhile could bind it, too
    except OSError as error:
        listening.close()
        raise OSError(f"Port {port} of {address or 'this computer'} cannot be used ({error.strerror})") from error
    return listening


def _refused(error: Exception) -> bool:
    """Say what a student may not do, in place of an error's trace."""
    if isinstance(error, permission.Forbidden):
        st.error(str(error), icon=":material/block:")
    return isinstance(error, permission.Forbidden)


def _prepare() -> None:
    """What the first reader would wait for, all of it before anybody is let in: thirty sessions that import the library
    at once find parts of it half imported. The solver before the preset: compiled behind it on a busy machine, it kept
    a teacher who asked for the first result waiting for minutes."""
    opening.load().result()
    from pages.classroom import together  # noqa: F401
    from svmcore.lab import jobs

    jobs.ensure_preset()


if __name__ == "__main__":
    sys.exit(main())
