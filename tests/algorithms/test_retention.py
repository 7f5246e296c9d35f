"""No retention: Algorithms 1 and 2 against numpy, and the server's state after each update."""

import gc
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from dpmf_core.algorithms import build, train
from dpmf_core.algorithms.no_retention import (
    Biases,
    Server,
    arrival_times,
)
from dpmf_core.privacy import NOTHING, Noise
from dpmf_core.testing.rating_worlds import low_rank
from tests.support.algebra import streams
from tests.support.dense import user_means

RATE = 0.01
PENALTY = 0.1
PASSES = 10


def descended(p, Q, items, residuals, n_passes):
    """A user's vector after passes of stochastic gradients over their ratings less biases."""
    for _ in range(n_passes):
        for item, value in zip(items, residuals, strict=True):
            q = Q[item]
            p = p + 2 * RATE * ((value - p @ q) * q - PENALTY * p)
    return p


def solve_vector(Q, items, residuals):
    """A user's vector from 0."""
    return descended(np.zeros(Q.shape[1]), Q, items, residuals, PASSES)


def moved(Q, items, residuals, step, item_rate):
    """Item factors after the last of `items` was rated, by Algorithm 2."""
    p = solve_vector(Q, items, residuals)
    Q = Q.copy()
    rate = item_rate
    if step == "shared":
        rate = item_rate / len(items)
    rated = list(zip(items, residuals, strict=True))
    if step == "new":
        rated = rated[-1:]
    for item, value in rated:
        Q[item] += 2 * rate * ((value - p @ Q[item]) * p - PENALTY * Q[item])
    return Q


ITEMS = np.array([2, 7, 5, 1])
VALUES = np.array([4.0, 1.0, 3.5, 5.0])
every_step = pytest.mark.parametrize(
    ("step", "item_rate"), [("new", 0.05), ("rated", 0.005), ("shared", 0.05)]
)


@every_step
def test_an_update_is_algorithm_2(step, item_rate):
    Q = np.random.default_rng(0).standard_normal((9, 4))
    server = Server.of(
        Q,
        None,
        step=step,
        item_rate=item_rate,
    )
    server.update(ITEMS, VALUES)
    expected = moved(Q, ITEMS, VALUES - VALUES.mean(), step, item_rate)
    assert_allclose(server.item_factors, expected, atol=1e-5)
    assert not server.item_biases.any()


@every_step
def test_item_biases_are_means_of_what_arrived_less_the_users_means(step, item_rate):
    Q = np.random.default_rng(0).standard_normal((9, 4))
    sums = np.arange(9) / 4
    counts = np.arange(9) % 3
    start = Biases(np.zeros(0), sums.copy(), counts.copy())
    server = Server.of(
        Q,
        start,
        step=step,
        item_rate=item_rate,
    )
    server.update(ITEMS, VALUES)
    residuals = VALUES - VALUES.mean()
    sums[1] += residuals[-1]
    counts[1] += 1
    biases = sums / np.maximum(counts, 1)
    assert_allclose(server.item_biases, biases, atol=1e-6)
    expected = moved(Q, ITEMS, residuals - biases[ITEMS], step, item_rate)
    assert_allclose(server.item_factors, expected, atol=1e-5)


@pytest.mark.parametrize("biased", [False, True])
def test_recommendations_are_algorithm_1(biased):
    rng = np.random.default_rng(1)
    Q = rng.standard_normal((30, 4))
    b = np.zeros(30)
    biases = None
    if biased:
        b = 0.3 * rng.standard_normal(30)
        biases = Biases(np.zeros(0), b, np.ones(30, int))
    items = np.array([3, 4, 8])
    values = np.array([5.0, 1.0, 4.0])
    best = Server.of(Q, biases, step="rated").recommend(items, values, 5)
    residuals = values - values.mean() - b[items]
    scores = b + Q @ solve_vector(Q, items, residuals)
    scores[items] = -np.inf
    assert_array_equal(best, np.argsort(-scores)[:5])


@pytest.mark.parametrize("step", ["new", "rated"])
def test_neither_ratings_nor_user_factors_survive_an_interaction(step):
    """The server's whole state is about items, and it has no room for anything else."""
    server = Server.of(np.ones((6, 3)), Biases.none(6), step=step)
    items = np.array([0, 4])
    values = np.array([2.0, 5.0])
    server.update(items, values)
    server.recommend(items, values, 2)
    state = [getattr(server, name) for name in Server.__slots__]
    for value in state:
        assert isinstance(value, np.ndarray | bool | int | float | str)
    arrays = [value for value in state if isinstance(value, np.ndarray)]
    assert sorted(array.shape for array in arrays) == [(6,), (6,), (6, 3)]
    assert not hasattr(server, "__dict__")
    with pytest.raises(AttributeError):
        server.history = items
    for held in gc.get_referents(server):
        assert held is not items
        assert held is not values


def fitted(data, variant, **parameters):
    """A model of rank two of a variant of no-retention."""
    choices = {"rank": 2, "variant": variant, **parameters}
    algorithm = build("no-retention", choices, data.shape, None)
    return train(algorithm, data, Noise(NOTHING), streams())


def arrivals(data):
    """When each rating arrives, from 0 to 1."""
    return arrival_times(data, "random", streams().sampling + 1_000_003)


def test_online_by_gradients_finds_the_users_and_items_of_a_batch_anew():
    """The last batch by hand: items by passes over all stored ratings with the users' vectors."""
    data = low_rank(n_users=15, n_items=8)
    model = fitted(
        data,
        "online",
        steps=40,
        static_share=0.5,
    )
    biases = Biases.of(data, of_items=True)
    assert_allclose(model.item_offsets, biases.of_items, atol=1e-6)
    init = streams().init
    init.standard_normal((data.n_users, 2))
    Q = 0.1 * init.standard_normal((data.n_items, 2)).astype(np.float32)
    in_last_batch = np.unique(data.items[arrivals(data) >= 0.95])
    assert len(in_last_batch)
    for item in in_last_batch:
        of_item = data.items == item
        users = data.users[of_item]
        residuals = biases.residuals[of_item]
        start = Q[item].astype(float)
        expected = descended(start, model.user_factors, users, residuals, 40)
        assert_allclose(model.item_factors[item], expected, atol=1e-3)


def test_the_stream_is_the_server_after_each_arrival():
    data = low_rank(n_users=15, n_items=8)
    times = arrivals(data)
    known_biases = Biases.of(data.only(times < 0.5), of_items=True)
    static = fitted(
        data,
        "static",
        steps=5,
        static_share=0.5,
    )
    server = Server.of(static.item_factors, known_biases, step="rated")
    for place in np.argsort(times, kind="stable"):
        if times[place] >= 0.5:
            has_arrived = times <= times[place]
            own = np.flatnonzero(has_arrived & (data.users == data.users[place]))
            own = own[np.argsort(times[own])]
            server.update(data.items[own], data.values[own])
    stream = fitted(
        data,
        "rated",
        steps=5,
        static_share=0.5,
    )
    assert_allclose(stream.item_factors, server.item_factors, atol=1e-5)
    assert_allclose(stream.item_offsets, server.item_biases, atol=1e-6)


@pytest.mark.parametrize(
    ("variant", "share"),
    [("static", 0.2), ("new", 0.4), ("rated", 0.4), ("online", 0.4)],
)
def test_ratings_that_have_not_arrived_change_nothing(variant, share):
    """A model of a part of what arrives is that of this part alone, and users bring no more."""
    data = low_rank(n_users=30, n_items=8)
    times = arrivals(data)
    hidden = replace(data, values=np.where(times < 0.4, data.values, data.bounds[0]))

    def of_part(data):
        return fitted(
            data,
            variant,
            steps=5,
            item_biases=True,
            static_share=0.2,
            arrived_share=0.25,
        )

    model = of_part(data)
    here = data.only(times < share)
    offsets = user_means(here, here.values - model.centre)
    assert_allclose(model.personal(data).offsets, offsets, atol=1e-5)
    again = of_part(hidden)
    assert_array_equal(again.item_factors, model.item_factors)
    assert_array_equal(again.item_offsets, model.item_offsets)

    def of_all(data):
        return fitted(
            data,
            variant,
            steps=5,
            item_biases=True,
            static_share=0.5,
        )

    changed = of_all(hidden)
    assert (changed.item_factors != of_all(data).item_factors).any()
