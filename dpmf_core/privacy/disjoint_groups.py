"""Disjoint groups of units: what is released on each of them, once, costs a unit what one release
costs.

docs/PRIVACY.md, "Disjoint groups of units".
"""

from typing import NamedTuple


class DisjointGroup(NamedTuple):
    """Group `number`, from 0, of a split of all units into `of` groups."""

    number: int
    of: int


EVERYBODY = DisjointGroup(0, 1)
