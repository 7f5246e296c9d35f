"""Processor seconds that the engine adds to small runs: `python -m benchmarks.sweep_overhead`.

The same small runs through the engine (server and workers together, workers started and warm), as
it is and with every run a task of its own, and bare, one after the other in one process; in turn,
on an empty store each time. Every process computes with one thread.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.report import save

METHODS = ("private-bias", "spectral", "ada-dpals")
EPSILONS = (0.5, 1.0, 2.0, 5.0)
KINDS = ("bare", "alone", "engine")


def sweep(seeds: range) -> Any:
    """Small runs; four by three for each seed."""
    from dpmf_core.runs.sweep import Method, Sweep

    return Sweep(
        data={"id": "cinema-small"},
        methods=tuple(Method(algorithm=name) for name in METHODS),
        epsilons=EPSILONS,
        seeds=tuple(seeds),
    )


def bare(count: int) -> dict[str, float]:
    """The runs in this process, nothing stored."""
    from dpmf_core.runs.execution import run

    for point in sweep(range(1)).points():
        run(point.spec)
    began, processor_start = time.perf_counter(), time.process_time()
    for point in sweep(range(1, count + 1)).points():
        run(point.spec)
    return {
        "processor": time.process_time() - processor_start,
        "seconds": time.perf_counter() - began,
    }


def alone(count: int) -> dict[str, float]:
    """As `engine`, every run a task of its own."""
    from dpmf_core.engine import run_queue

    run_queue.MOST = 1
    return engine(count)


def engine(count: int) -> dict[str, float]:
    """The runs through the engine, into a store of their own."""
    from dpmf_core.engine.executor import Engine
    from dpmf_core.runs.store import Store

    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        executor = Engine(store, workers=2)
        try:
            answer_all(executor, 0, 2)
            before = by_process()
            began = time.perf_counter()
            answer_all(executor, 2, count)
            seconds, after = time.perf_counter() - began, by_process()
            server = after.pop(os.getpid()) - before.pop(os.getpid())
            below = sum(after.values()) - sum(before.values())
        finally:
            executor.close()
            store.close()
    return {"processor": server + below, "server": server, "below": below, "seconds": seconds}


def answer_all(executor: Any, first: int, count: int) -> None:
    points = sweep(range(first + 1, first + count + 1)).points()
    for _, outcome in executor.sweep([point.spec for point in points]):
        if isinstance(outcome, Exception):
            raise outcome


def by_process() -> dict[int, float]:
    """Processor seconds of this process and of all below it."""
    here = psutil.Process()
    seconds = {}
    for process in (here, *here.children(recursive=True)):
        times = process.cpu_times()
        seconds[process.pid] = times.user + times.system
    return seconds


def measurement(kind: str, count: int) -> dict[str, float]:
    """One of `KINDS`, in a process of its own."""
    one = dict.fromkeys(("DPMF_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.sweep_overhead", "--only", kind, "--seeds", str(count)],
        env={**os.environ, **one},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    seconds: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="twelve runs each")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=KINDS, help="one measurement, as JSON")
    arguments = parser.parse_args()
    if arguments.only:
        measure = {"bare": bare, "alone": alone, "engine": engine}[arguments.only]
        print(json.dumps(measure(arguments.seeds)))
        return
    runs = arguments.seeds * len(METHODS) * len(EPSILONS)
    rounds = [
        {kind: measurement(kind, arguments.seeds) for kind in KINDS}
        for _ in range(arguments.repeats)
    ]
    milliseconds = {
        kind: {
            name: 1000 * statistics.median(each[kind][name] for each in rounds) / runs
            for name in rounds[0][kind]
        }
        for kind in KINDS
    }
    save(
        "sweep_overhead",
        {"runs": runs, "rounds": arguments.repeats, "milliseconds_a_run": milliseconds},
    )
    print(json.dumps(milliseconds, indent=1))


if __name__ == "__main__":
    main()
