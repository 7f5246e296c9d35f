"""How much of the gain over guessing private runs keep, and the epsilon that reaches a goal."""

import math

import pytest

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.runs.needed_epsilon import (
    Goal,
    Measured,
    NeededEpsilon,
    answer,
    first_reaching,
    kept_at,
    needed_epsilon,
    share_kept,
    shares_kept,
)

# (private, best, trivial)
DRAWS = ((0.90, 0.80, 1.00), (0.85, 0.80, 1.00), (0.95, 0.75, 1.00))


def test_the_share_of_a_draw_is_how_far_it_goes_from_guessing_to_the_best_known() -> None:
    assert shares_kept(DRAWS) == pytest.approx((0.5, 0.75, 0.2))
    assert share_kept(DRAWS) == pytest.approx(0.5)
    assert shares_kept([(1.1, 0.8, 1.0)]) == pytest.approx((-0.5,))
    assert shares_kept([(0.7, 0.8, 1.0)]) == pytest.approx((1.5,))


def test_where_the_best_known_gains_nothing_in_one_draw_medians_are_compared() -> None:
    draws = (*DRAWS, (0.9, 1.0, 1.0))
    assert shares_kept(draws) is None
    assert share_kept(draws) == pytest.approx((1.0 - 0.9) / (1.0 - 0.8))
    assert share_kept([(0.9, 1.0, 1.0)]) is None
    assert shares_kept([]) is None and share_kept([]) is None
    assert kept_at(1.0, [(0.9, 1.0, 1.0)]) is None


def line(*at: tuple[float, float]) -> list[Measured]:
    """Three draws, a tenth apart."""
    return [Measured(epsilon, (share - 0.1, share, share + 0.1)) for epsilon, share in at]


SHARES = line((1.0, 0.4), (10.0, 0.8))


def test_an_epsilon_between_measured_ones_is_linear_along_log_epsilon() -> None:
    goal = Goal.share(0.6)
    needed = needed_epsilon(SHARES, goal)
    assert needed.epsilon == pytest.approx(math.sqrt(10))
    assert (needed.low, needed.high, needed.is_measured) == (1.0, 10.0, False)
    best, worst = needed_epsilon(SHARES, goal, max), needed_epsilon(SHARES, goal, min)
    assert best.epsilon == pytest.approx(10**0.25)
    assert worst.epsilon == pytest.approx(10**0.75)
    assert answer(SHARES, goal) == ("ε ≈ 3.2", ", 1.8 to 5.6 over draws")


def test_nothing_is_said_beyond_what_was_measured() -> None:
    assert needed_epsilon(SHARES, Goal.share(0.81)) is None
    assert needed_epsilon(SHARES, Goal.share(0.75), min) is None
    first = needed_epsilon(SHARES, Goal.share(0.3))
    assert first == NeededEpsilon(1.0, 1.0, 1.0, is_first=True)
    assert needed_epsilon([], Goal.share(0.5)) is None
    assert answer(SHARES, Goal.share(0.9))[1] == "; the best is 80%, at ε = 10"
    assert answer(SHARES, Goal.share(0.75))[1].endswith("to more than 10 over draws")


def test_an_error_is_reached_from_above() -> None:
    errors = [Measured(1.0, (0.96, 1.0, 1.04)), Measured(4.0, (0.76, 0.8, 0.84))]
    goal = Goal.metric(METRICS["rmse"], 0.9)
    needed = needed_epsilon(errors, goal)
    assert needed.epsilon == pytest.approx(2.0)
    assert answer(errors, goal) == ("ε ≈ 2", ", 1.5 to 2.6 over draws")
    assert answer(errors, Goal.metric(METRICS["rmse"], 1.2))[0] == "ε = 1"
    best = answer(errors, Goal.metric(METRICS["rmse"], 0.5))[1]
    assert best == "; the best is 0.800, at ε = 4"


@pytest.mark.parametrize(
    ("value", "needed"), [(0.796, NeededEpsilon(2.0, 2.0, 2.0)), (0.794, None)]
)
def test_a_value_that_is_printed_as_the_goal_reaches_it(
    value: float, needed: NeededEpsilon | None
) -> None:
    points = [Measured(1.0, (0.2,)), Measured(2.0, (value,))]
    assert needed_epsilon(points, Goal.share(0.8)) == needed


def test_the_first_of_several_crossings_counts() -> None:
    needed = first_reaching([(4.0, 0.9), (1.0, 0.2), (2.0, 0.8), (3.0, 0.5)], 0.8)
    assert needed.epsilon == 1.0  # smaller is better
    needed = first_reaching([(1.0, 0.2), (2.0, 0.8), (3.0, 0.5)], 0.7, larger_is_better=True)
    assert (needed.low, needed.high) == (1.0, 2.0)
    exact = first_reaching([(1.0, 0.95), (20.0, 0.9434)], 0.9434)
    assert exact.epsilon == 20.0  # and not 20.000000000000256
