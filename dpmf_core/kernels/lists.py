"""The best items of every user, of those she has not rated."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.kernels.compilation import compiled

Array = npt.NDArray[Any]
GROUPS = 128  # of items, whose best scores say above what the list begins


@compiled
def _kept(score, item, held, best, listed):  # type: ignore[no-untyped-def]
    """Takes an item into a list that holds so many, best first; how many it holds then."""
    k = len(best)
    if held == k and not (score > best[k - 1] or (score == best[k - 1] and item < listed[k - 1])):
        return held
    place = min(held, k - 1)
    while place > 0 and (
        score > best[place - 1] or (score == best[place - 1] and item < listed[place - 1])
    ):
        best[place], listed[place] = best[place - 1], listed[place - 1]
        place -= 1
    best[place], listed[place] = score, item
    return min(held + 1, k)


@compiled
def _least_listed(row, group, highest):  # type: ignore[no-untyped-def]
    """What the k best scores are at least, -inf where there may not be so many: the k-th largest
    of the highest scores of groups, for each of k groups has one. row: item j is in group j modulo
    GROUPS. group: becomes the highest score of each. highest: (k,) space.
    """
    for each in range(GROUPS):
        group[each] = row[each]
    for block in range(1, len(row) // GROUPS):
        for each in range(GROUPS):
            score = row[block * GROUPS + each]
            group[each] = score if score > group[each] else group[each]
    held, k = 0, len(highest)
    for each in range(GROUPS):
        score = group[each]
        if held < k or score > highest[k - 1]:
            place = min(held, k - 1)
            held = min(held + 1, k)
            while place > 0 and score > highest[place - 1]:
                highest[place] = highest[place - 1]
                place -= 1
            highest[place] = score
    return highest[k - 1]


@compiled
def _list_of_groups(row, group, least, best, listed):  # type: ignore[no-untyped-def]
    """Lists the best of the groups whose highest score is at least `least`."""
    held, k = 0, len(best)
    for each in range(GROUPS):
        if group[each] >= least:
            for block in range(len(row) // GROUPS):
                item = block * GROUPS + each
                if row[item] >= least and not (held == k and row[item] < best[k - 1]):
                    held = _kept(row[item], item, held, best, listed)


@compiled
def _list_of_all(row, n_items, rated, best, listed):  # type: ignore[no-untyped-def]
    """Lists the best of all that lies between the items that she has rated."""
    held, begin, k = 0, 0, len(best)
    for at in range(len(rated) + 1):
        stop = rated[at] if at < len(rated) else n_items
        for item in range(begin, stop):
            if held < k or row[item] > best[k - 1]:
                held = _kept(row[item], item, held, best, listed)
        begin = stop + 1
    for place in range(held, k):
        listed[place] = -1


@compiled
def _best_unseen(scores, offsets, users, starts, items, out):  # type: ignore[no-untyped-def]
    k, n_items = out.shape[1], scores.shape[1]
    row = np.empty(-(-n_items // GROUPS) * GROUPS, np.float32)
    group, best = np.empty(GROUPS, np.float32), np.empty(k, np.float32)
    for item in range(n_items, len(row)):
        row[item] = -np.inf
    for user in range(len(users)):
        for item in range(n_items):
            score = scores[user, item] + offsets[item]
            row[item] = score if score == score else np.float32(-np.inf)  # no number: last
        rated = items[starts[users[user]] : starts[users[user] + 1]]
        for at in range(len(rated)):
            row[rated[at]] = -np.inf
        least = _least_listed(row, group, best) if k <= GROUPS else np.float32(-np.inf)
        if least > -np.inf:
            _list_of_groups(row, group, least, best, out[user])
        else:
            _list_of_all(row, n_items, rated, best, out[user])


def best_unseen(
    scores: Array,
    users: Array,
    starts: Array,
    items: Array,
    k: int,
    offsets: Array | None = None,
) -> Array:
    """Each user's k items of the highest scores among those she has not rated, best first, of
    equal ones the first by number: int64 (len(users), k), -1 where there are not so many.

    scores: float32 (len(users), n_items). users: rows of `starts`, (n_users + 1,), between which
    lie what each has rated, ascending, in `items`. offsets: (n_items,) to be added to everybody's
    scores. In this thread: whoever makes scores of a few users at a time shares them out.
    """
    out = np.empty((len(users), k), np.int64)
    if k:
        table, own = np.ascontiguousarray(scores, np.float32), np.asarray(users, np.int64)
        added = np.zeros(table.shape[1]) if offsets is None else offsets
        _best_unseen(table, np.ascontiguousarray(added, np.float32), own, starts, items, out)
    return out
