"""The simulated worlds of a declared shape, by id.

`world?number=3&users=2000&items=200&each=20&bounds=1,5&step=1` is the third world of the family
(`simulated.worlds`) with 20 ratings a person; the step of the scale may be left out.
"""

from dataclasses import dataclass
from urllib.parse import parse_qsl

from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Ratings
from dpmf_datasets.simulated import worlds

HEAD = "world?"
LEAST = 10  # users and items
MOST_CELLS = 40_000_000  # users x items that are simulated
MOST_ENTRIES = 200_000_000  # users x items that an id may name


@dataclass(frozen=True)
class DeclaredWorld:
    """A world of the family in a declared shape.

    number: from 1 to `worlds.COUNT`. each: ratings of a person, on average. step: of the scale from
    its lower bound; None if it is not declared.
    """

    number: int
    n_users: int
    n_items: int
    each: float
    bounds: tuple[float, float]
    step: float | None = None

    @classmethod
    def of_shape(
        cls,
        number: int,
        n_users: int,
        n_items: int,
        each: float,
        bounds: tuple[float, float],
        step: float | None,
    ) -> "DeclaredWorld":
        """The world of a shape, with as many items as are simulated."""
        users = max(n_users, LEAST)
        items = max(LEAST, min(n_items, MOST_CELLS // users))
        most = worlds.MOST_RATED * items
        return cls(number, users, items, max(1.0, min(each, most)), bounds, step)

    @classmethod
    def parse(cls, data_id: str) -> "DeclaredWorld":
        """The world that an id names. Raises BadInput."""
        facts = dict(parse_qsl(data_id.removeprefix(HEAD)))
        try:
            low, high = map(float, facts["bounds"].split(","))
            step = float(facts["step"]) if "step" in facts else None
            world = cls(
                number=int(facts["number"]),
                n_users=int(facts["users"]),
                n_items=int(facts["items"]),
                each=float(facts["each"]),
                bounds=(low, high),
                step=step,
            )
        except (KeyError, ValueError):
            raise _unknown(data_id) from None
        if len(facts) != (5 if step is None else 6) or not world.is_possible:
            raise _unknown(data_id)
        return world

    @property
    def is_possible(self) -> bool:
        low, high = self.bounds
        is_scale = -1e9 <= low < high <= 1e9
        is_step = self.step is None or (is_scale and 0 < self.step <= high - low)
        return (
            is_scale
            and is_step
            and 1 <= self.number <= worlds.COUNT
            and min(self.n_users, self.n_items) >= LEAST
            and self.n_users * self.n_items <= MOST_ENTRIES
            and 1 <= self.each <= worlds.MOST_RATED * self.n_items
        )

    @property
    def id(self) -> str:
        low, high = self.bounds
        text = (
            f"{HEAD}number={self.number}&users={self.n_users}&items={self.n_items}"
            f"&each={self.each:.6g}&bounds={low:.12g},{high:.12g}"
        )
        if self.step is None:
            return text
        return f"{text}&step={self.step:.12g}"

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
    bounds: tuple[float, float],
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
