"""Finished runs that come with the package, so that pages need not compute what they show first.

Each is the record of a real run of exactly this specification by this version of its algorithm.
Some include the released model or the data of its views. `python -m benchmarks.shipped` computes
all of them, and compares.
"""

import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dpmf_core.runs.record import Run, RunRecord, Summary, summarise
from dpmf_core.runs.run_file import Label, RunFile, write_file
from dpmf_core.runs.specification import RunSpec

FILE = Path(__file__).parent / "shipped_runs.sqlite"
ViewData = dict[str, Any]  # what a page shows of a run's model


class ShippedRun(NamedTuple):
    """A run that comes with the package.

    Attributes
    ----------
    record
        The record of the run.
    view_data
        Data for pages, by kind; empty if no page needs them.
    arrays
        The arrays of the released model; empty if no page needs them.
    """

    record: RunRecord
    view_data: ViewData
    arrays: Mapping[str, Any]


def identity(spec: RunSpec, version: int | None = None) -> str:
    """A text that identifies a run and the version of its algorithm, by default today's."""
    version = spec.kind.version if version is None else version
    return (
        f"{spec.canonical().model_dump_json(exclude_defaults=True)} version {version}"
    )


def record(spec: RunSpec) -> RunRecord | None:
    """The record of a run, marked as cached; None if it does not come with the package."""
    key = _keys().get(identity(spec))
    if key is None:
        return None
    return _record(key)


def summary(spec: RunSpec) -> Summary | None:
    """The summary of a run; None if it does not come with the package."""
    stored_record = record(spec)
    if stored_record is None:
        return None
    return summarise(stored_record)


def view_data(spec: RunSpec, what: str) -> Any:
    """The view data of a run's model; None if they do not come with the package."""
    stored_record = record(spec)
    if stored_record is None:
        return None
    return _file().views(stored_record.key).get(what)


def released_run(spec: RunSpec) -> Run | None:
    """A run with the arrays of its model; None if these do not come with the package."""
    key = _keys().get(identity(spec))
    run = None if key is None else _file().get(key)
    if run is not None and len(run.arrays):
        return run
    return None


def everything() -> dict[str, ShippedRun]:
    """Everything that comes with the package, by the identity of its runs."""
    return {
        name: ShippedRun(run.record, _file().views(key), run.arrays)
        for name, key in _keys().items()
        if (run := _file().get(key)) is not None
    }


def write(runs: Iterable[ShippedRun]) -> None:
    """Replace what comes with the package; equal runs make equal bytes."""
    in_order = sorted(runs, key=lambda run: run.record.key)
    rows = (
        (Run(run.record, run.arrays), Label(run.record.created), run.view_data)
        for run in in_order
    )
    write_file(FILE, rows)
    for cache in (_file, _keys, _record):
        cache.cache_clear()


@functools.cache
def _file() -> RunFile:
    return RunFile.read_only(FILE)


@functools.cache
def _keys() -> Mapping[str, str]:
    return {
        identity(RunSpec.model_validate_json(spec), version): key
        for key, spec, version in _file().specifications()
    }


@functools.lru_cache(1000)
def _record(key: str) -> RunRecord | None:
    run = _file().get(key)
    if run is None:
        return None
    return run.record
