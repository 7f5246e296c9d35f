"""The toy algorithm with one fault in each: the contract finds all of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from toy_means import CentredSums, ToyMeans

from dpmf_core.algorithms import Recommender, Streams
from dpmf_core.curator import Block, Curator, Totals
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import Event


@dataclass(frozen=True)
class ClippedSum(CentredSums):
    """Clips the sum over everybody, and nobody's own row."""

    def clipped(self, users: npt.NDArray[np.int32], x: npt.NDArray[np.float64], n: int) -> Totals:
        return x

    def assemble(self, totals: Totals, *shared: Any) -> npt.NDArray[np.float64]:
        norm = np.linalg.norm(totals[0])
        return totals[0] * min(1.0, self.clip / max(norm, 1e-300))


class LateClip(ToyMeans):
    id: ClassVar[str] = "toy-late-clip"
    sums: ClassVar[type[CentredSums]] = ClippedSum


class WithoutCounts(ToyMeans):
    """Forgets the counts in its plan."""

    id: ClassVar[str] = "toy-unplanned"

    def plan(self, shape: Shape, level: float) -> Event:
        return self.statistics(shape)[0].event(level)


LEAKED_SUMS: list[float] = []


@dataclass(frozen=True)
class Leaking(CentredSums):
    """Puts the mean rating where the algorithm finds it."""

    def add(self, block: Block, totals: Totals) -> None:
        super().add(block, totals)
        LEAKED_SUMS.append(float(block.rows.values.sum()))


class RowReader(ToyMeans):
    """Takes its centre, which should be public, from the rows."""

    id: ClassVar[str] = "toy-row-reader"
    sums: ClassVar[type[CentredSums]] = Leaking

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        for model in super().fit(curator, rng):
            yield self.model(curator.shape, LEAKED_SUMS[-1], model.item_offsets)


FIRST_OFFSETS: dict[tuple[str, float], npt.NDArray[np.float64]] = {}


class StaleNoise(ToyMeans):
    """Keeps the first noisy sums that it ever got, for every later run."""

    id: ClassVar[str] = "toy-stale-noise"

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        for model in super().fit(curator, rng):
            key = (str(curator.shape), self.row_clip)
            offsets = FIRST_OFFSETS.setdefault(key, model.item_offsets)
            yield self.model(curator.shape, curator.shape.mid_range, offsets)
