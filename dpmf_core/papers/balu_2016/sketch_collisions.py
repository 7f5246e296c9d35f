"""A sketch small enough to draw: which components share cells, by the algorithm's own hashes."""

import math
from dataclasses import dataclass

import numpy as np

from dpmf_core.algorithms.count_sketch import hash_keys
from dpmf_core.kernels.sketch import places

USERS, ITEMS = 8, 4


@dataclass(frozen=True)
class Component:
    """One component of a vector in one row of the sketch."""

    vector: str
    component: int
    row: int
    cell: int
    sign: int


@dataclass(frozen=True)
class SketchLayout:
    """Where all components lie.

    load: the number of components in each cell, by row. shared: the share of components that share
    a cell.
    """

    width: int
    components: tuple[Component, ...]
    load: tuple[tuple[int, ...], ...]
    shared: float

    def of(self, vector: str) -> tuple[Component, ...]:
        """Return the components of one vector."""
        return tuple(it for it in self.components if it.vector == vector)

    def sharing(self, vector: str) -> tuple[str, ...]:
        """Return the other vectors that share a cell with this one."""
        own_cells = {(it.row, it.cell) for it in self.of(vector)}
        return tuple(
            dict.fromkeys(
                it.vector
                for it in self.components
                if (it.row, it.cell) in own_cells and it.vector != vector
            )
        )


def vectors() -> tuple[str, ...]:
    """Return the names of all vectors."""
    return (
        *(f"person {user + 1}" for user in range(USERS)),
        *(f"item {item + 1}" for item in range(ITEMS)),
    )


def sketch_layout(d: int, k: int, gamma: float, seed: int = 0) -> SketchLayout:
    """Return the layout of d-dimensional vectors in k rows, `gamma` times smaller."""
    rng = np.random.default_rng(seed)
    width = max(1, math.ceil((USERS + ITEMS) * d / (gamma * k)))
    keys = (hash_keys(rng, k), hash_keys(rng, k))
    components: list[Component] = []
    for name in vectors():
        ident = int(name.split()[1]) - 1
        cells, signs = places(keys[name.startswith("item")], ident, d, width)
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
