"""Trains, judges and stores runs on request, and says what each took: a process for
`benchmarks.end_to_end`.

Run by its path in a checkout that may be older than this file. A line of JSON in, a line of JSON
out.
"""

import contextlib
import json
import sys
import tempfile
import time
import unittest.mock
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, "")


def run(asked: dict[str, Any], folder: Path) -> dict[str, float]:
    """Seconds of processor time of one run until it is stored, the share of them that a run saves
    which nobody judges, and its error.
    """
    from dpmf_core.runs import execution
    from dpmf_core.runs.specification import RunSpec
    from dpmf_core.runs.store import Store

    spec = RunSpec.parse(**asked)
    start = time.process_time()
    made = execution.run(spec)
    Store(folder).put(made)
    whole = time.process_time() - start
    with unjudged():
        start = time.process_time()
        Store(folder).put(execution.run(spec))
        alone = time.process_time() - start
    return {
        "processor": whole,
        "judging": 1 - alone / whole,
        "rmse": made.record.metrics["rmse"],
    }


@contextlib.contextmanager
def unjudged() -> Iterator[None]:
    """While open, no recommender is judged, at no step and not at its end."""
    try:
        from dpmf_core.evaluation.judges import ByRatings
    except ModuleNotFoundError:  # an older checkout
        from dpmf_core.judging import ByRatings  # type: ignore[import-not-found,no-redef]
    with (
        unittest.mock.patch.object(ByRatings, "point", lambda self, model: {}),
        unittest.mock.patch.object(ByRatings, "figures", lambda self, model: ({}, {})),
    ):
        yield


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            print(json.dumps(run(json.loads(line), Path(folder))), flush=True)


if __name__ == "__main__":
    main()
