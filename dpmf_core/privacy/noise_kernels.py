"""Compiled loops of noise: exact discrete Gaussians, and symmetric matrices.

The discrete Gaussian on the whole numbers is sampled exactly: every decision compares whole
numbers; none depends on a rounded one. P(i) is proportional to exp(-i^2 / (2 sigma^2)) for a whole
sigma. After Karney 2016 (Algorithm D) and von Neumann 1951: with i = k sigma + j, 0 <= j < sigma,
    i^2 / (2 sigma^2) = k/2 + k (k - 1)/2 + x (2k + x)/2,  x = j/sigma,
whose parts are accepted one after the other. An event of probability exp(-p) for a rational p in
[0, 1] is that the first K with a failure among independent events of probability p/1, p/2, p/3, ...
is odd; one of probability a/b is that a uniform whole number below b is below a.

`words` hold 63 random bits each; cursor is (the next word, whether they ran out). Once they have
run out, every event fails, so that all loops end.
"""

from typing import Any

import numpy as np

from dpmf_core.base.arrays import Array, Ints
from dpmf_core.base.compilation import compile_kernel
from dpmf_core.base.threads import share_out

# for sigma: float64 holds 60 sigma exactly, and sigma (2k + 2) stays within 63 bits
LARGEST = 2**46


@compile_kernel
def _below(words, cursor, bound):  # type: ignore[no-untyped-def]
    """Uniform among 0, ..., bound - 1: the lowest bits of a word, repeated until below."""
    if bound == 1:
        return 0
    mask = bound - 1
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> shift
    while cursor[0] < len(words):
        value = words[cursor[0]] & mask
        cursor[0] += 1
        if value < bound:
            return value
    cursor[1] = 1
    return bound


@compile_kernel
def _exp(words, cursor, above, below, above_2, below_2):  # type: ignore[no-untyped-def]
    """An event of probability exp(-p), p = above / below * above_2 / below_2."""
    step = 1
    while (
        _below(words, cursor, below) < above
        and _below(words, cursor, below_2) < above_2
        and (step == 1 or _below(words, cursor, step) == 0)
    ):
        step += 1
    return step % 2 == 1 and not cursor[1]


@compile_kernel
def _all_halves(words, cursor, count):  # type: ignore[no-untyped-def]
    """Whether `count` events of probability exp(-1/2) all happen."""
    n_events = 0
    while n_events < count and _exp(words, cursor, 1, 2, 1, 1):
        n_events += 1
    return n_events == count


@compile_kernel
def _whole_part(words, cursor):  # type: ignore[no-untyped-def]
    """k with probability proportional to exp(-k^2 / 2)."""
    while not cursor[1]:
        k = 0
        while _exp(words, cursor, 1, 2, 1, 1):
            k += 1
        if _all_halves(words, cursor, k * (k - 1)):
            return k
    return 0


@compile_kernel
def _tail(words, cursor, sigma, k, j):  # type: ignore[no-untyped-def]
    """An event of probability exp(-x (2k + x) / 2), x = j / sigma.

    It consists of k + 1 events of probability exp(-x (2k + x) / (2k + 2)).
    """
    n_events = 0
    while n_events <= k and _exp(
        words, cursor, j, sigma, 2 * k * sigma + j, (2 * k + 2) * sigma
    ):
        n_events += 1
    return n_events > k


@compile_kernel
def _draw(words, cursor, sigma):  # type: ignore[no-untyped-def]
    while not cursor[1]:
        k = _whole_part(words, cursor)
        j = _below(words, cursor, sigma)
        if not _tail(words, cursor, sigma, k, j):
            continue
        i = k * sigma + j
        if _below(words, cursor, 2) == 0:
            return i
        if i != 0:  # zero has one sign
            return -i
    return 0


@compile_kernel
def _fill(words, sigma, out, first):  # type: ignore[no-untyped-def]
    """Draw into out[first:] while words last; returns how many are done and the words they took.

    A draw that the end cuts off took none.
    """
    cursor = np.zeros(2, np.int64)
    for place in range(first, len(out)):
        began = cursor[0]
        value = _draw(words, cursor, sigma)
        if cursor[1]:
            return place, began
        out[place] = value
    return len(out), cursor[0]


def discrete_gaussian(raw: Any, sigma: int, out: Ints) -> None:
    """Fill `out` (int64) with independent draws from the 64-bit words that `raw(count)` gives.

    Raises
    ------
    ValueError
        Unless sigma is whole, from 1 to 2^46.
    """
    if not (isinstance(sigma, int) and 1 <= sigma <= LARGEST):
        raise ValueError(
            f"The discrete Gaussian takes a whole sigma from 1 to 2^46. Got {sigma!r}."
        )
    n_drawn = 0
    remainder = np.zeros(0, np.int64)
    while n_drawn < len(out):
        more = raw(min(64 * (len(out) - n_drawn) + 64, 1 << 16)) >> np.uint64(1)
        words = np.concatenate([remainder, more.astype(np.int64)])
        n_drawn, n_used = _fill(words, sigma, out, n_drawn)
        remainder = words[n_used:]


@compile_kernel
def _unfold(triangles, off_diagonal, start, stop, out):  # type: ignore[no-untyped-def]
    r = out.shape[1]
    for b in range(start, stop):
        at = 0
        for p in range(r):
            for q in range(p):
                out[b, p, q] = out[b, q, p] = off_diagonal * triangles[b, at]
                at += 1
            out[b, p, p] = triangles[b, at]
            at += 1


def unfold(triangles: Array, rank: int, off_diagonal: float) -> Array:
    """Symmetric matrices (n, rank, rank), float64, from lower triangles, row by row.

    Parameters
    ----------
    triangles : (n, rank (rank + 1) / 2)
    rank : int
    off_diagonal : float
        Entries off the diagonal are multiplied by it.
    """
    out = np.empty((len(triangles), rank, rank))
    cost = np.ones(len(out))
    share_out(
        lambda start, stop: _unfold(triangles, off_diagonal, start, stop, out), cost
    )
    return out
