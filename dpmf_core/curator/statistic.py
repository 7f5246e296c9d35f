"""Sums over units, each with a proved bound on one unit's contribution."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.privacy import Event, Gaussian, Laplace

# (first, last + 1) of the coordinates that are released together
Range = tuple[int, int]
Totals = tuple[Array, ...]


@dataclass(frozen=True)
class Block:
    """The rows of some units.

    Attributes
    ----------
    ids : (n,)
        Numbers of the units in the whole population. Rows number their units from 0 in the block.
    tables
        Rows by name: `Ratings` or `Samples` of these n units.
    n_units : int
        The public number of units in the whole population.
    """

    ids: Array
    tables: Mapping[str, Any]
    n_units: int

    def checked(self) -> "Block":
        """The block itself.

        Raises
        ------
        OutsideDomain
            On rows that no proof covers.
        """
        for rows in self.tables.values():
            rows.check_domain()
        return self

    @property
    def rows(self) -> Any:
        """The rows that an algorithm learns from."""
        return self.tables["train"]

    @property
    def draw_keys(self) -> Array:
        """The keys (n,) of each unit's random draws, next to a seed.

        They make a unit's draws independent of the other units.
        """
        rows = next(iter(self.tables.values()))
        return rows.draw_keys(self.ids) if isinstance(rows, Ratings) else self.ids


class Statistic(ABC):
    """A sum over units.

    Subclasses are frozen dataclasses at module level, so that they pickle. Clip norms are their
    fields. A subclass's docstring proves its sensitivity, or names the section of the contract of
    proofs that does. The sensitivity is the largest norm of what one unit adds, whatever its rows
    and whatever is shared.

    `shared` is what the algorithm passes: released and public values, and states stored with the
    rows (`Curator.hold`). In `empty` and `assemble` states are opaque keys. In `add` they are what
    the step computed from this block. The last shared value of a release in parts is the part.

    Attributes
    ----------
    name : str
        The name of its releases in the plan.
    replace_one_factor : float
        At most 2: how far replacing a unit moves the sum, over removing it.
    per_item : int
        Coordinates of a release for each item or feature, unless the algorithm gives the total.
    symmetric : bool
        Whether the sum is a symmetric matrix or a stack of them, with `norm` Frobenius.
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

    # nothing is passed as `named`: for it types allow subclasses to name their shared values
    def empty(self, shape: Any, *shared: Any, **named: Any) -> Totals:
        """The sums over no units: float64 zeros, by default one for each item or feature."""
        return (
            np.zeros(shape.n_items if isinstance(shape, Shape) else shape.n_features),
        )

    @abstractmethod
    def add(self, block: Block, totals: Totals, *shared: Any, **named: Any) -> None:
        """Add a block's contributions to `totals` in place. Must not raise, whatever the rows."""

    def assemble(self, totals: Totals, *shared: Any, **named: Any) -> Array:
        """The release, a linear function of the totals; by default the first of them."""
        return totals[0]

    def event(self, noise_multiplier: float) -> Event:
        """Its planned release, with noise of `noise_multiplier` times the sensitivity."""
        kind = Gaussian if self.norm == "L2" else Laplace
        return kind(
            noise_multiplier, self.name, self.sensitivity, self.replace_one_factor
        )
