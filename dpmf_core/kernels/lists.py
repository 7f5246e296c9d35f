"""The best items of every user, of those she has not rated."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.kernels.compilation import compiled
from dpmf_core.kernels.threads import share_out

Array = npt.NDArray[Any]


@compiled
def _best_unseen(scores, users, starts, items, first, last, out):  # type: ignore[no-untyped-def]
    k = out.shape[1]
    best = np.empty(k, scores.dtype)
    for row in range(first, last):
        table, start, end = scores[row], starts[users[row]], starts[users[row] + 1]
        held, begin = 0, 0
        for at in range(start, end + 1):  # what lies before each item that she has rated
            stop = items[at] if at < end else len(table)
            for item in range(begin, stop):
                score = table[item]
                if held == k and not score > best[k - 1]:
                    continue
                if score != score:  # no number: last
                    score = np.float32(-np.inf)
                place = held if held < k else k - 1
                held += held < k
                while place > 0 and score > best[place - 1]:
                    best[place], out[row, place] = best[place - 1], out[row, place - 1]
                    place -= 1
                best[place], out[row, place] = score, item
            begin = stop + 1
        for place in range(held, k):
            out[row, place] = -1


def best_unseen(
    scores: Array, users: Array, starts: Array, items: Array, k: int, *, threads: int | None = None
) -> Array:
    """Each user's k items of the highest scores among those she has not rated, best first, of
    equal ones the first by number: int64 (len(users), k), -1 where there are not so many.

    scores: float32 (len(users), n_items). users: rows of `starts`, (n_users + 1,), between which
    lie what each has rated, ascending, in `items`.
    """
    out = np.empty((len(users), k), np.int64)
    if k:
        table, own = np.ascontiguousarray(scores, np.float32), np.asarray(users, np.int64)
        share_out(
            lambda first, last: _best_unseen(table, own, starts, items, first, last, out),
            np.full(len(own), float(table.shape[1])),
            threads,
        )
    return out
