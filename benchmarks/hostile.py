"""Students who stop a class, or try to.

One asks for a sweep of 4,096 cells and for an audit of 100,000 trainings, one uploads 90 MB six
times, one attacks the server, some leave during a training.
"""

import asyncio
import contextlib
import io
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import httpx
import openpyxl
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileUploaderState
from websockets.asyncio.client import connect

from benchmarks.student import SLIDER, Student

SIDE = 64  # of the grid
TRAININGS = 100_000
SIZE = 90_000_000  # bytes of a file
TIMES = 6  # uploads
IDLE_SESSIONS = 252
IDLE_UPLOADS = 7
PAUSE = 2.0  # seconds from one attack to the next, and at most until a leaver leaves


async def sweep(base: str, over: asyncio.Event) -> str:
    """Ask for a sweep, stay until the class is over, and return what the page then says."""
    ridges = ", ".join(f"{0.1 + 0.01 * place:.2f}" for place in range(SIDE))
    shrinkages = ", ".join(f"{place / 40:.3f}" for place in range(SIDE))
    query = "view=compare&dataset=cinema-small&methods=spectral&epsilons=1&draws=1"
    async with Student(base, query, "explore") as student:
        await student.set(
            "compare.grid", f"prediction_ridge = {ridges}; shrinkage = {shrinkages}"
        )
        await student.set("compare.confirm", True)
        await over.wait()
        return "".join(student.messages[-1:])


async def audit(base: str, over: asyncio.Event) -> str:
    """Ask for an audit, stay, and return what the page then says."""
    query = f"view=attack&attack=private-bias&epsilon=3&runs={TRAININGS}"
    async with Student(base, query, "verify") as student:
        await student.set("audit.confirm", True)
        await over.wait()
        return "".join(student.messages[-1:])


async def uploads(base: str, over: asyncio.Event) -> list[int]:
    """Upload a large table again and again; return the server's answers, refusals included."""
    table = b"user,item,rating\n" + b"12345,678,4.5\n" * (SIZE // 14)
    async with uploader(base) as (student, browser):
        answers = [
            (await put(student, browser, "large.csv", table))[1] for _ in range(TIMES)
        ]
        await over.wait()
    return answers


async def attacks(base: str, over: asyncio.Event) -> dict[str, int]:
    """Open idle sessions and idle uploads, then attack until the class is over.

    Each attack empties all caches, and uploads a spreadsheet with one distant cell and a table with
    an endless name. Counts the server's answers and the page's errors.
    """
    answers = Counter[str]()
    files = {
        "far.xlsx": far_cell(),
        "long.csv": b"a" * 100_000 + b",item,rating\n1,2,3\n",
    }
    async with (
        contextlib.AsyncExitStack() as idle,
        uploader(base) as (student, browser),
    ):
        for _ in range(IDLE_SESSIONS):
            with contextlib.suppress(OSError, TimeoutError):
                stream = f"{base.replace('http', 'ws', 1)}/_stcore/stream"
                await idle.enter_async_context(connect(stream, origin=base))  # type: ignore[arg-type]
                answers["idle sessions"] += 1
        urls = [await student.upload_address("idle.csv") for _ in range(IDLE_UPLOADS)]
        waiting = [asyncio.create_task(declare(browser, url)) for url in urls]
        while not over.is_set():
            await student.send(BackMsg(clear_cache=True))
            for name, content in files.items():
                value, status = await put(student, browser, name, content)
                answers[f"{name}: {status}"] += 1
                await student.set("data.file.ratings", value)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), PAUSE)
        answers["idle uploads"] = sum(not upload.done() for upload in waiting)
        return dict(answers + Counter(student.messages))


async def leave(base: str, query: str, rng: random.Random) -> None:
    """Open the lesson, ask for something new, and close the tab while it is being computed."""
    await asyncio.sleep(rng.uniform(0, 10))
    async with Student(base, query) as student:
        await student.set(SLIDER, f"{rng.uniform(11, 30):.2f}")
        await asyncio.sleep(rng.uniform(0, PAUSE))


DEEDS: dict[str, Callable[[str, asyncio.Event], Coroutine[Any, Any, Any]]] = {
    "sweep": sweep,
    "audit": audit,
    "uploads": uploads,
    "attacks": attacks,
}


# ---- uploads -------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def uploader(base: str) -> AsyncIterator[tuple[Student, httpx.AsyncClient]]:
    """A session on the Data page, and the connections on which its browser uploads."""
    browser = httpx.AsyncClient(base_url=base, timeout=300)
    async with Student(base, "step=data", "choose") as student, browser:
        await browser.get("/_stcore/health")
        browser.headers["X-Xsrftoken"] = browser.cookies["_streamlit_xsrf"]
        yield student, browser


async def put(
    student: Student, browser: httpx.AsyncClient, name: str, content: bytes
) -> tuple[FileUploaderState, int]:
    """Send a file as the page's uploader does; its widget's value, and the status, 0 if cut off."""
    value = FileUploaderState()
    url = await student.upload_address(name)
    info = value.uploaded_file_info.add(file_id=url.rpartition("/")[2], name=name)
    info.file_urls.file_id = info.file_id
    info.file_urls.upload_url = info.file_urls.delete_url = url
    try:
        return value, (
            await browser.put(url, files={name: (name, content)})
        ).status_code
    except httpx.TransportError:
        return value, 0


async def declare(browser: httpx.AsyncClient, url: str) -> None:
    """Begin an upload that sends nothing, and wait for an answer."""
    kind = {
        "Content-Type": "multipart/form-data; boundary=x",
        "Content-Length": str(SIZE),
    }
    head = browser.build_request("PUT", url, headers=kind)
    answer, request = await asyncio.open_connection(head.url.host, head.url.port)
    lines = (f"{name}: {value}" for name, value in head.headers.items())
    request.write("\r\n".join([f"PUT {url} HTTP/1.1", *lines, "\r\n"]).encode())
    await answer.read(1)


def far_cell() -> bytes:
    """A spreadsheet with a value in the first and in the last possible cell."""
    book = openpyxl.Workbook()
    out = io.BytesIO()
    book.active["A1"] = book.active["XFD1048576"] = 1
    book.save(out)
    return out.getvalue()
