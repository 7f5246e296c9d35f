"""Students who stop a class, or try: one sweeps 4,096 cells and audits with 100,000 trainings,
one uploads 90 MB six times, some leave in mid-training.
"""

import asyncio
import http.client
import random
import secrets
from http.cookies import SimpleCookie
from urllib.parse import urlsplit

from benchmarks.student import Student

CELLS = 64  # by as many
TRAININGS = 100_000
SIZE, TIMES = 90_000_000, 6  # bytes of a file, uploads
CANCEL_AFTER = 2.0  # seconds in which somebody leaves again


def grid() -> str:
    """64 by 64 places of the spectral method."""
    ridges = ", ".join(f"{0.1 + 0.01 * place:.2f}" for place in range(CELLS))
    return (
        f"prediction_ridge = {ridges}; shrinkage ="
        f" {', '.join(f'{place / 40:.3f}' for place in range(CELLS))}"
    )


async def sweeps(base: str, over: asyncio.Event) -> str:
    """Ask for a sweep and stay until the class is over; what the page says of it in the end."""
    async with Student(
        base, "data=cinema-small&methods=spectral&epsilons=1&draws=1", "trade-off"
    ) as student:
        await student.first_drawing()
        await student.set("tradeoff.grid", grid())
        await student.until_widget("tradeoff.run")
        await student.press("tradeoff.run")
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
    """Upload a large table again and again; the server's answers (a refusal is one)."""
    answers = []
    async with Student(base, "", "data") as student:
        await student.first_drawing()
        for _ in range(TIMES):
            url = await student.upload_address("large.csv")
            answers.append(await asyncio.to_thread(put, base + url, SIZE) if url else 0)
        await over.wait()
    return answers


def put(url: str, size: int) -> int:
    """Send a table of about so many bytes, as the page's uploader does; the status of the
    answer, 0 where the connection was cut.
    """
    place = urlsplit(url)
    host = http.client.HTTPConnection(place.netloc, timeout=300)
    try:
        host.request("GET", "/_stcore/health")
        first = host.getresponse()
        first.read()
        cookies = SimpleCookie(first.getheader("Set-Cookie") or "")
        token = cookies["_streamlit_xsrf"].value if "_streamlit_xsrf" in cookies else ""
        edge, line = secrets.token_hex(12), b"12345,678,4.5\n"
        head = (
            f'--{edge}\r\nContent-Disposition: form-data; name="large.csv";'
            ' filename="large.csv"\r\nContent-Type: text/csv\r\n\r\n'.encode()
        )
        body = (
            head
            + b"user,item,rating\n"
            + line * (size // len(line))
            + f"\r\n--{edge}--\r\n".encode()
        )
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
    """Open the lesson, ask for something new, and close the tab while it is computed."""
    await asyncio.sleep(rng.uniform(0, 10))
    async with Student(base, query) as student:
        await student.first_drawing()
        await student.set("sidebar.eps", round(rng.uniform(11, 30), 2))
        await asyncio.sleep(rng.uniform(0, CANCEL_AFTER))
