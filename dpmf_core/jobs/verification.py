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
from dpmf_core.runs.installation import Installation, current_installation, source_of
from dpmf_core.runs.specification import RunSpec, run_key


@dataclass(frozen=True)
class Expected:
    """What the asker has and would compute. key: of the run, or of other work the fingerprint of
    its data, '' where it has none; algorithm: a hash of a run's source file.
    """

    installation: Installation
    key: str = ""
    algorithm: str = ""


@dataclass(frozen=True)
class Refusal:
    """A worker's answer to work that it would do differently. everything: whether it would refuse
    any other work too.
    """

    worker: str
    reason: str
    everything: bool


@dataclass(frozen=True)
class ExpectedParts:
    """What the asker has of ratings in parts. algorithm: its id, and a hash of its source file."""

    installation: Installation
    algorithm: tuple[str, str]
    data_id: str
    fingerprint: str


def expected_parts(algorithm: str, data_id: str, data: AnyData) -> ExpectedParts:
    """What a worker must have to be given parts of these data. Raises BadInput."""
    source = algorithm, source_of(algorithm)
    return ExpectedParts(current_installation(), source, data_id, data.fingerprint)


def refusal_of_parts(requirement: ExpectedParts, worker: str) -> Refusal | None:
    """Why this process must not add up these parts; None where it may."""
    if words := current_installation().differs_from(requirement.installation):
        return Refusal(worker, words, everything=True)
    name, source = requirement.algorithm
    try:
        if source_of(name) != source:
            words = f"its code of {name} differs from the code that asks"
        elif data_access.open_raw(requirement.data_id).fingerprint != requirement.fingerprint:
            words = f"its data set {requirement.data_id} holds something else"
    except BadInput as error:  # it has no such algorithm or data
        words = str(error).rstrip(".")
    return Refusal(worker, words, everything=False) if words else None


def expected(work: Any, key: str, elsewhere: bool = False) -> Expected:
    """What a worker must have to be given this. key: of the run, where it is one. elsewhere:
    whether workers have data of their own; those of what is no run are opened for that.
    """
    if isinstance(work, RunSpec):
        return Expected(current_installation(), key, source_of(work.algorithm))
    data = getattr(work, "data", None) if elsewhere else None
    return Expected(
        current_installation(),
        "" if data is None else data_access.identified_data(data).fingerprint,
    )


def refusal(work: Any, requirement: Expected, worker: str) -> Refusal | None:
    """Why this process must not compute it; None where it may. Opens its data."""
    if words := current_installation().differs_from(requirement.installation):
        return Refusal(worker, words, everything=True)
    try:
        if isinstance(work, RunSpec) and source_of(work.algorithm) != requirement.algorithm:
            words = f"its code of {work.algorithm} differs from the code that asks"
            return Refusal(worker, words, everything=False)
    except BadInput as error:  # it has no such algorithm
        return Refusal(worker, str(error).rstrip("."), everything=False)
    if requirement.key and (words := _other_data(work, requirement.key)):
        return Refusal(worker, words, everything=False)
    return None


def _other_data(work: Any, key: str) -> str:
    """Why its data are others, in words; '' where they are the same. key: see `Expected`."""
    try:
        data = data_access.identified_data(work.data)
    except BadInput as error:  # it has no such data
        return str(error).rstrip(".")
    own_key = run_key(work, data) if isinstance(work, RunSpec) else data.fingerprint
    return "" if own_key == key else f"its data set {work.data.id} holds something else"


def nobody(refusals: Iterable[Refusal]) -> str:
    """The sentence of work that every worker refused."""
    each = " ".join(f"{it.worker}: {it.reason}." for it in refusals)
    return (
        f"No worker can compute this as it was asked for. {each} Give the workers the dpmf, the"
        " libraries and the data of whatever asks, and start them again."
    )
