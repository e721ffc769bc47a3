"""A reader without a browser: a session that speaks the app's own protocol and draws nothing.

A click costs a Chromium five times the processor time that it costs the server, so that a dozen of them on one machine
would measure themselves. What a page asks for is asked for here too: its script, then the parts of it that look again;
not its pictures, and nothing that its own JavaScript would say.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.bench.soak.clients import FIRST_PATIENCE, PATIENCE, Visits


class Reader:
    """One session. pages: title of a page -> its number for the server."""

    def __init__(self, socket, visits: Visits):
        self.socket, self.visits, self.pages = socket, visits, {}
        self._query, self._at, self._heading, self._done = "", "", "", asyncio.Future()
        self._looks: dict[str, asyncio.Task] = {}  # parts of the page that look again
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def opened(cls, url: str, visits: Visits) -> Reader:
        """A session whose first page stands."""
        socket = await connect(
            f"{url.replace('http', 'ws', 1)}/_stcore/stream", subprotocols=["streamlit"], max_size=None
        )
        reader = cls(socket, visits)
        await reader._run(FIRST_PATIENCE)
        return reader

    async def close(self) -> None:
        """As a tab that is closed."""
        for task in (self._reading, *self._looks.values()):
            task.cancel()
        await self.socket.close()

    async def click(self, rng) -> None:
        """Follow a random link of the navigation, which drops what the address said; wait until the script has run."""
        title = str(rng.choice(sorted(self.pages)))
        began, self._at, self._query = time.perf_counter(), self.pages[title], ""
        try:
            heading = await self._run(PATIENCE)
            self.visits.seconds.setdefault(title, []).append(time.perf_counter() - began)
            if title not in heading:
                self.visits.failures.append(f"{title}: {heading!r} stands at its head")
        except Exception as error:
            self.visits.failures.append(f"{title}: {type(error).__name__} after {time.perf_counter() - began:.0f} s")

    async def _run(self, patience: int) -> str:
        """The page, whole: its heading. What the reading raises, or a TimeoutError after so many milliseconds."""
        self._stop_looking(list(self._looks))
        self._done = asyncio.get_running_loop().create_future()
        await self._ask()
        await asyncio.wait({self._done, self._reading}, timeout=patience / 1000, return_when=asyncio.FIRST_COMPLETED)
        if self._reading.done():
            self._reading.result()
            raise ConnectionError("the server has closed the session")
        if not self._done.done():
            raise TimeoutError
        return self._done.result()

    async def _ask(self, **what) -> None:
        asked = BackMsg()
        asked.rerun_script.query_string, asked.rerun_script.page_script_hash = self._query, self._at
        for name, value in what.items():
            setattr(asked.rerun_script, name, value)
        await self.socket.send(asked.SerializeToString())

    async def _read(self) -> None:
        """Take what the server says, for ever."""
        with suppress(ConnectionClosed):
            async for said in self.socket:
                message = ForwardMsg.FromString(said)
                take = getattr(self, f"_take_{message.WhichOneof('type')}", None)
                if take:
                    take(getattr(message, message.WhichOneof("type")))

    def _take_navigation(self, navigation) -> None:
        self.pages = {page.page_name: page.page_script_hash for page in navigation.app_pages}
        self._at = navigation.page_script_hash

    def _take_page_info_changed(self, changed) -> None:
        self._query = changed.query_string

    def _take_new_session(self, session) -> None:
        self._heading = ""  # what came since the click was the last page's

    def _take_auto_rerun(self, asked) -> None:
        async def again():
            while True:
                await asyncio.sleep(asked.interval)
                await self._ask(fragment_id=asked.fragment_id, is_auto_rerun=True)

        if asked.fragment_id not in self._looks:
            self._looks[asked.fragment_id] = asyncio.create_task(again())

    def _take_stop_auto_rerun(self, stopped) -> None:
        self._stop_looking(stopped.fragment_ids)

    def _stop_looking(self, parts) -> None:
        for part in parts:
            if task := self._looks.pop(part, None):
                task.cancel()

    def _take_delta(self, delta) -> None:
        element = delta.new_element
        if element.WhichOneof("type") == "exception":
            self.visits.failures.append(f"{self._heading}: {element.exception.message[:250]}")
        if element.WhichOneof("type") == "heading" and not self._heading:
            self._heading = element.heading.body

    def _take_script_finished(self, how) -> None:
        if how == ForwardMsg.FINISHED_SUCCESSFULLY and not self._done.done():
            self._done.set_result(self._heading)
