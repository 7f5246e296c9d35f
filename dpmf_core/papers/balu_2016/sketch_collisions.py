"""A sketch small enough to draw: which components share cells, by the algorithm's own hashes."""

import math

import numpy as np
import pandas as pd

from dpmf_core.algorithms.count_sketch import hash_keys
from dpmf_core.kernels.sketch import places

USERS, ITEMS = 8, 4


def vectors() -> tuple[str, ...]:
    """Return the names of all vectors."""
    return (
        *(f"person {user + 1}" for user in range(USERS)),
        *(f"item {item + 1}" for item in range(ITEMS)),
    )


def sketch_layout(d: int, k: int, gamma: float, seed: int = 0) -> tuple[pd.DataFrame, int]:
    """Return where the components of d-dimensional vectors lie in k rows, and the rows' width.

    The sketch is `gamma` times smaller than the vectors. The columns are row, cell, vector,
    component, sign, and load, the number of components in the cell.
    """
    rng = np.random.default_rng(seed)
    width = max(1, math.ceil((USERS + ITEMS) * d / (gamma * k)))
    keys = (hash_keys(rng, k), hash_keys(rng, k))
    parts = []
    for name in vectors():
        cells, signs = places(keys[name.startswith("item")], int(name.split()[1]) - 1, d, width)
        rows, components = (it.ravel() + 1 for it in np.indices(cells.shape))
        columns = {"row": rows, "cell": cells.ravel(), "vector": name, "component": components}
        parts.append(pd.DataFrame(columns | {"sign": signs.ravel().astype(int)}))
    table = pd.concat(parts, ignore_index=True)
    load = table.groupby(["row", "cell"])["vector"].transform("size")
    return table.assign(load=load), width
