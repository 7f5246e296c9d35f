"""Excesses over keeping everything: each over the baseline of its own draw, and by quarters of the
users; the signed rank test.
"""

import numpy as np
import pytest

from dpmf_core.papers.clauses import MissingResult
from dpmf_core.papers.vallet_2014 import claims as vallet_2014
from dpmf_core.papers.vallet_2014 import retention_excess
from dpmf_core.papers.vallet_2014.retention_excess import BASELINE, QUARTERS
from dpmf_core.runs.data_access import open_ratings, open_split
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import DataSpec, Value
from dpmf_core.runs.sweep import Method, Summary, Sweep
from tests.pages.made_up import made_up

SMALL = DataSpec(id="cinema-small")


def method(label: str, **parameters: Value) -> Method:
    return Method(algorithm="no-retention", label=label, parameters=parameters)


def test_each_draw_is_compared_with_the_baseline_of_its_own_seed() -> None:
    methods = (method(BASELINE, variant="baseline"), method("New", variant="new", steps=1))
    points = Sweep(data=SMALL, methods=methods, seeds=(0, 1)).points()
    runs = {point.key: made_up(point.spec) for point in points}
    (summary,) = retention_excess.by_share(points, runs, "rmse")
    errors = {
        (point.label, point.spec.seed): runs[point.key].record.metric("rmse") for point in points
    }
    expected = [100 * (errors["New", seed] / errors[BASELINE, seed] - 1) for seed in (0, 1)]
    assert summary.label == "New" and summary.draws == pytest.approx(expected)
    lacking = {key: run for key, run in runs.items() if key != points[0].key}
    (half,) = retention_excess.by_share(points, lacking, "rmse")
    assert half.draws == pytest.approx(expected[1:])


def test_quarters_are_of_users_by_all_that_they_rated() -> None:
    parameters = {"steps": 1, "rank": 2, "static_share": 0.3 / (0.3 + 0.7 * 0.5)}
    methods = (
        method(BASELINE, variant="baseline", **parameters),
        method("New", variant="new", **parameters),
    )
    points = Sweep(data=SMALL, methods=methods).points()
    runs = {point.key: run(point.spec) for point in points}
    quarters = retention_excess.by_activity(points, runs, "rmse")
    assert [it.label for it in quarters] == [f"New, {quarter}" for quarter in QUARTERS]
    assert all(it.grid == {"new_share": 0.5} for it in quarters)
    counts = np.bincount(open_ratings(SMALL).users, minlength=2000)
    low = np.sort(counts)[len(counts) // 4]
    errors = {}
    for point in points:
        parts, model = open_split(point.spec), runs[point.key].model
        off = (
            model.predict(model.personal(parts.history), parts.test.users, parts.test.items)
            - parts.test.values
        )
        least = counts[parts.test.users] <= low
        errors[point.label] = float(np.sqrt(np.mean(off[least].astype(float) ** 2)))
    assert quarters[0].draws[0] == pytest.approx(
        100 * (errors["New"] / errors[BASELINE] - 1), abs=0.05
    )


def table(draws: int, swaps: int = 0) -> list[Summary]:
    """Methods in the published order, `swapped` draws of the first two the other way round."""
    rng = np.random.default_rng(0)
    rows = []
    for place, label in enumerate(vallet_2014.RANDOM):
        values = place + 1 + 0.1 * rng.random(draws)
        if place < 2:
            values[:swaps] += 3 * (1 - 2 * place)
        rows.append(Summary(label, "no-retention", None, {}, tuple(values)))
    return rows


def test_the_rank_test_needs_eight_pairs_and_finds_chance() -> None:
    clause = vallet_2014.significant(vallet_2014.RANDOM)
    verdict = clause.verdict(table(8))
    assert verdict.holds and "0.00781, with 8 pairs" in verdict.figures  # 2 / 2^8
    assert not clause.verdict(table(10, swaps=5)).holds
    with pytest.raises(MissingResult):
        clause.verdict(table(7))
