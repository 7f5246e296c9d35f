"""Load one server with a class.

Thirty students open a teacher's link within ten seconds, move epsilon five times and start a
training each. `python -m benchmarks.classroom [--students 30] [--data cinema-small]` starts its own
server on an empty data directory, watches its memory and its log throughout, and checks each result
against a training in this process. Each student looks at a result for 2 to 8 seconds. Students,
who are clients of the page's websocket without a browser, and server share this machine.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import random
import re
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

from benchmarks.report import save, serving
from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store
from dpmf_core.teaching.lesson_links import LessonLink, LessonSequence, link_token

PRESETS = (0.5, 1.0, 2.0, 5.0, 10.0)
# seconds within which all students arrive; seconds for which each looks at a result
OPENING, THINKING = 10.0, (2.0, 8.0)
AFTER, PATIENCE = 60.0, 600.0  # seconds until memory is measured again; for a result
LOCKED = {"dataset": "cinema-small", "algorithm": "dpals", "seed": "0"}
SLIDER = "sidebar.epsilon"
HERO = "dpmf.hero"  # Explore's first view, which holds the figures of all its epsilons
FOLLOWS = re.compile(r"\.\d+$")  # numbers the successive widgets of one value
PLACE = re.compile(r"runs finished|your turn")  # what a page says of unfinished runs


class Student:
    """One session, with the seconds that each move of epsilon took.

    `answers`: until the page showed the new epsilon with its figure, or its place in the queue if
    it is being computed. `drawings`: until the page was drawn completely. `results`: the epsilons
    and the errors shown.
    """

    def __init__(self, base: str, query: str) -> None:
        self._base, self._query, self._hash = base, query, ""  # the last, of the open page
        self.answers: list[float] = []
        self.drawings: list[float] = []
        self.results: list[tuple[float, str]] = []
        self.messages: list[str] = []  # exceptions and progress texts that were shown
        self._ids: dict[str, str] = {}  # widget key: id of its present widget
        # values of boxes and sliders by id; a browser sends all of them with each request
        self._states: dict[str, float | list[str]] = {}
        self._texts: dict[tuple[int, ...], str] = {}
        self._story: dict[str, Any] = {}  # figures of the first view
        self._reruns: dict[str, asyncio.Task[None]] = {}
        self._idle = asyncio.Event()
        self._waiting = False  # whether the page has told that its runs are being computed

    async def __aenter__(self) -> "Student":
        self._socket = await connect(
            self._base.replace("http", "ws", 1) + "/_stcore/stream",
            origin=self._base,  # type: ignore[arg-type]
            subprotocols=["streamlit"],  # type: ignore[list-item]
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
        began, card = time.perf_counter(), f"ε = {epsilon:.2f} ("

        def answered() -> bool:
            said = any(card in text for text in self._texts.values())
            return said and (self._waiting or bool(self._figure(epsilon)))

        await self._rerun(**{SLIDER: epsilon})
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
        points = [it for it in self._story["points"] if it["epsilon"] == epsilon]
        return f"{points[0]['median']:.3f}" if points else ""

    async def _until(self, there: Callable[[], bool], what: str) -> None:
        until = time.monotonic() + PATIENCE
        while not there():
            if self._reader.done():
                self._reader.result()
            if time.monotonic() > until:
                raise TimeoutError(f"{what} did not come within {PATIENCE:g} s")
            await asyncio.sleep(0.02)

    # -- messages ----------------------------------------------------------------------------------

    async def _rerun(self, fragment: str = "", **widgets: float) -> None:
        message = BackMsg()
        message.rerun_script.page_script_hash = self._hash
        message.rerun_script.query_string = self._query
        message.rerun_script.context_info.url = f"{self._base}/?{self._query}"
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
            else:
                state.double_value = value
        await self._socket.send(message.SerializeToString())

    async def _read(self) -> None:
        async for raw in self._socket:
            message = ForwardMsg()
            message.ParseFromString(raw if isinstance(raw, bytes) else raw.encode())
            kind = str(message.WhichOneof("type"))
            content = getattr(message, kind, None)
            if kind == "new_session":
                if not message.metadata.run.fragment_ids:
                    self._begin()
            elif kind == "navigation":
                self._hash = message.navigation.page_script_hash
            elif kind == "delta":
                self._draw(message)
            elif kind == "auto_rerun" and message.auto_rerun.fragment_id not in self._reruns:
                again = self._again(message.auto_rerun.fragment_id, message.auto_rerun.interval)
                self._reruns[message.auto_rerun.fragment_id] = asyncio.create_task(again)
            elif kind == "stop_auto_rerun":
                self._stop_reruns(message.stop_auto_rerun.fragment_id)
            elif kind == "page_info_changed":
                self._query = message.page_info_changed.query_string
            elif kind == "script_finished" and content == ForwardMsg.FINISHED_SUCCESSFULLY:
                self._idle.set()

    def _begin(self) -> None:
        """Start a drawing of the whole page."""
        self._stop_reruns()
        self._texts.clear()
        self._story, self._waiting = {}, False

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
            self._waiting = bool(PLACE.search(body.text))
        elif kind == "bidi_component" and body.component_name == HERO:
            self._story = json.loads(body.json)
        elif text := str(getattr(body, "body", "")):
            self._texts[tuple(message.metadata.delta_path)] = text

    def _hold(self, ident: str, body: Any) -> None:
        """Keep the value of a box or a slider: its first, or one that the server sets."""
        kind, new = type(body).__name__, ident not in self._states
        if kind == "NumberInput" and body.set_value:
            self._states[ident] = body.value
        elif (
            kind == "NumberInput" and new and body.HasField("default")
        ):  # an empty box says nothing
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
        for it in [fragment] if fragment else list(self._reruns):
            if task := self._reruns.pop(it, None):
                task.cancel()


class Watch(threading.Thread):
    """Resident memory of the server and its descendants, twice a second."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.root, self.over, self.most = psutil.Process(pid), threading.Event(), 0.0

    def now(self) -> float:
        """Resident memory in MB."""
        total = 0.0
        for process in (self.root, *self.root.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                total += process.memory_info().rss / 1e6
        return total

    def run(self) -> None:
        while not self.over.wait(0.5):
            self.most = max(self.most, self.now())


async def whole_class(base: str, query: str, count: int) -> list[Student]:
    """All students at once."""

    async def one(number: int, rng: random.Random) -> Student:
        await asyncio.sleep(rng.uniform(0, OPENING))
        async with Student(base, query) as student:
            await student.learn(number, rng)
        return student

    return await asyncio.gather(*(one(number, random.Random(number)) for number in range(count)))


async def visit(base: str, query: str) -> None:
    async with Student(base, query) as student:
        await student.result(5.0, whole=True)


def right_texts(data: str, epsilon: float) -> set[str]:
    """What a page may say of an epsilon: the median of any draws that have finished."""
    budget = {"epsilon": epsilon, "delta": 5e-5 if data == "cinema-small" else 5e-6}
    facts = {"data": {"id": data}, "algorithm": LOCKED["algorithm"], "budget": budget}
    runs = [run(RunSpec.parse(**facts, seed=draw)) for draw in range(DRAWS)]
    errors = [float(it.record.metrics["rmse"]) for it in runs]
    several = (itertools.combinations(errors, count + 1) for count in range(DRAWS))
    return {f"{statistics.median(some):.3f}" for some in itertools.chain.from_iterable(several)}


def answer_figures(data: str, students: list[Student]) -> dict[str, Any]:
    """How long students waited, what they were shown, and whether it was right."""
    results = [pair for student in students for pair in student.results]
    right = {epsilon: right_texts(data, epsilon) for epsilon in {epsilon for epsilon, _ in results}}
    waits = np.concatenate([student.answers for student in students])
    drawings = np.concatenate([student.drawings for student in students])
    messages = [text for student in students for text in student.messages]
    return {
        "widgets": len(waits),
        "answer_median": round(float(np.median(waits)), 3),
        "answer_95th": round(float(np.quantile(waits, 0.95)), 3),
        "drawn_median": round(float(np.median(drawings)), 3),
        "results": len(results),
        "wrong_results": [
            (epsilon, text) for epsilon, text in results if text not in right[epsilon]
        ],
        "exceptions_on_pages": sum("exception" in text for text in messages),
    }


def creation_times() -> dict[str, str]:
    """When each stored run was made; a run that is trained twice would have two times."""
    with contextlib.closing(Store()) as store:
        return {row["key"]: row["created"] for row in store.rows()}


def lesson(count: int, data: str, base: str, pid: int) -> dict[str, Any]:
    """Run the class, and report what was measured."""
    link = LessonLink.parse(
        page="explore", query=LOCKED | {"dataset": data}, locked=tuple(LOCKED), title="A class"
    )
    query = f"class={link_token(LessonSequence.parse(steps=(link,)))}"
    watch = Watch(pid)
    asyncio.run(visit(base, query))  # the teacher looks first
    before, seconds = watch.now(), sum(watch.root.cpu_times()[:2])
    watch.start()
    began = time.perf_counter()
    students = asyncio.run(whole_class(base, query, count))
    took, seconds = time.perf_counter() - began, sum(watch.root.cpu_times()[:2]) - seconds
    first = creation_times()
    answers = answer_figures(data, students)
    time.sleep(AFTER)
    asyncio.run(visit(base, query))  # the next visitor
    after, second = watch.now(), creation_times()
    watch.over.set()
    return {
        "students": count,
        "data": data,
        "seconds": round(took, 1),
        "server_processor_seconds": round(seconds, 1),
        **answers,
        "runs_stored": len(first),
        "trained_twice": sum(second.get(key, moment) != moment for key, moment in first.items()),
        "memory_before_mb": round(before),
        "memory_most_mb": round(watch.most),
        "memory_after_mb": round(after),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--data", default="cinema-small")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with serving(folder, "class") as (base, pid):
            results = lesson(arguments.students, arguments.data, base, pid)
        log = (Path(folder) / "server.log").read_text(errors="replace")
    results["exceptions_in_the_log"] = log.count("Traceback") + log.count("Exception")
    save("classroom", results)
    print(json.dumps(results, indent=1))
    if results["exceptions_in_the_log"]:
        print(log[-4000:])


if __name__ == "__main__":
    main()
