"""Published error bounds as functions of users, items and epsilon.

A bound leaves its universal constant open: it gives the growth along an axis, not the size. n users
and m items throughout; Jain et al. write m for users and n for items.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Axis = Literal["users", "items", "epsilon"]


@dataclass(frozen=True)
class Place:
    """Numbers of users and items, epsilon and delta at which a bound is evaluated.

    share: of observed entries. All are positive.
    """

    users: float = 20_000
    items: float = 1_000
    epsilon: float = 10.0
    delta: float = 1e-5
    share: float = 0.2


@dataclass(frozen=True, kw_only=True)
class Bound:
    """One published bound.

    algorithm: its id in the registry. source: the paper and the place. quote: the source's words,
    copied exactly. statement: the result in our words. formula: LaTeX, n users and m items. error:
    the bound without its constant, with the printed logarithms, relative to the matrix in Frobenius
    norm. needs: its conditions.
    """

    id: str
    title: str
    algorithm: str
    source: str
    quote: str
    statement: str
    formula: str
    error: Callable[[Place], float]
    needs: str

    @property
    def place(self) -> str:
        """The place in the paper."""
        return self.source.partition(", ")[2]


@dataclass(frozen=True, kw_only=True)
class PrintedTable:
    """A printed table.

    title: its subject. place: where it is printed. rows: the note of each name. note: what readers
    need to know. columns: headings of names and notes.
    """

    title: str
    place: str
    rows: Mapping[str, str]
    note: str = ""
    columns: Sequence[str] = ("method", "order")
