"""The best unrated items of every user. No privacy here.

The highest scores of groups of items give a bound that all listed items reach; only the few items
above it are sorted.
"""

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.base.compilation import compile_kernel
from dpmf_core.base.threads import share_out
from dpmf_core.kernels.tiles import HEIGHT, WIDTH, add_panel

EIGHT = 8  # items in a group; rows of scores are padded to a multiple of its square
GROUPS = 64  # of groups; their highest scores give the bound
# rounds of halving, for a bound that up to SPARE more groups may reach
ROUNDS = 12
SPARE = 3
MOST = 256  # items that may lie above the bound
NONE = np.float32(-np.inf)


@compile_kernel
def _insert(score, item, n_listed, best, best_items):  # type: ignore[no-untyped-def]
    """Insert an item into a list of `n_listed`, best first; returns the new length."""
    k = len(best)
    if n_listed == k and not (
        score > best[k - 1] or (score == best[k - 1] and item < best_items[k - 1])
    ):
        return n_listed
    place = min(n_listed, k - 1)
    while place > 0 and (
        score > best[place - 1]
        or (score == best[place - 1] and item < best_items[place - 1])
    ):
        best[place] = best[place - 1]
        best_items[place] = best_items[place - 1]
        place -= 1
    best[place] = score
    best_items[place] = item
    return min(n_listed + 1, k)


@compile_kernel
def _list_of_all(row, n_items, rated_items, best, best_items):  # type: ignore[no-untyped-def]
    """List the best items in the gaps between rated items, one gap after another."""
    n_listed = 0
    begin = 0
    k = len(best)
    for at in range(len(rated_items) + 1):
        stop = rated_items[at] if at < len(rated_items) else n_items
        for item in range(begin, stop):
            score = row[item] if row[item] > NONE else NONE  # NaN comes last
            if n_listed < k or score > best[k - 1]:
                n_listed = _insert(score, item, n_listed, best, best_items)
        begin = stop + 1
    for place in range(n_listed, k):
        best_items[place] = -1


@compile_kernel
def _larger(score, other):  # type: ignore[no-untyped-def]
    """The larger score; if one is NaN, the other."""
    return score if score > other else other


@compile_kernel
def _highest(row, high, higher):  # type: ignore[no-untyped-def]
    """The highest scores of groups: `high` (m,) and `higher` (GROUPS,); NaN is left out.

    A group of `high` has eight items, m places apart; one of `higher` has groups of these.
    """
    m = len(high)
    a = row[:m]
    b = row[m : 2 * m]
    c = row[2 * m : 3 * m]
    d = row[3 * m : 4 * m]
    e = row[4 * m : 5 * m]
    f = row[5 * m : 6 * m]
    g = row[6 * m : 7 * m]
    h = row[7 * m :]
    for at in range(m):
        left = _larger(a[at], _larger(b[at], _larger(c[at], _larger(d[at], NONE))))
        right = _larger(e[at], _larger(f[at], _larger(g[at], _larger(h[at], NONE))))
        high[at] = left if left > right else right
    higher[:] = NONE
    for start in range(0, m, GROUPS):
        some = high[start : min(start + GROUPS, m)]
        for at in range(len(some)):
            higher[at] = _larger(some[at], higher[at])


@compile_kernel
def _bound(higher, k):  # type: ignore[no-untyped-def]
    """A score that k of the groups reach and few more; -inf with fewer than k groups."""
    low = np.float32(np.inf)
    top = NONE
    numbers = 0
    for each in range(GROUPS):
        score = higher[each]
        numbers += score > NONE
        low = score if NONE < score < low else low
        top = score if score > top else top
    if numbers < k:
        return NONE
    half = np.float32(0.5)
    for _ in range(ROUNDS):
        middle = half * low + half * top
        reach = 0
        for each in range(GROUPS):
            reach += higher[each] >= middle
        if reach >= k:
            low = middle
            if reach <= k + SPARE:
                break
        else:
            top = middle
    return low


@compile_kernel
def _above(row, high, higher, bound, some, candidates, worth):  # type: ignore[no-untyped-def]
    """The number of items that reach the bound, with the items and scores; -1 if too many.

    `candidates` and `worth` have MOST places. `some` is as long as `high` and is overwritten.
    Indices are written first and counted afterwards, because a branch would be mispredicted half of
    the time.
    """
    m = len(high)
    count = 0
    groups = 0
    items = 0
    for each in range(GROUPS):
        candidates[count] = each
        count += higher[each] >= bound
    for at in range(count):
        for group in range(candidates[at], m, GROUPS):
            some[groups] = group
            groups += high[group] >= bound
    if EIGHT * groups > MOST:
        return -1
    for at in range(groups):
        for step in range(EIGHT):
            candidates[items] = some[at] + step * m
            items += row[candidates[items]] >= bound
    for at in range(items):
        worth[at] = row[candidates[at]]
    return items


@compile_kernel
def _put_in_order(candidates, worth, count, best_items):  # type: ignore[no-untyped-def]
    """List the best of `count` candidates by insertion sort."""
    for each in range(1, count):
        score = worth[each]
        item = candidates[each]
        at = each
        while at > 0 and (
            worth[at - 1] < score
            or (worth[at - 1] == score and candidates[at - 1] > item)
        ):
            worth[at] = worth[at - 1]
            candidates[at] = candidates[at - 1]
            at -= 1
        worth[at] = score
        candidates[at] = item
    for at in range(len(best_items)):
        best_items[at] = candidates[at]


@compile_kernel
def _scratch(n_items, k):  # type: ignore[no-untyped-def]
    """Arrays for one list: `high`, `higher`, groups, items, their scores, the best."""
    parts = -(-n_items // (EIGHT * EIGHT))
    high = np.empty(parts * EIGHT, np.float32)
    higher = np.empty(GROUPS, np.float32)
    groups = np.empty(parts * EIGHT, np.int32)
    items = np.empty(MOST, np.int32)
    return (
        high,
        higher,
        groups,
        items,
        np.empty(MOST, np.float32),
        np.empty(k, np.float32),
    )


@compile_kernel
def _list_unseen(row, n_items, rated_items, scratch, best_items):  # type: ignore[no-untyped-def]
    """List the best of a row of scores, padded to a multiple of 64 items.

    The scores of rated items are overwritten.
    """
    high, higher, some, candidates, worth, best = scratch
    for item in range(n_items, len(row)):
        row[item] = NONE
    for at in range(len(rated_items)):
        row[rated_items[at]] = NONE
    count = -1
    if len(best_items) <= GROUPS:
        _highest(row, high, higher)
        bound = _bound(higher, len(best_items))
        if bound > NONE:
            count = _above(row, high, higher, bound, some, candidates, worth)
    if count >= 0:
        _put_in_order(candidates, worth, count, best_items)
    else:
        _list_of_all(row, n_items, rated_items, best, best_items)


@compile_kernel
def _best_of_table(scores, users, starts, items, out):  # type: ignore[no-untyped-def]
    n_items = scores.shape[1]
    scratch = _scratch(n_items, out.shape[1])
    row = np.empty(len(scratch[0]) * EIGHT, np.float32)
    for user in range(len(users)):
        for item in range(n_items):
            row[item] = scores[user, item]
        rated_items = items[starts[users[user]] : starts[users[user] + 1]]
        _list_unseen(row, n_items, rated_items, scratch, out[user])


@compile_kernel
def _best_of_products(U, panels, n_items, users, starts, items, first, last, out):  # type: ignore[no-untyped-def]
    r = U.shape[1]
    scratch = _scratch(n_items, out.shape[1])
    left = np.ones((r + 1, HEIGHT), np.float32)
    scores = np.empty((HEIGHT, len(panels) * WIDTH), np.float32)
    for begin in range(first, last, HEIGHT):
        count = min(HEIGHT, last - begin)
        for at in range(count):
            for p in range(r):
                left[p, at] = U[users[begin + at], p]
        scores[:] = 0
        for panel in range(len(panels)):
            add_panel(left, panels[panel], panel * WIDTH, scores)
        for at in range(count):
            rated_items = items[
                starts[users[begin + at]] : starts[users[begin + at] + 1]
            ]
            _list_unseen(scores[at], n_items, rated_items, scratch, out[begin + at])


def best_unseen(
    scores: Array, users: Array, starts: Array, items: Array, k: int
) -> Array:
    """Each user's k unrated items of highest score, best first, ties by item number.

    It runs in this thread, because callers compute scores of a few users in each of their own.

    Parameters
    ----------
    scores : float32 (n_listed, n_items)
    users : (n_listed,)
        Their rows in `starts`.
    starts : (n_users + 1,)
    items : (n_ratings,)
        The rated items of each user, ascending.
    k : int

    Returns
    -------
    int64 (n_listed, k)
        Padded with -1.
    """
    out = np.empty((len(users), k), np.int64)
    if k:
        table = np.ascontiguousarray(scores, np.float32)
        _best_of_table(table, np.asarray(users, np.int64), starts, items, out)
    return out


def best_unseen_products(
    sides: tuple[Array, Array, Array], users: Array, starts: Array, items: Array, k: int
) -> Array:
    """`best_unseen` by scores b_i + u . v.

    Parameters
    ----------
    sides : tuple
        Item offsets (n_items,), the factors of all users (n_users, r) and of the items (n_items,
        r).
    users, starts, items, k
        As in `best_unseen`.
    """
    out = np.empty((len(users), k), np.int64)
    if not k:
        return out
    b, U, V = (np.asarray(side, np.float32) for side in sides)
    n_items, r = V.shape
    parts = -(-n_items // (EIGHT * EIGHT))
    table = np.zeros((parts * EIGHT * EIGHT, r + 1), np.float32)
    table[:n_items, :r] = V
    table[:n_items, r] = b
    panels = np.ascontiguousarray(table.reshape(-1, WIDTH, r + 1).swapaxes(1, 2))
    own = np.asarray(users, np.int64)
    lists = np.ascontiguousarray(U), panels, n_items, own, starts, items
    cost = np.full(len(own), float(n_items * (r + 1)))
    share_out(lambda first, last: _best_of_products(*lists, first, last, out), cost)
    return out
