"""Vallet et al. 2014: excesses over the baseline, quarters of users, the rank test."""

import numpy as np
import pytest

from dpmf_core.papers.clauses import MissingResult
from dpmf_core.papers.figures import Outcome
from dpmf_core.papers.registry import CLAIMS
from dpmf_core.papers.vallet_2014 import retention_excess
from dpmf_core.papers.vallet_2014.retention_excess import BASELINE, QUARTERS
from dpmf_core.runs.data_access import open_ratings, open_split
from dpmf_core.runs.execution import run
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.sweep import Method, Sweep
from tests.support.made_up import made_up

SMALL = DataSpec(id="cinema-small")


def method(label, **parameters):
    return Method(algorithm="no-retention", label=label, parameters=parameters)


def test_each_draw_is_compared_with_the_baseline_of_its_own_seed():
    methods = (
        method(BASELINE, variant="baseline"),
        method("New", variant="new", steps=1),
    )
    points = Sweep(data=SMALL, methods=methods, seeds=(0, 1)).points()
    runs = {point.key: made_up(point.spec) for point in points}
    (summary,) = retention_excess.by_share(points, runs, "rmse")
    errors = {}
    for point in points:
        record = runs[point.key].record
        errors[point.label, point.spec.seed] = record.metric("rmse")
    expected = []
    for seed in (0, 1):
        ratio = errors["New", seed] / errors[BASELINE, seed]
        expected.append(100 * (ratio - 1))
    assert summary.label == "New"
    assert summary.draws == pytest.approx(expected)
    lacking = {key: run for key, run in runs.items() if key != points[0].key}
    (half,) = retention_excess.by_share(points, lacking, "rmse")
    assert half.draws == pytest.approx(expected[1:])


def test_quarters_are_of_users_by_all_that_they_rated():
    parameters = {"steps": 1, "rank": 2, "static_share": 0.3}
    whole = method(BASELINE, variant="baseline", **parameters)
    new = method("New", variant="new", **parameters)
    grid = {"arrived_share": (0.5,)}
    points = list(Sweep(data=SMALL, methods=(whole,)).points())
    points += Sweep(data=SMALL, methods=(new,), grid=grid).points()
    runs = {point.key: run(point.spec) for point in points}
    quarters = retention_excess.by_activity(points, runs, "rmse")
    labels = [result.label for result in quarters]
    assert labels == [f"New, {quarter}" for quarter in QUARTERS]
    for result in quarters:
        assert result.grid == {"arrived_share": 0.5}
    counts = np.bincount(open_ratings(SMALL).users, minlength=2000)
    low = np.sort(counts)[len(counts) // 4]
    errors = {}
    for point in points:
        parts = open_split(point.spec)
        model = runs[point.key].model
        off = (
            model.predict(
                model.personal(parts.history), parts.test.users, parts.test.items
            )
            - parts.test.values
        )
        least = counts[parts.test.users] <= low
        squares = off[least].astype(float) ** 2
        errors[point.label] = float(np.sqrt(np.mean(squares)))
    ratio = errors["New"] / errors[BASELINE]
    expected = 100 * (ratio - 1)
    assert quarters[0].draws[0] == pytest.approx(expected, abs=0.05)


def row(values, draws=8):
    """Methods at these mean excesses, the same at both ends of the shares."""
    noise = 0.01 * np.random.default_rng(0).random(draws)
    return [
        Measured(
            label, "no-retention", None, {"static_share": share}, tuple(value + noise)
        )
        for label, value in values.items()
        for share in (0.0, 0.9)
    ]


@pytest.mark.parametrize(
    ("claim_id", "table_id"),
    [
        ("vallet-table1", "vallet-table1"),
        ("vallet-table1-time", "vallet-table1-time"),
        ("vallet-fig1b", "vallet-table1-time"),
    ],
)
def test_the_published_means_bear_out_their_claims(claim_id, table_id):
    values = {mark.label: mark.y for mark in CLAIMS[table_id].marks}
    outcome = CLAIMS[claim_id].judge(row(values)).outcome
    assert outcome is Outcome.REPRODUCED


def test_the_rank_test_needs_eight_pairs_and_finds_chance():
    differences = tuple(np.linspace(0.1, 1, 8))
    assert retention_excess.signed_rank(differences) == pytest.approx(2 / 2**8)
    assert retention_excess.signed_rank((*differences, -0.05)) < 0.01
    assert retention_excess.signed_rank(tuple(np.linspace(-1, 1, 10))) > 0.5
    with pytest.raises(MissingResult):
        retention_excess.signed_rank(differences[:7])
