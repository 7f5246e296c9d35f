"""A student without a browser, for the load of a class: a client of the page's websocket."""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Callable
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

from pages.kit.page_table import page_address

Value = float | str | list[str]
PATIENCE = 600.0  # seconds for a result
HERO = "dpmf.hero"  # Explore's first view, which holds the figures of all its epsilons
FOLLOWS = re.compile(r"\.\d+$")  # numbers the successive widgets of one value
PLACE = re.compile(r"runs finished|your turn")  # what a page says of unfinished runs


class Student:
    """One session, with the seconds that each touch of a widget took.

    `answers`: until the page showed the new epsilon with its figure, or its place in the queue if
    it is being computed. `drawn`: until the page was drawn completely.
    """

    def __init__(self, base: str, query: str, page: str = "") -> None:
        path, _, own = (page_address(page) or "").partition("?")
        self._base, self._page = base, path
        self._query = "&".join(part for part in (own, query) if part)
        self.answers: list[float] = []
        self.drawings: list[float] = []
        self.whole = self.parts = 0  # drawings of the page, and of fragments of it
        self.messages: list[str] = []  # exceptions and progress texts that were shown
        self._ids: dict[str, str] = {}  # widget key: id of its present widget
        # values of boxes and sliders by id; a browser sends all of them with each request
        self._states: dict[str, Value] = {}
        self._texts: dict[tuple[int, ...], str] = {}
        self._story: dict[str, Any] = {}  # figures of the first view
        self._reruns: dict[str, asyncio.Task[None]] = {}
        self._idle = asyncio.Event()
        self._waiting = ""  # what the page has said of its runs since it was last drawn
        self._addresses: asyncio.Queue[str] = asyncio.Queue()  # for uploads
        self._session = ""
        self._hash = ""  # of the open page

    async def __aenter__(self) -> "Student":
        url = self._base.replace("http", "ws", 1) + "/_stcore/stream"
        self._socket = await connect(
            url,
            origin=self._base,
            subprotocols=["streamlit"],
            max_size=None,
            open_timeout=60,
            ping_interval=None,
        )  # type: ignore[arg-type]
        self._reader = asyncio.create_task(self._read())
        await self._rerun()
        return self

    async def __aexit__(self, *what: object) -> None:
        self._stop_reruns()
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reader
        await self._socket.close()

    # -- speaking ----------------------------------------------------------------------------------

    async def _rerun(self, fragment: str = "", button: str = "", **widgets: Any) -> None:
        message = BackMsg()
        # a session that was redirected to another page stays there
        message.rerun_script.page_name = "" if self._hash else self._page
        message.rerun_script.page_script_hash = self._hash
        message.rerun_script.query_string = self._query
        message.rerun_script.context_info.url = f"{self._base}/{self._page}?{self._query}"
        message.rerun_script.context_info.timezone = "UTC"
        if fragment:
            message.rerun_script.fragment_id, message.rerun_script.is_auto_rerun = fragment, True
        else:
            self._idle.clear()
        self._states |= {self._ids[key]: value for key, value in widgets.items()}
        for ident, value in self._states.items():
            state = message.rerun_script.widget_states.widgets.add(id=ident)
            if isinstance(value, list):
                state.string_array_value.data.extend(value)
            elif isinstance(value, str):
                state.string_value = value
            else:
                state.double_value = value
        if button:
            message.rerun_script.widget_states.widgets.add(
                id=self._ids[button]
            ).trigger_value = True
        await self._socket.send(message.SerializeToString())

    async def touch(self, key: str, value: float | list[str], epsilon: float) -> None:
        """Move a widget, and wait until the page answers and has been drawn once."""
        began, card = time.perf_counter(), f"ε = {epsilon:.2f} ("
        await self._rerun(**{key: value})
        await self._until(
            lambda: (
                any(card in text for text in self._texts.values())
                and bool(self._waiting or self._figure(epsilon))
            ),
            card,
        )
        self.answers.append(time.perf_counter() - began)
        await self._until(self._idle.is_set, "the page's end")
        self.drawings.append(time.perf_counter() - began)

    async def set(self, key: str, value: Value) -> None:
        """Give a widget a value, and wait until the page has been drawn."""
        await self._rerun(**{key: value})
        await self._until(self._idle.is_set, "the page's end")

    async def press(self, key: str) -> None:
        """Press a button, and wait until the page has been drawn."""
        await self._rerun(button=key)
        await self._until(self._idle.is_set, "the page's end")

    def has(self, key: str) -> bool:
        """Whether the page has, or had, a widget of this key."""
        return key in self._ids

    async def until_widget(self, key: str) -> None:
        await self._until(lambda: self.has(key), key)

    async def upload_address(self, name: str) -> str:
        """The upload address for a file of this name; '' if the server refuses it."""
        message = BackMsg()
        message.file_urls_request.request_id, message.file_urls_request.session_id = (
            name,
            self._session,
        )
        message.file_urls_request.file_names.append(name)
        await self._socket.send(message.SerializeToString())
        return await asyncio.wait_for(self._addresses.get(), PATIENCE)

    async def send(self, message: BackMsg) -> None:
        """Send a message that no browser would send."""
        await self._socket.send(message.SerializeToString())

    async def choose_file(self, name: str, url: str, key: str = "data.file.ratings") -> None:
        """Draw the page with an uploaded file, as its uploader does."""
        message = BackMsg()
        message.rerun_script.page_script_hash = self._hash
        state = message.rerun_script.widget_states.widgets.add(id=self._ids.get(key, ""))
        info = state.file_uploader_state_value.uploaded_file_info.add()
        info.file_id, info.name = url.rpartition("/")[2], name
        info.file_urls.upload_url = info.file_urls.delete_url = url
        info.file_urls.file_id = info.file_id
        self._idle.clear()
        await self._socket.send(message.SerializeToString())
        await self._until(self._idle.is_set, "the page's end")

    async def _until(self, there: Callable[[], bool], what: str) -> None:
        until = time.monotonic() + PATIENCE
        while not there():
            if self._reader.done():
                self._reader.result()
            if time.monotonic() > until:
                raise TimeoutError(f"{what} did not come within {PATIENCE:g} s")
            await asyncio.sleep(0.02)

    # -- listening ---------------------------------------------------------------------------------

    async def _read(self) -> None:
        async for raw in self._socket:
            message = ForwardMsg()
            message.ParseFromString(raw if isinstance(raw, bytes) else raw.encode())
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self._session = message.new_session.initialize.session_id
                self._begin(bool(message.metadata.run.fragment_ids))
            elif kind == "navigation":
                self._hash = message.navigation.page_script_hash
            elif kind == "delta":
                self._draw(message)
            elif kind == "auto_rerun":
                self._poll(message.auto_rerun.fragment_id, message.auto_rerun.interval)
            elif kind == "stop_auto_rerun":
                self._quit(message.stop_auto_rerun.fragment_id)
            elif kind == "file_urls_response":
                urls = message.file_urls_response.file_urls
                self._addresses.put_nowait(urls[0].upload_url if urls else "")
            elif kind == "page_info_changed":
                self._query = message.page_info_changed.query_string
            elif (
                kind == "script_finished"
                and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
            ):
                self._idle.set()

    def _begin(self, fragment: bool) -> None:
        """Start a drawing of the page or of a fragment."""
        if fragment:
            self.parts += 1
            return
        self.whole += 1
        self._stop_reruns()
        self._texts.clear()
        self._story = {}
        self._waiting = ""

    def _poll(self, fragment: str, interval: float) -> None:
        if fragment not in self._reruns:
            self._reruns[fragment] = asyncio.create_task(self._again(fragment, interval))

    def _draw(self, message: ForwardMsg) -> None:
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind is None:
            return
        body = getattr(element, kind)
        if (ident := str(getattr(body, "id", ""))).startswith("$$ID-"):
            self._ids[FOLLOWS.sub("", ident.split("-", 2)[2])] = ident
            self._hold(ident, body)
        if kind == "exception":
            self.messages.append(f"exception: {body.type}: {body.message}")
        elif kind == "progress":
            self.messages.append(body.text)
            self._waiting = body.text if PLACE.search(body.text) else ""
        elif kind == "bidi_component" and body.component_name == HERO:
            self._story = json.loads(body.json)
        elif text := str(getattr(body, "body", "")):
            self._texts[tuple(message.metadata.delta_path)] = text

    def _hold(self, ident: str, body: Any) -> None:
        """Keep the value of a box or a slider: its first, or one that the server sets."""
        kind = type(body).__name__
        # an empty box says nothing
        if kind == "NumberInput" and (
            body.set_value or (ident not in self._states and body.HasField("default"))
        ):
            self._states[ident] = body.value if body.set_value else body.default
        elif kind == "Slider" and body.options and (body.set_value or ident not in self._states):
            self._states[ident] = (
                list(body.raw_value)
                if body.set_value
                else [body.options[int(place)] for place in body.default]
            )

    async def _again(self, fragment: str, interval: float) -> None:
        while True:
            await asyncio.sleep(interval)
            await self._rerun(fragment)

    def _quit(self, fragment: str) -> None:
        if (task := self._reruns.pop(fragment, None)) is not None:
            task.cancel()

    def _stop_reruns(self) -> None:
        for task in self._reruns.values():
            task.cancel()
        self._reruns.clear()

    # -- reading -----------------------------------------------------------------------------------

    async def first_drawing(self) -> None:
        """Wait for the first drawing."""
        await self._until(self._idle.is_set, "the first page")

    async def result(self, epsilon: float, whole: bool = False) -> str:
        """The private RMSE that the page shows for this epsilon.

        whole: wait until nothing is left to compute.
        """
        await self._until(
            lambda: bool(self._figure(epsilon)) and not (whole and self._reruns),
            f"a result for epsilon {epsilon:g}",
        )
        return self._figure(epsilon)

    def _figure(self, epsilon: float) -> str:
        """The RMSE that the first view shows now if it is for this epsilon, else ''."""
        if not self._story or self._story["stale"] or self._story["epsilon"] != epsilon:
            return ""
        points = [it for it in self._story["points"] if it["epsilon"] == epsilon]
        return f"{points[0]['median']:.3f}" if points else ""
