"""What a worker does with ratings in parts: it reads its own parts and adds them up.

Each function here is pure: the same parts under the same key are the same value, whichever worker
makes it and however often. A worker is handed statistics with what is public or released, and hands
back sums; it never has a noise generator or its seed.
"""

import hashlib
import pickle
import shutil
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dpmf_core import kernels
from dpmf_core.data.partitioned import LazyParts, Part, PartitionedRatings
from dpmf_core.errors import BadInput, Cancelled
from dpmf_core.jobs.verification import ExpectedParts, refusal_of_parts
from dpmf_core.jobs.workers import is_stopped
from dpmf_core.paths import create_folder, workplace
from dpmf_core.runs import data_access

Places = tuple[int, ...]  # of parts, ascending


class WorkerRefuses(RuntimeError):
    """This worker would add up something else than was asked for."""

    def __init__(self, worker: str, reason: str) -> None:
        super().__init__(worker, reason)
        self.worker, self.reason = worker, reason


@dataclass(frozen=True)
class PartialSum:
    """The sum over some parts. places: which, so that whoever asks sees each counted once."""

    places: Places
    total: Any


@dataclass(frozen=True)
class HeldParts:
    """What is held beside some parts under a key, by their places."""

    key: Hashable
    states: dict[int, Any]


@dataclass(frozen=True)
class PartRequest:
    """Which parts are meant, and for whom. run: of the curator that asks."""

    requirement: ExpectedParts
    run: str
    places: Places


def unchanged(work: bytes) -> bytes:
    """What is to be done, as it was sent: workers then take it from each other."""
    return work


def fold_parts(request: PartRequest, work: bytes, *held_parts: HeldParts) -> PartialSum:
    """The sum over some parts. work: a pickled `Fold`, and changes of parts, pickled before. Raises
    WorkerRefuses, Cancelled.
    """
    _require_fit(request.requirement)
    fold, changes = pickle.loads(work)
    total = fold.empty()
    with kernels.single_threaded_blas:
        for place, part in _parts(request, changes):
            fold.add(total, part, _beside(place, held_parts))
    return PartialSum(request.places, total)


def hold_parts(
    request: PartRequest, key: Hashable, work: bytes, *held_parts: HeldParts
) -> HeldParts:
    """What is made beside some parts, one after the other. work: a pickled `Beside`, and changes
    of parts, pickled before. Raises WorkerRefuses, Cancelled.
    """
    _require_fit(request.requirement)
    make, changes = pickle.loads(work)
    states = {}
    with kernels.single_threaded_blas:
        for place, part in _parts(request, changes):
            states[place] = make(part, _beside(place, held_parts))
    return HeldParts(key, states)


def _beside(place: int, held_parts: Sequence[HeldParts]) -> dict[Hashable, Any]:
    """What is held beside one part, by key."""
    return {it.key: it.states[place] for it in held_parts if place in it.states}


def merge_sums(requirement: ExpectedParts, work: bytes, *some: PartialSum) -> PartialSum:
    """The sum of sums over different parts, which stay as they are. Raises WorkerRefuses."""
    _require_fit(requirement)
    fold, _ = pickle.loads(work)
    total = fold.empty()
    places: list[int] = []
    for each in some:
        fold.merge(total, each.total)
        places += each.places
    return PartialSum(tuple(places), total)


def _require_fit(requirement: ExpectedParts) -> None:
    if refusal := refusal_of_parts(requirement, here()):
        raise WorkerRefuses(refusal.worker, refusal.reason)


def here() -> str:
    """The address of this worker."""
    from distributed import get_worker

    return str(get_worker().address)


@dataclass(frozen=True)
class _PartsHere(LazyParts):
    """As this worker can read them. Raises WorkerRefuses where a file is missing or was changed."""

    parts: Sequence[Part]

    def __len__(self) -> int:
        return len(self.parts)

    def part(self, place: int) -> Part:
        try:
            return self.parts[place]
        except BadInput as error:
            raise WorkerRefuses(here(), str(error).rstrip(".")) from None


def _parts(request: PartRequest, changes: bytes) -> Iterator[tuple[int, Part]]:
    """The parts as they are after their changes, which are pickled; one in memory at a time. They
    are kept on this worker's disk until `forget_parts`.
    """
    data = data_access.open_raw(request.requirement.data_id)
    if not isinstance(data, PartitionedRatings):
        raise WorkerRefuses(here(), f"its {request.requirement.data_id} is not in parts")
    data = replace(data, parts=_PartsHere(data.parts))
    for change in pickle.loads(changes):
        data = data.with_change(change)
    cached_data = data.kept_in(
        create_folder(_folder(request.run) / hashlib.sha256(changes).hexdigest())
    )
    for place in request.places:
        if is_stopped(request.run):
            raise Cancelled
        yield place, cached_data.parts[place]


def forget_parts(run: str) -> None:
    """Remove what this worker keeps of a run's parts."""
    shutil.rmtree(_folder(run), ignore_errors=True)


def _folder(run: str) -> Path:
    return workplace() / f"parts-{run}"
