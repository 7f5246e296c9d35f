"""Orders of ratings by user and item.

Whole numbers are sorted much faster than their positions, so each position is sorted as the last
digits of its number.
"""

import numpy as np

from dpmf_core.base.arrays import Array, Flags, Ints

BITS = 63  # of a positive int64
AT_ONCE = 1 << 18  # positions that are made together, so that they stay in the cache


def order_of(ids: Array, count: int) -> Ints:
    """The positions (n,) that sort ids of 0 to count - 1; equal ids keep their order."""
    bits = len(ids).bit_length()
    if int(count).bit_length() + bits > BITS:
        return np.argsort(ids, kind="stable")
    return _sorted_with_positions(ids.astype(np.int64), bits)


def order_of_pairs(
    users: Array, items: Array, n_users: int, n_items: int
) -> Ints | None:
    """The positions (n,) that sort pairs by (user, item); None if all are sorted.

    Ids are from 0 to n_users - 1 and n_items - 1; equal pairs keep their order.
    """
    same = users[1:] == users[:-1]
    if ((users[1:] > users[:-1]) | (same & (items[1:] >= items[:-1]))).all():
        return None
    bits = len(users).bit_length()
    if (int(n_users) * int(n_items)).bit_length() + bits > BITS:
        return np.lexsort((items, users))
    pairs = users.astype(np.int64)
    pairs *= n_items
    pairs += items
    return _sorted_with_positions(pairs, bits)


def _sorted_with_positions(numbers: Ints, bits: int) -> Ints:
    """The positions that sort numbers (n,) of at most 63 - `bits` bits. Overwrites them."""
    numbers <<= bits
    for first in range(0, len(numbers), AT_ONCE):
        some = numbers[first : first + AT_ONCE]
        some |= np.arange(first, first + len(some))
    numbers.sort()
    numbers &= (1 << bits) - 1
    return numbers


def repeats(users: Array, items: Array) -> Flags:
    """Whether each of some sorted pairs (n,) equals the one before."""
    again = np.zeros(len(users), np.bool_)
    again[1:] = (users[1:] == users[:-1]) & (items[1:] == items[:-1])
    return again
