"""Load one server with a class.

Thirty students open a teacher's link within ten seconds, move epsilon five times and start a
training each, except for six hostile ones (`benchmarks.hostile`).
`python -m benchmarks.classroom [--students 30] [--data cinema-small] [--kind]` starts its own
server on an empty data directory, watches its memory and its log throughout, and checks each result
against a training in this process. Each student looks at a result for 2 to 8 seconds. Students and
server share this machine.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import random
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks import hostile
from benchmarks.report import save, serving
from benchmarks.student import Student
from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store
from dpmf_core.teaching.lesson_links import LessonLink, LessonSequence, link_token

# seconds: all students arrive; until memory is measured again
OPENING = 10.0
AFTER = 60.0
# who leave during a training; who sweep and audit, upload, or attack
LEAVERS = 3
OTHERS = 3
LOCKED = {"dataset": "cinema-small", "algorithm": "dpals", "seed": "0"}
FIRST = 5.0  # epsilon with which the link opens


class Watch(threading.Thread):
    """Resident memory of the server and its descendants, twice a second."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.root = psutil.Process(pid)
        self.over = threading.Event()
        self.most = 0.0

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


async def whole_class(
    base: str, query: str, count: int, kind: bool
) -> tuple[list[Student], dict[str, Any]]:
    """The students who learn, and what happened to the hostile ones. kind: there are none."""

    async def one(number: int, rng: random.Random) -> Student:
        await asyncio.sleep(rng.uniform(0, OPENING))
        async with Student(base, query) as student:
            await student.learn(number, rng)
        return student

    if kind:
        leavers = 0
        others = 0
        deeds = {}
    else:
        leavers = LEAVERS
        others = OTHERS
        deeds = hostile.DEEDS
    over = asyncio.Event()
    tasks = {name: asyncio.create_task(do(base, over)) for name, do in deeds.items()}
    learning = [
        one(number, random.Random(number)) for number in range(count - leavers - others)
    ]
    leaving = [
        hostile.leave(base, query, random.Random(500 + number))
        for number in range(leavers)
    ]
    students, _ = await asyncio.gather(
        asyncio.gather(*learning), asyncio.gather(*leaving)
    )
    over.set()
    return students, {name: await task for name, task in tasks.items()}


async def visit(base: str, query: str) -> None:
    async with Student(base, query) as student:
        await student.result(FIRST, whole=True)


def right_texts(data: str, epsilon: float) -> set[str]:
    """What a page may say of an epsilon: the median of any draws that have finished."""
    budget = {"epsilon": epsilon, "delta": 5e-5 if data == "cinema-small" else 5e-6}
    facts = {"data": {"id": data}, "algorithm": LOCKED["algorithm"], "budget": budget}
    runs = [run(RunSpec.parse(**facts, seed=draw)) for draw in range(DRAWS)]
    errors = [float(run.record.metrics["rmse"]) for run in runs]
    several = (itertools.combinations(errors, count + 1) for count in range(DRAWS))
    return {
        f"{statistics.median(some):.3f}"
        for some in itertools.chain.from_iterable(several)
    }


def answer_figures(data: str, students: list[Student]) -> dict[str, Any]:
    """How long students waited, what they were shown, and whether it was right."""
    results = [pair for student in students for pair in student.results]
    right = {
        epsilon: right_texts(data, epsilon)
        for epsilon in {epsilon for epsilon, _ in results}
    }
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


def lesson(count: int, data: str, kind: bool, base: str, pid: int) -> dict[str, Any]:
    """Run the class, and report what was measured."""
    opened = LOCKED | {"dataset": data, "epsilon": f"{FIRST:g}"}
    link = LessonLink.parse(
        page="explore", query=opened, locked=tuple(LOCKED), title="A class"
    )
    query = f"class={link_token(LessonSequence.parse(steps=(link,)))}"
    watch = Watch(pid)
    asyncio.run(visit(base, query))  # the teacher looks first
    before = watch.now()
    seconds = sum(watch.root.cpu_times()[:2])
    watch.start()
    began = time.perf_counter()
    students, others = asyncio.run(whole_class(base, query, count, kind))
    took = time.perf_counter() - began
    seconds = sum(watch.root.cpu_times()[:2]) - seconds
    first = creation_times()
    answers = answer_figures(data, students)
    time.sleep(AFTER)
    asyncio.run(visit(base, query))  # the next visitor
    after = watch.now()
    second = creation_times()
    watch.over.set()
    return {
        "students": count,
        "data": data,
        "seconds": round(took, 1),
        "server_processor_seconds": round(seconds, 1),
        **answers,
        "others": others,
        "runs_stored": len(first),
        "trained_twice": sum(
            second.get(key, moment) != moment for key, moment in first.items()
        ),
        "memory_before_mb": round(before),
        "memory_most_mb": round(watch.most),
        "memory_after_mb": round(after),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--data", default="cinema-small")
    parser.add_argument("--kind", action="store_true", help="nobody is hostile")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with serving(folder, "class") as (base, pid):
            results = lesson(
                arguments.students, arguments.data, arguments.kind, base, pid
            )
        log = (Path(folder) / "server.log").read_text(errors="replace")
    results["exceptions_in_the_log"] = log.count("Traceback") + log.count("Exception")
    save("classroom-calm" if arguments.kind else "classroom", results)
    print(json.dumps(results, indent=1))
    if results["exceptions_in_the_log"]:
        print(log[-4000:])


if __name__ == "__main__":
    main()
