"""No retention: Algorithms 1 and 2 against numpy, and what is left on the server after each
interaction.
"""

import gc

import numpy as np
import pytest

from dpmf_core.algorithms import Streams, build, train
from dpmf_core.algorithms.no_retention import NoRetention, RetentionModel, Server
from dpmf_core.privacy import NOTHING, Noise, Status
from dpmf_core.teaching.subpoena import MEMORY
from dpmf_core.testing.worlds import low_rank

RATE, PENALTY, PASSES = 0.01, 0.1, 10


def solve_vector(Q, items, values):  # type: ignore[no-untyped-def]
    """A user's vector from 0 by stochastic gradients on her centred ratings."""
    p, residuals = np.zeros(Q.shape[1]), values - values.mean()
    for _ in range(PASSES):
        for item, value in zip(items, residuals, strict=True):
            p += 2 * RATE * ((value - p @ Q[item]) * Q[item] - PENALTY * p)
    return p


@pytest.mark.parametrize(("all_rated", "item_rate"), [(False, 0.05), (True, 0.005)])
def test_an_update_is_algorithm_2(all_rated: bool, item_rate: float) -> None:
    rng = np.random.default_rng(0)
    Q = rng.standard_normal((9, 4))
    items, values = np.array([2, 7, 5, 1]), np.array([4.0, 1.0, 3.5, 5.0])
    server = Server(Q, all_rated=all_rated, item_rate=item_rate)
    server.update(items, values)
    p, expected = solve_vector(Q, items, values), Q.copy()
    for item, value in list(zip(items, values - values.mean(), strict=True))[
        0 if all_rated else -1 :
    ]:
        expected[item] += (
            2 * item_rate * ((value - p @ expected[item]) * p - PENALTY * expected[item])
        )
    np.testing.assert_allclose(server.item_factors, expected, atol=1e-5)


def test_a_shared_step_is_divided_among_her_items() -> None:
    rng = np.random.default_rng(2)
    Q = rng.standard_normal((9, 4))
    items, values = np.array([2, 7, 5, 1]), np.array([4.0, 1.0, 3.5, 5.0])
    server = Server(Q, all_rated=True, shared=True, item_rate=0.05)
    server.update(items, values)
    p, expected = solve_vector(Q, items, values), Q.copy()
    for item, value in zip(items, values - values.mean(), strict=True):
        expected[item] += (
            2 * 0.05 / 4 * ((value - p @ expected[item]) * p - PENALTY * expected[item])
        )
    np.testing.assert_allclose(server.item_factors, expected, atol=1e-5)


def test_recommendations_are_algorithm_1() -> None:
    rng = np.random.default_rng(1)
    Q = rng.standard_normal((30, 4))
    items, values = np.array([3, 4, 8]), np.array([5.0, 1.0, 4.0])
    best = Server(Q, all_rated=True).recommend(items, values, 5)
    scores = Q @ solve_vector(Q, items, values)
    scores[items] = -np.inf
    np.testing.assert_array_equal(best, np.argsort(-scores)[:5])


@pytest.mark.parametrize("all_rated", [False, True])
def test_neither_ratings_nor_user_factors_survive_an_interaction(all_rated: bool) -> None:
    """The server's whole state is its item factors: no other array is reachable from it, and it
    has no room for one.
    """
    server = Server(np.ones((6, 3)), all_rated=all_rated)
    items, values = np.array([0, 4]), np.array([2.0, 5.0])
    server.update(items, values)
    server.recommend(items, values, 2)
    state = [getattr(server, name) for name in Server.__slots__]
    arrays = [value for value in state if isinstance(value, np.ndarray)]
    assert len(arrays) == 1 and arrays[0].shape == (6, 3)
    assert all(isinstance(value, np.ndarray | bool | int | float) for value in state)
    assert not hasattr(server, "__dict__")
    with pytest.raises(AttributeError):
        server.history = items  # type: ignore[attr-defined]
    assert not [one for one in gc.get_referents(server) if one is items or one is values]


def test_what_a_fitted_model_holds_is_what_the_ledger_says() -> None:
    for variant, entries in MEMORY.items():
        model = fit_model(variant=variant)
        on_server = {
            entry.what
            for entry in entries
            if entry.where == "server" and entry.how_long.startswith("always")
        }
        assert bool(len(model.user_factors)) == ("user factors" in on_server)
        assert "item factors" in on_server
    assert NoRetention().guarantee().status is Status.NONE


def fit_model(**parameters: object) -> RetentionModel:
    data = low_rank(n_users=120, n_items=25, density=0.8)
    algorithm = build("no-retention", {"rank": 3, "steps": 60, **parameters}, data.shape, None)
    return train(algorithm, data, Noise(NOTHING), Streams(np.random.default_rng(0), 1))  # type: ignore[no-any-return]


def test_online_by_gradients_finds_users_and_new_items_anew() -> None:
    """Its last batch by hand: users from their start by passes over their stored ratings; items
    that were known at the start stay as they were.
    """
    data = low_rank(n_users=15, n_items=8)
    parameters = {"rank": 2, "steps": 40, "static_share": 0.5}
    online, static = (
        build("no-retention", {**parameters, **more}, data.shape, None)
        for more in ({"variant": "online", "online_fit": "gradients"}, {"variant": "static"})
    )
    model = train(online, data, Noise(NOTHING), streams())
    start = train(static, data, Noise(NOTHING), streams())
    arrival_times = online._arrivals(data, streams())  # type: ignore[attr-defined]
    is_known = np.bincount(data.items[arrival_times < 0.5], minlength=data.n_items) > 0
    assert is_known.any()
    np.testing.assert_array_equal(model.item_factors[is_known], start.item_factors[is_known])
    init = streams().init
    P = 0.1 * init.standard_normal((data.n_users, 2)).astype(np.float32)
    for user in np.unique(data.users[arrival_times >= 0.95]):
        hers = data.users == user
        p, residuals = P[user].astype(float), data.values[hers] - data.values[hers].mean()
        for _ in range(40):
            for item, value in zip(data.items[hers], residuals, strict=True):
                q = model.item_factors[item]
                p += 2 * RATE * ((value - p @ q) * q - PENALTY * p)
        np.testing.assert_allclose(model.user_factors[user], p, atol=1e-3)


def streams() -> Streams:
    return Streams(np.random.default_rng(0), 1)


def test_with_nothing_to_arrive_static_is_the_baseline() -> None:
    whole, frozen = fit_model(variant="baseline"), fit_model(variant="static", static_share=1.0)
    np.testing.assert_array_equal(whole.item_factors, frozen.item_factors)
    np.testing.assert_array_equal(whole.user_factors, frozen.user_factors)


def test_arrivals_one_by_one_are_the_stream() -> None:
    data = low_rank(n_users=15, n_items=8)
    model = build(
        "no-retention",
        {"rank": 2, "steps": 5, "static_share": 0.5, "variant": "rated"},
        data.shape,
        None,
    )
    rng = Streams(np.random.default_rng(0), 1)
    stream_model = train(model, data, Noise(NOTHING), rng)
    static = build(
        "no-retention",
        {"rank": 2, "steps": 5, "static_share": 0.5, "variant": "static"},
        data.shape,
        None,
    )
    start = train(static, data, Noise(NOTHING), Streams(np.random.default_rng(0), 1))
    server = Server(start.item_factors, all_rated=True)
    arrival_times = model._arrivals(data, rng)  # type: ignore[attr-defined]
    for place in np.argsort(arrival_times, kind="stable"):
        if arrival_times[place] < 0.5:
            continue
        hers = np.flatnonzero(
            (data.users == data.users[place]) & (arrival_times <= arrival_times[place])
        )
        hers = hers[np.argsort(arrival_times[hers])]
        server.update(data.items[hers], data.values[hers])
    np.testing.assert_allclose(stream_model.item_factors, server.item_factors, atol=1e-5)
