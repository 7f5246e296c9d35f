"""A line along epsilon: between its measured points, and the epsilon that reaches a goal."""

from dataclasses import replace

import pytest

from dpmf_core.runs.along_epsilon import NeededEpsilon, interpolate, needed_epsilon
from dpmf_core.runs.measurements import Measured


def shares(*points):
    return [Measured("A", "dpals", epsilon, {}, draws) for epsilon, draws in points]


LINE = shares((1.0, (0.3, 0.2, 0.4)), (4.0, (0.7, 0.6, 0.9)), (16.0, (0.8, 0.7, 0.9)))


@pytest.mark.parametrize(
    ("goal", "epsilon", "measured"),
    [(0.7, 4.0, True), (0.5, 2.0, False), (0.8, 16.0, True)],
)
def test_the_needed_epsilon_lies_along_log_epsilon_between_measured_points(
    goal, epsilon, measured
):
    needed = needed_epsilon(LINE, goal)
    assert needed.epsilon == pytest.approx(epsilon)
    assert needed.is_measured is measured


def test_the_best_and_the_worst_draw_need_less_and_more():
    median = needed_epsilon(LINE, 0.6)
    best = needed_epsilon(LINE, 0.6, max)
    worst = needed_epsilon(LINE, 0.6, min)
    assert best.epsilon < median.epsilon
    assert worst.epsilon == 4.0


def test_nothing_is_extrapolated():
    assert needed_epsilon(LINE, 0.81) is None
    assert needed_epsilon([], 0.5) is None
    assert needed_epsilon(LINE, 0.1) == NeededEpsilon(1.0, is_first=True)


def test_a_dip_counts_from_its_first_crossing():
    dipping = shares((1.0, (0.3,)), (2.0, (0.8,)), (4.0, (0.6,)), (8.0, (0.9,)))
    assert needed_epsilon(dipping, 0.8) == NeededEpsilon(2.0)


def test_between_measured_points_a_line_is_straight_along_log_epsilon():
    between = interpolate(LINE, 2.0)
    assert between.epsilon == 2.0
    assert between.low == pytest.approx(0.4)
    assert between.median == pytest.approx(0.5)
    assert between.high == pytest.approx(0.65)
    assert interpolate(LINE, 4.0) is LINE[1]
    assert interpolate(LINE, 0.9) is None
    assert interpolate(LINE, 17.0) is None
    assert interpolate([], 1.0) is None


def test_between_measured_points_a_line_has_the_name_of_the_nearer_one():
    first, second = shares((1.0, (0.3,)), (4.0, (0.7,)))
    line = [first, replace(second, label="B")]
    assert interpolate(line, 1.9).label == "A"
    assert interpolate(line, 2.1).label == "B"
