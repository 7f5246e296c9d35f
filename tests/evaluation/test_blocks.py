"""Figures of ratings in parts, beside those of the same ratings in one memory."""

from dataclasses import replace

import numpy as np
import pytest

from dpmf_core.algorithms import Recommender
from dpmf_core.algorithms.components import Components
from dpmf_core.base.errors import BadInput
from dpmf_core.data.splits import SplitSpec, split
from dpmf_core.evaluation import metrics
from dpmf_core.evaluation.judges import by_partitions, by_split
from dpmf_core.evaluation.registry import METRICS, Metric
from dpmf_core.testing.rating_worlds import low_rank, world
from tests.contract.test_blocks import in_hashed_parts

SEED = 3
SPLITS = (
    SplitSpec(),
    SplitSpec(kind="per-user", validation_fraction=0.2),
    SplitSpec(kind="time", test_fraction=0.3),
    SplitSpec(kind="users", test_fraction=0.3),
    SplitSpec(validation_fraction=0.2, judged="validation"),
)


def timed(ratings):
    """With the places of ratings in their users' rows."""
    order = ratings.items.astype(np.int64) * 7 + ratings.users
    return replace(ratings, order=order % 11)


def model_for(ratings):
    random = np.random.default_rng(1)
    offsets = random.normal(0, 0.3, ratings.n_items)
    factors = random.normal(0, 1, (ratings.n_items, 3))
    return Recommender(
        bounds=ratings.bounds,
        centre=ratings.shape.mid_range,
        item_offsets=offsets.astype(np.float32),
        item_factors=factors.astype(np.float32),
        user_damping=2.0,
    )


@pytest.mark.parametrize("how", SPLITS, ids=str)
@pytest.mark.parametrize(
    "data", [timed(low_rank(n_users=200)), timed(world())], ids=["low rank", "world"]
)
@pytest.mark.parametrize("most", [10_000, 7])
def test_every_figure_is_that_of_one_memory(how, data, most, monkeypatch):
    monkeypatch.setattr(metrics, "MAX_RANKED_USERS", most)
    model = model_for(data)
    whole_split = split(data, how, SEED)
    whole = by_split("ratings", whole_split, SEED)
    partitions = in_hashed_parts(data, 5)
    parts = by_partitions("ratings", partitions, how, SEED)
    assert parts.words == whole.words
    point = whole.point(model)
    assert parts.point(model) == pytest.approx(point, rel=1e-6)
    figures, buckets = parts.figures(model)
    expected, expected_buckets = whole.figures(model)
    assert list(figures) == list(expected)
    assert figures == pytest.approx(expected, rel=1e-5, abs=1e-7)
    assert as_numbers(buckets) == pytest.approx(
        as_numbers(expected_buckets), rel=1e-5, nan_ok=True
    )


@pytest.mark.parametrize("how", SPLITS[:2], ids=str)
def test_every_figure_of_a_table_is_that_of_one_memory(how):
    data = low_rank(n_users=200)
    components = np.random.default_rng(1).random((3, data.n_items))
    model = Components(components.astype(np.float32) / 9)
    whole_split = split(data, how, SEED)
    whole = by_split("table", whole_split, SEED)
    partitions = in_hashed_parts(data, 5)
    parts = by_partitions("table", partitions, how, SEED)
    assert parts.words == whole.words
    point = whole.point(model)
    assert parts.point(model) == pytest.approx(point, rel=1e-6)
    figures = parts.figures(model)[0]
    expected = whole.figures(model)[0]
    assert list(figures) == list(expected)
    assert {"objective", "objective_source", "unit_row_rmse", "rmse"} <= set(figures)
    assert figures == pytest.approx(expected, rel=1e-6)


def signs(evaluation):
    """Ratings that are predicted too high, and all (2,)."""
    test = evaluation.test
    errors = evaluation.predict(test) - test.values
    return np.array([(errors > 0).sum(), len(errors)])


def test_a_metric_that_is_added_is_seen_in_memory_and_in_partitions(small, monkeypatch):
    def share(sums):
        return float(sums[0] / sums[1])

    metric = Metric("too_high", "too high", ("ratings",), share, (signs,))
    monkeypatch.setitem(METRICS, metric.id, metric)
    model = model_for(small)
    how = SplitSpec(test_fraction=0.3)
    parts = split(small, how, SEED)
    whole, _ = by_split("ratings", parts, SEED).figures(model)
    parts = by_partitions("ratings", in_hashed_parts(small, 3), how, SEED).figures(
        model
    )[0]
    assert 0 < whole["too_high"] == parts["too_high"] < 1


def as_numbers(buckets):
    numbers = []
    for rows in buckets.values():
        for row in rows:
            numbers.extend(row.values())
    return numbers


@pytest.mark.parametrize("seed", range(20))
def test_quantiles_of_counts_are_those_of_the_values(seed):
    random = np.random.default_rng(seed)
    values = np.sort(random.integers(0, 50, 12))
    counts = random.integers(0, 4, 12)
    counts[0] += 1
    shares = random.random(9)
    repeated = np.repeat(values, counts)
    expected = np.quantile(repeated, shares)
    assert metrics.quantiles_of(values, counts, shares) == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.parametrize(
    "how", [SplitSpec(kind="window"), SplitSpec(least_judged=3)], ids=["window", "rare"]
)
def test_a_split_that_looks_at_everybody_is_refused(how, small):
    with pytest.raises(BadInput):
        by_partitions("ratings", in_hashed_parts(small, 3), how)
