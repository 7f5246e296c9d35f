"""Published error bounds: how an error may grow with users, items and epsilon.

Each paper's own are in its `bounds.py`. A bound leaves its universal constant open: it says how the
error changes along an axis, not how large it is. n users, m items in all of them; Jain et al. write
m for users and n for items.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from dpmf_core.base.errors import BadInput

Axis = Literal["users", "items", "epsilon"]


@dataclass(frozen=True)
class Place:
    """Where a bound is asked: numbers of users and items, epsilon, and delta. share: of the entries
    that are observed. Raises BadInput unless all are positive.
    """

    users: float = 20_000
    items: float = 1_000
    epsilon: float = 10.0
    delta: float = 1e-5
    share: float = 0.2

    def __post_init__(self) -> None:
        if wrong := [name for name, value in vars(self).items() if not 0 < value < math.inf]:
            raise BadInput(
                "A bound needs positive users, items, epsilon, delta and share;"
                f" '{wrong[0]}' is {getattr(self, wrong[0])}."
            )

    def with_value(self, axis: Axis, value: float) -> "Place":
        """The same with one number changed."""
        return replace(self, **{axis: value})


@dataclass(frozen=True, kw_only=True)
class Bound:
    """One published bound.

    algorithm: its id in the registry.
    source: the paper and the place in it. quote: the words there, copied exactly.
    statement: what is printed, in our words. formula: as LaTeX, n users and m items.
    error: the bound without its constant; with the logarithms that are printed.
    axes: along which runs measure it.
    users: how many users suffice for an error, without the constant; None: not printed.
    ratings: how many ratings of each user it asks for, without the constant.
    needs: when it is valid. unit: of which error it speaks.
    """

    id: str
    title: str
    algorithm: str
    source: str
    quote: str = ""
    statement: str
    formula: str
    error: Callable[[Place], float]
    axes: tuple[Axis, ...] = ("users", "items", "epsilon")
    users: Callable[[float, Place], float] | None = None
    ratings: Callable[[Place], float] | None = None
    needs: str = ""
    unit: str = "error relative to the matrix, in Frobenius norm"

    @property
    def place(self) -> str:
        """Where in the paper it is."""
        return self.source.partition(", ")[2]

    def constant(self, error: float, place: Place) -> float:
        """The constant that puts the bound on one measured error."""
        return error / self.error(place)


@dataclass(frozen=True)
class Row:
    """One line of a printed comparison: for o(1) generalisation error it takes more than `users`
    users and `ratings` observed ratings; or its error in Frobenius norm. Orders, without privacy
    parameters and logarithms. None: the table has a dash.
    """

    method: str
    users: Callable[[Place], float] | None = None
    ratings: Callable[[Place], float] | None = None
    error: Callable[[Place], float] | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class PrintedTable:
    """A printed table. title: of what. place: where it is printed. note: what a reader needs to
    know of it. columns: what a row names, and what its note says.
    """

    title: str
    place: str
    rows: tuple[Row, ...]
    note: str = ""
    columns: tuple[str, str] = ("method", "order")

    @property
    def has_orders(self) -> bool:
        """Whether a row can be evaluated at a place."""
        return any(row.users or row.ratings or row.error for row in self.rows)

    def at(self, place: Place) -> list[dict[str, str]]:
        """Its rows with each order evaluated at a place; '-' where the table has a dash."""
        names = ("users", "ratings", "error")
        printed_names = [it for it in names if any(getattr(row, it) for row in self.rows)]
        return [
            dict(zip(self.columns, (row.method, row.note), strict=True))
            | {name: _order(getattr(row, name), place) for name in printed_names}
            for row in self.rows
        ]


def _order(order: Callable[[Place], float] | None, place: Place) -> str:
    if order is None:
        return "-"
    value = order(place)
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
