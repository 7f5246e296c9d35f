"""Evaluation data in blocks of units: one block in memory, or one partition after the other.

Every result adds up over blocks. Computed on raw data, never released.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.data.partitioned import (
    Part,
    PartitionedRatings,
    PartitionedTable,
    States,
)
from dpmf_core.data.samples import Samples, of_ratings
from dpmf_core.data.splits import Split, SplitSpec, split

# asked of a block; a function at module level, so that it can be pickled
BlockQuestion = Callable[[Any], Any]


@dataclass(frozen=True)
class SplitBlock:
    """Some users' ratings, split.

    Attributes
    ----------
    ids : (n,)
        Their numbers in the whole set, ascending.
    split
        The split of their ratings.
    """

    ids: Array
    split: Split

    @cached_property
    def table(self) -> Samples:
        """The training data, as samples."""
        return of_ratings(self.split.train)


class InMemory:
    """One block, with a cache of the last `make(block)`.

    Algorithms may see its part `train`.
    """

    are_read_again = False  # whether each question reads all blocks again

    def __init__(self, block: SplitBlock | Samples, train: Any) -> None:
        self.train = train
        self._block = block
        self._last: tuple[Any, Any] = None, None

    def ask(
        self,
        make: BlockQuestion,
        questions: Sequence[BlockQuestion],
        exact: bool = False,
    ) -> list[list[Any]]:
        """The answers of each block to questions about `make(block)`, in order.

        Parameters
        ----------
        make : BlockQuestion
        questions : sequence of BlockQuestion
        exact : bool
            Whether answers can be added in any order without rounding. They are then added where
            they are computed, and only the sums over all blocks are returned.
        """
        if self._last[0] is not make:
            self._last = make, make(self._block)
        return [[question(self._last[1]) for question in questions]]


@dataclass(frozen=True)
class _Asking:
    """A `Fold` that keeps the answers of each block in order.

    So adding them up rounds the same wherever they were computed.
    """

    make: BlockQuestion
    questions: Sequence[BlockQuestion]
    how: SplitSpec
    seed: int
    exact: bool

    def empty(self) -> list[list[Any]]:
        return []

    def add(self, total: list[list[Any]], part: Part, states: States) -> None:
        block = self.make(SplitBlock(part.ids, split_part(part, self.how, self.seed)))
        self.merge(total, [[question(block) for question in self.questions]])

    def merge(self, total: list[list[Any]], other: list[list[Any]]) -> None:
        total += other
        if self.exact and total:
            total[:] = [[sum(each[1:], each[0]) for each in zip(*total, strict=True)]]


class InPartitions:
    """Partitions of ratings, each split as it is read.

    Raises
    ------
    BadInput
        On a split that looks at all users' ratings together.
    """

    are_read_again = True

    def __init__(
        self, ratings: PartitionedRatings, how: SplitSpec, seed: int, table: bool
    ) -> None:
        require_splittable(how, ratings.name)
        self._ratings = ratings
        self._how = how
        self._seed = seed
        self._table = table

    @property
    def train(self) -> PartitionedRatings | PartitionedTable:
        change = partial(_training_part, how=self._how, seed=self._seed)
        train = self._ratings.with_change(change)
        if self._table:
            return PartitionedTable(train)
        return train

    def ask(
        self,
        make: BlockQuestion,
        questions: Sequence[BlockQuestion],
        exact: bool = False,
    ) -> list[list[Any]]:
        fold = _Asking(make, questions, self._how, self._seed, exact)
        answers: list[list[Any]] = self._ratings.fold(fold)
        return answers


SplitBlocks = InMemory | InPartitions


def split_part(part: Part, how: SplitSpec, seed: int) -> Split:
    """The split of one partition, which equals that of its users in the whole set."""
    return split(part.rows, how, seed, part.ids)


def _training_part(part: Part, how: SplitSpec, seed: int) -> Part:
    """The training ratings of a partition under a split."""
    return replace(part, rows=split_part(part, how, seed).train)


def require_splittable(how: SplitSpec, name: str) -> None:
    """Raise BadInput on a split that looks at all users' ratings together."""
    if how.kind == "window":
        option = "--split window"
    elif how.least_judged:
        option = "--least-judged"
    else:
        return
    raise BadInput(
        f"{option} needs all ratings together, but {name} is partitioned, and only one partition is"
        " in memory at a time. Use a random, per-user, time or users split."
    )


def require_both(n_train: int, n_test: int) -> None:
    """Raise BadInput if a split leaves no training ratings or no test ratings."""
    if not n_train or not n_test:
        raise BadInput(
            "The split leaves no ratings for training or none for testing. Change the test"
            " fraction."
        )
