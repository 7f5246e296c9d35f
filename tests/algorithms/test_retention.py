"""No retention: Algorithms 1 and 2 against numpy, and the server's state after each update."""

import gc
from dataclasses import replace

import numpy as np
import pytest

from dpmf_core.algorithms import Streams, build, train
from dpmf_core.algorithms.no_retention import (
    Biases,
    Server,
    arrival_times,
)
from dpmf_core.privacy import NOTHING, Noise
from dpmf_core.testing.worlds import low_rank
from tests.support.dense import user_means

RATE = 0.01
PENALTY = 0.1
PASSES = 10


def solve_vector(Q, items, residuals):
    """A user's vector from 0 by stochastic gradients on their ratings less biases."""
    p = np.zeros(Q.shape[1])
    for _ in range(PASSES):
        for item, value in zip(items, residuals, strict=True):
            p += 2 * RATE * ((value - p @ Q[item]) * Q[item] - PENALTY * p)
    return p


def moved(Q, items, residuals, step, item_rate):
    """Item factors after the last of `items` was rated, by Algorithm 2."""
    p, Q = solve_vector(Q, items, residuals), Q.copy()
    rate = item_rate / len(items) if step == "shared" else item_rate
    first = len(items) - 1 if step == "new" else 0
    for item, value in list(zip(items, residuals, strict=True))[first:]:
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
    server = Server.of(Q, None, step=step, item_rate=item_rate)
    server.update(ITEMS, VALUES)
    expected = moved(Q, ITEMS, VALUES - VALUES.mean(), step, item_rate)
    np.testing.assert_allclose(server.item_factors, expected, atol=1e-5)
    assert not server.item_biases.any()


@every_step
def test_item_biases_are_means_of_what_arrived_less_the_users_means(step, item_rate):
    Q = np.random.default_rng(0).standard_normal((9, 4))
    start = Biases(np.zeros(0), np.arange(9) / 4, np.arange(9) % 3)
    server = Server.of(Q, start, step=step, item_rate=item_rate)
    server.update(ITEMS, VALUES)
    sums = np.arange(9) / 4
    counts = np.arange(9) % 3
    residuals = VALUES - VALUES.mean()
    sums[1] += residuals[-1]
    counts[1] += 1
    biases = np.array(
        [total / max(n, 1) for total, n in zip(sums, counts, strict=True)]
    )
    np.testing.assert_allclose(server.item_biases, biases, atol=1e-6)
    expected = moved(Q, ITEMS, residuals - biases[ITEMS], step, item_rate)
    np.testing.assert_allclose(server.item_factors, expected, atol=1e-5)


@pytest.mark.parametrize("biased", [False, True])
def test_recommendations_are_algorithm_1(biased):
    rng = np.random.default_rng(1)
    Q = rng.standard_normal((30, 4))
    b = 0.3 * rng.standard_normal(30) * biased
    items = np.array([3, 4, 8])
    values = np.array([5.0, 1.0, 4.0])
    biases = Biases(np.zeros(0), b, np.ones(30, int)) if biased else None
    best = Server.of(Q, biases, step="rated").recommend(items, values, 5)
    scores = b + Q @ solve_vector(Q, items, values - values.mean() - b[items])
    scores[items] = -np.inf
    np.testing.assert_array_equal(best, np.argsort(-scores)[:5])


@pytest.mark.parametrize("step", ["new", "rated"])
def test_neither_ratings_nor_user_factors_survive_an_interaction(step):
    """The server's whole state is about items, and it has no room for anything else."""
    server = Server.of(np.ones((6, 3)), Biases.none(6), step=step)
    items = np.array([0, 4])
    values = np.array([2.0, 5.0])
    server.update(items, values)
    server.recommend(items, values, 2)
    state = [getattr(server, name) for name in Server.__slots__]
    arrays = [value for value in state if isinstance(value, np.ndarray)]
    assert sorted(array.shape for array in arrays) == [(6,), (6,), (6, 3)]
    assert all(
        isinstance(value, np.ndarray | bool | int | float | str) for value in state
    )
    assert not hasattr(server, "__dict__")
    with pytest.raises(AttributeError):
        server.history = items
    assert not [
        one for one in gc.get_referents(server) if one is items or one is values
    ]


def passes(start, others, ids, residuals, count):
    """A vector found anew from where it started, by `count` passes over its ratings less biases."""
    p = start.astype(float)
    for _ in range(count):
        for other, value in zip(ids, residuals, strict=True):
            q = others[other]
            p += 2 * RATE * ((value - p @ q) * q - PENALTY * p)
    return p


def test_online_by_gradients_finds_the_users_and_items_of_a_batch_anew():
    """The last batch by hand: items by passes over all stored ratings with the users' vectors."""
    data = low_rank(n_users=15, n_items=8)
    parameters = {
        "rank": 2,
        "steps": 40,
        "static_share": 0.5,
        "variant": "online",
    }
    online = build("no-retention", parameters, data.shape, None)
    model = train(online, data, Noise(NOTHING), streams())
    times = arrival_times(data, "random", streams().sampling + 1_000_003)
    biases = Biases.of(data, of_items=True)
    np.testing.assert_allclose(model.item_offsets, biases.of_items, atol=1e-6)
    init = streams().init
    init.standard_normal((data.n_users, 2))
    Q = 0.1 * init.standard_normal((data.n_items, 2)).astype(np.float32)
    in_last_batch = np.unique(data.items[times >= 0.95])
    assert len(in_last_batch)
    for item in in_last_batch:
        its = data.items == item
        q = passes(
            Q[item], model.user_factors, data.users[its], biases.residuals[its], 40
        )
        np.testing.assert_allclose(model.item_factors[item], q, atol=1e-3)


def streams():
    return Streams(np.random.default_rng(0), 1)


def test_arrivals_one_by_one_are_the_stream():
    data = low_rank(n_users=15, n_items=8)

    def fitted(variant):
        parameters = {"rank": 2, "steps": 5, "static_share": 0.5, "variant": variant}
        algorithm = build("no-retention", parameters, data.shape, None)
        return train(algorithm, data, Noise(NOTHING), streams())

    times = arrival_times(data, "random", streams().sampling + 1_000_003)
    known_biases = Biases.of(data.only(times < 0.5), of_items=True)
    server = Server.of(fitted("static").item_factors, known_biases, step="rated")
    for place in np.argsort(times, kind="stable"):
        if times[place] >= 0.5:
            hers = np.flatnonzero(
                (data.users == data.users[place]) & (times <= times[place])
            )
            hers = hers[np.argsort(times[hers])]
            server.update(data.items[hers], data.values[hers])
    stream_model = fitted("rated")
    np.testing.assert_allclose(
        stream_model.item_factors, server.item_factors, atol=1e-5
    )
    np.testing.assert_allclose(stream_model.item_offsets, server.item_biases, atol=1e-6)


@pytest.mark.parametrize("variant", ["static", "new", "rated", "online"])
def test_what_has_not_arrived_is_unknown(variant):
    """A model of a part of what arrives is that of this part alone, and users bring no more."""
    data = low_rank(n_users=30, n_items=8)
    parameters = {"variant": variant, "rank": 2, "steps": 5, "item_biases": True}
    part, whole = (
        build("no-retention", {**parameters, **more}, data.shape, None)
        for more in (
            {"static_share": 0.2, "arrived_share": 0.25},
            {"static_share": 0.5},
        )
    )
    times = arrival_times(data, "random", streams().sampling + 1_000_003)
    here = data.only(times < (0.2 if variant == "static" else 0.4))
    model = train(part, data, Noise(NOTHING), streams())
    offsets = user_means(here, here.values - model.centre)
    np.testing.assert_allclose(model.personal(data).offsets, offsets, atol=1e-5)
    hidden = replace(data, values=np.where(times < 0.4, data.values, data.bounds[0]))
    again = train(part, hidden, Noise(NOTHING), streams())
    np.testing.assert_array_equal(again.item_factors, model.item_factors)
    np.testing.assert_array_equal(again.item_offsets, model.item_offsets)
    changed = train(whole, hidden, Noise(NOTHING), streams())
    seen = train(whole, data, Noise(NOTHING), streams())
    assert (changed.item_factors != seen.item_factors).any()
