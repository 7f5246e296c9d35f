"""What private runs keep of the gain over guessing, and the epsilon that keeps a wanted share."""

import math

import pytest

from dpmf_core.runs.epsilon_grid import EpsilonGrid, Point
from dpmf_core.runs.gain import (
    KeptGain,
    first_keeping,
    kept_along,
    kept_at,
    share_kept,
    shares_kept,
)
from dpmf_core.runs.needed_epsilon import NeededEpsilon, first_reaching

# (private, twin, trivial)
DRAWS = ((0.90, 0.80, 1.00), (0.85, 0.80, 1.00), (0.95, 0.75, 1.00))


def test_the_share_of_a_draw_is_how_far_it_goes_from_guessing_to_the_twin() -> None:
    assert shares_kept(DRAWS) == pytest.approx((0.5, 0.75, 0.2))
    assert share_kept(DRAWS) == pytest.approx(0.5)
    assert shares_kept([(1.1, 0.8, 1.0)]) == pytest.approx((-0.5,))
    assert shares_kept([(0.7, 0.8, 1.0)]) == pytest.approx((1.5,))


def test_where_a_twin_gains_nothing_in_one_draw_medians_are_compared() -> None:
    draws = (*DRAWS, (0.9, 1.0, 1.0))
    assert shares_kept(draws) is None
    assert share_kept(draws) == pytest.approx((1.0 - 0.9) / (1.0 - 0.8))
    assert share_kept([(0.9, 1.0, 1.0)]) is None
    assert shares_kept([]) is None and share_kept([]) is None
    assert kept_at(1.0, [(0.9, 1.0, 1.0)]) is None


def test_a_grid_is_read_by_the_draws_that_all_three_have() -> None:
    points = (Point(0.5, (0.9,)), Point(1.0, (0.9, 0.85, 0.95), beside=DRAWS))
    (gain,) = kept_along(EpsilonGrid("rmse", points, (0.8,), (1.0,)))
    assert gain.epsilon == 1.0 and gain.median == pytest.approx(0.5)


def line(*at: tuple[float, float]) -> list[KeptGain]:
    """Three draws, a tenth apart."""
    return [KeptGain(epsilon, (share - 0.1, share, share + 0.1)) for epsilon, share in at]


def test_an_epsilon_between_measured_ones_is_linear_along_log_epsilon() -> None:
    keeping = first_keeping(line((1.0, 0.4), (10.0, 0.8)), 0.6)
    assert keeping.median is not None and keeping.best is not None and keeping.worst is not None
    assert keeping.median.epsilon == pytest.approx(math.sqrt(10))
    assert (keeping.median.low, keeping.median.high) == (
        1.0,
        10.0,
    ) and not keeping.median.is_measured
    assert keeping.best.epsilon == pytest.approx(10**0.25)
    assert keeping.worst.epsilon == pytest.approx(10**0.75)


def test_nothing_is_said_beyond_what_was_measured() -> None:
    points = line((1.0, 0.4), (10.0, 0.8))
    assert first_keeping(points, 0.81).median is None
    assert first_keeping(points, 0.85).worst is None
    assert first_keeping(points, 0.3).median == NeededEpsilon(1.0, 1.0, 1.0, is_first=True)
    assert first_keeping([], 0.5).median is None


def test_a_share_that_is_printed_as_the_wanted_one_is_kept() -> None:
    needed_epsilon = first_keeping([KeptGain(1.0, (0.2,)), KeptGain(2.0, (0.796,))], 0.8).median
    assert needed_epsilon == NeededEpsilon(2.0, 2.0, 2.0)
    assert first_keeping([KeptGain(1.0, (0.2,)), KeptGain(2.0, (0.794,))], 0.8).median is None


def test_the_first_of_several_crossings_counts() -> None:
    needed_epsilon = first_reaching([(4.0, 0.9), (1.0, 0.2), (2.0, 0.8), (3.0, 0.5)], 0.8)
    assert needed_epsilon is not None and needed_epsilon.epsilon == 1.0  # smaller is better
    needed_epsilon = first_reaching(
        [(1.0, 0.2), (2.0, 0.8), (3.0, 0.5)], 0.7, larger_is_better=True
    )
    assert needed_epsilon is not None and (needed_epsilon.low, needed_epsilon.high) == (1.0, 2.0)
