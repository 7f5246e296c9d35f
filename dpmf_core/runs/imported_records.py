"""Runs that come as files, to be looked at.

Nothing of a file is taken over but what a `RunRecord` names: text of reasonable length without
control characters, numbers that are finite, lists that end. A data set is named by a catalogue id
or a plain file name, so that no file of somebody else's says where to look on this machine.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from pydantic import ValidationError

from dpmf_core import algorithms
from dpmf_core.errors import BadInput
from dpmf_core.privacy.events import needed_fields
from dpmf_core.privacy.mechanisms import MECHANISMS
from dpmf_core.runs.privacy_record import ReleaseRecord
from dpmf_core.runs.record import Run, RunRecord

LARGEST = 4 << 20  # bytes of a file; a record has about 7,000
MOST_RUNS = 100  # in a file
DEEPEST = 12  # lists and objects within each other
PLAIN_FILE = r"^\w[\w .,()+-]{0,119}(\?[\w=&.,%+: -]{0,300})?$"


NAME = r"[A-Za-z][A-Za-z0-9_-]{0,59}"  # of a field, parameter or metric
MOST_TEXT = 2000  # characters
MOST_NUMBER = 1e100
MOST_ENTRIES = 2000  # of a list; of a dictionary 60
MOST_NAMES = 60
Problem = Mapping[str, Any]  # with the keys loc, msg, input
DATA_ID = ("spec", "data", "id")  # has a check of its own
KEPT_ITEMS = ("released_shape", "kept")  # the one list that may be longer


def imported_runs(content: bytes) -> list[Run]:
    """The runs of a JSON file, one or a list, to look at: they enter no store.

    Raises BadInput with what is wrong first.
    """
    document = _parse(content)
    records = document if isinstance(document, list) else [document]
    if not 1 <= len(records) <= MOST_RUNS:
        raise BadInput(f"The file holds {len(records):,} runs. Give one with 1 to {MOST_RUNS}.")
    name = hashlib.sha256(content).hexdigest()[:8]
    return [_run(record, f"imported-{name}-{place}") for place, record in enumerate(records, 1)]


def _parse(content: bytes) -> Any:
    if len(content) > LARGEST:
        raise BadInput(
            f"The file has {len(content):,} bytes. A file of runs has at most {LARGEST:,}."
        )
    try:
        document = json.loads(
            content.decode("utf-8"),
            parse_constant=_no_number,
            parse_int=_whole,
            parse_float=_fraction,
        )
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"The file is no JSON: {str(error)[:100]}. Give the JSON that a page or `runs export"
            " KEY --json` made."
        ) from None
    if _depth(document) > DEEPEST:
        raise BadInput(f"The file is no run: it nests lists or objects more than {DEEPEST} deep.")
    return document


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _whole(text: str) -> int:
    if len(text) > 20:
        raise ValueError(f"a number of {len(text):,} digits")
    return int(text)


def _fraction(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_number(text[:20])


def _depth(value: Any) -> int:
    """How deep lists and objects nest, level by level."""
    level, deep = [value], 0
    while level:
        level = [
            part
            for one in level
            if isinstance(one, dict | list)
            for part in (one.values() if isinstance(one, dict) else one)
        ]
        deep += 1
        if deep > DEEPEST:
            break
    return deep


def _run(document: object, key: str) -> Run:
    if not isinstance(document, dict):
        raise BadInput(
            "The file is no run: it lacks everything that a run has. Got"
            f" {type(document).__name__}."
        )
    _check_limits(document)
    try:
        record = RunRecord.model_validate_json(json.dumps(document), strict=True)
    except ValidationError as error:
        raise BadInput(
            _sentence(error.errors(include_url=False, include_context=False)[0])
        ) from None
    _check_agreement(record)
    title = algorithms.find(record.spec.algorithm).title
    return Run(record.model_copy(update={"title": title, "key": key, "from_file": True}))


def _check_limits(value: object, at: tuple[str | int, ...] = ()) -> None:
    """Nothing is longer or larger than a run has it, and text can be shown. Raises BadInput."""
    wrong = _beyond_limits(value, at)
    if wrong:
        raise BadInput(_sentence({"loc": at, "msg": wrong, "input": value}))
    for name, part in _entries(value):
        _check_limits(part, (*at, name))


def _entries(value: object) -> Iterable[tuple[str | int, object]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def _beyond_limits(value: object, at: tuple[str | int, ...]) -> str:
    """What is wrong with a value, '' where nothing is."""
    match value:
        case str() if at != DATA_ID:
            if len(value) > MOST_TEXT:
                return f"it has more than {MOST_TEXT:,} characters"
            return "" if value.isprintable() else "it holds characters that cannot be shown"
        case dict():
            if len(value) > MOST_NAMES:
                return f"it has more than {MOST_NAMES} entries"
            wrong = [name for name in value if not re.fullmatch(NAME, name)]
            return f"{ascii(wrong[0])[:60]} is no name" if wrong else ""
        case list():
            most = 1_000_000 if at == KEPT_ITEMS else MOST_ENTRIES
            return f"it has more than {most:,} entries" if len(value) > most else ""
        case int() | float():
            return f"it is beyond {MOST_NUMBER:g}" if abs(value) > MOST_NUMBER else ""
    return ""


def _check_agreement(record: RunRecord) -> None:
    """What types alone do not say. Raises BadInput."""
    spec = record.spec
    if spec.algorithm not in algorithms.REGISTRY:
        raise BadInput(
            f"The run is of an algorithm that is not known here, {spec.algorithm[:40]!r}."
        )
    for parameters in (spec.parameters, record.parameters):
        algorithms.build_with_defaults(spec.algorithm, dict(parameters))
    if not re.fullmatch(PLAIN_FILE, spec.data.id):
        raise BadInput(
            "The run's data set must be an id of the catalogue or a plain file name, without"
            f" folders. Got {spec.data.id[:60]!a}."
        )
    if any(
        point.get("step") is None or point.keys() != record.curves[0].keys()
        for point in record.curves
    ):
        raise BadInput(
            "The run's curves cannot be read: every point needs a step, and the same figures."
        )
    for release in record.ledger:
        _check_release(release)


def _check_release(release: ReleaseRecord) -> None:
    """It has the fields of its mechanism. Raises BadInput."""
    kind = MECHANISMS.get(release.mechanism)
    if kind is None:
        raise BadInput(
            "The run's ledger holds a mechanism that is not known here,"
            f" {release.mechanism[:40]!r}."
        )
    more = release.model_extra or {}
    row = release.model_dump()
    if missing := [name for name in needed_fields(kind) if name not in row]:
        raise BadInput(f"The run's ledger lacks the {missing[0]!r} of {release.mechanism}.")
    unknown = [name for name in more if name not in {field.name for field in fields(kind)}]
    wrong = [
        name
        for name, value in more.items()
        if not (isinstance(value, str) if name == "companion" else _is_size(value))
    ]
    if unknown or wrong:
        raise BadInput(
            f"The run's ledger cannot be read: {(unknown or wrong)[0][:40]!r} of"
            f" {release.mechanism} is unknown or no size."
        )


def _is_size(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _sentence(problem: Problem) -> str:
    place = ".".join(str(part) for part in problem["loc"])[:80] or "the record"
    return (
        f"The run cannot be read: {place!a}: {problem['msg'][:200]}. Got"
        f" {ascii(problem['input'])[:60]}. Export it again."
    )
