"""Finished runs that come with the package, so that what everybody sees first need not wait for
compiled code and workers.

Each is the whole record of a real run of exactly this specification by this version of its
algorithm, without its arrays; of any other nothing is known here. Of some, what a first view shows
of the arrays is there too. `python -m benchmarks.shipped` computes all of them, and compares.
"""

import functools
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpmf_core import algorithms
from dpmf_core.runs.artefacts import summarise, to_json
from dpmf_core.runs.record import RunRecord
from dpmf_core.runs.specification import RunSpec

FILE = Path(__file__).parent / "shipped_runs.json.gz"
Summary = dict[str, Any]  # of a run, as `artefacts.summarise` has it
ViewData = dict[str, Any]  # what a first view shows of a run's arrays


@dataclass(frozen=True)
class ShippedRun:
    """A run that comes with the package. view_data: by what it is; empty where no view needs it."""

    record: RunRecord
    view_data: ViewData


def identity(spec: RunSpec) -> str:
    """Another text for another run, and for another version of its algorithm."""
    canonical = spec.canonical()
    version = algorithms.find(spec.algorithm).version
    return f"{canonical.model_dump_json(exclude_defaults=True)} version {version}"


def record(spec: RunSpec) -> RunRecord | None:
    """The record of a run, marked as cached; None where it does not come with the package."""
    return _record(identity(spec))


def summaries(specs: Sequence[RunSpec]) -> list[Summary | None]:
    """The summary of each of these runs, None where it does not come with the package."""
    records = (record(spec) for spec in specs)
    return [None if it is None else summarise(it) for it in records]


def view_data(spec: RunSpec, what: str) -> Any:
    """What a first view shows of a run's arrays; None where that does not come with the package."""
    entry = _read().get(identity(spec))
    return None if entry is None else entry.get("shown", {}).get(what)


def everything() -> dict[str, ShippedRun]:
    """All that comes with the package, by the identity of its runs."""
    return {
        name: ShippedRun(RunRecord.model_validate(entry["record"]), entry.get("shown", {}))
        for name, entry in _read().items()
    }


def write(runs: Mapping[str, ShippedRun]) -> None:
    """Replace what comes with the package: by identity, the same bytes for the same runs."""
    entries = {
        name: {"record": it.record.to_dict()} | ({"shown": it.view_data} if it.view_data else {})
        for name, it in sorted(runs.items())
    }
    FILE.write_bytes(gzip.compress(to_json(entries).encode(), mtime=0))
    _read.cache_clear()
    _record.cache_clear()


@functools.lru_cache(1000)
def _record(name: str) -> RunRecord | None:
    entry = _read().get(name)
    return None if entry is None else RunRecord.model_validate({**entry["record"], "cached": True})


@functools.cache
def _read() -> dict[str, dict[str, Any]]:
    entries: dict[str, dict[str, Any]] = json.loads(gzip.decompress(FILE.read_bytes()))
    return entries
