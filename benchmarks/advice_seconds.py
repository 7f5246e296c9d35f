"""How long Choose takes to answer before anything is paid, with nothing stored.

`python -m benchmarks.advice_seconds` computes the runs of every world of two shapes, several times,
in the worker processes of the app, whose kernels are compiled beforehand. It records wall-clock and
processor seconds: on a busy machine the first are longer, and on a quiet one they are about the
second over the number of workers.
"""

import contextlib
import os
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.report import save
from dpmf_core.jobs.engine import Engine
from dpmf_core.runs import data_access
from dpmf_core.runs.store import Store
from dpmf_core.runs.tuning.choosing.unpaid_range import DeclaredShape, WorldRuns

SHAPES = {
    "MovieLens 1M": "worlds?users=6040&items=3706&each=166&bounds=1,5&step=1",
    "shop": "worlds?users=2999&items=400&each=10&bounds=0.5,5&step=0.5",
}
EPSILONS = (0.5, 1.0, 2.0, 5.0, 10.0)
DELTA = 1e-6
TIMES = 3


def seconds_of(data_id: str) -> dict[str, float]:
    """Wall-clock and processor seconds of one answer, from the click, with the workers started."""
    runs = WorldRuns(DeclaredShape.parse(data_id), EPSILONS, DELTA)
    for world in runs.worlds:
        data_access.forget(world.id)
    cpu_before = _cpu_seconds()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.closing(Store(Path(folder))) as store,
    ):
        with contextlib.closing(Engine(store)) as engine:
            engine.start()
            start = time.perf_counter()
            for _, outcome in engine.sweep(runs.specs.values()):
                if isinstance(outcome, Exception):
                    raise outcome
            seconds = time.perf_counter() - start
            workers = engine.width
        # of the workers too, which have ended
        cpu_seconds = _cpu_seconds() - cpu_before
    load = os.getloadavg()[0]
    return {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "workers": workers,
        "load": load,
    }


def _cpu_seconds() -> float:
    """The processor time of this process and of its ended children."""
    usages = (
        resource.getrusage(who)
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main() -> None:
    results: dict[str, Any] = {}
    for name, data_id in SHAPES.items():
        seconds_of(data_id)  # compiles kernels where that is needed
        answers = [seconds_of(data_id) for _ in range(TIMES)]
        print(name, answers, flush=True)
        results[name] = {
            key: round(statistics.median(answer[key] for answer in answers), 1)
            for key in answers[0]
        }
    save("advice_seconds", {"answers": results})


if __name__ == "__main__":
    main()
