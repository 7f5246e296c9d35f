"""A grid's runs and figures, the epsilon that reaches a goal, and what privacy costs, by hand."""

import math
import statistics

import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Shape
from dpmf_core.data.samples import SampleShape
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.runs.comparison import DRAWS, comparison, part_comparison, run_name
from dpmf_core.runs.epsilon_grid import (
    COARSE,
    EPSILONS,
    grid_runs,
    read_grid,
)
from dpmf_core.runs.needed_epsilon import (
    Measured,
    NeededEpsilon,
    answer,
    kept_at,
    needed_epsilon,
    share_kept,
    shares_kept,
)
from dpmf_core.runs.privacy_cost import PrivacyCost, best_known
from dpmf_core.runs.specification import RunSpec


def spec(algorithm="dpals", data="cinema-small", **more):
    return RunSpec.of(dataset=data, algorithm=algorithm, epsilon=2.0, delta=1e-5, **more)


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
def test_the_runs_of_a_grid_are_those_that_pages_show(run_spec, pages):
    runs = grid_runs(run_spec)
    here = {run_name(it.who, it.draw): it.spec for it in runs if it.epsilon in (None, 2.0)}
    same = {name: run for name, run in pages.runs.items() if name in here}
    assert here == same and f"main draw {DRAWS - 1}" in here
    private = [it for it in runs if it.epsilon is not None]
    assert all(it.spec.budget and it.spec.budget.epsilon == it.epsilon for it in private)
    assert {it.epsilon for it in private} == set(EPSILONS)
    assert [it.epsilon for it in private[: len(COARSE)]] == list(COARSE)  # worth having first


def summary(value, seed, epsilon=None):
    return {"key": f"k{seed}", "seed": seed, "epsilon": epsilon, "metrics": {"rmse": value}}


def test_a_grid_holds_what_is_there_and_says_what_is_missing():
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


def test_what_takes_no_budget_has_no_grid():
    with pytest.raises(BadInput, match="epsilon"):
        grid_runs(spec("als").canonical())


# (private, best, trivial)
ERRORS = ((0.90, 0.80, 1.00), (0.85, 0.80, 1.00), (0.95, 0.75, 1.00))


def test_the_share_of_a_draw_is_how_far_it_goes_from_guessing_to_the_best_known():
    assert shares_kept(ERRORS) == pytest.approx((0.5, 0.75, 0.2))
    assert share_kept(ERRORS) == pytest.approx(0.5)
    assert shares_kept([(1.1, 0.8, 1.0)]) == pytest.approx((-0.5,))
    assert shares_kept([(0.7, 0.8, 1.0)]) == pytest.approx((1.5,))


def test_where_the_best_known_gains_nothing_in_one_draw_medians_are_compared():
    draws = (*ERRORS, (0.9, 1.0, 1.0))
    assert shares_kept(draws) is None
    assert share_kept(draws) == pytest.approx((1.0 - 0.9) / (1.0 - 0.8))
    assert share_kept([(0.9, 1.0, 1.0)]) is None
    assert shares_kept([]) is None and share_kept([]) is None
    assert kept_at(1.0, [(0.9, 1.0, 1.0)]) is None


def line(*at):
    """Three draws, a tenth apart."""
    return [Measured(epsilon, (share - 0.1, share, share + 0.1)) for epsilon, share in at]


SHARES_OF_ONE = ((1.0, 0.4), (10.0, 0.8))
SHARES = line(*SHARES_OF_ONE)


def test_an_epsilon_between_measured_ones_is_linear_along_log_epsilon():
    goal = 0.6
    needed = needed_epsilon(SHARES, goal)
    assert needed.epsilon == pytest.approx(math.sqrt(10))
    assert not needed.is_measured
    best, worst = needed_epsilon(SHARES, goal, max), needed_epsilon(SHARES, goal, min)
    assert best.epsilon == pytest.approx(10**0.25)
    assert worst.epsilon == pytest.approx(10**0.75)


def test_a_range_is_given_only_if_its_printed_ends_differ():
    goal = 0.6
    _, of_draws = answer(SHARES, goal)
    assert "1.8 to 5.6" in of_draws
    draws = [Measured(at, (share - 1e-4, share, share + 1e-4)) for at, share in SHARES_OF_ONE]
    assert answer(draws, goal) == ("ε ≈ 3.2", "")


def test_nothing_is_said_beyond_what_was_measured():
    assert needed_epsilon(SHARES, 0.81) is None
    assert needed_epsilon(SHARES, 0.75, min) is None
    first = needed_epsilon(SHARES, 0.3)
    assert first == NeededEpsilon(1.0, is_first=True)
    assert needed_epsilon([], 0.5) is None


@pytest.mark.parametrize(("value", "needed"), [(0.796, NeededEpsilon(2.0)), (0.794, None)])
def test_a_value_that_is_printed_as_the_goal_reaches_it(value, needed):
    points = [Measured(1.0, (0.2,)), Measured(2.0, (value,))]
    assert needed_epsilon(points, 0.8) == needed


def test_the_first_of_several_crossings_counts():
    points = [Measured(at, (it,)) for at, it in ((4.0, 0.9), (1.0, 0.2), (2.0, 0.8), (3.0, 0.5))]
    needed = needed_epsilon(points, 0.7)
    assert 1.0 < needed.epsilon < 2.0 and not needed.is_measured
    exact = needed_epsilon([Measured(1.0, (-0.95,)), Measured(20.0, (-0.9434,))], -0.9434)
    assert exact.epsilon == 20.0  # and not 20.000000000000256


RMSE, RECALL = METRICS["rmse"], METRICS["recall_at_20"]


def test_noise_and_method_add_up_to_what_the_private_run_loses():
    """Medians: .90 in private, .86 without noise, .80 best known, 1.00 by guessing."""
    draws = [(0.90, 0.86, 0.80, 1.00), (0.88, 0.87, 0.79, 1.01), (0.95, 0.85, 0.82, 0.99)]
    cost = PrivacyCost.of(RMSE, draws)
    assert (cost.noise, cost.method, cost.total) == (0.04, 0.06, 0.1)
    # of the draws: .1 / .2, .13 / .22 and .04 / .17
    assert cost.share == pytest.approx(0.5)


def test_where_more_is_better_less_of_it_is_the_cost():
    cost = PrivacyCost.of(RECALL, [(0.20, 0.30, 0.36, 0.10)])
    assert (cost.noise, cost.method, cost.total) == (0.1, 0.06, 0.16)
    assert cost.share == pytest.approx(0.1 / 0.26)


def test_printed_figures_add_up_although_each_is_rounded():
    """Unrounded the noise costs .0006 and the method .0006: together .0012, which is not .001."""
    cost = PrivacyCost.of(RMSE, [(0.9014, 0.9008, 0.9002, 1.0)])
    assert cost.noise + cost.method == pytest.approx(cost.total)
    texts = [float(RMSE.text(it)) for it in (cost.noise, cost.method, cost.total)]
    assert texts[0] + texts[1] == pytest.approx(texts[2])


def test_the_best_known_depends_on_what_is_asked():
    assert best_known("rmse") == "bmf"
    assert best_known("rmse", in_parts=True) == "als"
    assert best_known("recall_at_20") == best_known("ndcg_at_20") == "ease"
    assert best_known("objective", "samples") == "nmf"
    assert best_known("objective", "samples", outliers=True) == "robust-nmf"
    with pytest.raises(BadInput):
        best_known("colour")
