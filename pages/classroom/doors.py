"""The two doors of a class: one socket on the loopback address, for the teacher, and one that the room reaches.

The socket by which a connection came decides, and no header does: neither Host nor X-Forwarded-For, and no cookie or
address. What comes by the students' door meets a list of what there is for them. Not on it: uploads, metrics, the
agent's routes, and messages of the websocket that are no click (clearing caches, files, Streamlit's own tools).
"""

import re
from collections.abc import Awaitable, Callable, MutableMapping
from urllib.parse import quote

from streamlit.proto.BackMsg_pb2 import BackMsg

from pages.ui.kit import roles

Scope, Message = MutableMapping, MutableMapping
READ = ("GET", "HEAD")
# What Streamlit serves to students: the app's page under any name, its scripts, pictures and health
SERVED = re.compile(r"/(?:[^/]*|(?:static|media|component)/.*|_stcore/(?:health|host-config|bidi-components/.*))")
# Addresses of one part, and of Streamlit's own folders; a browser tries the page's address for these, too
OWN = re.compile(r"/[^/]*$|/(?:static|media|component|app|auth)/|//|.*/_stcore/")
STREAM = "/_stcore/stream"
CLICKS = ("rerun_script", "stop_script", "app_heartbeat")  # messages that students may send
MAX_MESSAGE = 1 << 20  # bytes of a message of a student
REFUSED = b"Only the teacher may do this."


class Doors:
    """An ASGI app before Streamlit's. port: of the teacher's socket; word: what `roles` knows the teacher's door by."""

    def __init__(self, app: Callable, port: int, word: str):
        self.app, self.port, self.word = app, port, word.encode()

    async def __call__(self, scope: Scope, receive: Callable, send: Callable) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        name = roles.HEADER.encode()
        headers = [(key, value) for key, value in scope["headers"] if key.lower() != name]
        if scope["type"] == "http" and scope["method"] in READ and not OWN.match(scope["path"]):
            # Streamlit serves its page there with links that lead nowhere, and it stays blank
            return await _answer(send, 307, b"location", f"/{quote(scope['path'].rpartition('/')[2])}".encode())
        if (scope.get("server") or ("", 0))[1] == self.port:
            return await self.app({**scope, "headers": [*headers, (name, self.word)]}, receive, send)
        if scope["type"] == "websocket":
            if scope["path"] != STREAM:
                return await send({"type": "websocket.close", "code": 1008})
            receive = _clicks(receive)
        elif scope["method"] not in READ or not SERVED.fullmatch(scope["path"]):
            return await _answer(send, 403, b"content-type", b"text/plain", REFUSED)
        return await self.app({**scope, "headers": headers}, receive, send)


async def _answer(send: Callable, status: int, header: bytes, value: bytes, body: bytes = b"") -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(header, value)]})
    await send({"type": "http.response.body", "body": body})


def _clicks(receive: Callable[[], Awaitable[Message]]) -> Callable[[], Awaitable[Message]]:
    """`receive` without the messages that students may not send; too large a one ends the connection."""

    async def received() -> Message:
        while True:
            message = await receive()
            content = message.get("bytes")
            if message["type"] != "websocket.receive" or content is None:
                return message
            if len(content) > MAX_MESSAGE:
                return {"type": "websocket.disconnect", "code": 1009}
            asked = BackMsg()
            try:
                asked.ParseFromString(content)
            except Exception:  # Streamlit closes the connection over it
                return message
            if asked.WhichOneof("type") in CLICKS:
                return message

    return received
