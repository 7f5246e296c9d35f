"""A grid's runs are those that pages show, and its figures are theirs."""

import math
import statistics
from typing import Any

import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Shape
from dpmf_core.data.samples import SampleShape
from dpmf_core.runs.comparison import DRAWS, comparison, part_comparison, run_name
from dpmf_core.runs.epsilon_grid import COARSE, EPSILONS, grid_runs, read_grid
from dpmf_core.runs.specification import RunSpec


def spec(algorithm: str = "dpals", data: str = "cinema-small", **more: Any) -> RunSpec:
    return RunSpec.parse(
        data={"id": data}, algorithm=algorithm, budget={"epsilon": 2.0, "delta": 1e-5}, **more
    )


@pytest.mark.parametrize(
    ("run_spec", "pages"),
    [
        (spec(seed=4), comparison(spec(seed=4), Shape(500, 200, (1, 5)))),
        (
            spec("oneshot-nmf", "news", parameters={"n_components": 5}),
            part_comparison(
                spec("oneshot-nmf", "news", parameters={"n_components": 5}), SampleShape(900, 400)
            ),
        ),
    ],
    ids=["ratings", "documents"],
)
def test_the_runs_of_a_grid_are_those_that_pages_show(run_spec: RunSpec, pages: Any) -> None:
    runs = grid_runs(run_spec)
    here = {run_name(it.who, it.draw): it.spec for it in runs if it.epsilon in (None, 2.0)}
    same = {name: run for name, run in pages.runs.items() if name in here}
    assert here == same and f"main draw {DRAWS - 1}" in here
    private = [it for it in runs if it.epsilon is not None]
    assert all(it.spec.budget and it.spec.budget.epsilon == it.epsilon for it in private)
    assert {it.epsilon for it in private} == set(EPSILONS)
    assert [it.epsilon for it in private[: len(COARSE)]] == list(COARSE)  # worth having first


def summary(value: float | None, seed: int, epsilon: float | None = None) -> dict[str, Any]:
    return {"key": f"k{seed}", "seed": seed, "epsilon": epsilon, "metrics": {"rmse": value}}


def test_a_grid_holds_what_is_there_and_says_what_is_missing() -> None:
    runs = grid_runs(spec(), (1.0, 4.0), draws=3)
    errors = {1.0: [0.9, 1.1, 0.8], 4.0: [0.5, math.nan, None]}
    summaries = [
        None if it.epsilon is None else summary(errors[it.epsilon][it.draw], it.draw, it.epsilon)
        for it in runs
    ]
    grid = read_grid(runs, summaries, "rmse")
    assert [point.values for point in grid.points] == [(0.9, 1.1, 0.8), (0.5,)]
    assert grid.points[0].median == statistics.median(errors[1.0])
    assert len(grid.missing) == 3 * 3 and not grid.best


def test_what_takes_no_budget_has_no_grid() -> None:
    with pytest.raises(BadInput, match="epsilon"):
        grid_runs(spec("als").canonical())
