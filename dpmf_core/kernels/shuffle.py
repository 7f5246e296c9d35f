"""A random order that follows from a key, in compiled code."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.kernels.compilation import compile_kernel


@compile_kernel
def _shuffled_range(n, key):  # type: ignore[no-untyped-def]
    """Fisher & Yates's shuffle by splitmix64 (Steele, Lea & Flood 2014); the remainder's bias
    is below n / 2^64.
    """
    out = np.arange(n)
    state = key
    for last in range(n - 1, 0, -1):
        state += np.uint64(0x9E3779B97F4A7C15)
        x = state
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
        place = np.int64(x % np.uint64(last + 1))
        out[last], out[place] = out[place], out[last]
    return out


def shuffled_range(n: int, key: int) -> npt.NDArray[Any]:
    """The numbers 0 ... n - 1 in an order drawn by `key`, int64 (n,)."""
    return np.asarray(_shuffled_range(n, np.uint64((key * 0xD1342543DE82EF95) % 2**64)))
