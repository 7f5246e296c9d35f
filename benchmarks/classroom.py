"""Load one server with a class.

Thirty students open a teacher's link within ten seconds, move epsilon five times and start a
training each. Six of them are those of `benchmarks.hostile`: one runs a sweep of 4,096 cells and an
audit of 100,000 trainings, one uploads 90 MB six times, one attacks the server with files, idle
connections and developers' messages, and three leave during a training.

`python -m benchmarks.classroom [--students 30] [--data cinema-small] [--kind]`
starts its own server on an empty data directory, watches its memory and its log throughout, and
checks every result against a training in this process. Each student looks at a result for 2 to 8
seconds. Students and server share this machine.
--kind: no student is hostile.
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
from benchmarks.student import Student
from dpmf_core.base.paths import cache_folder
from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec

PRESETS = (0.5, 1.0, 2.0, 5.0, 10.0)
# seconds within which all students arrive; seconds for which each looks at a result
OPENING, THINKING = 10.0, (2.0, 8.0)
AFTER = 60.0  # seconds until memory is measured again
LEAVERS, OTHERS = 3, 3  # who leave during a training; who sweep, upload or attack
ALGORITHM = "dpals"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Watch(threading.Thread):
    """Resident memory of the server and its descendants, twice a second."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.root, self.over, self.most = psutil.Process(pid), threading.Event(), 0.0

    def now(self) -> float:
        """Resident memory in MB."""
        total = 0.0
        for process in (self.root, *self.root.children(recursive=True)):
            try:
                total += process.memory_info().rss / 1e6
            except psutil.NoSuchProcess:
                continue
        return total

    @property
    def server_mb(self) -> float:
        """Memory of the server process, without its workers."""
        return float(self.root.memory_info().rss) / 1e6

    @property
    def processor_seconds(self) -> float:
        """Processor time of the server process, without its workers."""
        return float(sum(self.root.cpu_times()[:2]))

    def run(self) -> None:
        while not self.over.wait(0.5):
            self.most = max(self.most, self.now())


async def one(
    base: str, query: str, number: int, rng: random.Random
) -> tuple[Student, list[tuple[float, str]]]:
    await asyncio.sleep(rng.uniform(0, OPENING))
    results = []
    async with Student(base, query) as student:
        await student.first_drawing()
        for epsilon in rng.sample(PRESETS, 5):
            await asyncio.sleep(rng.uniform(*THINKING))
            await student.touch("sidebar.epsilon", epsilon, epsilon)
            results.append((epsilon, await student.result(epsilon)))
        own = round(3 + 0.01 * number, 2)
        await student.touch("sidebar.epsilon", own, own)
        results.append((own, await student.result(own, whole=True)))
    return student, results


def expected(data: str, epsilons: set[float], delta: float, seed: int) -> dict[float, set[str]]:
    """What a page may say of each epsilon: the median of any draws that have finished."""
    texts = {}
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
        texts[epsilon] = {f"{statistics.median(some):.3f}" for some in several}
    return texts


def creation_times() -> dict[str, str]:
    """When each stored run was made; a run that is trained twice would have two times."""
    from dpmf_core.runs.store import Store

    store = Store()
    try:
        return {row["key"]: row["created"] for row in store.rows()}
    finally:
        store.close()


def start_server(folder: str, port: int, log: Any) -> subprocess.Popen[bytes]:
    env = {
        **os.environ,
        "DPMF_DATA": folder,
        "DPMF_PROFILE": os.environ.get("DPMF_PROFILE", "class"),
        "STREAMLIT_SERVER_HEADLESS": "true",
        "DPMF_WARM": "false",  # what is measured is what visitors cost
    }
    child = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)],
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
    """The students who learn, and what happened to the hostile ones. kind: there are none."""
    over = asyncio.Event()
    others = (
        {}
        if kind
        else {
            "sweep": hostile.sweeps(base, over),
            "audit": hostile.audits(base, over),
            "uploads": hostile.uploads(base, over),
            "attacks": hostile.attacks(base, over),
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
    students_results = await asyncio.gather(
        *(one(base, query, number, random.Random(number)) for number in range(count))
    )
    over.set()
    await asyncio.gather(*leaving)
    return students_results, {name: await task for name, task in tasks.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--data", default="cinema-small")
    parser.add_argument(
        "--after", type=float, default=AFTER, help="seconds until memory is looked at again"
    )
    parser.add_argument(
        "--kind", action="store_true", help="nobody sweeps, audits, uploads or leaves"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        # a class starts with compiled kernels
        os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder() / "compiled"))
        os.environ["DPMF_DATA"] = folder
        from dpmf_core.teaching.lesson_links import LessonLink, LessonSequence, link_token

        link = {"dataset": arguments.data, "algorithm": ALGORITHM, "seed": "0"}
        locked_facts = ("dataset", "algorithm", "seed")
        shared = LessonLink.parse(page="explore", query=link, locked=locked_facts, title="A class")
        query = f"class={link_token(LessonSequence.parse(steps=(shared,)))}"
        port = free_port()
        base, path = f"http://127.0.0.1:{port}", Path(folder) / "server.log"
        with path.open("wb") as log:
            child = start_server(folder, port, log)
            try:
                results = lesson(arguments, base, query, child.pid)
            finally:
                child.terminate()
                child.wait(30)
        text = path.read_text(errors="replace")
    results["exceptions_in_the_log"] = text.count("Traceback") + text.count("Exception")
    results["log_lines"] = len(text.splitlines())
    save(f"classroom{'-calm' * arguments.kind}", results)
    print(json.dumps(results, indent=1))
    if results["exceptions_in_the_log"]:
        print(text[-4000:], file=sys.stderr)


def answer_figures(arguments: argparse.Namespace, students: list[Any]) -> dict[str, Any]:
    """How long students waited, what they were shown, and whether it was right.

    students: pairs of a student and their results.
    """
    results = [pair for _, pairs in students for pair in pairs]
    right = expected(
        arguments.data,
        {epsilon for epsilon, _ in results},
        5e-5 if arguments.data == "cinema-small" else 5e-6,
        0,
    )
    waits, drawings = (
        np.array([wait for student, _ in students for wait in times(student)])
        for times in (lambda it: it.answers, lambda it: it.drawings)
    )
    messages = [text for student, _ in students for text in student.messages]
    return {
        "widgets": len(waits),
        "answer_median": round(float(np.median(waits)), 3),
        "answer_95th": round(float(np.quantile(waits, 0.95)), 3),
        "answer_most": round(float(waits.max()), 3),
        "drawn_median": round(float(np.median(drawings)), 3),
        "drawn_95th": round(float(np.quantile(drawings, 0.95)), 3),
        "pages_drawn": sum(student.whole for student, _ in students),
        "fragments_drawn": sum(student.parts for student, _ in students),
        "results": len(results),
        "wrong_results": [pair for pair in results if pair[1] not in right[pair[0]]],
        "exceptions_on_pages": sum("exception" in text for text in messages),
        "queue_told": sum("your turn" in text for text in messages),
    }


def lesson(arguments: argparse.Namespace, base: str, query: str, pid: int) -> dict[str, Any]:
    """Run the class, and report what was measured."""
    watch = Watch(pid)
    asyncio.run(visit(base, query))  # the teacher looks first
    before, seconds, alone = watch.now(), watch.processor_seconds, watch.server_mb
    watch.start()
    began = time.perf_counter()
    students, others = asyncio.run(whole_class(base, query, arguments.students, arguments.kind))
    took = time.perf_counter() - began
    seconds = watch.processor_seconds - seconds
    first = creation_times()
    answers = answer_figures(arguments, students)
    time.sleep(arguments.after)
    asyncio.run(visit(base, query))  # the next visitor
    after = watch.now()
    watch.over.set()
    return {
        "students": arguments.students,
        "data": arguments.data,
        "seconds": round(took, 1),
        "server_processor_seconds": round(seconds, 1),
        **answers,
        "others": others,
        "runs_stored": len(first),
        "trained_twice": twice(first, creation_times()),
        "server_before_mb": round(alone),
        "server_after_mb": round(watch.server_mb),
        "memory_before_mb": round(before),
        "memory_most_mb": round(watch.most),
        "memory_after_mb": round(after),
    }


def twice(first: dict[str, str], second: dict[str, str]) -> int:
    return sum(second.get(key, moment) != moment for key, moment in first.items())


async def visit(base: str, query: str) -> None:
    async with Student(base, query) as student:
        await student.result(5.0, whole=True)


if __name__ == "__main__":
    main()
