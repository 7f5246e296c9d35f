"""Whether a worker computes what was asked for: by the same code, with the same libraries, on the
same data.

Workers of a scheduler elsewhere are installed and updated by somebody. What another version of an
algorithm found must not stand under this version's name.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dpmf_core.data import AnyData
from dpmf_core.errors import BadInput
from dpmf_core.runs import data_access
from dpmf_core.runs.installation import Installation, installed, source_of
from dpmf_core.runs.specification import RunSpec, run_key


@dataclass(frozen=True)
class Expected:
    """What the asker has and would compute. key: of the run, or of other work the fingerprint of
    its data, '' where it has none; algorithm: a hash of a run's source file.
    """

    installed: Installation
    key: str = ""
    algorithm: str = ""


@dataclass(frozen=True)
class Refusal:
    """A worker's answer to work that it would do differently. everything: whether it would refuse
    any other work too. lacks: the id of the data set that it has not, or that is another one there.
    """

    worker: str
    reason: str
    everything: bool
    lacks: str = ""


@dataclass(frozen=True)
class ExpectedParts:
    """What the asker has of ratings in parts. algorithm: its id, and a hash of its source file."""

    installed: Installation
    algorithm: tuple[str, str]
    data_id: str
    fingerprint: str


def expected_parts(algorithm: str, data_id: str, data: AnyData) -> ExpectedParts:
    """What a worker must have to be given parts of these data. Raises BadInput."""
    source = algorithm, source_of(algorithm)
    return ExpectedParts(installed(), source, data_id, data.fingerprint)


def refusal_of_parts(wanted: ExpectedParts, worker: str) -> Refusal | None:
    """Why this process must not add up these parts; None where it may."""
    if words := installed().differs_from(wanted.installed):
        return Refusal(worker, words, everything=True)
    name, source = wanted.algorithm
    try:
        if source_of(name) != source:
            words = f"its code of {name} differs from the code that asks"
        elif data_access.open_raw(wanted.data_id).fingerprint != wanted.fingerprint:
            words = f"its data set {wanted.data_id} holds something else"
    except BadInput as error:  # it has no such algorithm or data
        words = str(error).rstrip(".")
    return Refusal(worker, words, everything=False) if words else None


def expected(asked: Any, key: str, elsewhere: bool = False) -> Expected:
    """What a worker must have to be given this. key: of the run, where it is one. elsewhere:
    whether workers have data of their own; those of what is no run are opened for that.
    """
    if isinstance(asked, RunSpec):
        return Expected(installed(), key, source_of(asked.algorithm))
    data = getattr(asked, "data", None) if elsewhere else None
    return Expected(installed(), "" if data is None else data_access.identified(data).fingerprint)


def refusal(asked: Any, wanted: Expected, worker: str) -> Refusal | None:
    """Why this process must not compute it; None where it may. Opens its data."""
    if words := installed().differs_from(wanted.installed):
        return Refusal(worker, words, everything=True)
    try:
        if isinstance(asked, RunSpec) and source_of(asked.algorithm) != wanted.algorithm:
            words = f"its code of {asked.algorithm} differs from the code that asks"
            return Refusal(worker, words, everything=False)
    except BadInput as error:  # it has no such algorithm
        return Refusal(worker, str(error).rstrip("."), everything=False)
    if wanted.key and (words := _other_data(asked, wanted.key)):
        return Refusal(worker, words, everything=False, lacks=asked.data.id)
    return None


def _other_data(asked: Any, key: str) -> str:
    """Why its data are others, in words; '' where they are the same. key: see `Expected`."""
    try:
        data = data_access.identified(asked.data)
    except BadInput as error:  # it has no such data
        return str(error).rstrip(".")
    found = run_key(asked, data) if isinstance(asked, RunSpec) else data.fingerprint
    return "" if found == key else f"its data set {asked.data.id} holds something else"


def nobody(refusals: Iterable[Refusal], why: str = "") -> str:
    """The sentence of work that every worker refused. why: their data were not sent to them."""
    each = " ".join([*(f"{it.worker}: {it.reason}." for it in refusals), *([why] if why else [])])
    return (
        f"No worker can compute this as it was asked for. {each} Give the workers the dpmf, the"
        " libraries and the data of whatever asks, and start them again."
    )
