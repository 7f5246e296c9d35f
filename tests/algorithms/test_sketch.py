"""The count sketch against a slow one in plain Python, and against what hashing promises."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dpmf_core.algorithms.count_sketch import hash_keys
from dpmf_core.kernels import sketch as kernel
from dpmf_core.testing.rating_worlds import low_rank


def keys(depth, seed=0):
    return hash_keys(np.random.default_rng(seed), depth)


def place(key, ident, f, d, w):
    """Cell and sign of component f of a vector, by Python's whole numbers."""
    first, second = (int(number) for number in key)
    h = (first * (int(ident) * d + f) + second) % 2**64
    cell = ((h >> 32) * w) >> 32
    if (h >> 31) & 1:
        return cell, 1.0
    return cell, -1.0


def signed_cells(table, k, ident, d):
    """The signed cells (depth, d) of all components of a vector."""
    depth, w = table.shape
    out = np.zeros((depth, d))
    for j in range(depth):
        for f in range(d):
            cell, sign = place(k[j], ident, f, d, w)
            out[j, f] = sign * table[j, cell]
    return out


def add_to(table, k, ident, move):
    """Add a vector to a table."""
    depth, w = table.shape
    for j in range(depth):
        for f, component in enumerate(move):
            cell, sign = place(k[j], ident, f, len(move), w)
            table[j, cell] += sign * component


@pytest.mark.parametrize("depth", [3, 4])
@pytest.mark.parametrize("query", [np.mean, np.median])
def test_a_query_is_the_mean_or_the_median_of_signed_cells(query, depth):
    rng = np.random.default_rng(1)
    d = 5
    w = 37
    table = rng.standard_normal((depth, w)).astype(np.float32)
    k = keys(depth)
    vectors = kernel.vectors(table.ravel(), k, 11, d, w, query is np.median)
    for ident in range(11):
        cells = [[place(key, ident, f, d, w)[0] for f in range(d)] for key in k]
        assert kernel.places(k, ident, d, w)[0].tolist() == cells
        expected = query(signed_cells(table, k, ident, d), axis=0)
        assert vectors[ident] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("query", [np.mean, np.median])
def test_an_epoch_is_the_sources_update(query):
    """One rating after the other on Python floats: query, skip large errors, move k cells."""
    data = low_rank(n_users=7, n_items=5)
    d = 3
    w = 19
    depth = 3
    values = (data.values - 2.75).astype(np.float32)
    table = np.random.default_rng(2).standard_normal((depth, w)).astype(np.float32)
    user_keys = keys(depth, 3)
    item_keys = keys(depth, 4)
    rate = 0.05
    penalty = 0.1
    threshold = 1.5

    slow = table.astype(np.float64)
    n_skipped = 0
    for user, item, value in zip(data.users, data.items, values, strict=True):
        p = query(signed_cells(slow, user_keys, user, d), axis=0)
        q = query(signed_cells(slow, item_keys, item, d), axis=0)
        error = value - p @ q
        if error**2 > threshold:
            n_skipped += 1
            continue
        add_to(slow, user_keys, user, rate * (error * q - penalty * p))
        add_to(slow, item_keys, item, rate * (error * p - penalty * q))

    flat = table.ravel()
    both = (user_keys, item_keys)
    settings = (d, w, query is np.median, rate, penalty, threshold)
    passed_over = kernel.epoch(flat, both, data.users, data.items, values, *settings)
    assert n_skipped > 0
    assert passed_over == n_skipped
    assert_allclose(flat.reshape(table.shape), slow, atol=1e-4)
