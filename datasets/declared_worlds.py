"""The simulated worlds of a declared shape, by id.

`world?number=3&users=2000&items=200&each=20&bounds=1,5&step=1` is the third world of the family
(`simulated.worlds`) with 20 ratings a person; the step of the scale may be left out.
"""

from dataclasses import dataclass, field

from dpmf_core.base.errors import BadInput
from dpmf_core.data.rating_bounds import Bounds
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.simulated_shape import SimulatedShape
from dpmf_datasets.simulated import worlds

HEAD = "world?"
LEAST = 10  # users and items
MOST_CELLS = 40_000_000  # users x items that are simulated
MOST_ENTRIES = 200_000_000  # users x items that an id may name


@dataclass(frozen=True)
class DeclaredWorld(SimulatedShape):
    """A world of the family in a declared shape.

    Attributes
    ----------
    number : int
        The number of the world, from 1 to `worlds.COUNT`.
    """

    number: int = field(kw_only=True)

    @classmethod
    def of_shape(
        cls,
        number: int,
        n_users: int,
        n_items: int,
        each: float,
        bounds: Bounds,
        step: float | None,
    ) -> "DeclaredWorld":
        """The world of a shape, with the number of items that can be simulated."""
        users = max(n_users, LEAST)
        items = max(LEAST, min(n_items, MOST_CELLS // users))
        most = worlds.MOST_RATED * items
        each = max(1.0, min(each, most))
        return cls(users, items, each, bounds, step, number=number)

    @classmethod
    def parse(cls, data_id: str) -> "DeclaredWorld":
        """The world that an id names. Raises BadInput."""
        try:
            world = cls.read(data_id.removeprefix(HEAD))
        except (KeyError, TypeError, ValueError):
            raise _unknown(data_id) from None
        if not world.is_possible:
            raise _unknown(data_id)
        return world

    @property
    def is_possible(self) -> bool:
        return (
            self.has_scale
            and 1 <= self.number <= worlds.COUNT
            and min(self.n_users, self.n_items) >= LEAST
            and self.n_users * self.n_items <= MOST_ENTRIES
            and 1 <= self.each <= worlds.MOST_RATED * self.n_items
        )

    @property
    def id(self) -> str:
        return f"{HEAD}number={self.number}&{self.text}"

    @property
    def ratings(self) -> Ratings:
        return worlds.ratings_of(
            worlds.family()[self.number - 1],
            self.n_users,
            self.n_items,
            self.each,
            bounds=self.bounds,
            step=self.step,
            seed=self.number,
            name=self.id,
        )


def world_ids(
    n_users: int,
    n_items: int,
    each: float,
    bounds: Bounds,
    step: float | None,
) -> tuple[str, ...]:
    """The ids of every world of the family in a declared shape."""
    return tuple(
        DeclaredWorld.of_shape(number, n_users, n_items, each, bounds, step).id
        for number in range(1, worlds.COUNT + 1)
    )


def _unknown(data_id: str) -> BadInput:
    return BadInput(
        f"A simulated world must be written {HEAD}number=1&users=2000&items=200&each=20&bounds=1,5,"
        f" and &step=1 if the steps of the scale are known: a number from 1 to {worlds.COUNT}, at"
        f" least {LEAST} users and items, at most {MOST_ENTRIES:,} pairs of them, at most"
        f" {worlds.MOST_RATED:g} of the items a person, and bounds with the lower first. Got"
        f" '{data_id[:100]}'."
    )
