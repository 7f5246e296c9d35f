"""Sums over units, each with a proved bound on one unit's contribution."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy import Event, Gaussian, Laplace

Array = npt.NDArray[Any]
Range = tuple[int, int]  # from, to (not included): of what is released in parts
Totals = tuple[Array, ...]


@dataclass(frozen=True)
class Block:
    """The rows of some units.

    ids: (n,) their numbers in the whole population. A row's unit is numbered from 0 within the
    block.
    tables: rows by name, `Ratings` or `Samples` of these n units. n_units: of the whole population,
    public.
    """

    ids: Array
    tables: Mapping[str, Any]
    n_units: int

    def checked(self) -> "Block":
        """The same block. Raises OutsideDomain on rows about which nothing is proved."""
        for rows in self.tables.values():
            rows.check_domain()
        return self

    @property
    def rows(self) -> Any:
        """The rows that an algorithm learns from."""
        return self.tables["train"]

    @property
    def draw_keys(self) -> Array:
        """What draws of each unit (n,) are keyed by, besides a seed: no unit's draws depend on who
        else there is.
        """
        rows = next(iter(self.tables.values()))
        return np.asarray(rows.draw_keys(self.ids) if isinstance(rows, Ratings) else self.ids)


class Statistic(ABC):
    """A sum over units. Subclasses are frozen dataclasses at module level, so that they pickle;
    clip norms are their fields.

    A subclass's docstring proves its sensitivity: the largest norm of what one unit adds, whatever
    their rows and whatever is shared.
    name: of its releases in the plan. replace_one_factor: how much further replacing one unit moves
    the sum than removing them, 2 at most.
    per_item: coordinates of a release for each item or feature, unless an algorithm says how many
    there are in all.
    symmetric: the sum is a symmetric matrix, or a stack of them, and `norm` is Frobenius'.

    `shared` is what the algorithm passes: released and public figures, and what is stored with the
    rows (`Curator.hold`). In `size`, `empty` and `assemble` the latter are opaque keys; in `add`
    they are what the step made of this block.
    """

    name: ClassVar[str]
    replace_one_factor: ClassVar[float] = 2.0
    per_item: ClassVar[int] = 1
    symmetric: ClassVar[bool] = False
    norm: ClassVar[Literal["L1", "L2"]] = "L2"

    @property
    @abstractmethod
    def sensitivity(self) -> float:
        """The largest norm of one unit's contribution."""

    @abstractmethod
    def empty(self, shape: Any, *shared: Any, **part: Any) -> Totals:
        """The sums over no units: arrays of zeros, float64. at: only of a release in parts, which
        part.
        """

    @abstractmethod
    def add(self, block: Block, totals: Totals, *shared: Any, **part: Any) -> None:
        """Add a block's contributions to `totals`, in place. Never raises, whatever the rows."""

    def assemble(self, totals: Totals, *shared: Any, **part: Any) -> Array:
        """The release, a linear function of the totals; by default the first."""
        return totals[0]

    def size(self, shape: Any, *shared: Any, **part: Any) -> int:
        """Coordinates of a release in parts, all parts together (of a symmetric matrix: of its
        triangle).
        """
        raise NotImplementedError(f"{type(self).__name__} cannot be released in parts.")

    def event(self, noise_multiplier: float) -> Event:
        """Its planned release, with noise of `noise_multiplier` times the sensitivity."""
        kind = Gaussian if self.norm == "L2" else Laplace
        return kind(noise_multiplier, self.name, self.sensitivity, self.replace_one_factor)
