"""The declared shape of private ratings: everything that an answer before payment knows of them."""

import math
from dataclasses import dataclass

from dpmf_core.base.errors import BadInput
from dpmf_core.data.catalogue import catalogue
from dpmf_core.data.ratings import Shape
from dpmf_core.data.simulated_shape import SimulatedShape

HEAD = "worlds?"
LEAST = 10  # users and items
MOST_ITEMS = 10_000_000
# What sharing is worth depends on the number of people, so a world has all of them, or as many as
# make MOST_RATINGS, but at least LEAST_USERS or a third of them.
MOST_RATINGS = 150_000
LEAST_USERS = 4_000


@dataclass(frozen=True)
class DeclaredShape(SimulatedShape):
    """The public and declared facts about private ratings.

    Their id, such as `worlds?users=943&items=1682&each=106&bounds=1,5&step=1`, names them in
    questions and commands.
    """

    @classmethod
    def of(
        cls, shape: Shape, each: float | None, step: float | None
    ) -> "DeclaredShape":
        """The shape of data with a public size. Raises BadInput without `each`."""
        if each is None:
            raise BadInput(
                "Say about how many ratings a person gives, such as each=20 (--each 20). It is not"
                " counted, because that would reveal something about the file."
            )
        return cls(shape.n_users, shape.n_items, each, shape.bounds, step)

    @classmethod
    def parse(cls, data_id: str) -> "DeclaredShape":
        """The shape that an id names. Raises BadInput."""
        try:
            shape = cls.read(data_id.removeprefix(HEAD))
        except (KeyError, TypeError, ValueError):
            raise _unknown(data_id) from None
        if not shape._is_possible:
            raise _unknown(data_id)
        return shape

    @property
    def _is_possible(self) -> bool:
        return (
            self.has_scale
            and min(self.n_users, self.n_items) >= LEAST
            and self.n_items <= MOST_ITEMS
            and 1 <= self.each <= self.n_items
        )

    @property
    def id(self) -> str:
        return f"{HEAD}{self.text}"

    @property
    def shape(self) -> Shape:
        return Shape(self.n_users, self.n_items, self.bounds)

    @property
    def simulated_users(self) -> int:
        """The number of people in a world."""
        least = min(LEAST_USERS, math.ceil(self.n_users / 3))
        return min(self.n_users, max(least, round(MOST_RATINGS / max(self.each, 1.0))))

    @property
    def world_ids(self) -> tuple[str, ...]:
        ids: tuple[str, ...] = catalogue().world_ids(
            self.simulated_users, self.n_items, self.each, self.bounds, self.step
        )
        return ids


def is_declared(data_id: str) -> bool:
    """Whether an id names a declared shape and no data."""
    return data_id.startswith(HEAD)


def _unknown(data_id: str) -> BadInput:
    return BadInput(
        f"A declared shape must be written {HEAD}users=943&items=1682&each=106&bounds=1,5, and"
        f" &step=1 if the steps of the scale are known: at least {LEAST} users and items, at most"
        f" {MOST_ITEMS:,} items, 1 rating a person or more, and bounds with the lower first. Got"
        f" '{data_id[:100]}'."
    )
