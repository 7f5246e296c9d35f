"""The range that worlds of a declared shape give before anything is paid."""

import math
from pathlib import Path

import pandas as pd
import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.tuning.choosing import wording
from dpmf_core.runs.tuning.choosing.unpaid_range import (
    RIVALS,
    DeclaredShape,
    Span,
    UnpaidRange,
    WorldRuns,
)
from tests.support.worlds import range_by_hand, summaries

SHAPE = DeclaredShape(600, 30, 12.0, (1.0, 5.0), 1.0)
EPSILONS = (0.5, 2.0)


def runs_of(shape=SHAPE, **parts):
    return WorldRuns(shape, EPSILONS, 1e-4, **parts)


def range_of(error, **parts):
    return range_by_hand(runs_of(**parts), error)


def test_the_range_is_from_the_least_to_the_most_over_the_worlds():
    """The floor is 1.0 everywhere; worth runs from .10 to .21."""

    def error(number, algorithm, epsilon):
        if algorithm == "bmf":
            return 0.9 - 0.01 * number
        return 0.99 - 0.005 * number if epsilon == 2.0 else 1.02

    result = range_of(error)
    assert result.worth.low == pytest.approx(0.10)
    assert result.worth.high == pytest.approx(0.21)
    at_two = result.gain(2.0)
    assert at_two.low == pytest.approx(0.01)
    assert at_two.high == pytest.approx(0.065)
    assert result.gain(0.5).high == pytest.approx(-0.02)
    shares = [(0.01 + 0.005 * number) / (0.1 + 0.01 * number) for number in range(12)]
    share = result.share(2.0)
    assert share.low == pytest.approx(min(shares))
    assert share.high == pytest.approx(max(shares))
    assert at_two.holds(0.03)
    assert not at_two.holds(0.07)


def test_every_world_has_a_reference_and_the_method_and_its_floor_in_each_run():
    runs = runs_of()
    for world in runs.worlds:
        methods = [
            point.spec.algorithm for point in runs.points if point.spec.data == world
        ]
        assert methods == ["bmf", "spectral", "spectral"]
    of_lists = runs_of(metric="recall_at_20").points
    assert [point.spec.algorithm for point in of_lists[:2]] == ["global-mean", "ease"]


def test_worlds_in_which_sharing_is_worth_nothing_have_no_share():
    def error(number, algorithm, epsilon):
        if algorithm == "bmf":
            return 0.8 if number == 3 else 0.995
        return 0.9

    result = range_of(error)
    assert len(result.shares(2.0)) == 1
    assert result.share(2.0) == Span.of([pytest.approx(0.5)])
    nothing = range_of(lambda number, algorithm, epsilon: 0.999)
    assert nothing.share(2.0) is None
    assert nothing.worth.high == pytest.approx(0.001)


def test_before_all_runs_have_finished_there_is_no_range():
    runs = runs_of()
    known = list(summaries(runs, lambda number, algorithm, epsilon: 0.9))
    assert UnpaidRange.of(runs, Draws.of(runs.points, [*known[:-1], None])) is None


def test_a_small_shape_has_all_its_people_and_the_asked_epsilons():
    runs = runs_of()
    assert SHAPE.simulated_users == 600
    private = [point for point in runs.points if point.epsilon is not None]
    assert {point.spec.budget.epsilon for point in private} == set(EPSILONS)
    assert len(runs.worlds) == 12
    assert len(runs.specs) == len(runs.points) == 12 * 3


@pytest.mark.parametrize(
    ("n_users", "each", "simulated"),
    [
        (943, 106, 943),
        (6_040, 166, 2_014),  # a third
        (2_999, 10, 2_999),
        (100_000, 100, 4_000),
        (100_000, 10, 15_000),  # as many as make 150,000 ratings
    ],
)
def test_a_world_has_fewer_people_only_as_far_as_sharing_keeps_its_worth(
    n_users, each, simulated
):
    shape = DeclaredShape(n_users, 500, each, (1.0, 5.0))
    assert shape.simulated_users == simulated


def test_fewer_people_get_an_epsilon_at_which_noise_weighs_the_same():
    shape = DeclaredShape(100_000, 500, 100.0, (1.0, 5.0))
    runs = WorldRuns(shape, EPSILONS, 1e-6)
    private = [point for point in runs.points if point.epsilon is not None]
    for point in private:
        ours = gaussian_mu(point.spec.budget.epsilon, 1e-6) * 4_000
        theirs = gaussian_mu(point.epsilon, 1e-6) * 100_000
        assert math.isclose(ours, theirs, rel_tol=1e-6)
    assert {point.epsilon for point in private} == set(EPSILONS)


def test_the_reference_has_all_its_sweeps_where_people_rate_little():
    def sweeps(each):
        runs = runs_of(DeclaredShape(600, 60, each, (1.0, 5.0)))
        return next(
            point.spec.parameters.get("steps")
            for point in runs.points
            if point.spec.algorithm == "bmf"
        )

    assert sweeps(29.0) is None
    assert sweeps(30.0) == 24


@pytest.mark.parametrize(
    "data_id",
    [
        "worlds?users=100&items=20&bounds=1,5",
        "worlds?users=100&items=20&each=0&bounds=1,5",
        "worlds?users=100&items=20&each=21&bounds=1,5",
        "worlds?users=1&items=20&each=5&bounds=1,5",
        "worlds?users=100&items=20&each=5&bounds=5,1",
        "worlds?users=100&items=20&each=5&bounds=1,5&step=0",
        "worlds?users=100&items=20&each=5&bounds=1,5&more=1",
    ],
)
def test_an_impossible_shape_is_refused_in_a_sentence(data_id):
    with pytest.raises(BadInput, match="A declared shape must be written"):
        DeclaredShape.parse(data_id)


def test_an_id_names_the_shape_that_it_is_read_as():
    for shape in (SHAPE, DeclaredShape(943, 1682, 106.04, (-10.0, 10.0))):
        assert DeclaredShape.parse(shape.id) == shape


@pytest.fixture(scope="module")
def recorded():
    """The rows of the benchmark."""
    folder = Path(__file__).parents[3] / "benchmarks/results"
    return pd.read_csv(folder / "advice.csv")


def test_the_truth_is_inside_the_recorded_ranges_nine_times_in_ten(recorded):
    for figure in ("fall", "worth", "share"):
        low = recorded[f"{figure}_low"]
        high = recorded[f"{figure}_high"]
        assert recorded[figure].between(low, high).mean() >= 0.9


def test_the_recommended_method_loses_least_and_what_is_said_of_it(recorded):
    lost = recorded["lost_share"].max()
    assert math.ceil(100 * lost) == round(100 * wording.MOST_LOST)
    assert lost < min(recorded[f"{name}_lost_share"].max() for name in RIVALS[1:])
    assert recorded["data"].nunique() == 12
    assert wording.DATA_SETS == "twelve"
