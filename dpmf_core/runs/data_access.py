"""The data of a specification or of a finished run: opened, cached and split."""

import contextlib
import functools
import threading
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from dpmf_core.base.arrays import Ints
from dpmf_core.base.errors import BadInput
from dpmf_core.data import AnyData, Data, PartitionedRatings
from dpmf_core.data.catalogue import catalogue, is_in_parts, lent_here
from dpmf_core.data.partitioned import Folding, Watch
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.report import Report
from dpmf_core.data.splits import Split, SplitSpec, split
from dpmf_core.evaluation import coherence
from dpmf_core.evaluation.blocks import require_both, split_part
from dpmf_core.runs import filters, memory
from dpmf_core.runs.filters import PublicShape, by_exact_counts, filtered, slots
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import DataSpec, RunSpec, seeds

# where sums over ratings in partitions are computed, inside `folded_by`
_folding: ContextVar[Any] = ContextVar("folding", default=None)


# what is called with the address and the report of data that are read, inside `reading_told`
_listener: ContextVar[Callable[[str, Report | None], None] | None] = ContextVar(
    "listener", default=None
)


class DataIdentity(NamedTuple):
    """The facts about the data in a run's key, and whether they are public."""

    fingerprint: str
    public: bool


_identities: dict[tuple[DataSpec, Hashable], DataIdentity] = {}


def _stamp(data_id: str) -> Hashable:
    """A value that changes with the data."""
    lent_data = lent_here(data_id)
    if lent_data is not None:
        return lent_data.fingerprint
    stamp: Hashable = catalogue().stamp(data_id)
    return stamp


@contextlib.contextmanager
def folded_by(folding: Folding) -> Iterator[None]:
    """Compute sums over ratings in partitions elsewhere, inside the block.

    Only the command line and Python use it, for one data set.
    """
    before = _folding.set(folding)
    try:
        yield
    finally:
        _folding.reset(before)
        _prepared_data.cache_clear()  # its ratings refer to `folding`


@contextlib.contextmanager
def reading_told(listener: Callable[[str, Report | None], None]) -> Iterator[None]:
    """Call `listener` with the address and the report of data that are read inside the block."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


@functools.lru_cache(2)
def _raw(data_id: str, stamp: Hashable) -> AnyData:
    if (lent_data := lent_here(data_id)) is not None:
        return lent_data
    data: AnyData = catalogue().load(data_id)
    memory.give_back()  # reading a table takes several times its ratings
    listener = _listener.get()
    if listener is not None and not isinstance(data, PartitionedRatings):
        listener(data_id, data.report)
    return data


def open_raw(data_id: str) -> AnyData:
    """The data before any filter, cached as in `open_anywhere`."""
    return _raw(data_id, _stamp(data_id))


@functools.lru_cache(3)
def _prepared_data(spec: DataSpec, stamp: Hashable, folding: Any = None) -> AnyData:
    raw = _raw(spec.id, stamp)
    if isinstance(raw, PartitionedRatings):
        raw = replace(raw, folding=folding)
    return filtered(raw, spec)


def open_anywhere(spec: DataSpec) -> AnyData:
    """The ratings or samples of a data specification.

    They stay in memory while they are used and their file does not change. Ratings in partitions
    are not kept.
    """
    return _prepared_data(spec, _stamp(spec.id), _folding.get())


def identified_data(spec: DataSpec) -> AnyData:
    """Data with the fingerprint by which runs on them are found.

    Filters do not change the fingerprint of ratings in partitions, so none is applied: choosing
    items would read every partition.
    """
    stamp = _stamp(spec.id)
    if is_in_parts(spec.id):
        data = open_raw(spec.id)
    else:
        data = open_anywhere(spec)
    _identities[spec, stamp] = DataIdentity(data.fingerprint, data.public)
    return data


def known_identity(spec: DataSpec) -> DataIdentity | None:
    """The result of `identified_data` in this process, while the file does not change."""
    return _identities.get((spec, _stamp(spec.id)))


def open_watched(
    spec: DataSpec, before: Watch, input_data: AnyData | None = None
) -> AnyData:
    """`open_anywhere`, or these data; before(place, number) is called before each partition.

    `before` may raise. Choosing items also reads partitions.
    """
    data: Any = input_data
    if data is None:
        if not is_in_parts(spec.id):
            return open_anywhere(spec)
        data = replace(open_raw(spec.id), folding=_folding.get())
    if isinstance(data, PartitionedRatings):
        data = data.with_watch(before)
    filtered_data: AnyData = filtered(data, spec)
    return filtered_data


def open_data(spec: DataSpec) -> Data:
    """`open_anywhere`, in memory. Raises BadInput if the data are stored in partitions."""
    return _in_memory(open_anywhere(spec))


def _in_memory(data: AnyData) -> Data:
    if isinstance(data, PartitionedRatings):
        raise BadInput(
            f"{data.name} is partitioned, and this needs all ratings in memory. Use a data set"
            " that fits in memory."
        )
    return data


def forget(data_id: str = "") -> None:
    """Drop everything that was read from this process's memory, except counts of public items.

    Data in use are read again.

    Parameters
    ----------
    data_id
        The id of deleted data. Its identity is forgotten too.
    """
    for known in [known for known in list(_identities) if known[0].id == data_id]:
        del _identities[known]
    for cache in (_raw, _prepared_data, _split, _in_partition):
        cache.cache_clear()
    coherence.forget()
    filters.forget()


def open_ratings(spec: DataSpec) -> Ratings:
    """`open_data`. Raises BadInput if the data are not ratings."""
    return as_ratings(open_data(spec))


@functools.lru_cache(2)
def _split(spec: DataSpec, how: SplitSpec, seed: int, stamp: Hashable) -> Split:
    return split_ratings(as_ratings(_prepared_data(spec, stamp)), how, seed)


def as_ratings(data: AnyData) -> Ratings:
    data = _in_memory(data)
    if not isinstance(data, Ratings):
        raise BadInput(
            f"Only ratings can be split; {data.name} holds {data.unit}s. Leave split out."
        )
    return data


def split_ratings(ratings: Ratings, how: SplitSpec, seed: int) -> Split:
    parts = split(ratings, how, seed)
    if how.kind != "none":
        require_both(len(parts.train), len(parts.test))
    return parts


def open_split(spec: RunSpec) -> Split:
    """The train, history, validation and test ratings of a run."""
    return _split(spec.data, spec.split, seeds(spec.seed).split, _stamp(spec.data.id))


def data_of(run: Run) -> AnyData:
    """The data of a finished run in the shape that it released, in memory or in partitions."""
    return _shaped(run.spec.data, run.record.released_shape)


def ratings_of(run: Run) -> Ratings:
    """`data_of`. Raises BadInput if the data are not ratings in memory."""
    return as_ratings(data_of(run))


def ratings_anywhere(run: Run) -> Ratings | PartitionedRatings:
    """`data_of`. Raises BadInput if the data are not ratings."""
    data = data_of(run)
    if isinstance(data, PartitionedRatings):
        return data
    return as_ratings(data)


def _shaped(spec: DataSpec, shape: PublicShape | None) -> AnyData:
    """The data in the shape that a run released, if it did."""
    data = open_anywhere(spec)
    if spec.releases_shape and shape is None:
        return filtered(data, by_exact_counts(spec, data))
    if shape is None:
        return data
    return filtered(data, spec, shape)


RICH = 40  # ratings from which a history is rich
_one_part = threading.Lock()  # all sessions share one partition in memory


@dataclass(frozen=True)
class OwnHistory:
    """One user's training ratings, and the user's row in them.

    Attributes
    ----------
    ratings
        The training ratings.
    row
        The user's row in them.
    rich
        A user of the same partition or memory with a rich history: the first with at least 40
        ratings, or else the most active.
    """

    ratings: Ratings
    row: int
    rich: int

    @classmethod
    def of(cls, history: Ratings, users: Ints, rows: Ints, user: int) -> Self:
        """The history of a user in a partition or in memory.

        Parameters
        ----------
        history
            Training ratings of these users.
        users
            The numbers of the users, ascending.
        rows
            The row of each of these users in the history.
        user
            The number of the user.

        Returns
        -------
        OwnHistory
            The user's ratings and row, and a user with a rich history.
        """
        row = int(rows[np.searchsorted(users, user)])
        counts = history.user_counts[rows]
        rich = np.flatnonzero(counts >= RICH)
        first = rich[0] if len(rich) else np.argmax(counts)
        return cls(history.only(history.users == row), row, int(users[first]))


def own_history(run: Run, user: int = 0) -> OwnHistory:
    """The ratings of one user that train a run.

    If the ratings are in partitions, it reads one partition, unless that was read before.

    Parameters
    ----------
    run
        The run.
    user
        The user's number in the data set.

    Returns
    -------
    OwnHistory
        The user's history.

    Raises
    ------
    BadInput
        If the user is unknown.
    """
    spec = run.spec
    shape = run.record.released_shape
    rows = rows_of(run)
    if not 0 <= user < len(rows):
        raise BadInput(
            f"There is no user {user}. Users are numbered from 0 to {len(rows) - 1:,}."
        )
    if not is_in_parts(spec.data.id):
        return OwnHistory.of(split_of(run).history, np.arange(len(rows)), rows, user)
    seed = seeds(spec.seed).split
    stamp = _stamp(spec.data.id)
    with _one_part:
        return _in_partition(spec.data, shape, spec.split, seed, stamp, user)


@functools.lru_cache(64)
def _in_partition(
    spec: DataSpec,
    shape: PublicShape | None,
    how: SplitSpec,
    seed: int,
    stamp: Hashable,
    user: int,
) -> OwnHistory:
    """`own_history` of ratings in partitions. The ratings have user 0."""
    data = _shaped(spec, shape)
    rows = _rows(spec, shape)
    assert isinstance(data, PartitionedRatings)
    part = data.part_with(user)
    users = np.flatnonzero(np.isin(rows, part.ids))
    history = split_part(part, how, seed).history
    own = OwnHistory.of(history, users, np.searchsorted(part.ids, rows[users]), user)
    one = replace(
        own.ratings,
        users=np.zeros_like(own.ratings.users),
        n_users=1,
        titles=data.titles,
        user_keys=None,
    )
    return OwnHistory(one, 0, own.rich)


def rows_of(run: Run) -> Ints:
    """The row in `data_of(run)` of each user, by their number in the data set."""
    return _rows(run.spec.data, run.record.released_shape)


def _rows(spec: DataSpec, shape: PublicShape | None) -> Ints:
    count = open_anywhere(spec).shape.n_units
    if shape is None:
        return np.arange(count)
    return slots(shape, count)


def split_of(run: Run) -> Split:
    """The train, history, validation and test ratings of a finished run."""
    if not run.spec.data.releases_shape:
        return open_split(run.spec)
    return split_ratings(ratings_of(run), run.spec.split, seeds(run.spec.seed).split)
