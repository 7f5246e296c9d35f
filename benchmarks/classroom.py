"""A class on one server: thirty students open a teacher's link within ten seconds, move epsilon
five times and start a training each. Five of them are those of `benchmarks.hostile`: a sweep of
4,096 cells and an audit of 100,000 trainings, six uploads of 90 MB, three who leave in
mid-training.

`python -m benchmarks.classroom [--students 30] [--data cinema-small] [--browsers 2]
[--processes 1] [--kind]`:
starts a server of its own on an empty data directory, looks at its memory and its log all the
while, and checks every result against a training in this process. Two of the students have a real
browser.
Everybody looks at a result for 2 to 8 seconds; students, browsers and server share this machine.
--kind: nobody is hostile.
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks import hostile
from benchmarks.report import save
from benchmarks.student import SENTENCE, Student, rmse_in
from dpmf_core.paths import data_folder
from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec

PRESETS = (0.5, 1.0, 2.0, 5.0, 10.0)
# seconds within which all come; for which each looks at a result
OPENING, THINKING = 10.0, (2.0, 8.0)
AFTER = 60.0  # seconds until memory is looked at again
LEAVERS, OTHERS = 3, 2  # who leave in mid-training; who sweep, or upload
ALGORITHM = "dpals"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Watch(threading.Thread):
    """Resident memory of the server and everything below it, twice a second."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.root, self.over, self.most = psutil.Process(pid), threading.Event(), 0.0

    def now(self) -> float:
        """MB."""
        total = 0.0
        for process in (self.root, *self.root.children(recursive=True)):
            try:
                total += process.memory_info().rss / 1e6
            except psutil.NoSuchProcess:
                continue
        return total

    def servers(self) -> list[psutil.Process]:
        """What draws pages: the server itself, or those that `serve` has started."""
        below = self.root.children()
        found = [it for it in below if any(part.endswith("app.py") for part in it.cmdline())]
        return found or [self.root]

    @property
    def server_mb(self) -> float:
        """Of the servers themselves, without their workers."""
        return sum(float(it.memory_info().rss) for it in self.servers()) / 1e6

    @property
    def processor_seconds(self) -> float:
        """Of the servers themselves, without their workers."""
        return sum(float(sum(it.cpu_times()[:2])) for it in self.servers())

    def run(self) -> None:
        while not self.over.wait(0.5):
            self.most = max(self.most, self.now())


async def one(
    base: str, query: str, number: int, rng: random.Random
) -> tuple[Student, list[tuple[float, str]]]:
    await asyncio.sleep(rng.uniform(0, OPENING))
    said = []
    async with Student(base, query) as student:
        await student.opened()
        for epsilon in rng.sample(PRESETS, 5):
            await asyncio.sleep(rng.uniform(*THINKING))
            await student.touch("sidebar.eps", epsilon, epsilon)
            said.append((epsilon, await student.result(epsilon)))
        own = round(3 + 0.01 * number, 2)
        await student.touch("sidebar.eps", own, own)
        said.append((own, await student.result(own, whole=True)))
    return student, said


def witness(base: str, query: str, number: int, out: list[Any]) -> None:
    """A student with a real browser."""
    from playwright.sync_api import sync_playwright

    rng = random.Random(1000 + number)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.set_default_timeout(120_000)
        page.goto(f"{base}/explore?{query}")
        page.wait_for_selector("h1:has-text('At ε =')")
        waits, said = [], []
        for epsilon in rng.sample(PRESETS, 5):
            page.wait_for_timeout(1000 * rng.uniform(*THINKING))
            box = page.get_by_label("ε, exactly")
            box.fill(f"{epsilon:g}")
            began = time.perf_counter()
            box.press("Enter")
            # the card, which needs no training
            page.wait_for_selector(f"h2:has-text('ε = {epsilon:.2f} in total')")
            waits.append(time.perf_counter() - began)
            page.wait_for_selector(f"h1:has-text('At ε = {epsilon:g},')")
            page.wait_for_selector("[data-test-script-state=notRunning]")
            said.append((epsilon, rmse_in(page.get_by_text(SENTENCE).first.inner_text())))
        faults = page.get_by_test_id("stException").count()
        browser.close()
    out.append((waits, said, faults))


def expected(data: str, epsilons: set[float], delta: float, seed: int) -> dict[float, set[str]]:
    """What a page may say of each epsilon: the median of the draws that have finished,
    whichever these are.
    """
    found = {}
    for epsilon in epsilons:
        budget = {"epsilon": epsilon, "delta": delta}
        specs = [
            RunSpec.parse(data={"id": data}, algorithm=ALGORITHM, budget=budget, seed=seed + draw)
            for draw in range(DRAWS)
        ]
        errors = [float(run(spec).record.metrics["rmse"]) for spec in specs]
        several = itertools.chain.from_iterable(
            itertools.combinations(errors, count) for count in range(1, DRAWS + 1)
        )
        found[epsilon] = {f"{statistics.median(some):.3f}" for some in several}
    return found


def created() -> dict[str, str]:
    """When each stored run was made: one that is trained twice would be stored twice, with
    another moment.
    """
    from dpmf_core.runs.store import Store

    store = Store()
    try:
        return {row["key"]: row["created"] for row in store.rows()}
    finally:
        store.close()


def served(folder: str, port: int, log: Any, processes: int = 1) -> subprocess.Popen[bytes]:
    alone = ["streamlit", "run", "app.py", "--server.port", str(port)]
    several = ["dpmf_core", "serve", "--processes", str(processes), "--port", str(port)]
    env = {
        **os.environ,
        "DPMF_DATA": folder,
        "DPMF_PROFILE": os.environ.get("DPMF_PROFILE", "class"),
        "STREAMLIT_SERVER_HEADLESS": "true",
        "DPMF_WARM": "false",  # what is measured is what visitors cost
    }
    child = subprocess.Popen(
        [sys.executable, "-m", *(several if processes > 1 else alone)],
        env=env,
        stdout=log,
        stderr=log,
    )
    for _ in range(900):
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return child
        time.sleep(0.1)
    raise RuntimeError("the server did not start")


async def whole_class(
    base: str, query: str, students: int, kind: bool
) -> tuple[list[tuple[Student, list[tuple[float, str]]]], dict[str, Any]]:
    """Everybody who learns, and what came of the others. kind: there are no others."""
    over = asyncio.Event()
    others = (
        {}
        if kind
        else {
            "sweep": hostile.sweeps(base, over),
            "audit": hostile.audits(base, over),
            "uploads": hostile.uploads(base, over),
        }
    )
    tasks = {name: asyncio.create_task(doing) for name, doing in others.items()}
    leaving = (
        []
        if kind
        else [
            asyncio.create_task(hostile.leaves(base, query, random.Random(500 + number)))
            for number in range(LEAVERS)
        ]
    )
    count = students if kind else students - LEAVERS - OTHERS
    told = await asyncio.gather(
        *(one(base, query, number, random.Random(number)) for number in range(count))
    )
    over.set()
    await asyncio.gather(*leaving)
    return told, {name: await task for name, task in tasks.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--data", default="cinema-small")
    parser.add_argument("--processes", type=int, default=1, help="servers, by `serve`")
    parser.add_argument("--browsers", type=int, default=2)
    parser.add_argument(
        "--after", type=float, default=AFTER, help="seconds until memory is looked at again"
    )
    parser.add_argument(
        "--kind", action="store_true", help="nobody sweeps, audits, uploads or leaves"
    )
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # a class starts with compiled kernels
        os.environ.setdefault("NUMBA_CACHE_DIR", str(data_folder() / "compiled"))
        os.environ["DPMF_DATA"] = folder
        from dpmf_core.serving.lesson_links import LessonLink, LessonSequence, signed

        link = {"data": asked.data, "algo": ALGORITHM, "seed": "0"}
        locked = ("data", "algo", "seed")
        shared = LessonLink.parse(page="explore", query=link, locked=locked, title="A class")
        query = f"class={signed(LessonSequence.parse(steps=(shared,)))}"
        port = free_port()
        base, path = f"http://127.0.0.1:{port}", Path(folder) / "server.log"
        with path.open("wb") as log:
            child = served(folder, port, log, asked.processes)
            try:
                found = lesson(asked, base, query, child.pid)
            finally:
                child.terminate()
                child.wait(30)
        text = path.read_text(errors="replace")
    found["exceptions_in_the_log"] = text.count("Traceback") + text.count("Exception")
    found["log_lines"] = len(text.splitlines())
    save(result_name(asked.kind, asked.processes), found)
    print(json.dumps(found, indent=1))
    if found["exceptions_in_the_log"]:
        print(text[-4000:], file=sys.stderr)


def result_name(kind: bool, processes: int) -> str:
    """Of the file in `results` that a class of this kind writes."""
    return f"classroom{'-calm' * kind}{f'-{processes}' * (processes > 1)}"


def answered(asked: argparse.Namespace, told: list[Any], seen: list[Any]) -> dict[str, Any]:
    """How long students waited, what they were shown, and whether it was right. told: a student and
    her results each; seen: of each browser its waits, results and faults.
    """
    said = [pair for _, pairs in told for pair in pairs] + [
        pair for _, pairs, _ in seen for pair in pairs
    ]
    right = expected(
        asked.data,
        {epsilon for epsilon, _ in said},
        5e-5 if asked.data == "cinema-small" else 5e-6,
        0,
    )
    waits, drawn = (
        np.array([wait for student, _ in told for wait in held(student)])
        for held in (lambda it: it.answers, lambda it: it.drawn)
    )
    in_browsers = [wait for waits_, _, _ in seen for wait in waits_]
    messages = [text for student, _ in told for text in student.messages]
    return {
        "widgets": len(waits),
        "answer_median": round(float(np.median(waits)), 3),
        "answer_95th": round(float(np.quantile(waits, 0.95)), 3),
        "answer_most": round(float(waits.max()), 3),
        "drawn_median": round(float(np.median(drawn)), 3),
        "drawn_95th": round(float(np.quantile(drawn, 0.95)), 3),
        "pages_drawn": sum(student.whole for student, _ in told),
        "fragments_drawn": sum(student.parts for student, _ in told),
        "browser_card_median": round(float(np.median(in_browsers)), 3) if seen else None,
        "results": len(said),
        "wrong_results": [pair for pair in said if pair[1] not in right[pair[0]]],
        "exceptions_on_pages": (
            sum("exception" in text for text in messages) + sum(faults for _, _, faults in seen)
        ),
        "queue_told": sum("your turn" in text for text in messages),
    }


def lesson(asked: argparse.Namespace, base: str, query: str, pid: int) -> dict[str, Any]:
    """The class itself; what was seen of it."""
    watch = Watch(pid)
    asyncio.run(visit(base, query))  # the teacher looks first
    before, spent, alone = watch.now(), watch.processor_seconds, watch.server_mb
    watch.start()
    seen: list[Any] = []
    browsers = [
        threading.Thread(target=witness, args=(base, query, number, seen))
        for number in range(asked.browsers)
    ]
    began = time.perf_counter()
    for thread in browsers:
        thread.start()
    told, others = asyncio.run(
        whole_class(base, query, asked.students - asked.browsers, asked.kind)
    )
    took = time.perf_counter() - began
    for thread in browsers:
        thread.join()
    spent = watch.processor_seconds - spent
    left = asyncio.run(unfinished(base))
    first = created()
    answers = answered(asked, told, seen)
    time.sleep(asked.after)
    asyncio.run(visit(base, query))  # whoever comes next
    after = watch.now()
    watch.over.set()
    return {
        "students": asked.students,
        "processes": asked.processes,
        "data": asked.data,
        "browsers": len(seen),
        "seconds": round(took, 1),
        "server_processor_seconds": round(spent, 1),
        **answers,
        "others": others,
        "still_said": left,
        "runs_stored": len(first),
        "trained_twice": twice(first, created()),
        "server_before_mb": round(alone),
        "server_after_mb": round(watch.server_mb),
        "memory_before_mb": round(before),
        "memory_most_mb": round(watch.most),
        "memory_after_mb": round(after),
    }


def twice(first: dict[str, str], second: dict[str, str]) -> int:
    return sum(second.get(key, moment) != moment for key, moment in first.items())


async def unfinished(base: str) -> str:
    """What the Trade-off page says of the queue just after the class."""
    async with Student(
        base, "data=cinema-small&epsilons=1,2,3,4,5,6,7,8,9,10&draws=3", "trade-off"
    ) as student:
        await student.opened()
        return student.said("runs wait here now")


async def visit(base: str, query: str) -> None:
    async with Student(base, query) as student:
        await student.result(5.0, whole=True)


if __name__ == "__main__":
    main()
