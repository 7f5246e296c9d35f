"""The runs that a result is compared with, and when one method beats another."""

import pytest
from scipy import stats

from dpmf_core.data.ratings import Shape
from dpmf_core.runs.comparison import (
    DRAWS,
    clearly_better,
    comparison,
    cost_of,
    references,
    run_name,
    split_name,
)
from dpmf_core.runs.specification import RunSpec
from pages.kit.comparison import better_method
from tests.support.records import run_of

SMALL = Shape(500, 200, (1, 5))


def spec(algorithm="dpals", **more):
    choices = {"epsilon": 2.0, "delta": 1e-5, **more}
    return RunSpec.of(dataset="cinema-small", algorithm=algorithm, **choices)


@pytest.mark.parametrize("every", [False, True])
def test_every_method_has_the_same_seeds(every):
    runs = comparison(spec(seed=7), SMALL, every).runs
    seeds = {}
    for name, one in runs.items():
        seeds.setdefault(split_name(name)[0], []).append(one.seed)
    assert set(map(tuple, seeds.values())) == {tuple(range(7, 7 + DRAWS))}
    no_features = {"item_features": "none"}  # whatever those are given that use them
    data = {one.data.model_copy(update=no_features) for one in runs.values()}
    assert data == {spec().data} and {one.split for one in runs.values()} == {spec().split}
    # draw after draw
    assert next(iter(runs)) == "main"
    assert list(runs).index("main draw 1") > list(runs).index("ada-dpals")


def runs_with(figures, status="PROVEN", **others):
    """Runs with these errors, a draw each. others: what a method's guarantee says otherwise."""
    out = {}
    for who, errors in figures.items():
        promise = {"status": status, "unit": "user", "words": "Words."} | others.get(
            who.replace("-", "_"), {}
        )
        for draw, error in enumerate(errors):
            out[run_name(who, draw)] = run_of(
                title=who,
                metrics={"rmse": error},
                guarantee=promise,
                spec={
                    "data": {"id": "small"},
                    "algorithm": who,
                    "budget": {"epsilon": 1.0, "delta": 1e-6},
                },
            )
    return out


MINE = [0.90, 0.92, 0.91]


def test_who_is_better_in_every_draw_is_named_with_the_paired_interval():
    rival = [error - gap for error, gap in zip(MINE, (0.020, 0.022, 0.021), strict=True)]
    runs = runs_with({"main": MINE, "spectral": rival})
    best = clearly_better(runs, runs)
    assert best[0] == "spectral"
    low, high = stats.ttest_rel(rival, MINE).confidence_interval()
    assert best[1].interval == pytest.approx((low, high))
    better = better_method(runs, runs, "rmse")
    assert all(it in better[1] for it in ("0.021", "0.019", "0.023"))


@pytest.mark.parametrize(
    ("rival", "more"),
    [
        ([0.89, 0.93, 0.90], {}),  # worse in one draw
        ([0.80, 0.919, 0.909], {}),  # better in each, but by chance as far as three draws say
        ([0.88, 0.90], {}),  # a draw is missing
        ([0.88, 0.90, 0.89], {"spectral": {"status": "UNPROVEN"}}),
        ([0.88, 0.90, 0.89], {"spectral": {"unit": "rating"}}),
    ],
)
def test_what_is_not_clear_or_not_comparable_is_not_said(rival, more):
    runs = runs_with({"main": MINE, "spectral": rival}, **more)
    run_names = runs_with({"main": MINE, "spectral": MINE})
    assert clearly_better(runs, run_names) is None


def test_the_cost_of_a_stored_run_takes_the_runs_that_it_is_compared_with():
    run_spec = spec()
    errors = {"best": 0.8, "open": 0.84, "trivial": 1.0}
    stored = {
        other.model_dump_json(): run_of(spec=other, metrics={"rmse": errors[who]})
        for who, other in references(run_spec).items()
    }

    def find(other):
        return stored.get(other.model_dump_json())

    record = run_of(spec=run_spec, metrics={"rmse": 0.9}).record
    cost = cost_of(record, find)
    assert cost is not None and cost.share == pytest.approx(0.5)
    assert (cost.noise, cost.method, cost.total) == (0.06, 0.04, 0.1)
    del stored[run_spec.open().model_dump_json()]
    assert cost_of(record, find) is None
    assert cost_of(run_of(spec=run_spec.open(), metrics={"rmse": 0.9}).record, find) is None
