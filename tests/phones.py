"""Browsers without a screen: they speak Streamlit's websocket, draw nothing, and send whatever a test makes up.

async with Phone(url, "classroom") as phone:       a session on a page, once its script has run
    await phone.click("Join")                      a button by its label
    phone.texts()                                  what stands on the page
"""

import asyncio
import time
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

PATIENCE = 120.0  # seconds that a script may take


class Phone:
    """A session. elements: (place on the page) -> (run of the script, fragment, kind, protobuf). values: widget id ->
    WidgetState, sent with each click."""

    def __init__(self, url: str, page: str = "", query: str = "", headers: dict | None = None):
        self.url, self.page, self.query = url, page, query
        self.headers = {"Origin": url} | (headers or {})
        self.elements: dict[tuple, tuple] = {}
        self.values: dict[str, WidgetState] = {}
        self.fragments: dict[str, float] = {}  # those that are drawn again by themselves: id -> seconds
        self.pages: dict[str, str] = {}  # address -> hash, as the server tells them
        self.session = self.hash = ""
        self.run, self.partial = 0, ""  # number of the run of the script; the fragment that is drawn alone
        self.finished = asyncio.Event()
        self.closed = False

    async def __aenter__(self):
        path = f"ws://{urlsplit(self.url).netloc}/_stcore/stream"
        how = {"origin": self.headers.pop("Origin"), "additional_headers": self.headers, "max_size": 1 << 27}
        self.socket = await connect(path, subprotocols=["streamlit"], compression=None, **how)
        self._reader = asyncio.create_task(self._read())
        await self.rerun()
        return self

    async def __aexit__(self, *_):
        self._reader.cancel()
        await self.socket.close()

    async def send(self, **message) -> None:
        """A message, whatever it says."""
        await self.socket.send(BackMsg(**message).SerializeToString())

    async def rerun(self, *clicked: WidgetState, fragment: str = "", wait: bool = True, auto: bool = False) -> float:
        """Let the script run, with these widgets clicked; the seconds until it has."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string, state.page_name, state.page_script_hash = self.query, self.page, self.hash
        state.context_info.url = f"{self.url}/{self.page}"
        if fragment:
            state.fragment_id = fragment
        state.is_auto_rerun = auto
        ids = {one.id for one in clicked}
        state.widget_states.widgets.extend([*(one for key, one in self.values.items() if key not in ids), *clicked])
        self.finished.clear()
        self.run, self.partial = self.run + 1, fragment
        if not fragment:
            self.fragments = {}  # those that there are come with the page
        began = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        if wait:
            await asyncio.wait_for(self.finished.wait(), PATIENCE)
        return time.perf_counter() - began

    async def look(self) -> None:
        """Draw each fragment that is drawn by itself once more."""
        for fragment in list(self.fragments):
            if fragment in self.fragments:
                await self.rerun(fragment=fragment, auto=True)

    async def until(self, what, seconds: float = PATIENCE, every: float = 0.2):
        """Look until what(phone) is something."""
        deadline = time.monotonic() + seconds
        while not (found := what(self)):
            assert time.monotonic() < deadline, f"not on the page: {self.texts()}"
            await self.look()
            await asyncio.sleep(every)
        return found

    # What stands on the page

    def kinds(self, kind: str) -> list:
        """All elements of a kind (as the protobuf calls it), in the order of the page."""
        return [one for _, (_, _, name, one) in sorted(self.elements.items()) if name == kind]

    def texts(self) -> list[str]:
        """All that is said."""
        told = [one.body for kind in ("markdown", "heading", "alert", "html") for one in self.kinds(kind)]
        told += [one.message for one in self.kinds("exception")]
        return told

    def title(self) -> str:
        """The title of the page."""
        return next((one.body for one in self.kinds("heading") if one.tag == "h1"), "")

    def has(self, text: str) -> bool:
        """Whether somewhere it says so."""
        return any(text in told for told in self.texts())

    def labels(self) -> list[str]:
        """What the buttons say."""
        return [one.label for one in self.kinds("button")]

    # What a hand does

    def widget(self, kind: str, label: str):
        """A widget by the end of its label."""
        there = [one for one in self.kinds(kind) if one.label.endswith(label)]
        assert there, f"no {kind} {label!r} among {[one.label for one in self.kinds(kind)]}: {self.texts()}"
        return there[-1]

    async def click(self, label: str) -> float:
        """Press a button; the seconds until the page has answered."""
        button = self.widget("button", label)
        fragment = next(of for _, of, _, one in self.elements.values() if one is button)
        return await self.rerun(WidgetState(id=button.id, trigger_value=True), fragment=fragment)

    async def choose(self, label: str, at: int) -> float:
        """One of the choices of a radio."""
        radio = self.widget("radio", label)
        fragment = next(of for _, of, _, one in self.elements.values() if one is radio)
        state = WidgetState(id=radio.id)
        if radio.options:
            state.string_value = radio.options[at]
        self.values[radio.id] = state
        return await self.rerun(fragment=fragment)

    # Messages

    async def _read(self) -> None:
        try:
            async for content in self.socket:
                message = ForwardMsg()
                message.ParseFromString(content)
                self._take(message)
        except ConnectionClosed:
            pass
        self.closed = True
        self.finished.set()

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.session = message.new_session.initialize.session_id or self.session
            self.run += 1
        elif kind == "navigation":
            self.pages = {one.url_pathname: one.page_script_hash for one in message.navigation.app_pages}
            self.hash = message.navigation.page_script_hash or self.hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            self.fragments[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            element = message.delta.new_element
            name = element.WhichOneof("type")
            place = tuple(message.metadata.delta_path)
            self.elements[place] = self.run, message.delta.fragment_id, name, getattr(element, name)
        elif kind == "delta":
            place = tuple(message.metadata.delta_path)
            self.elements.pop(place, None)
        elif kind == "script_finished":
            if message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                self.partial, self.fragments = "", {}  # all of the page comes now
                return
            self._clear()
            self.finished.set()

    def _clear(self) -> None:
        """What the last run of the script, or of its fragments, has not drawn is gone."""
        old = [
            place for place, (run, of, *_) in self.elements.items()
            if run != self.run and (not self.partial or of == self.partial)
        ]  # fmt: skip
        for place in old:
            del self.elements[place]
