"""Trains, judges and stores runs on request, and says what each took: a process for
`benchmarks.end_to_end`.

Run by its path in a checkout that may be older than this file. A line of JSON in, a line of JSON
out.
"""

import importlib
import json
import sys
import tempfile
import time
import unittest.mock
from pathlib import Path
from typing import Any

sys.path.insert(0, "")
OTHER = 1_000_003  # added to a seed that nobody else asks for


def checkout() -> tuple[Any, ...]:
    """How to run, specifications, the store and what judges recommenders, in this checkout."""
    try:
        from dpmf_core.evaluation.judges import ByRatings
        from dpmf_core.runs.execution import run
        from dpmf_core.runs.specification import RunSpec
        from dpmf_core.runs.store import Store
    except ModuleNotFoundError:  # as its first edition lay
        experiment, store, judging = (
            importlib.import_module(f"dpmf_core.{name}")
            for name in ("experiment", "store", "judging")
        )
        return experiment.run, experiment.RunSpec, store.Store, judging.ByRatings
    return run, RunSpec, Store, ByRatings


def measurement(request: dict[str, Any], folder: Path) -> dict[str, float]:
    """Seconds of processor time of one run until it is stored, the share of them that a run saves
    which nobody judges, and its error.
    """
    run, RunSpec, Store, ByRatings = checkout()

    def run_and_time(seed: int) -> tuple[Any, float]:
        spec = RunSpec.parse(**{**request, "seed": seed})
        start = time.process_time()
        result = run(spec)
        Store(folder).put(result)
        return result, time.process_time() - start

    result, whole = run_and_time(request["seed"])
    record = result.record
    with (
        unittest.mock.patch.object(ByRatings, "point", lambda self, model: {}),
        unittest.mock.patch.object(ByRatings, "figures", lambda self, model: ({}, {})),
    ):
        # another split of the same sizes: that of the run before is in memory still
        _, alone = run_and_time(request["seed"] + OTHER)
    return {
        "processor": whole,
        "judging": 1 - alone / whole,
        "rmse": (record["metrics"] if isinstance(record, dict) else record.metrics)["rmse"],
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            print(json.dumps(measurement(json.loads(line), Path(folder))), flush=True)


if __name__ == "__main__":
    main()
