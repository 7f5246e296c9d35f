"""A private algorithm of another package: item offsets from noisy sums and noisy counts."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from dpmf_core.algorithms import PrivateAlgorithm, Recommender, Streams
from dpmf_core.curator import Block, Curator, Statistic, Totals
from dpmf_core.curator.grid import on_grid
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import Event, Guarantee, Status, sequence

INSIDE = 1 - 1e-6  # a clipped row stays inside its bound after rounding


@dataclass(frozen=True)
class CentredSums(Statistic):
    """Sums of ratings less the middle of their range. Sensitivity: each row is clipped to norm
    `clip`.
    """

    clip: float
    middle: float
    name: ClassVar[str] = "centred sums"

    @property
    def sensitivity(self) -> float:
        return self.clip

    def empty(self, shape: Shape) -> Totals:
        return (np.zeros(shape.n_items),)

    def add(self, block: Block, totals: Totals) -> None:
        rows = block.rows
        x = self.clipped(rows.users, rows.values.astype(np.float64) - self.middle, rows.n_users)
        values = on_grid(x, self.clip, block.n_units)
        totals[0][:] += np.bincount(rows.items, values, len(totals[0]))

    def clipped(self, users: npt.NDArray[np.int32], x: npt.NDArray[np.float64], n: int) -> Totals:
        norms = np.sqrt(np.bincount(users, x**2, n))
        return x * np.minimum(1.0, self.clip * INSIDE / np.maximum(norms, 1e-300))[users]


@dataclass(frozen=True)
class Counts(Statistic):
    """How often items were rated. Sensitivity: a row of at most n_items ones has norm
    sqrt(n_items).
    """

    n_items: int
    name: ClassVar[str] = "counts"

    @property
    def sensitivity(self) -> float:
        return math.sqrt(self.n_items)

    def empty(self, shape: Shape) -> Totals:
        return (np.zeros(shape.n_items),)

    def add(self, block: Block, totals: Totals) -> None:
        totals[0][:] += np.bincount(block.rows.items, minlength=len(totals[0]))


class ToyMeans(PrivateAlgorithm):
    """Item offsets: a noisy sum over a noisy count."""

    id: ClassVar[str] = "toy-means"
    title: ClassVar[str] = "Toy means"
    words: ClassVar[str] = "item offsets from two noisy sums"
    source: ClassVar[str] = "an example"
    twin: ClassVar[str] = "bias"
    sums: ClassVar[type[CentredSums]] = CentredSums

    row_clip: float = Field(
        0.5, gt=0, le=10, title="row clip", description="largest norm of a row, in half-ranges"
    )

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        clip = self.row_clip * shape.half_range
        return self.sums(clip, shape.mid_range), Counts(shape.n_items)

    def plan(self, shape: Shape, level: float) -> Event:
        return sequence(*(statistic.event(level) for statistic in self.statistics(shape)))

    def guarantee(self) -> Guarantee:
        public = ("the number of users", "the item set", "the rating bounds")
        return Guarantee(Status.PROVEN, taken_as_public=public)

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        shape: Shape = curator.shape
        sums, counts = (curator.release(statistic) for statistic in self.statistics(shape))
        yield self.model(shape, shape.mid_range, sums / np.maximum(counts, 5.0))

    def model(self, shape: Shape, centre: float, offsets: npt.NDArray[np.float64]) -> Recommender:
        return Recommender(
            bounds=shape.bounds,
            centre=centre,
            item_offsets=offsets.astype(np.float32),
            item_factors=np.zeros((shape.n_items, 0), np.float32),
            user_damping=0.0,
        )
