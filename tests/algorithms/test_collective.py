"""Collective factorisation: ratings and a public item table share the items' factors."""

from dataclasses import replace

import numpy as np
import pytest

from dpmf_core.algorithms.als import ALS, Rows
from dpmf_core.algorithms.base import Recommender
from dpmf_core.algorithms.collective import CMF, DPCMF, centred_features
from dpmf_core.algorithms.dpals import DPALS, Systems
from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.ratings import Shape
from dpmf_core.errors import BadInput
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.testing.probes import record
from dpmf_core.testing.worlds import low_rank, world

M, R = 40, 3


def table(n_features: int, seed: int = 0) -> ItemFeatures:
    values = np.random.default_rng(seed).normal(size=(M, n_features)).astype(np.float32)
    return ItemFeatures(tuple(f"f{k}" for k in range(n_features)), values)


def systems(seed: int = 1) -> Systems:
    U = np.random.default_rng(seed).normal(size=(M, 9, R))
    w = np.random.default_rng(seed + 1).normal(size=(M, R))
    return Systems((0, M), (U.swapaxes(1, 2) @ U).astype(np.float32), w.astype(np.float32))


def solve_items(weight: float, features: ItemFeatures | None, blocks: Systems) -> np.ndarray:
    shape = Shape(100, M, (1.0, 5.0), features)
    algorithm = DPCMF(rank=R, feature_weight=weight)
    return algorithm._solve_items([blocks], np.full(M, 0.5), None, shape, np.arange(M))


def test_heavy_features_are_fitted_as_well_as_factors_can() -> None:
    """The best fit of rank r leaves what the other singular values hold (Eckart & Young 1936)."""
    features = table(6)
    V = solve_items(1e4, features, systems())
    F = centred_features(Shape(100, M, (1.0, 5.0), features), np.arange(M))
    rest = F - V @ np.linalg.lstsq(V, F, rcond=None)[0]
    bound = np.sqrt((np.linalg.svd(F, compute_uv=False)[R:] ** 2).sum())
    light = solve_items(1e-3, features, systems())
    rest_of_light = F - light @ np.linalg.lstsq(light, F, rcond=None)[0]
    assert np.linalg.norm(rest) < 1.15 * bound < 0.95 * np.linalg.norm(rest_of_light)


def test_features_that_say_nothing_leave_the_items_least_squares() -> None:
    blocks = systems()
    plain = np.linalg.solve(blocks.H + 0.5 * np.eye(R), blocks.w[:, :, None])[:, :, 0]
    constant = ItemFeatures(("same",), np.ones((M, 1), np.float32))
    for weight, features in ((0.0, table(2)), (7.0, None), (7.0, constant)):
        assert solve_items(weight, features, blocks) == pytest.approx(plain, rel=1e-4, abs=1e-6)


def test_without_a_table_it_is_dpals_and_als() -> None:
    bare = replace(low_rank(), item_features=None)
    for with_table, without in ((DPCMF(rank=2), DPALS(rank=2)), (CMF(rank=2), ALS(rank=2))):
        one, other = record(with_table, bare).shared, record(without, bare).shared
        assert all(np.array_equal(one[name], other[name]) for name in one)


def test_a_table_changes_no_release_of_the_first_step() -> None:
    """What is asked of users before any factor has seen the table is the same."""
    data = world()
    one = record(DPCMF(rank=2, feature_weight=5.0), data)
    other = record(DPALS(rank=2), data)
    grams = [at for at, entry in enumerate(one.log) if entry.leaf.statistic == "item Grams"]
    for first, second in zip(one.log[: grams[1]], other.log[: grams[1]], strict=True):
        assert first.leaf == second.leaf
        assert np.array_equal(first.statistic, second.statistic)
    assert not np.array_equal(one.shared["item_factors"], other.shared["item_factors"])


def test_features_are_further_users_who_rated_everything() -> None:
    data = replace(low_rank(), item_features=None)
    features = ItemFeatures(
        ("a", "b"), np.random.default_rng(0).normal(size=(data.n_items, 2)).astype(np.float32)
    )
    data = replace(data, item_features=features)
    rng = np.random.default_rng(3)
    V, U = (rng.normal(size=(n, R)).astype(np.float32) for n in (data.n_items, data.n_users))
    model = Recommender(data.bounds, 0.0, np.zeros(data.n_items, np.float32), V)
    starts, order = data.by_item
    rows = Rows(starts, data.users[order], data.values[order], U)
    entries = CMF(rank=R, feature_weight=4.0)._beside_ratings(rows, model, data)
    F = centred_features(data.shape, np.arange(data.n_items)).astype(np.float64)
    W = np.linalg.lstsq(V, F, rcond=None)[0].T  # (features, r), but for a small ridge
    for j in range(data.n_items):
        hers = U[data.users[data.items == j]].astype(np.float64)
        at = slice(entries.starts[j], entries.starts[j + 1])
        X = entries.factors[entries.columns[at]].astype(np.float64)
        assert X.T @ X == pytest.approx(hers.T @ hers + 4 * W.T @ W, rel=0.02, abs=0.05)
        right_side = hers.T @ data.values[data.items == j] + 4 * W.T @ F[j]
        assert X.T @ entries.values[at] == pytest.approx(right_side, rel=0.02, abs=0.05)


def spec(algorithm: str, seed: int, **data: str) -> RunSpec:
    return RunSpec.parse(
        data={"id": "cinema-small", **data},
        algorithm=algorithm,
        budget={"epsilon": 1.0, "delta": 1e-6},
        seed=seed,
    )


def test_public_genres_help_where_noise_is_large() -> None:
    for seed in (10, 11):
        with_genres = run(spec("dp-cmf", seed, item_features="public")).record
        without = run(spec("dpals", seed)).record
        assert with_genres.metrics["rmse"] < without.metrics["rmse"] - 0.01
        assert with_genres.guarantee.taken_as_public[-1] == "the items' genres"
        assert "the items' genres" not in without.guarantee.taken_as_public


def test_features_are_given_to_those_alone_who_use_them() -> None:
    assert spec("sketch", 0, item_features="public") == spec("sketch", 0)
    assert spec("dpals", 0, item_features="public") != spec("dpals", 0)
    answers = spec("dp-cmf", 0, item_features="public")
    assert answers.data.item_features == "public"
    assert "item_features" not in spec("dp-cmf", 0).data.model_dump()
    assert answers.on("als").data.item_features == "public"
    assert answers.on("global-mean").data.item_features == "none"
    lowrank = RunSpec.parse(
        data={"id": "lowrank-5k", "item_features": "public"}, algorithm="cmf", seed=0
    )
    with pytest.raises(BadInput, match="no public item table"):
        run(lowrank)
