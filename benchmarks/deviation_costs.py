"""Records what each deviation of an algorithm from its source costs in error."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict

from dpmf_core.papers.deviations import COSTS_FILE, Cost


def record_costs(measures: Mapping[str, Mapping[str, Callable[[], Cost]]]) -> None:
    """Measure costs by algorithm and key, and replace what is recorded of these algorithms."""
    if COSTS_FILE.exists():
        record = json.loads(COSTS_FILE.read_text("utf-8"))
    else:
        record = {}
    for algorithm, by_key in measures.items():
        record[algorithm] = {key: asdict(measure()) for key, measure in by_key.items()}
        text = json.dumps(
            record,
            indent=1,
            ensure_ascii=False,
            sort_keys=True,
        )
        COSTS_FILE.write_text(f"{text}\n", "utf-8")
