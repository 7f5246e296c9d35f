"""Small worlds of documents and images: empty and heavy rows, equal rows, a single word.

Shapes share no number with one another.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from dpmf_core.base.arrays import Array
from dpmf_core.data.samples import Samples

N_SAMPLES = 23
N_FEATURES = 18
IMAGE = (3, 6)
EMPTY = (3, 22)
HEAVY = 5


def of(table: Array, images: bool, **facts: Any) -> Samples:
    """Samples of a table: sparse documents, or dense images."""
    if images:
        image = IMAGE if table.shape[1] == N_FEATURES else None
        return Samples.of(table, image=image, unit="image", public=True, **facts)
    words = tuple(f"word{j}" for j in range(table.shape[1]))
    return Samples.of(
        csr_array(table), vocabulary=words, unit="document", public=True, **facts
    )


def table(seed: int = 0, skew: float = 1.0) -> Array:
    """Rows (23, 18) of word counts or grey values, popular columns first."""
    rng = np.random.default_rng(seed)
    weight = (1.0 + np.arange(N_FEATURES)) ** -skew
    shape = (N_SAMPLES, N_FEATURES)
    out = rng.gamma(0.5, 1.0, shape) * weight * (rng.random(shape) < 0.5)
    out[:, 0] += 0.01
    out[HEAVY] = 40 * rng.random(N_FEATURES)
    out[HEAVY + 1] = out[HEAVY]
    out[list(EMPTY)] = 0
    return out


def dense(rows: Sequence[Mapping[int, float]]) -> Array:
    """Rows (k, 18) of their values by column."""
    out = np.zeros((len(rows), N_FEATURES))
    for place, row in enumerate(rows):
        out[place, list(row)] = list(row.values())
    return out


def with_unit(
    rows: Array, units: Array, unit: int, new_rows: Sequence[Mapping[int, float]]
) -> tuple[Array, Array]:
    """The neighbour in which a unit has these rows, by column, and no others.

    They take the unit's places, then the places of units without rows.
    """
    rows = rows.copy()
    units = units.copy()
    own = units == unit
    rows[own] = 0
    free = ~own & ~rows.any(axis=1)
    places = [*np.flatnonzero(own), *np.flatnonzero(free)][: len(new_rows)]
    assert len(places) == len(new_rows), "no room for so many rows"
    rows[places] = dense(new_rows)
    units[places] = unit
    return rows, units


# ---- rows of people ------------------------------------------------------------------------------


class PeopleWorld:
    """Facts about the people of the rows: their number, who has empty rows, who has most rows."""

    COUNT = 9
    EMPTY = (0, 8)
    HEAVY = 4


def whose(seed: int = 0) -> Array:
    """The person of each row (23,): some have one row, one has seven.

    Rows of people without any lie anywhere among the others.
    """
    sizes = (2, 1, 3, 2, 7, 1, 2, 1, 4)
    return np.random.default_rng([seed, 5]).permutation(
        np.repeat(np.arange(PeopleWorld.COUNT), sizes)
    )


def rows_and_people(seed: int = 0, skew: float = 1.0) -> tuple[Array, Array]:
    """Rows (23, 18), and the person of each (23,)."""
    people = whose(seed)
    rows = np.where(np.isin(people, PeopleWorld.EMPTY)[:, None], 0.0, table(seed, skew))
    return rows, people
