"""Hashes: fingerprints of data, and random draws keyed by a seed and a unit.

So no unit's draw depends on other units.
"""

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.base.arrays import Array, Doubles, Hashes

STEP = np.uint64(0x9E3779B97F4A7C15)  # of splitmix64
OWNED_BY = "@"  # separates a file's fingerprint from the owner in an account's key
AT_ONCE = 1 << 15  # numbers that fit the second cache


def digest_of(*arrays: Array) -> str:
    """sha256 over arrays, with their types and shapes."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def keys_of_texts(texts: npt.NDArray[np.object_]) -> Hashes:
    """A number for each of some texts (n,), from the text alone."""
    from pandas.util import hash_array  # most commands do not need it

    keys = np.empty(len(texts), np.uint64)
    for first in range(0, len(texts), AT_ONCE):
        some = texts[first : first + AT_ONCE]
        keys[first : first + AT_ONCE] = hash_array(some, categorize=False)
    return keys


def keyed_uniform(seed: int, users: npt.ArrayLike, items: npt.ArrayLike = 0) -> Doubles:
    """A number in [0, 1) that depends on (seed, user, item) alone, by splitmix64."""
    u, i = np.broadcast_arrays(np.atleast_1d(users), items)
    start = _mix(np.array([seed & 0xFFFFFFFFFFFFFFFF], np.uint64) + STEP)
    out = np.empty(len(u))
    for first in range(0, len(u), AT_ONCE):
        at = slice(first, first + AT_ONCE)
        x = _mix(start + _steps(u[at]))
        x = _mix(x + _steps(i[at]))
        np.multiply(x >> np.uint64(11), 2.0**-53, out=out[at])
    return out


def draw_key(seed: int, number: int) -> int:
    """A separate seed for each number, such as each step that draws anew."""
    return int(
        _mix(
            np.array([seed & 0xFFFFFFFFFFFFFFFF], np.uint64)
            + _steps(np.array([number]))
        )[0]
    )


def digest_of_rows(*columns: npt.NDArray[np.unsignedinteger[Any]]) -> str:
    """A digest of rows (n,) of numbers, whatever their order: their number and 128 bits."""
    count = len(columns[0])
    sums = [0, 0]
    for begin in range(0, count, AT_ONCE):
        some = [column[begin : begin + AT_ONCE] for column in columns]
        for seed in range(len(sums)):
            sums[seed] += int(hashes_of_rows(seed, *some).sum(dtype=np.uint64))
    return "-".join(f"{number % 2**64:x}" for number in (count, *sums))


def hashes_of_rows(seed: int, *columns: npt.NDArray[np.unsignedinteger[Any]]) -> Hashes:
    """A hash of each row (n,) of numbers and the seed."""
    hashes = _mix(_steps(np.array([seed])))
    for column in columns:
        hashes = _mix(hashes + _steps(column))
    return hashes


def _steps(numbers: Array) -> Hashes:
    """(numbers + 1) steps of the generator, modulo 2^64."""
    return (numbers.astype(np.uint64) + np.uint64(1)) * STEP


def _mix(x: Hashes) -> Hashes:
    """splitmix64's output function, in place."""
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x
