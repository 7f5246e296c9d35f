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
Shown = dict[str, Any]  # what a first view shows of a run's arrays


@dataclass(frozen=True)
class Shipped:
    """A run that comes with the package. shown: by what it is; empty where no view needs it."""

    record: RunRecord
    shown: Shown


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
    found = (record(spec) for spec in specs)
    return [None if it is None else summarise(it) for it in found]


def shown(spec: RunSpec, what: str) -> Any:
    """What a first view shows of a run's arrays; None where that does not come with the package."""
    held = _read().get(identity(spec))
    return None if held is None else held.get("shown", {}).get(what)


def everything() -> dict[str, Shipped]:
    """All that comes with the package, by the identity of its runs."""
    return {
        name: Shipped(RunRecord.model_validate(held["record"]), held.get("shown", {}))
        for name, held in _read().items()
    }


def write(found: Mapping[str, Shipped]) -> None:
    """Replace what comes with the package: by identity, the same bytes for the same runs."""
    held = {
        name: {"record": it.record.to_dict()} | ({"shown": it.shown} if it.shown else {})
        for name, it in sorted(found.items())
    }
    FILE.write_bytes(gzip.compress(to_json(held).encode(), mtime=0))
    _read.cache_clear()
    _record.cache_clear()


@functools.lru_cache(1000)
def _record(name: str) -> RunRecord | None:
    held = _read().get(name)
    return None if held is None else RunRecord.model_validate({**held["record"], "cached": True})


@functools.cache
def _read() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(gzip.decompress(FILE.read_bytes()))
    return found
