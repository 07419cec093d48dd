"""Sessions without a browser: a websocket each, which presses widgets and redraws parts as a browser does."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

PATIENCE = 60.0  # seconds for what a session waits for
# After others what was drawn before stays, as in a browser.
WHOLE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


class Session:
    """A visitor of one page. device: what its browser calls itself in rooms."""

    def __init__(self, url: str, page: str, query: str = "", device: str = "") -> None:
        self.url, self.page, self.query, self.device = url, page, query, device
        self._socket: Any = None
        self._script = ""  # of the page, once it is known
        self._states: dict[str, WidgetState] = {}
        self._shown: dict[
            tuple[int, ...], tuple[str, Element]
        ] = {}  # by place: the fragment, and the element
        self._coming: set[tuple[int, ...]] = set()  # places that were drawn in this run
        self._fragments: set[str] = set()  # that are drawn just now; none: the whole page is
        self.looked = (
            0  # elements that were drawn because a timer had it looked whether there is something new
        )
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._changed = asyncio.Condition()
        self.failed: Exception | None = None  # what listening ended with
        self.ended = 0  # runs of the page, or of parts of it
        self.received = self.messages = 0  # bytes, and how many messages they came in
        self.charted = 0.0  # when its first chart came, on the clock of time.perf_counter

    async def press(self, label: str) -> None:
        """Presses the button with this label."""
        place, button = await self.find("button", label)
        state = WidgetState(id=button.id, trigger_value=True)
        await self._rerun(fragment=place, extra=state)

    async def set(self, kind: str, label: str, send: bool = True, **value: Any) -> None:
        """Gives a widget a value, which in a form is not sent yet."""
        place, widget = await self.find(kind, label)
        state = WidgetState(id=widget.id)
        for name, given in value.items():
            if isinstance(given, list):
                getattr(state, name).data[:] = given
            else:
                setattr(state, name, given)
        self._states[widget.id] = state
        if send:
            await self._rerun(fragment=place)

    async def say(self, component: str, **value: Any) -> None:
        """Has a component of ours, by the end of its name, say what it has been set to."""

        def look() -> tuple[str, str] | None:
            for fragment, element in self._shown.values():
                if element.bidi_component.component_name.endswith(component):
                    return fragment, element.bidi_component.id
            return None

        fragment, name = await self.until(look)
        self._states[name] = WidgetState(id=name, json_value=json.dumps(value))
        await self._rerun(fragment)

    async def again(self) -> None:
        """Has the whole page run again, as after a press on a widget that is in no part of its own."""
        await self._rerun()

    async def find(self, kind: str, label: str) -> tuple[str, Any]:
        """A widget by its label, once it is there, and the fragment that it is in."""

        def look() -> tuple[str, Any] | None:
            for fragment, element in self._shown.values():
                if element.WhichOneof("type") == kind and getattr(element, kind).label == label:
                    return fragment, getattr(element, kind)
            return None

        found: tuple[str, Any] = await self.until(look)
        return found

    async def until(self, look: Callable[[], Any]) -> Any:
        """What `look` finds, once it does. Raises TimeoutError."""
        try:
            async with asyncio.timeout(PATIENCE), self._changed:
                while not (found := look()):
                    if self.failed is not None:
                        raise self.failed
                    await self._changed.wait()
        except TimeoutError:
            raise TimeoutError(f"{self.query or self.page} shows: {self.text[-1500:]}") from None
        return found

    async def says(self, text: str) -> str:
        """All that the page says, once this is in it."""
        await self.until(lambda: text in self.text)
        return self.text

    async def leave(self) -> None:
        """Is gone, as when a tab is closed."""
        self._stop()
        await self._socket.close()

    @property
    def text(self) -> str:
        """All that the page says."""
        said = []
        for _, element in self._shown.values():
            kind = element.WhichOneof("type")
            if kind in ("markdown", "alert"):
                said.append(getattr(element, kind).body)
            elif kind == "exception":
                raise AssertionError(element.exception.message)
        return "\n".join(said)

    @property
    def buttons(self) -> list[str]:
        """The labels of the buttons that can be pressed."""
        found = [e.button for _, e in self._shown.values() if e.WhichOneof("type") == "button"]
        return [button.label for button in found if not button.disabled]

    @property
    def charts(self) -> list[str]:
        """The charts of the page, as JSON."""
        return [
            e.plotly_chart.spec for _, e in self._shown.values() if e.WhichOneof("type") == "plotly_chart"
        ]

    async def _rerun(self, fragment: str = "", extra: WidgetState | None = None, auto: bool = False) -> None:
        asked = BackMsg()
        run = asked.rerun_script
        run.query_string, run.fragment_id, run.page_script_hash = self.query, fragment, self._script
        run.page_name = "" if self._script else self.page
        run.is_auto_rerun = auto
        run.context_info.url = f"{self.url}/{self.page}"
        run.widget_states.widgets.extend([*self._states.values(), *([extra] if extra else [])])
        await self._socket.send(asked.SerializeToString())

    async def _listen(self) -> None:
        try:
            await self._follow()
        except Exception as error:
            async with self._changed:
                self.failed = error
                self._changed.notify_all()

    async def _follow(self) -> None:
        async for answer in self._socket:
            self.received, self.messages = self.received + len(answer), self.messages + 1
            message = ForwardMsg.FromString(answer)
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self._coming, self._fragments = set(), set(message.metadata.run.fragment_ids)
                if not self._fragments:
                    self._stop()
            elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                place = tuple(message.metadata.delta_path)
                self._coming.add(place)
                self.looked += bool(self._fragments)
                self._shown[place] = (message.delta.fragment_id, message.delta.new_element)
                if not self.charted and message.delta.new_element.WhichOneof("type") == "plotly_chart":
                    self.charted = time.perf_counter()
            elif kind == "navigation":
                self._script = message.navigation.page_script_hash
            elif kind == "page_info_changed":
                self.query = message.page_info_changed.query_string
            elif kind == "auto_rerun":
                self._repeat(message.auto_rerun.fragment_id, message.auto_rerun.interval)
            elif kind == "script_finished":
                if message.script_finished in WHOLE:
                    for place in [place for place in self._shown if place not in self._coming]:
                        if not self._fragments or self._shown[place][0] in self._fragments:
                            del self._shown[place]
                self.ended += 1
                async with self._changed:
                    self._changed.notify_all()
                await self._introduce()

    async def _introduce(self) -> None:
        """As pages/room/device.py: says who this browser is, where that is asked."""
        for _, element in self._shown.values():
            component = element.bidi_component
            if component.component_name.endswith("dprl_device") and component.id not in self._states:
                asked = json.loads(component.json)
                said = json.dumps({"said": f"{asked['code']} {self.device} {asked['key']}"})
                self._states[component.id] = WidgetState(id=component.id, json_value=said)
                await self._rerun()

    def _repeat(self, fragment: str, interval: float) -> None:
        async def again() -> None:
            while True:
                await asyncio.sleep(interval)
                await self._rerun(fragment, auto=True)

        if fragment not in self._timers:
            self._timers[fragment] = asyncio.create_task(again())

    def _stop(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()


@contextlib.asynccontextmanager
async def opened(url: str, page: str, query: str = "", device: str = "") -> AsyncIterator[Session]:
    """A session, connected until the end."""
    session = Session(url, page, query, device)
    async with websockets.connect(
        url.replace("http", "ws", 1) + "/_stcore/stream",
        subprotocols=[websockets.Subprotocol("streamlit")],
        origin=websockets.Origin(url),
        max_size=None,
    ) as socket:
        session._socket = socket
        listening = asyncio.create_task(session._listen())
        try:
            await session._rerun()
            yield session
        finally:
            session._stop()
            listening.cancel()
