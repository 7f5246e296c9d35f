"""The rules and algorithms of Vallet et al. 2014 as printed, next to ours, from the same starts."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dpmf_core.algorithms import Streams, build, train
from dpmf_core.algorithms.no_retention import LOOKS, Server, arrival_times
from dpmf_core.kernels.rating_loops import shuffled_range
from dpmf_core.papers.vallet_2014 import printed
from dpmf_core.privacy import NOTHING, Noise
from dpmf_core.testing.rating_worlds import low_rank

D = 2
STATIC = 0.5
SEED = 1
STATIC_RATE = 0.01
GAMMA = 0.1
STEPS = 5
PASSES = 10
ITEM_RATES = {"new": 0.05, "rated": 0.005}


def streams():
    return Streams(np.random.default_rng(0), SEED)


def ours(data, variant, **more):
    parameters = {
        "variant": variant,
        "rank": D,
        "steps": STEPS,
        "static_share": STATIC,
        "user_passes": PASSES,
        "as_printed": True,
        **more,
    }
    return train(
        build("no-retention", parameters, data.shape, None),
        data,
        Noise(NOTHING),
        streams(),
    )


class World:
    """The ratings in plain lists, with our times of arrival, orders and starts."""

    def __init__(self):
        self.data = low_rank(n_users=15, n_items=8)
        self.times = arrival_times(self.data, "random", SEED + 1_000_003)
        init = streams().init
        P = init.standard_normal((self.data.n_users, D)).astype(np.float32)
        Q = init.standard_normal((self.data.n_items, D)).astype(np.float32)
        self.P = 0.1 * P.astype(float)
        self.Q = 0.1 * Q.astype(float)

    def known(self, until):
        """(u, i, r) in the order of the data, of what has arrived by a time."""
        data = self.data
        rows = zip(data.users, data.items, data.values, strict=True)
        known = []
        for row, time in zip(rows, self.times, strict=True):
            if time < until:
                known.append(row)
        return known


def less_biases(ratings, n_items):
    """Residuals, and sums and counts of the items: their ratings minus their users' b_u."""
    b_u = {}
    for user in {user for user, _, _ in ratings}:
        own_ratings = [r for u, _, r in ratings if u == user]
        b_u[user] = printed.user_bias(np.array(own_ratings))
    sums = np.zeros(n_items)
    counts = np.zeros(n_items)
    for u, i, r in ratings:
        sums[i] += r - b_u[u]
        counts[i] += 1
    b_i = sums / np.maximum(counts, 1)
    residuals = [(u, i, r - b_u[u] - b_i[i]) for u, i, r in ratings]
    return residuals, b_u, sums, counts


def our_order(iteration, n):
    return shuffled_range(n, SEED + iteration)


def trained(world, until, **settings):
    """P, Q, b_u, sums and counts of the static training as printed."""
    P = world.P.copy()
    Q = world.Q.copy()
    residuals, b_u, sums, counts = less_biases(world.known(until), len(Q))
    settings = {
        "lambda_": STATIC_RATE,
        "gamma": GAMMA,
        "simultaneous": True,
        **settings,
    }
    printed.factorise(residuals, P, Q, n=STEPS, order=our_order, **settings)
    return P, Q, b_u, sums, counts


@pytest.mark.parametrize(("variant", "until"), [("baseline", 1.0), ("static", STATIC)])
def test_baseline_and_static_are_update_rules_3_and_4(variant, until):
    """Static has the bias, the vectors and the items of the static ratings alone."""
    world = World()
    P, Q, b_u, sums, counts = trained(world, until)
    model = ours(world.data, variant)
    assert_allclose(model.item_factors, Q, atol=1e-6)
    personal = model.personal(world.data)
    assert_allclose(personal.factors, P, atol=1e-6)
    users = sorted(b_u)
    of_users = [b_u[user] - model.centre for user in users]
    assert_allclose(personal.offsets[users], of_users, atol=1e-6)
    expected = sums / np.maximum(counts, 1)
    assert_allclose(model.item_offsets, expected, atol=1e-6)


@pytest.mark.parametrize("variant", ITEM_RATES)
def test_an_arrival_is_algorithm_2_and_a_prediction_algorithm_1(variant):
    world = World()
    _, Q, _, sums, counts = trained(world, STATIC)

    def item_biases(items, residuals):
        sums[items[-1]] += residuals[-1]
        counts[items[-1]] += 1
        means = sums / np.maximum(counts, 1)
        return means[list(items)]

    users = world.data.users
    items = world.data.items
    values = world.data.values.astype(float)
    for place in np.argsort(world.times, kind="stable"):
        if world.times[place] < STATIC:
            continue
        hers = np.flatnonzero(
            (users == users[place]) & (world.times <= world.times[place])
        )
        hers = hers[np.argsort(world.times[hers])]
        printed.update_items(
            Q,
            items[hers].tolist(),
            values[hers],
            item_biases,
            np.zeros(D),
            variant=variant,
            n=PASSES,
            lambda_=STATIC_RATE,
            item_lambda=ITEM_RATES[variant],
            gamma=GAMMA,
        )
    model = ours(world.data, variant)
    assert_allclose(model.item_factors, Q, atol=1e-5)
    b_i = sums / np.maximum(counts, 1)
    assert_allclose(model.item_offsets, b_i, atol=1e-5)
    personal = model.personal(world.data)
    for user in np.unique(users):
        hers = np.flatnonzero(users == user)
        expected = printed.predict(
            Q, items[hers].tolist(), values[hers], b_i, np.zeros(D), n=PASSES,
            lambda_=STATIC_RATE, gamma=GAMMA,
        )  # fmt: skip
        every_item = np.arange(world.data.n_items)
        predictions = model.predict(
            personal, np.full(len(every_item), user), every_item
        )
        assert_allclose(predictions, expected, atol=1e-4)


def test_online_in_batches_is_its_refit_of_each_batch():
    """Deviation: vectors are fitted again after each of ten batches, not after each rating."""
    world = World()
    P, Q, *_ = trained(world, STATIC)
    edges = np.linspace(STATIC, 1.0, LOOKS + 1)
    for before, until in itertools.pairwise(edges):
        stored, *_ = less_biases(world.known(until), len(Q))
        is_new = (world.times >= before) & (world.times < until)
        printed.refit(
            P,
            Q,
            stored,
            np.unique(world.data.users[is_new]),
            np.unique(world.data.items[is_new]),
            world.P,
            world.Q,
            n=STEPS,
            lambda_=STATIC_RATE,
            gamma=GAMMA,
        )
    model = ours(world.data, "online")
    assert_allclose(model.item_factors, Q, atol=1e-5)
    assert_allclose(model.user_factors, P, atol=1e-5)


def shortened(rule):
    """Deviation: a step ends where its rating is met, and a pull at 0."""

    def step(p, q, r, lambda_, gamma, fixed):
        size = fixed @ fixed
        if size:
            length = min(2 * lambda_, 1 / size)
        else:
            length = 2 * lambda_
        if fixed is p:
            moved = q
        else:
            moved = p
        error = r - p @ q
        pull = min(1.0, 2 * lambda_ * gamma)
        return moved + length * error * fixed - pull * moved

    if rule == "user":
        return lambda p, q, r, lambda_, gamma: step(p, q, r, lambda_, gamma, q)
    return lambda p, q, r, lambda_, gamma: step(p, q, r, lambda_, gamma, p)


def test_otherwise_a_long_step_of_an_arrival_is_shortened(monkeypatch):
    items = [2, 7, 5, 1]
    values = np.array([4.0, 1.0, 3.5, 5.0])
    start = np.random.default_rng(0).standard_normal((9, 4)) * 3
    settings = {"rate": 0.3, "item_rate": 0.4, "penalty": 2.0}
    results = {}
    for is_short in (True, False):
        server = Server.of(start, None, step="rated", shortened=is_short, **settings)
        with np.errstate(all="ignore"):
            server.update(np.array(items), values)
            Q = start.astype(np.float32).astype(float)
            if is_short:
                monkeypatch.setattr(printed, "user_rule", shortened("user"))
                monkeypatch.setattr(printed, "item_rule", shortened("item"))
            printed.update_items(
                Q, items, values, lambda items, r: 0.0 * r, np.zeros(4), variant="rated", n=10,
                lambda_=0.3, item_lambda=0.4, gamma=2.0,
            )  # fmt: skip
        monkeypatch.undo()
        results[is_short] = server.item_factors
        if is_short:
            assert_allclose(server.item_factors, Q, atol=1e-3)
    assert np.isfinite(results[True]).all()
    assert not np.allclose(results[True], results[False])


def test_otherwise_predictions_are_clipped_to_the_range():
    data = low_rank(n_users=15, n_items=8)
    bounds = ours(data, "rated", as_printed=False).bounds
    assert bounds == data.bounds
    low, high = ours(data, "rated").bounds
    assert low < -1e6
    assert high > 1e6


def test_update_rules_in_turn_are_another_reading():
    """The paper prints rule 3 before rule 4, and not whether 4 sees the new user's vector."""
    world = World()
    _, together, *_ = trained(world, 1.0)
    _, in_turn, *_ = trained(world, 1.0, simultaneous=False)
    distance = np.abs(together - in_turn).max()
    assert 1e-5 < distance < 0.05
