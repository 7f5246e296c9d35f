"""Does a server grow? 300 trainings asked for by one session, then 200 sessions that open a page
and go: `python -m benchmarks.endurance`.

It starts a server of its own with the settings of a class, on an empty data directory, and looks at
the memory of the server and its workers after every part. Growth is what the last half of each adds
to the first: what is compiled, read and kept once comes in the first.
"""

import argparse
import asyncio
import json
import math
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.classroom import Watch, creation_times, free_port, start_server, visit
from benchmarks.report import save
from benchmarks.student import Student
from dpmf_core.paths import cache_folder

PARTS = 4  # of the trainings, and of the reloads
AT_ONCE = 4  # sessions that open the page side by side
REST = 20.0  # seconds after which memory is looked at
SESSION_REST = 135.0  # seconds until an ended session is forgotten, and what it held given back
QUERY = "data=cinema-small&algo=dpals&seed=0"


async def train(base: str, count: int, watch: Watch) -> list[dict[str, Any]]:
    """New epsilons, each with all that stands beside it, until so many runs are stored."""
    points, epsilon = [], 1.0
    async with Student(base, QUERY) as student:
        await student.result(5.0, whole=True)
        first = len(creation_times())
        for part in range(1, PARTS + 1):
            while len(creation_times()) - first < count * part / PARTS:
                epsilon = round(epsilon + 0.03, 2)
                await student.touch("sidebar.eps", epsilon, epsilon)
                await student.result(epsilon, whole=True)
            await asyncio.sleep(REST)
            points.append({"trainings": len(creation_times()) - first, "mb": round(watch.now())})
            print(points[-1], flush=True)
        if any("exception" in text for text in student.messages):
            raise RuntimeError(f"the page broke: {student.messages}")
    return points


async def reload(base: str, count: int, watch: Watch) -> list[dict[str, Any]]:
    """New sessions that see the whole first page, which is stored, and go."""
    points, rounds = [], math.ceil(count / PARTS / AT_ONCE)
    for part in range(1, PARTS + 1):
        for _ in range(rounds):
            await asyncio.gather(*(visit(base, QUERY) for _ in range(AT_ONCE)))
        await asyncio.sleep(SESSION_REST)
        points.append({"reloads": part * AT_ONCE * rounds, "mb": round(watch.now())})
        print(points[-1], flush=True)
    return points


def growth(points: list[dict[str, Any]]) -> int:
    """MB that the second half adds."""
    return int(points[-1]["mb"] - points[PARTS // 2 - 1]["mb"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trainings", type=int, default=300)
    parser.add_argument("--reloads", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder() / "compiled"))
        os.environ["DPMF_DATA"] = folder
        port, path = free_port(), Path(folder) / "server.log"
        base, began = f"http://127.0.0.1:{port}", time.perf_counter()
        with path.open("wb") as log:
            child = start_server(folder, port, log)
            try:
                watch = Watch(child.pid)
                trainings = asyncio.run(train(base, arguments.trainings, watch))
                reloads = asyncio.run(reload(base, arguments.reloads, watch))
            finally:
                child.terminate()
                child.wait(30)
        text = path.read_text(errors="replace")
    results = {
        "trainings": trainings,
        "reloads": reloads,
        "growth_by_trainings_mb": growth(trainings),
        "growth_by_reloads_mb": growth(reloads),
        "seconds": round(time.perf_counter() - began),
        "exceptions_in_the_log": text.count("Traceback"),
    }
    save("endurance", results)
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
