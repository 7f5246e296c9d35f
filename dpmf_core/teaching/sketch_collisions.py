"""A sketch small enough to be seen: which components of which vectors lie in which cell, by the
hashes that the algorithm uses.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpmf_core.algorithms.count_sketch import hash_keys
from dpmf_core.kernels.sketch import places

USERS, ITEMS = 8, 4


@dataclass(frozen=True)
class Component:
    """One component of one vector in one row of the sketch."""

    vector: str
    component: int
    row: int
    cell: int
    sign: int


@dataclass(frozen=True)
class SketchLayout:
    """rows: k lists of w lists, the components that lie in each cell. shared: share of the
    components that do not lie alone.
    """

    width: int
    components: tuple[Component, ...]
    load: tuple[tuple[int, ...], ...]
    shared: float

    def of(self, vector: str) -> tuple[Component, ...]:
        """Where one vector lies."""
        return tuple(it for it in self.components if it.vector == vector)

    def beside(self, vector: str) -> tuple[str, ...]:
        """The other vectors that it shares a cell with."""
        hers = {(it.row, it.cell) for it in self.of(vector)}
        return tuple(
            dict.fromkeys(
                it.vector
                for it in self.components
                if (it.row, it.cell) in hers and it.vector != vector
            )
        )


def vectors() -> tuple[str, ...]:
    """Everybody and everything in it."""
    return (
        *(f"person {user + 1}" for user in range(USERS)),
        *(f"item {item + 1}" for item in range(ITEMS)),
    )


def sketch_layout(d: int, k: int, gamma: float, seed: int = 0) -> SketchLayout:
    """A sketch of d-dimensional vectors of a few people and items, k rows, gamma times smaller
    than they are.
    """
    rng = np.random.default_rng(seed)
    width = max(1, math.ceil((USERS + ITEMS) * d / (gamma * k)))
    keys = (hash_keys(rng, k), hash_keys(rng, k))
    components: list[Component] = []
    for name in vectors():
        ident = int(name.split()[1]) - 1
        cells, signs = places(keys[name.startswith("item")], ident, d, width, together=False)
        components += [
            Component(name, f + 1, j + 1, int(cells[j, f]), int(signs[j, f]))
            for j in range(k)
            for f in range(d)
        ]
    load = np.zeros((k, width), int)
    np.add.at(load, ([it.row - 1 for it in components], [it.cell for it in components]), 1)
    n_shared = sum(load[it.row - 1, it.cell] > 1 for it in components)
    return SketchLayout(
        width,
        tuple(components),
        tuple(tuple(map(int, row)) for row in load),
        n_shared / len(components),
    )
