"""Runs that come as files: one typed schema, which everything that reads a record can rely on.

Nothing of a file is taken over but what the schema names: text of reasonable length without control characters, numbers that are finite, lists that
end. A data set is named by a catalogue id or a plain file name, so that no file of somebody else's says where to look on this machine.
"""

import hashlib
import json
import math
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from dpmf_core import algorithms
from dpmf_core.errors import BadInput
from dpmf_core.experiment import Run, RunSpec
from dpmf_core.privacy import Relation, Status
from dpmf_core.privacy.events import MECHANISMS

LARGEST = 4 << 20  # bytes of a file; a record has about 7,000
MOST_RUNS = 100  # in a file
DEEPEST = 12  # lists and objects within each other
PLAIN_FILE = r"^\w[\w .,()+-]{0,119}(\?[\w=&.,%+: -]{0,300})?$"


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("it holds characters that cannot be shown")
    return text


Text = Annotated[str, StringConstraints(max_length=2000), AfterValidator(_printable)]
Short = Annotated[str, StringConstraints(max_length=120), AfterValidator(_printable)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,59}$")]
Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z ]{0,39}$")]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e100, le=1e100)]
Size = Annotated[float, Field(allow_inf_nan=False, ge=0, le=1e100)]
Count = Annotated[int, Field(ge=0, le=10**12)]
Named = Annotated[dict[Name, Number | None], Field(max_length=40)]  # figures by name; none where it could not be computed
Facts = Annotated[dict[Name, bool | Count | Number | Short | Annotated[list[Count | Number], Field(max_length=8)] | None], Field(max_length=60)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Promise(_Part):
    """A guarantee, as a record says it."""

    status: Status
    words: Text
    unit: Word = "user"
    taken_as_public: Annotated[list[Short], Field(max_length=20)] = []


class Release(_Part):
    """A row of the ledger. What only some mechanisms have is None elsewhere."""

    mechanism: Short
    statistic: Short
    sensitivity: Size
    noise_multiplier: Size
    count: Count
    replace_one_factor: Size | None = None
    rounding: Size | None = None
    failure_probability: Size | None = None
    most: Count | None = None


class Rules(_Part):
    """Epsilon by every rule; None where a rule says nothing."""

    exact: Size | None = None
    rdp_source: Size | None = None
    rdp_tight: Size | None = None
    advanced: Size | None = None
    naive: Size | None = None


class ReleasedShape(_Part):
    """What was released of the shape of public data, as `PublicShape`."""

    units: Count | None = None
    slots: Annotated[int, Field(ge=0, lt=2**63)] = 0
    kept: Annotated[list[Count], Field(max_length=1_000_000)] | None = None


class Record(_Part):
    """A run's JSON. What private data have not, when they leave the machine, has a default."""

    spec: RunSpec
    title: Short
    parameters: dict[Name, bool | int | float | str]
    epsilon: Rules
    guarantee: Promise
    ledger: Annotated[list[Release], Field(max_length=2000)]
    key: Short = ""
    public: bool = False
    version: Count = 0
    shape: Facts = {}
    split: Text = ""
    noise: Text = ""
    noise_is_reproducible: bool = False
    metrics: Named = {}
    buckets: Annotated[dict[Name, Annotated[list[Named], Field(max_length=100)]], Field(max_length=20)] = {}
    curves: Annotated[list[Named], Field(max_length=1000)] = []
    rule: Short = "exact"
    delta: Annotated[float, Field(ge=0, lt=1)] | None = None
    relation: Relation | Literal["another-value"] = Relation.ADD_REMOVE
    calibration: Literal["exact", "source"] | None = None
    model: Facts = {}
    seconds: Named = {}
    peak_mb: Size | None = None
    cached: bool = False
    created: Short = "not recorded"
    versions: Annotated[dict[Name, Short], Field(max_length=20)] = {}
    released_shape: ReleasedShape | None = None


def imported(content: bytes) -> list[Run]:
    """The runs of a JSON file, one or a list, to look at: they enter no store. Raises BadInput with what is wrong first."""
    found = _parsed(content)
    records = found if isinstance(found, list) else [found]
    if not 1 <= len(records) <= MOST_RUNS:
        raise BadInput(f"The file holds {len(records):,} runs. Give one with 1 to {MOST_RUNS}.")
    name = hashlib.sha256(content).hexdigest()[:8]
    return [_run(record, f"imported-{name}-{place}") for place, record in enumerate(records, 1)]


def _parsed(content: bytes) -> Any:
    if len(content) > LARGEST:
        raise BadInput(f"The file has {len(content):,} bytes. A file of runs has at most {LARGEST:,}.")
    try:
        found = json.loads(content.decode("utf-8"), parse_constant=_no_number, parse_int=_whole, parse_float=_fraction)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"The file is no JSON: {str(error)[:100]}. Give the JSON that a page or `runs export KEY --json` made.") from None
    if _depth(found) > DEEPEST:
        raise BadInput(f"The file is no run: it nests lists or objects more than {DEEPEST} deep.")
    return found


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
        level = [part for one in level if isinstance(one, dict | list) for part in (one.values() if isinstance(one, dict) else one)]
        deep += 1
        if deep > DEEPEST:
            break
    return deep


def _run(record: Any, key: str) -> Run:
    if not isinstance(record, dict):
        raise BadInput(f"The file is no run: it lacks everything that a run has. Got {type(record).__name__}.")
    try:
        checked = Record.model_validate_json(json.dumps(record), strict=True)
    except ValidationError as error:
        raise BadInput(_sentence(error.errors(include_url=False, include_context=False)[0])) from None
    _agreeing(checked)
    ledger = [release.model_dump(exclude_none=True) for release in checked.ledger]
    return Run({**checked.model_dump(mode="json"), "title": algorithms.find(checked.spec.algorithm).title, "key": key, "ledger": ledger})


def _agreeing(record: Record) -> None:
    """What types alone do not say. Raises BadInput."""
    spec = record.spec
    if spec.algorithm not in algorithms.REGISTRY:
        raise BadInput(f"The run is of an algorithm that is not known here, {spec.algorithm[:40]!r}.")
    for given in (spec.parameters, record.parameters):
        algorithms.declared(spec.algorithm, dict(given))
    if not re.fullmatch(PLAIN_FILE, spec.data.id):
        raise BadInput(f"The run's data set must be an id of the catalogue or a plain file name, without folders. Got {spec.data.id[:60]!a}.")
    if any(point.get("step") is None or point.keys() != record.curves[0].keys() for point in record.curves):
        raise BadInput("The run's curves cannot be read: every point needs a step, and the same figures.")
    if unknown := [release.mechanism for release in record.ledger if release.mechanism not in MECHANISMS]:
        raise BadInput(f"The run's ledger holds a mechanism that is not known here, {unknown[0][:40]!a}.")


def _sentence(problem: ErrorDetails) -> str:
    place = ".".join(str(part) for part in problem["loc"])[:80] or "the record"
    return f"The run cannot be read: {place!a}: {problem['msg'][:200]}. Got {ascii(problem['input'])[:60]}. Export it again."
