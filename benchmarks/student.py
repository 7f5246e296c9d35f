"""A student without a browser, for the load of a class: a client of the page's websocket."""

import asyncio
import contextlib
import json
import random
import re
import time
from collections.abc import Callable
from typing import Any

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileUploaderState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

Value = float | str | list[str] | FileUploaderState
PRESETS = (0.5, 1.0, 2.0, 5.0, 10.0)
THINKING = (2.0, 8.0)  # seconds for which a student looks at a result
PATIENCE = 600.0  # seconds for a result
SLIDER = "sidebar.epsilon"
HERO = "dpmf.hero"  # Explore's first view, which holds the figures of all its epsilons
FOLLOWS = re.compile(r"\.\d+$")  # numbers the successive widgets of one value
PLACE = re.compile(r"runs finished|your turn")  # what a page says of unfinished runs


class Student:
    """One session on a page, with the seconds that each move of epsilon took.

    `answers`: until the page showed the new epsilon with its figure, or its place in the queue if
    it is being computed. `drawings`: until the page was drawn completely. `results`: the epsilons
    and the errors shown. cookie: of the browser, which tabs have in common; '' for none.
    """

    def __init__(self, base: str, query: str, page: str = "", cookie: str = "") -> None:
        self._base = base
        self._page = page
        self._query = query
        if cookie:
            self._headers = {"Cookie": cookie}
        else:
            self._headers = {}
        self._hash = self._session = ""  # of the open page; the session's id
        self.answers: list[float] = []
        self.drawings: list[float] = []
        self.results: list[tuple[float, str]] = []
        self.messages: list[
            str
        ] = []  # exceptions, errors and progress texts that were shown
        self._ids: dict[str, str] = {}  # widget key: id of its present widget
        # values of boxes and sliders by id; a browser sends all of them with each request
        self._states: dict[str, Value] = {}
        self._texts: dict[tuple[int, ...], str] = {}
        self._story: dict[str, Any] = {}  # figures of the first view
        self._reruns: dict[str, asyncio.Task[None]] = {}
        self._addresses: asyncio.Queue[str] = asyncio.Queue()  # for uploads
        self._idle = asyncio.Event()
        self._waiting = (
            False  # whether the page has told that its runs are being computed
        )

    async def __aenter__(self) -> "Student":
        self._socket = await connect(
            self._base.replace("http", "ws", 1) + "/_stcore/stream",
            origin=self._base,  # type: ignore[arg-type]
            subprotocols=["streamlit"],  # type: ignore[list-item]
            additional_headers=self._headers,
            max_size=None,
            open_timeout=60,
            ping_interval=None,
        )
        self._reader = asyncio.create_task(self._read())
        await self._rerun()
        await self._until(self._idle.is_set, "the first page")
        return self

    async def __aexit__(self, *what: object) -> None:
        self._stop_reruns()
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reader
        await self._socket.close()

    async def learn(self, number: int, rng: random.Random) -> None:
        """Visit all presets and an epsilon of one's own."""
        for epsilon in rng.sample(PRESETS, 5):
            await asyncio.sleep(rng.uniform(*THINKING))
            await self.move(epsilon)
            self.results.append((epsilon, await self.result(epsilon)))
        own = round(3 + 0.01 * number, 2)
        await self.move(own)
        self.results.append((own, await self.result(own, whole=True)))

    async def move(self, epsilon: float) -> None:
        """Move epsilon, and wait until the page answers and has been drawn once."""
        began = time.perf_counter()
        card = f"ε = {epsilon:.2f} ("

        def answered() -> bool:
            said = any(card in text for text in self._texts.values())
            return said and (self._waiting or bool(self._figure(epsilon)))

        await self._rerun(**{SLIDER: f"{epsilon:g}"})
        await self._until(answered, card)
        self.answers.append(time.perf_counter() - began)
        await self._until(self._idle.is_set, "the page's end")
        self.drawings.append(time.perf_counter() - began)

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
        points = [
            point for point in self._story["points"] if point["epsilon"] == epsilon
        ]
        if points:
            return f"{points[0]['error']['median']:.3f}"
        return ""

    async def set(self, key: str, value: Value) -> None:
        """Give a widget a value once it is there, and wait until the page has been drawn.

        value: True presses a button.
        """
        await self._until(lambda: key in self._ids, key)
        await self._rerun(**{key: value})
        await self._until(self._idle.is_set, "the page's end")

    async def upload_address(self, name: str) -> str:
        """The server's address for a file of this name; '' if it gives none."""
        message = BackMsg()
        message.file_urls_request.session_id = self._session
        message.file_urls_request.file_names.append(name)
        await self.send(message)
        return await asyncio.wait_for(self._addresses.get(), PATIENCE)

    async def send(self, message: BackMsg) -> None:
        await self._socket.send(message.SerializeToString())

    async def _until(self, there: Callable[[], bool], what: str) -> None:
        until = time.monotonic() + PATIENCE
        while not there():
            if self._reader.done():
                self._reader.result()
            if time.monotonic() > until:
                raise TimeoutError(f"{what} did not come within {PATIENCE:g} s")
            await asyncio.sleep(0.02)

    # -- messages ----------------------------------------------------------------------------------

    async def _rerun(self, fragment: str = "", **widgets: Value) -> None:
        message = BackMsg()
        # a session that was redirected to another page stays there
        if self._hash:
            message.rerun_script.page_name = ""
        else:
            message.rerun_script.page_name = self._page
        message.rerun_script.page_script_hash = self._hash
        message.rerun_script.query_string = self._query
        message.rerun_script.context_info.url = (
            f"{self._base}/{self._page}?{self._query}"
        )
        message.rerun_script.context_info.timezone = "UTC"
        if fragment:
            message.rerun_script.fragment_id = fragment
            message.rerun_script.is_auto_rerun = True
        else:
            self._idle.clear()
        self._states |= {self._ids[key]: value for key, value in widgets.items()}
        for ident, value in self._states.items():
            state = message.rerun_script.widget_states.widgets.add(id=ident)
            if isinstance(value, list):
                state.string_array_value.data.extend(value)
            elif isinstance(value, str):
                state.string_value = value
            elif isinstance(value, FileUploaderState):
                state.file_uploader_state_value.CopyFrom(value)
            elif value is True:
                state.trigger_value = True
            else:
                state.double_value = value
        self._states = {
            key: value for key, value in self._states.items() if value is not True
        }
        await self.send(message)

    async def _read(self) -> None:
        async for raw in self._socket:
            message = ForwardMsg()
            message.ParseFromString(raw if isinstance(raw, bytes) else raw.encode())
            kind = str(message.WhichOneof("type"))
            content = getattr(message, kind, None)
            if kind == "new_session":
                self._begin(message)
            elif kind == "navigation":
                self._hash = message.navigation.page_script_hash
            elif kind == "delta":
                self._draw(message)
            elif (
                kind == "auto_rerun"
                and message.auto_rerun.fragment_id not in self._reruns
            ):
                again = self._again(
                    message.auto_rerun.fragment_id, message.auto_rerun.interval
                )
                self._reruns[message.auto_rerun.fragment_id] = asyncio.create_task(
                    again
                )
            elif kind == "stop_auto_rerun":
                self._stop_reruns(message.stop_auto_rerun.fragment_id)
            elif kind == "file_urls_response":
                urls = [
                    file.upload_url for file in message.file_urls_response.file_urls
                ]
                self._addresses.put_nowait("".join(urls))
            elif kind == "page_info_changed":
                self._query = message.page_info_changed.query_string
            elif (
                kind == "script_finished"
                and content == ForwardMsg.FINISHED_SUCCESSFULLY
            ):
                self._idle.set()

    def _begin(self, message: ForwardMsg) -> None:
        """Start a drawing of the whole page, or of a fragment."""
        self._session = message.new_session.initialize.session_id
        if message.metadata.run.fragment_ids:
            return
        self._stop_reruns()
        self._texts.clear()
        self._story = {}
        self._waiting = False

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
        elif kind == "alert" and body.format == Alert.ERROR:
            self.messages.append(body.body)
        elif kind == "progress":
            self.messages.append(body.text)
            self._waiting = bool(PLACE.search(body.text))
        elif kind == "bidi_component" and body.component_name == HERO:
            self._story = json.loads(body.json)
        elif text := str(getattr(body, "body", "")):
            self._texts[tuple(message.metadata.delta_path)] = text

    def _hold(self, ident: str, body: Any) -> None:
        """Keep the value of a box or a slider: its first, or one that the server sets."""
        kind = type(body).__name__
        new = ident not in self._states
        if kind == "NumberInput" and body.set_value:
            self._states[ident] = body.value
        # an empty box says nothing
        elif kind == "NumberInput" and new and body.HasField("default"):
            self._states[ident] = body.default
        elif kind == "Slider" and body.options and body.set_value:
            self._states[ident] = list(body.raw_value)
        elif kind == "Slider" and body.options and new:
            self._states[ident] = [body.options[int(place)] for place in body.default]

    async def _again(self, fragment: str, interval: float) -> None:
        while True:
            await asyncio.sleep(interval)
            await self._rerun(fragment)

    def _stop_reruns(self, fragment: str = "") -> None:
        """Stop redrawing one fragment, or all."""
        for redrawn in [fragment] if fragment else list(self._reruns):
            if task := self._reruns.pop(redrawn, None):
                task.cancel()
