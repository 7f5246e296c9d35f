"""Read partitions of ratings in one process and add them up.

Every function here is pure: the same partitions under the same question give the same value, in any
process and however often. A process gets statistics with public or released values, and returns
sums; it never has a noise generator or its seed.
"""

import hashlib
import os
import pickle
import shutil
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import create_folder, workplace
from dpmf_core.base.threads import single_threaded_blas
from dpmf_core.data.partitioned import Part, PartitionedRatings
from dpmf_core.runs import data_access
from dpmf_core.runs.record import versions_of_sums

HERE = "this machine"  # the name of all its processes
PartPlaces = tuple[int, ...]  # of partitions, ascending
Content = bytes | Path  # a pickled `PartitionQuestion`, or its file


class WorkerRefuses(RuntimeError):
    """This process would add up something else than was asked for."""

    def __init__(self, worker: str, reason: str) -> None:
        super().__init__(worker, reason)
        self.worker = worker
        self.reason = reason


@dataclass(frozen=True)
class Requirement:
    """The code and data of the asking process, which the adding processes must have too."""

    # versions of everything that decides a sum's bits, by name; for code its hash
    versions: dict[str, str]
    algorithm: str
    data_id: str
    fingerprint: str

    @classmethod
    def of(cls, algorithm: str, data_id: str, fingerprint: str) -> "Requirement":
        """Describe this process. Raises BadInput."""
        return cls(versions_of_sums(algorithm), algorithm, data_id, fingerprint)

    def unmet(self) -> str:
        """Say why this process must not add up; '' if it may."""
        try:
            here = versions_of_sums(self.algorithm)
            for name, version in self.versions.items():
                if here[name] != version:
                    return f"it has {name} {here[name]}, but {version} is required"
            if data_access.open_raw(self.data_id).fingerprint != self.fingerprint:
                return f"its data set {self.data_id} has different contents"
        except BadInput as error:  # the algorithm or the data are missing here
            return str(error).rstrip(".")
        return ""


@dataclass(frozen=True)
class PartitionRequest:
    """The asking run, and what its questions need."""

    requirement: Requirement
    run: str  # its name
    # the number of each key's question, in the order of the questions
    answers: dict[Hashable, int]
    live: frozenset[int]  # numbers of the questions with answers that are still stored
    # where all processes of one machine store answers; None if each has its own folder
    folder: Path | None = None


@dataclass(frozen=True)
class PartitionQuestion:
    """What is computed for each partition: added to a sum, or stored with the partition."""

    what: Any  # a `Fold` or a `Beside`
    changes: bytes  # pickled changes of partitions before it
    keys: tuple[Hashable, ...]  # of stored answers that it needs


@dataclass(frozen=True)
class PartialSum:
    """The sum over some partitions; `places` names them, to check that each counts once."""

    places: PartPlaces
    total: Any


def add_up(
    request: PartitionRequest, places: PartPlaces, sum_: Content, *contents: Content
) -> PartialSum:
    """The sum over some partitions.

    Parameters
    ----------
    request : PartitionRequest
    places : PartPlaces
    sum_ : Content
    *contents : Content
        The questions of stored answers that the sum needs, and of those that these need.

    Raises
    ------
    WorkerRefuses
        If this worker cannot answer.
    """
    reader = _PartitionReader(request, contents)
    question = _question(sum_)
    total = question.what.empty()
    with single_threaded_blas:
        for place in places:
            question.what.add(
                total, reader.part(question, place), reader.states(question, place)
            )
    return PartialSum(places, total)


def hold(request: PartitionRequest, places: PartPlaces, *contents: Content) -> None:
    """Store the last question's result with some partitions.

    Raises
    ------
    WorkerRefuses
        If this worker cannot answer.
    """
    reader = _PartitionReader(request, contents)
    key = list(request.answers)[-1]
    with single_threaded_blas:
        for place in places:
            reader.state(key, place)


def _question(content: Content) -> PartitionQuestion:
    question: PartitionQuestion = pickle.loads(
        content.read_bytes() if isinstance(content, Path) else content
    )
    return question


class _PartitionReader:
    """The partitions that this process can read, and the results stored with them on disk.

    Results that are missing, because another process had them, are computed again.
    """

    def __init__(self, request: PartitionRequest, contents: Sequence[Content]) -> None:
        self._worker = HERE
        if request.folder is None:
            self._worker = _address()
        if reason := request.requirement.unmet():
            raise WorkerRefuses(self._worker, reason)
        data = data_access.open_raw(request.requirement.data_id)
        if not isinstance(data, PartitionedRatings):
            raise WorkerRefuses(
                self._worker, f"its {data.name} is not stored in partitions"
            )
        self._data = data
        self._folder = create_folder(request.folder or folder_of(request.run))
        self._numbers = request.answers
        self._questions = dict(zip(request.answers, contents, strict=True))
        self._changed: dict[bytes, PartitionedRatings] = {}
        for path in self._folder.glob("held-*"):
            if int(path.name.removeprefix("held-")) not in request.live:
                shutil.rmtree(path, ignore_errors=True)

    def part(self, question: PartitionQuestion, place: int) -> Part:
        """A partition after the question's changes, which are made once."""
        data = self._changed.get(question.changes)
        if data is None:
            data = self._data
            for change in pickle.loads(question.changes):
                data = data.with_change(change)
            name = hashlib.sha256(question.changes).hexdigest()
            data = self._changed[question.changes] = data.kept_in(
                create_folder(self._folder / name)
            )
        try:
            return data.parts[place]
        except BadInput as error:  # a file is missing or changed
            raise WorkerRefuses(self._worker, str(error).rstrip(".")) from None

    def states(self, question: PartitionQuestion, place: int) -> dict[Hashable, Any]:
        """The results stored with a partition that a question needs."""
        return {key: self.state(key, place) for key in question.keys}

    def state(self, key: Hashable, place: int) -> Any:
        """The result stored with a partition under a key; compute it if missing."""
        path = create_folder(self._folder / f"held-{self._numbers[key]}") / str(place)
        if path.exists():
            return pickle.loads(path.read_bytes())
        question = _question(self._questions[key])
        state = question.what(self.part(question, place), self.states(question, place))
        aside = path.with_name(f"{place}-{os.getpid()}-{id(self)}")
        aside.write_bytes(pickle.dumps(state, protocol=5))
        aside.replace(path)  # so that no reader sees half of it
        return state


def _address() -> str:
    from distributed import get_worker

    return str(get_worker().address)


def folder_of(run: str) -> Path:
    """The folder where a worker on its own machine stores answers for a run."""
    return workplace() / f"parts-{run}"


def forget(run: str) -> None:
    """Remove what this worker stores for a run."""
    shutil.rmtree(folder_of(run), ignore_errors=True)
