"""Students who stop a class, or try to.

One sweeps 4,096 cells and audits with 100,000 trainings, one uploads 90 MB six times, one attacks
the server, some leave during a training.
"""

import asyncio
import contextlib
import http.client
import io
import random
import secrets
import zipfile
from collections import Counter
from http.cookies import SimpleCookie
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.asyncio.client import connect

from benchmarks.student import Student

CELLS = 64  # by as many
TRAININGS = 100_000
SIZE, TIMES = 90_000_000, 6  # bytes of a file, uploads
IDLE_SESSIONS, IDLE_UPLOADS = 252, 7
DECLARED = 90_000_000  # bytes that an idle upload declares
BETWEEN = 2.0  # seconds from one attack to the next
CANCEL_AFTER = 2.0  # seconds after which a leaver leaves


def grid() -> str:
    """A 64 by 64 grid of parameters of the spectral method."""
    ridges = ", ".join(f"{0.1 + 0.01 * place:.2f}" for place in range(CELLS))
    return (
        f"prediction_ridge = {ridges}; shrinkage ="
        f" {', '.join(f'{place / 40:.3f}' for place in range(CELLS))}"
    )


async def sweeps(base: str, over: asyncio.Event) -> str:
    """Ask for a sweep, stay until the class is over, and return what the page then says."""
    async with Student(
        base, "data=cinema-small&methods=spectral&epsilons=1&draws=1", "trade-off"
    ) as student:
        await student.first_drawing()
        await student.set("tradeoff.grid", grid())
        await student.until_widget("tradeoff.confirm")
        await student.press("tradeoff.confirm")
        await over.wait()
        return student.messages[-1] if student.messages else ""


async def audits(base: str, over: asyncio.Event) -> str:
    """Ask for an audit, confirm that it may take long, and stay."""
    async with Student(base, f"attack=private-bias&at=3&runs={TRAININGS}", "audit") as student:
        await student.first_drawing()
        if student.has("audit.confirm"):
            await student.press("audit.confirm")
        await over.wait()
        return student.messages[-1] if student.messages else ""


async def uploads(base: str, over: asyncio.Event) -> list[int]:
    """Upload a large table again and again; returns the server's answers, refusals included."""
    answers = []
    async with Student(base, "", "data") as student:
        await student.first_drawing()
        for _ in range(TIMES):
            url = await student.upload_address("large.csv")
            lines = b"user,item,rating\n" + b"12345,678,4.5\n" * (SIZE // 14)
            answers.append(await asyncio.to_thread(put, base + url, lines) if url else 0)
        await over.wait()
    return answers


async def attacks(base: str, over: asyncio.Event) -> dict[str, int]:
    """Open idle sessions and idle uploads, then attack until the class is over.

    Each attack empties all caches and uploads a spreadsheet with one far cell and a table with an
    endless name. Counts the server's answers.
    """
    answers = Counter[str]()
    async with contextlib.AsyncExitStack() as idle, Student(base, "", "data") as student:
        await student.first_drawing()
        for _ in range(IDLE_SESSIONS):
            with contextlib.suppress(OSError, TimeoutError):
                stream = connect(f"{base.replace('http', 'ws', 1)}/_stcore/stream", origin=base)  # type: ignore[arg-type]
                await idle.enter_async_context(stream)
                answers["idle sessions"] += 1
        for _ in range(IDLE_UPLOADS):
            url = await student.upload_address("idle.csv")
            idle.callback(declare(base + url).close)
        files = {"far.xlsx": far_cell(), "long.csv": b"a" * 100_000 + b",item,rating\n1,2,3\n"}
        while not over.is_set():
            await student.send(BackMsg(clear_cache=True))
            for name, content in files.items():
                url = await student.upload_address(name)
                status = await asyncio.to_thread(put, base + url, content, name) if url else 0
                answers[f"{name}: {status}"] += 1
                await student.choose_file(name, url)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), BETWEEN)
    return dict(answers)


def declare(url: str) -> http.client.HTTPConnection:
    """Begin an upload that sends nothing."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.netloc, timeout=300)
    connection.putrequest("PUT", place.path)
    connection.putheader("Content-Length", str(DECLARED))
    connection.putheader("Content-Type", "multipart/form-data; boundary=x")
    connection.endheaders()
    return connection


def far_cell() -> bytes:
    """A spreadsheet with one header and a value in the last possible cell."""
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c>'
        "</row></sheetData></worksheet>"
    )
    book = (
        '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
        ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>'
        '<sheet name="a" sheetId="1" r:id="rId1"/></sheets></workbook>'
    )
    relation = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
        'relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", book)
        archive.writestr("xl/_rels/workbook.xml.rels", relation)
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
    return out.getvalue()


def put(url: str, content: bytes, name: str = "large.csv") -> int:
    """Send a file as the page's uploader does; returns the status, 0 if the connection was cut."""
    place = urlsplit(url)
    host = http.client.HTTPConnection(place.netloc, timeout=300)
    try:
        host.request("GET", "/_stcore/health")
        first = host.getresponse()
        first.read()
        cookies = SimpleCookie(first.getheader("Set-Cookie") or "")
        token = cookies["_streamlit_xsrf"].value if "_streamlit_xsrf" in cookies else ""
        edge = secrets.token_hex(12)
        head = (
            f'--{edge}\r\nContent-Disposition: form-data; name="{name}"; filename="{name}"\r\n'
            "Content-Type: text/csv\r\n\r\n"
        )
        body = head.encode() + content + f"\r\n--{edge}--\r\n".encode()
        headers = {
            "Content-Type": f"multipart/form-data; boundary={edge}",
            "X-Xsrftoken": token,
            "Cookie": f"_streamlit_xsrf={token}",
        }
        host.request("PUT", place.path, body, headers)
        return host.getresponse().status
    except OSError:
        return 0
    finally:
        host.close()


async def leaves(base: str, query: str, rng: random.Random) -> None:
    """Open the lesson, ask for something new, and close the tab while it is being computed."""
    await asyncio.sleep(rng.uniform(0, 10))
    async with Student(base, query) as student:
        await student.first_drawing()
        await student.set("sidebar.epsilon", round(rng.uniform(11, 30), 2))
        await asyncio.sleep(rng.uniform(0, CANCEL_AFTER))
