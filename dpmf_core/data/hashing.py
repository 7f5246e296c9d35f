"""Hashes: fingerprints of data, and draws keyed by a seed and a unit, so that nobody's draw
depends on who else is there.
"""

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt


def digest_of(*arrays: npt.NDArray[Any]) -> str:
    """sha256 over arrays, with their types and shapes."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def keyed_uniform(
    seed: int, users: npt.ArrayLike, items: npt.ArrayLike = 0
) -> npt.NDArray[np.float64]:
    """A number in [0, 1) that depends on (seed, user, item) alone: splitmix64, so that no
    rating's fate depends on another user.
    """

    def mix(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))

    step = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        x = mix(np.array([seed & 0xFFFFFFFFFFFFFFFF], np.uint64) + step)
        x = mix(x + step * (np.asarray(users).astype(np.uint64) + np.uint64(1)))
        x = mix(x + step * (np.asarray(items).astype(np.uint64) + np.uint64(1)))
    return np.asarray((x >> np.uint64(11)) * 2.0**-53, np.float64)
