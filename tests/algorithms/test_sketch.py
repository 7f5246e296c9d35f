"""The count sketch against a slow one in plain Python, and against what hashing promises."""

import numpy as np
import pytest

from dpmf_core.algorithms.count_sketch import hash_keys
from dpmf_core.kernels import sketch as kernel
from dpmf_core.testing.worlds import low_rank


def keys(depth, seed=0):
    return hash_keys(np.random.default_rng(seed), depth)


def place(key, ident, f, d, w):
    """Cell and sign of component f of a vector, by Python's whole numbers."""
    h = (int(key[0]) * (int(ident) * d + f) + int(key[1])) % 2**64
    return ((h >> 32) * w) >> 32, 1.0 if (h >> 31) & 1 else -1.0


def cells_of(key, ident, d, w):
    """Where every component of one vector is in one row."""
    return [place(key, ident, f, d, w) for f in range(d)]


@pytest.mark.parametrize("depth", [3, 4])
@pytest.mark.parametrize("query", [np.mean, np.median])
def test_a_query_is_the_mean_or_the_median_of_signed_cells(query, depth):
    rng = np.random.default_rng(1)
    d = 5
    w = 37
    C = rng.standard_normal((depth, w)).astype(np.float32)
    k = keys(depth)
    vectors = kernel.vectors(C.ravel(), k, 11, d, w, query is np.median)
    for ident in range(11):
        cells = [cells_of(k[j], ident, d, w) for j in range(depth)]
        assert [[cell for cell, _ in line] for line in cells] == kernel.places(
            k, ident, d, w
        )[0].tolist()
        for f in range(d):
            assert vectors[ident, f] == pytest.approx(
                query([cells[j][f][1] * C[j, cells[j][f][0]] for j in range(depth)]),
                abs=1e-6,
            )


@pytest.mark.parametrize("query", [np.mean, np.median])
def test_an_epoch_is_the_sources_update(query):
    """One rating after the other on Python floats: query, skip large errors, move k cells."""
    data = low_rank(n_users=7, n_items=5)
    d = 3
    w = 19
    depth = 3
    values = (data.values - 2.75).astype(np.float32)
    C = np.random.default_rng(2).standard_normal((depth, w)).astype(np.float32)
    user_keys = keys(depth, 3)
    item_keys = keys(depth, 4)
    slow = C.astype(np.float64)
    n_skipped = 0
    rate = 0.05
    penalty = 0.1
    threshold = 1.5

    def ask(k, ident):
        cells = [cells_of(k[j], ident, d, w) for j in range(depth)]
        return cells, np.array(
            [
                query([cells[j][f][1] * slow[j, cells[j][f][0]] for j in range(depth)])
                for f in range(d)
            ]
        )

    for t in range(len(values)):
        (pu, p) = ask(user_keys, data.users[t])
        (pi, q) = ask(item_keys, data.items[t])
        error = values[t] - p @ q
        if error**2 > threshold:
            n_skipped += 1
            continue
        for cells, move in (
            (pu, rate * (error * q - penalty * p)),
            (pi, rate * (error * p - penalty * q)),
        ):
            for j in range(depth):
                for f in range(d):
                    slow[j, cells[j][f][0]] += cells[j][f][1] * move[f]
    flat = C.ravel()
    both = (user_keys, item_keys)
    settings = (d, w, query is np.median, rate, penalty, threshold)
    passed_over = kernel.epoch(flat, both, data.users, data.items, values, *settings)
    assert passed_over == n_skipped > 0
    np.testing.assert_allclose(flat.reshape(C.shape), slow, atol=1e-4)
