"""Trains, judges and stores runs on request, and says what each took: a process for
`benchmarks.end_to_end`.

Run by its path in a checkout that may be older than this file. A line of JSON in, a line of JSON
out.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, "")


def run(asked: dict[str, Any], folder: Path) -> dict[str, float]:
    """Seconds of processor time of one run until it is stored, the share of the clock that went
    to judging it, and its error.
    """
    from dpmf_core.runs import execution
    from dpmf_core.runs.specification import RunSpec
    from dpmf_core.runs.store import Store

    spec = RunSpec.parse(**asked)
    start = time.process_time()
    made = execution.run(spec)
    Store(folder).put(made)
    seconds = made.record.seconds
    trained = seconds["fit"] + seconds["evaluate"]
    return {
        "processor": time.process_time() - start,
        "judging": seconds["evaluate"] / trained,
        "rmse": made.record.metrics["rmse"],
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            print(json.dumps(run(json.loads(line), Path(folder))), flush=True)


if __name__ == "__main__":
    main()
