"""Private ALS against plain float64 numpy, and its parts against what they are defined to be."""

import json
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from dpmf_core.algorithms import curator_for
from dpmf_core.algorithms.base import INSIDE, Recommender
from dpmf_core.algorithms.dpals import DPALS, AdaDPALS
from dpmf_core.algorithms.item_systems import (
    GRAMS,
    RIGHT_SIDES,
    Entries,
    clipped,
    item_entries,
    user_factors,
)
from dpmf_core.base.hashing import draw_key, keyed_uniform
from dpmf_core.curator import Block, in_memory, on_grid
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import (
    Gaussian,
    Noise,
    PlanViolation,
    Relation,
    Repeat,
    normal_form,
    sequence,
)
from dpmf_core.privacy.events import event_of_rows, ledger_rows
from dpmf_core.privacy.gaussian import mu
from tests.fitting import fit_by_name
from tests.support.algebra import orthonormal, relative, shortened, streams
from tests.support.dense import VANISHING, centred, rectangle, ridge_rows

N = 60
M = 23


@pytest.fixture(scope="module")
def data():
    return rectangle(N, M, 0.4)


@pytest.mark.parametrize(("centring", "weight"), [("user", 0.0), ("none", 0.4)])
def test_dpals_without_noise_is_clipped_alternating_least_squares(
    data, centring, weight
):
    """[C21, Alg. 1] in float64: each item step is least squares on clipped user rows."""
    fit = fit_by_name(
        "dpals",
        data,
        VANISHING,
        rank=3,
        steps=2,
        clip_norm=0.8,
        rating_clip=2.0,
        ratings_per_user=M,
        regularisation=0.5,
        noise_ridge=0.0,
        user_regularisation=0.2,
        biases=False,
        centring=centring,
        unobserved_weight=weight,
    )
    users = data.users
    items = data.items
    x = data.values.astype(float)
    if centring == "user":
        x = centred(data)
    of_users = np.full(N, 0.2)
    of_items = np.full(M, 0.5 * 0.8**2)
    V = orthonormal(np.random.default_rng(0), M, 3)
    for _ in range(2):
        U = ridge_rows(users, items, x, V, of_users, weight * V.T @ V)
        U = shortened(U, 0.8)
        factors = ridge_rows(items, users, x, U, of_items, weight * U.T @ U)
        left_singular, _, right_singular = np.linalg.svd(factors, full_matrices=False)
        V = left_singular @ right_singular  # the polar factor is V (V'V)^(-1/2)
    expected = factors * 0.8 / np.sqrt(3)
    assert_allclose(fit.model.item_factors, expected, rtol=2e-3, atol=2e-4)


def test_a_factor_learned_from_a_share_of_the_ratings_is_least_squares_on_these(data):
    """[C21, Alg. 1, line 14]: a third of each user's ratings, others with another key."""
    (block,) = in_memory(data).blocks
    V = np.random.default_rng(3).standard_normal((M, 2)).astype(np.float32)
    offsets = np.zeros(M, np.float32)
    model = Recommender(data.bounds, 0.0, offsets, V, None, 0.2, 0.0, 0.0)
    first_key = draw_key(5, 0)
    second_key = draw_key(5, 1)
    first = user_factors(block, 10.0, model, 1 / 3, first_key)
    second = user_factors(block, 10.0, model, 1 / 3, second_key)
    assert not np.allclose(first, second)
    places = keyed_uniform(first_key, block.draw_keys[data.users], data.items)
    for user in (1, 7, 30):
        own = np.flatnonzero(data.users == user)
        in_order = own[np.argsort(places[own])]
        share = in_order[: math.ceil(len(own) / 3)]
        F = V[data.items[share]].astype(float)
        system = F.T @ F + 0.2 * np.eye(2)
        expected = np.linalg.solve(system, F.T @ data.values[share])
        assert_allclose(first[user], expected, rtol=1e-3, atol=1e-3)


def entered_by(algorithm, data):
    """The entries of the item step, the kept items, and the noisy counts that chose both."""
    plan = algorithm.plan(data.shape, VANISHING)
    noise = Noise(plan, np.random.SeedSequence(0))
    rng = streams(sampling=5)
    model, counts = algorithm._start_model(curator_for(algorithm, data, noise), rng)
    noisy_counts = None
    if counts is not None:
        noisy_counts = counts.values
    kept_items = algorithm._kept_items(data.shape, noisy_counts)
    rule = algorithm.entry_rule(data.shape)
    (block,) = in_memory(data).blocks
    entries = item_entries(block, rule, model, noisy_counts, kept_items, rng.sampling)
    return entries, kept_items, noisy_counts


@pytest.mark.parametrize("sampling", ["uniform", "adaptive"])
def test_at_most_k_ratings_a_user_enter_the_item_step(data, sampling):
    algorithm = DPALS(
        ratings_per_user=4,
        sampling=sampling,
        biases=False,
    )
    entries, kept_items, counts = entered_by(algorithm, data)
    n_entries = np.bincount(entries.raters, minlength=N)
    n_rated = np.bincount(data.users, minlength=N)
    assert (n_entries == np.minimum(n_rated, 4)).all()
    if sampling == "adaptive":
        items = np.repeat(kept_items, np.diff(entries.starts))
        for user in range(1, N):
            own = np.sort(counts[data.items[data.users == user]])
            sampled = np.sort(counts[items[entries.raters == user]])
            assert_allclose(sampled, own[: len(sampled)])


def test_rows_are_clipped_whatever_the_inner_solve_leaves():
    """Tiny factors under a tiny ridge overflow float32, and no NaN may reach the sums."""
    rows = [
        [np.inf, 1],
        [np.nan, 0],
        [1e38, -1e38],
        [-np.inf, np.inf],
        [3, 4],
        [0.1, 0],
        [0, 0],
    ]
    clipped_rows = clipped(np.array(rows, np.float32), 0.5)
    norms = np.linalg.norm(clipped_rows.astype(float), axis=1)
    assert (norms <= 0.5).all()
    assert_allclose(norms[[0, 2, 4, 5, 6]], [0.5, 0.5, 0.5, 0.1, 0], rtol=1e-5)
    assert_allclose(clipped_rows[4:6], [[0.3, 0.4], [0.1, 0]], rtol=1e-5)


def test_frequent_fraction_leaves_rare_items_without_factors(data):
    model = fit_by_name(
        "dpals",
        data,
        0.01,
        rank=2,
        frequent_fraction=0.5,
        biases=False,
    ).model
    without = ~model.item_factors.any(axis=1)
    assert without.sum() == M - 12
    popularity = np.bincount(data.items, minlength=M)
    assert popularity[without].max() <= popularity[~without].min()


def step_leaves(algorithm, shape):
    leaves = normal_form(algorithm.plan(shape, 2.0))
    by_statistic = {leaf.statistic: leaf for leaf, _ in leaves}
    return by_statistic[GRAMS], by_statistic[RIGHT_SIDES]


def joint_bound(leaves):
    """The squared move of both releases, in deviations of their noise, that is accounted."""
    multipliers = [leaf.multiplier(Relation.REPLACE_ONE) for leaf in leaves]
    return sum(multiplier**-2 for multiplier in multipliers)


def joint_move(place, entries, a, b):
    """The squared move of both releases, in deviations of the noise, by two units with vectors of
    length at most 1 in the plane and `entries` weights and ratings each.
    """
    ends = [2, 4, 4 + entries, 4 + 2 * entries, 4 + 3 * entries]
    u, v, *of_entries = np.split(place, ends)
    u = u / max(1.0, float(np.linalg.norm(u)))
    v = v / max(1.0, float(np.linalg.norm(v)))
    weights = [np.abs(vector) for vector in of_entries[:2]]
    lengths = [max(float(np.linalg.norm(vector)), 1e-12) for vector in weights]
    p = weights[0] * math.sqrt(entries) / lengths[0]
    q = weights[1] * math.sqrt(entries) / lengths[1]
    ratings = np.tanh(of_entries[2:])
    grams = 0.0
    sides = 0.0
    for entry in range(entries):
        gram = p[entry] * np.outer(u, u) - q[entry] * np.outer(v, v)
        side = p[entry] * ratings[0, entry] * u - q[entry] * ratings[1, entry] * v
        grams += np.linalg.norm(gram) ** 2
        sides += np.linalg.norm(side) ** 2
    return float((a * grams + b * sides) / entries)


@pytest.mark.parametrize("gram_share", [0.1, 0.34, 0.95])
def test_a_replaced_user_moves_a_step_as_far_as_counted_and_no_further(gram_share):
    """The worst case of both releases, found by a search over vectors, weights and ratings."""
    algorithm = DPALS(
        gram_share=gram_share,
        steps=1,
        biases=False,
        centring="none",
    )
    grams, sides = step_leaves(algorithm, Shape(1000, 50, (1.0, 5.0)))
    a = grams.noise_multiplier**-2
    b = sides.noise_multiplier**-2
    bound = joint_bound((grams, sides))
    apart = grams.replace_one_factor**2 * a + sides.replace_one_factor**2 * b
    assert apart == pytest.approx(2 * a + 4 * b)
    assert bound < 2 * a + 4 * b
    random = np.random.default_rng(0)
    entries = 3
    worst = 0.0
    for start in range(4):
        first = random.normal(size=4 + 4 * entries)
        if start % 2:  # same items, opposite ratings
            first[4 : 4 + 2 * entries] = 1.0
            first[-2 * entries :] = np.repeat([3.0, -3.0], entries)
        result = minimize(
            lambda place: -joint_move(place, entries, a, b),
            first,
            method="BFGS",
        )
        worst = max(worst, -result.fun)
    assert 0.99 * bound <= worst <= bound * (1 + 1e-9)


@pytest.mark.parametrize("kind", [DPALS, AdaDPALS])
@pytest.mark.parametrize("n_users", [100, 2**27])
def test_the_released_statistics_of_two_users_stay_within_the_joint_bound(
    kind, n_users
):
    """On the fine and the coarse grid, for opposite ratings of the same items at all angles."""
    k = r = 6
    shape = Shape(n_users, k, (-1.0, 1.0))
    algorithm = kind(
        rank=r,
        ratings_per_user=k,
        rating_clip=1.0,
        clip_norm=1.0,
        gram_share=0.3,
    )
    leaves = step_leaves(algorithm, shape)
    bound = joint_bound(leaves)
    statistics = algorithm._item_statistics(shape)
    random = np.random.default_rng(1)
    worst = 0.0

    def answers(u, ratings, weights):
        block = Block(np.arange(1), {}, n_users)
        U = on_grid(u[None] * INSIDE, 1.0, n_users, factors=2)
        own = Entries(np.arange(k + 1), np.zeros(k, np.int32), ratings, weights)
        out = []
        for statistic in statistics:
            totals = statistic.empty(shape, own, U, r, (0, k))
            statistic.add(block, totals, own, U, r, (0, k))
            out.append(totals[0])
        return out

    for angle in np.linspace(0, math.pi, 60):
        basis = orthonormal(random, r, 2)
        u = basis[:, 0]
        v = basis @ [math.cos(angle), math.sin(angle)]
        weights = None
        if kind is AdaDPALS:
            weights = random.uniform(0.2, 1, k)
            weights = relative(weights, math.sqrt(k) * INSIDE).astype("f4")
        ones = np.ones(k, np.float32)
        here = answers(u, ones, weights)
        there = answers(v, -ones, weights)
        moved = 0.0
        for leaf, one, other in zip(leaves, here, there, strict=True):
            deviation = leaf.noise_multiplier * leaf.sensitivity
            moved += (np.linalg.norm(one - other) / deviation) ** 2
        worst = max(worst, moved)
    assert 0.97 * bound <= worst <= bound


def test_right_sides_are_counted_alone_without_their_grams():
    plan = DPALS(steps=2, biases=False).plan(Shape(1000, 50, (1.0, 5.0)), 2.0)
    leaves = dict(normal_form(plan))
    sides = next(leaf for leaf in leaves if leaf.companion)
    grams = next(leaf for leaf in leaves if leaf.statistic == GRAMS)
    alone = mu(sides, Relation.REPLACE_ONE)
    assert alone == pytest.approx(2.0 / sides.noise_multiplier)

    short = sequence(grams, Repeat(sides, 2))
    of_grams = 2 / grams.noise_multiplier**2
    of_sides = 2 * 4 / sides.noise_multiplier**2
    together = mu(short, Relation.REPLACE_ONE)
    assert together == pytest.approx(math.sqrt(of_grams + of_sides))

    rows = json.loads(json.dumps(ledger_rows(normal_form(plan))))
    assert normal_form(event_of_rows(rows)) == normal_form(plan)
    with pytest.raises(PlanViolation, match="after"):
        Noise(plan).release(
            RIGHT_SIDES,
            sensitivity=sides.sensitivity,
            size=1,
        )
    with pytest.raises(ValueError, match="joint_factor"):
        Gaussian(
            1.0,
            "sums",
            1.0,
            2.0,
            companion="others",
            joint_factor=2.1,
        )
