"""Published error bounds as functions of users, items and epsilon.

A bound leaves its universal constant open: it gives the growth along an axis, not the size. n users
and m items throughout; Jain et al. write m for users and n for items.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from dpmf_core.base.errors import BadInput

Axis = Literal["users", "items", "epsilon"]


@dataclass(frozen=True)
class Place:
    """Numbers of users and items, epsilon and delta at which a bound is evaluated.

    share: of observed entries. Raises BadInput unless all are positive.
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
        """Return the place with one number changed."""
        return replace(self, **{axis: value})


@dataclass(frozen=True, kw_only=True)
class Bound:
    """One published bound.

    algorithm: its id in the registry. source: the paper and the place. quote: the source's words,
    copied exactly. statement: the result in our words. formula: LaTeX, n users and m items. error:
    the bound without its constant, with the printed logarithms. axes: the axes that runs measure.
    users: how many users suffice for an error, without the constant; None if not printed. ratings:
    required ratings per user, without the constant. needs: its conditions. unit: the kind of error.
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
        """The place in the paper."""
        return self.source.partition(", ")[2]

    def constant(self, error: float, place: Place) -> float:
        """Return the constant for which the bound equals one measured error."""
        return error / self.error(place)


@dataclass(frozen=True)
class Row:
    """One line of a printed comparison.

    It needs more than `users` users and `ratings` observed ratings for o(1) generalisation error,
    or states its error in Frobenius norm. Orders without privacy parameters and logarithms; None
    for a dash.
    """

    method: str
    users: Callable[[Place], float] | None = None
    ratings: Callable[[Place], float] | None = None
    error: Callable[[Place], float] | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class PrintedTable:
    """A printed table.

    title: its subject. place: where it is printed. note: what readers need to know. columns:
    headings of a row's name and note.
    """

    title: str
    place: str
    rows: tuple[Row, ...]
    note: str = ""
    columns: tuple[str, str] = ("method", "order")

    @property
    def has_orders(self) -> bool:
        """Whether rows can be evaluated at a place."""
        return any(row.users or row.ratings or row.error for row in self.rows)

    def at(self, place: Place) -> list[dict[str, str]]:
        """Return its rows with each order evaluated at a place; '-' for a dash."""
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
