"""Small worlds of documents and images: empty and heavy rows, equal rows, a single word.

Shapes share no number with one another.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from dpmf_core.data.samples import Samples

N_SAMPLES, N_FEATURES, IMAGE = 23, 18, (3, 6)
EMPTY, HEAVY = (3, 22), 5
N_PEOPLE, MANY = 9, 4  # people, and the one with most rows
NOBODYS = (0, 8)  # people whose rows are empty
Array = npt.NDArray[Any]


def of(table: Array, images: bool, **facts: Any) -> Samples:
    """Samples of a table: sparse documents, or dense images."""
    if images:
        image = IMAGE if table.shape[1] == N_FEATURES else None
        return Samples.of(table, image=image, unit="image", public=True, **facts)
    words = tuple(f"word{j}" for j in range(table.shape[1]))
    return Samples.of(csr_array(table), vocabulary=words, unit="document", public=True, **facts)


def table(seed: int = 0, skew: float = 1.0) -> Array:
    """Rows (23, 18) of word counts or grey values, popular columns first."""
    rng = np.random.default_rng(seed)
    weight, shape = (1.0 + np.arange(N_FEATURES)) ** -skew, (N_SAMPLES, N_FEATURES)
    out = rng.gamma(0.5, 1.0, shape) * weight * (rng.random(shape) < 0.5)
    out[:, 0] += 0.01
    out[HEAVY] = 40 * rng.random(N_FEATURES)
    out[HEAVY + 1] = out[HEAVY]
    out[list(EMPTY)] = 0
    return out


def with_row(samples: Samples, place: int, row: Mapping[int, float]) -> Samples:
    """The neighbour in which this row is another (empty: it is removed)."""
    rows = samples.X.toarray() if samples.image is None else samples.X.copy()
    rows[place] = 0
    for column, value in row.items():
        rows[place, column] = value
    return of(rows, samples.image is not None)


# ---- rows of people ------------------------------------------------------------------------------


def whose(seed: int = 0) -> Array:
    """The person of each row (23,): some have one row, one has seven.

    Rows of `NOBODYS` lie anywhere among the others.
    """
    sizes = (2, 1, 3, 2, 7, 1, 2, 1, 4)
    return np.random.default_rng([seed, 5]).permutation(np.repeat(np.arange(N_PEOPLE), sizes))


def of_people(rows: Array, people: Array, images: bool) -> Samples:
    """Samples of a table whose rows are these people's."""
    return of(rows, images).of_people(people, N_PEOPLE)


def rows_and_people(seed: int = 0, skew: float = 1.0) -> tuple[Array, Array]:
    """Rows (23, 18), and whose they are (23,)."""
    people = whose(seed)
    rows = np.where(np.isin(people, NOBODYS)[:, None], 0.0, table(seed, skew))
    return rows, people


def with_person(rows: Array, people: Array, person: int, new_rows: Array) -> tuple[Array, Array]:
    """The neighbour in which a person has these rows (k, 18), and no others.

    They take the person's places, then those of people without rows.
    """
    rows, people = rows.copy(), people.copy()
    rows[people == person] = 0
    own, free = people == person, (people != person) & ~rows.any(axis=1)
    places = [*np.flatnonzero(own), *np.flatnonzero(free)][: len(new_rows)]
    assert len(places) == len(new_rows), "no room for so many rows"
    rows[places], people[places] = new_rows, person
    return rows, people


def blocks(seed: int = 0, *, n_samples: int = 60, n_features: int = 20, parts: int = 3) -> Samples:
    """Rows with structure to find: sums of non-negative parts, and a little noise."""
    rng = np.random.default_rng(seed)
    W = rng.gamma(0.3, 1.0, (parts, n_features))
    H = rng.gamma(0.6, 1.0, (n_samples, parts))
    X = H @ W + 0.01 * rng.random((n_samples, n_features))
    components = W / np.linalg.norm(W, axis=1, keepdims=True)
    return Samples.of(X, unit="image", public=True, parts=components)
