"""Upload hostile files to one server, and measure what an honest visitor notices.

`python -m benchmarks.uploads` starts its own server on an empty data directory, in a control group
of 4 GB where this system lets it make one. Two tabs read a small Parquet of many equal rows, then
two visitors read a zip of large pictures each. Meanwhile an honest visitor opens pages and uploads
a small table. Visitors and server share this machine.
"""

import asyncio
import contextlib
import io
import json
import statistics
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet
from PIL import Image

from benchmarks.hostile import put, uploader
from benchmarks.report import save, serving
from benchmarks.student import Student

MEMORY = 4 << 30  # bytes of the control group
# of the Parquet file, as many as are allowed; in a group
ROWS = 20_000_000
GROUP = 20_000_000
# of a zip; pixels of a side, just below the limit of one picture
PICTURES = 400
SIDE = 6_000
LOOKS = 20  # pages that the honest visitor opens
TRIALS = 5  # tables that the honest visitor uploads
GROUPS = Path("/sys/fs/cgroup")


class Watch(threading.Thread):
    """The most resident memory of the server, and of it with its children, in MB."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.server = psutil.Process(pid)
        self.over = threading.Event()
        self.most = 0.0
        self.most_with_children = 0.0

    def run(self) -> None:
        while not self.over.wait(0.05):
            own = self.server.memory_info().rss / 1e6
            children = 0.0
            for child in self.server.children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):
                    children += child.memory_info().rss / 1e6
            self.most = max(self.most, own)
            self.most_with_children = max(self.most_with_children, own + children)


@contextlib.contextmanager
def memory_group() -> Iterator[Callable[[int], str]]:
    """A function that limits the memory of a process and its future children, and says how."""
    group, limit = _group()

    def add(pid: int) -> str:
        try:
            group.mkdir()
            (group / limit).write_text(str(MEMORY))
            (group / "cgroup.procs").write_text(str(pid))
        except OSError as error:
            return f"none: {error.strerror}"
        return f"a control group of {MEMORY >> 30} GB ({limit})"

    yield add
    with contextlib.suppress(OSError):
        group.rmdir()


def _group() -> tuple[Path, str]:
    """A new control group below this process's, of version 1 or 2, and its file for the limit."""
    name = "dpmf-uploads"
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "memory":
            return GROUPS / "memory" / path.lstrip("/") / name, "memory.limit_in_bytes"
    return GROUPS / path.lstrip("/") / name, "memory.max"


# ---- files ---------------------------------------------------------------------------------------


def equal_rows() -> bytes:
    """A Parquet file of many equal rows, of some 200 kB."""
    places = pa.array(np.append(np.zeros(GROUP - 1, np.int8), np.int8(1)))
    columns = {
        "user": pa.DictionaryArray.from_arrays(places, pa.array(["u1", "u2"])),
        "item": pa.DictionaryArray.from_arrays(places, pa.array(["i1", "i2"])),
        "rating": pa.DictionaryArray.from_arrays(places, pa.array([3, 4])),
    }
    table = pa.table(columns)
    out = io.BytesIO()
    with pyarrow.parquet.ParquetWriter(out, table.schema, compression="zstd") as writer:
        for _ in range(ROWS // GROUP):
            writer.write_table(table, row_group_size=GROUP)
    return out.getvalue()


def large_pictures() -> bytes:
    """A zip of pictures that are small as files and large to decode."""
    picture = io.BytesIO()
    Image.new("L", (SIDE, SIDE)).save(picture, "PNG")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(PICTURES):
            archive.writestr(f"{number}.png", picture.getvalue())
    return out.getvalue()


def honest_table(seed: int) -> bytes:
    """A table of ratings of some 70 kB."""
    rng = np.random.default_rng(seed)
    rows = [
        f"person{user},film {item},{rng.integers(1, 6)}"
        for user in range(250)
        for item in rng.choice(100, 14, replace=False)
    ]
    return "\n".join(["user,item,rating", *rows, ""]).encode()


# ---- visitors ------------------------------------------------------------------------------------


async def bring_ratings(
    student: Student, browser: httpx.AsyncClient, name: str, content: bytes
) -> float:
    """Upload a table, declare its scale, and press the button; seconds until it is drawn."""
    value, status = await put(student, browser, name, content)
    assert status == 204, status
    began = time.perf_counter()
    await student.set("data.file.ratings", value)
    await student.set(f"data.scale.{name}", ["1 to 5"])
    await student.set("data.use", True)
    return time.perf_counter() - began


async def bring_pictures(base: str, content: bytes, over: asyncio.Event) -> None:
    """Upload a zip of pictures and have it read, again and again."""
    async with uploader(base) as (student, browser):
        await student.set("data.kind", ["Documents or images"])
        value, _ = await put(student, browser, "pictures.zip", content)
        await student.set("data.file.samples", value)
        await student.set("data.image.zip", "32,32")
        while not over.is_set():
            await student.set("data.use", True)


async def bring_equal_rows(base: str, content: bytes) -> list[str]:
    """Upload the Parquet file and have it read; returns the page's errors."""
    async with uploader(base) as (student, browser):
        await bring_ratings(student, browser, "equal.parquet", content)
        return student.messages


async def open_pages(base: str, count: int) -> list[float]:
    """Open a page in new tabs, one after the other; the seconds until each is drawn."""
    waits = []
    for _ in range(count):
        began = time.perf_counter()
        async with Student(base, "step=data", "choose"):
            waits.append(time.perf_counter() - began)
    return waits


async def bring_tables(base: str, count: int) -> list[float]:
    """Upload small tables in new tabs, one after the other; the seconds of each."""
    waits = []
    for number in range(count):
        async with uploader(base) as (student, browser):
            waits.append(
                await bring_ratings(student, browser, "mine.csv", honest_table(number))
            )
            assert not student.messages, student.messages
    return waits


async def two_tabs(base: str) -> dict[str, Any]:
    content = equal_rows()
    quiet = await open_pages(base, LOOKS)
    tabs = [asyncio.create_task(bring_equal_rows(base, content)) for _ in range(2)]
    waits: list[float] = []
    while not all(tab.done() for tab in tabs) or len(waits) < LOOKS:
        waits += await open_pages(base, 1)
    return {
        "parquet_kb": round(len(content) / 1e3),
        "page_quiet": figures(quiet),
        "page": figures(waits),
        "answers": [(await tab)[-1:] for tab in tabs],
    }


async def two_zips(base: str) -> dict[str, Any]:
    content = large_pictures()
    await bring_tables(base, 1)
    quiet = await bring_tables(base, TRIALS)
    over = asyncio.Event()
    visitors = [
        asyncio.create_task(bring_pictures(base, content, over)) for _ in range(2)
    ]
    await asyncio.sleep(10)  # both are being read
    waits = await bring_tables(base, TRIALS)
    over.set()
    for visitor in visitors:
        visitor.cancel()
    await asyncio.gather(*visitors, return_exceptions=True)
    return {
        "zip_kb": round(len(content) / 1e3),
        "table_kb": round(len(honest_table(0)) / 1e3),
        "table_quiet": figures(quiet),
        "table": figures(waits),
    }


def figures(waits: list[float]) -> dict[str, float]:
    return {"median": round(statistics.median(waits), 2), "most": round(max(waits), 2)}


def main() -> None:
    with (
        memory_group() as limit_memory,
        tempfile.TemporaryDirectory() as folder,
        serving(folder, "local") as (base, pid),
    ):
        results: dict[str, Any] = {"memory_limit": limit_memory(pid)}
        asyncio.run(open_pages(base, 2))
        for attack in (two_tabs, two_zips):
            watch = Watch(pid)
            before = round(watch.server.memory_info().rss / 1e6)
            watch.start()
            measured = asyncio.run(attack(base))
            watch.over.set()
            watch.join()
            results[attack.__name__] = {
                **measured,
                "server_before_mb": before,
                "server_most_mb": round(watch.most),
                "with_children_most_mb": round(watch.most_with_children),
            }
    save("uploads", results)
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
