"""The place of each entry in its row, in a compiled loop."""

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.base.compilation import compile_kernel
from dpmf_core.base.threads import share_out


@compile_kernel
def _rank_segments(starts, key, first, last, out):  # type: ignore[no-untyped-def]
    for segment in range(first, last):
        start = starts[segment]
        order = np.argsort(key[start : starts[segment + 1]], kind="mergesort")
        for place in range(len(order)):
            out[start + order[place]] = place


def rank_segments(starts: Array, key: Array) -> Array:
    """The place of every entry in its segment by ascending key, ties in order.

    Parameters
    ----------
    starts : (n_segments + 1,)
    key : (n,)

    Returns
    -------
    int64 (n,)
    """
    out = np.empty(len(key), np.int64)
    key = np.ascontiguousarray(key, np.float64)
    cost = np.diff(starts) + 1.0
    share_out(lambda first, last: _rank_segments(starts, key, first, last, out), cost)
    return out
