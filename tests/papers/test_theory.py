"""Bounds beside measurements: what planted power laws make of claims and sentences."""

import numpy as np
import pytest

from dpmf_core.papers import theory
from dpmf_core.papers.bounds import BOUNDS, frank_wolfe_floor
from dpmf_core.papers.clauses import MissingResult
from dpmf_core.papers.figures import Outcome
from dpmf_core.papers.theory_claims import DPALS_CLAIMS, DPFW_CLAIMS, EACH, PLACES
from dpmf_core.runs.sweep import Summary

CLAIMS = (*DPALS_CLAIMS, *DPFW_CLAIMS)
SIZES = {"users": (5e3, 1e4, 2e4), "items": (250.0, 500.0, 1e3), "epsilon": (2.0, 5.0, 20.0)}


def power_law(algorithm: str, axis: str, power: float, first: float = 0.4) -> list[Summary]:
    """Errors that follow a power law along an axis, nearly the same in both draws."""
    places = SIZES[axis]
    errors = [first * (x / places[0]) ** power for x in places]
    return [
        Summary(
            algorithm.upper(),
            algorithm,
            x if axis == "epsilon" else 10.0,
            {} if axis == "epsilon" else {axis: x},
            (error * 0.99, error * 1.01),
        )
        for x, error in zip(places, errors, strict=True)
    ]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda it: it.id)
def test_only_a_worse_exponent_contradicts_a_bound(claim) -> None:
    _, algorithm, axis = claim.id.split("-")
    bound_exponent = BOUNDS[algorithm].exponents[axis]
    for shift, outcome in (
        (-0.5, Outcome.REPRODUCED),
        (0.0, Outcome.REPRODUCED),
        (0.15, Outcome.DIFFERS),
    ):
        assert claim.judge(power_law(algorithm, axis, bound_exponent + shift)).outcome is outcome


def test_a_curve_starts_on_the_first_point_and_follows_the_bound() -> None:
    it = theory.compare_bound(BOUNDS["dpals"], "users", power_law("dpals", "users", -1.0))
    assert it.start == 5_000
    assert it.curve([5_000, 10_000]) == pytest.approx([0.4, 0.1])
    assert not it.holds
    assert it.exponent.value == pytest.approx(-1)
    assert "promises 0.025 at n = 20,000; measured 0.100" in theory.promise(it)
    assert theory.price_of_half(it) == (
        "Half the error takes 1.41 times n by the bound, 2 times as measured."
    )
    assert theory.users_for(it) == "An error of 0.1 takes 10,000 users by the fitted bound."
    assert "does worse than the bound says" in theory.verdict(it)


def test_better_and_equal_exponents_are_told_apart() -> None:
    better = theory.compare_bound(BOUNDS["dpfw"], "users", power_law("dpfw", "users", -1.0))
    assert "better than promised" in theory.verdict(better)
    equal = theory.compare_bound(BOUNDS["dpfw"], "users", power_law("dpfw", "users", -0.2))
    assert "lies within the interval" in theory.verdict(equal)
    assert "32 times n by the bound" in theory.price_of_half(equal)
    slow = theory.compare_bound(BOUNDS["dpfw"], "users", power_law("dpfw", "users", -0.1))
    assert "by the bound, 1,024 times as measured" in theory.price_of_half(slow)
    grows = theory.compare_bound(BOUNDS["dpals"], "items", power_law("dpals", "items", 1.0))
    assert theory.price_of_half(grows) == (
        "Twice m multiplies the error by 4 in the bound, and by 2 as measured."
    )
    level = theory.compare_bound(BOUNDS["dpfw"], "epsilon", power_law("dpfw", "epsilon", 0.0))
    assert "no amount is sure to do it" in theory.price_of_half(level)


def test_the_preference_turns_where_the_fitted_bounds_meet() -> None:
    als = theory.compare_bound(
        BOUNDS["dpals"], "users", power_law("dpals", "users", -2.0, first=0.8)
    )
    fw = theory.compare_bound(BOUNDS["dpfw"], "users", power_law("dpfw", "users", -0.2, first=0.4))
    # 0.8 (5,000/n)^2 = 0.4 (5,000/n)^0.2 at n = 5,000 * 2^(1/1.8)
    n = 5_000 * 2 ** (1 / 1.8)
    assert als.curve([n]) == pytest.approx(fw.curve([n]))
    sentence = (
        "With both constants fitted, the bound of DPFW is smaller below n = 7,349, that of DPALS"
        " (as printed) above it."
    )
    assert theory.preference(als, fw) == theory.preference(fw, als) == sentence


def test_results_without_a_place_give_no_exponent() -> None:
    with pytest.raises(MissingResult, match="without users"):
        theory.compare_bound(BOUNDS["dpals"], "users", power_law("dpals", "epsilon", -1.0))


def test_users_have_as_many_ratings_whatever_items_are_kept() -> None:
    claim = next(it for it in CLAIMS if it.id == "theory-dpals-items")
    for sweep in claim.sweeps(True):
        item_share = sweep.data.top_items / PLACES["items"].items
        assert sweep.data.most_per_user * item_share == pytest.approx(EACH, abs=0.5)
    assert {point.grid["items"] for point in claim.points()} == {250, 400, 630}


@pytest.mark.parametrize("steps", [1, 5, 50])
def test_frank_wolfe_stalls_where_its_own_recursion_does(steps: int) -> None:
    rng = np.random.default_rng(0)
    target = np.eye(4)  # equal singular values; nuclear norm 4
    iterate = np.zeros((4, 4))
    for _ in range(steps):
        left, _, right = np.linalg.svd(target - iterate + 1e-9 * rng.normal(size=(4, 4)))
        iterate = (1 - 1 / steps) * iterate + 4 / steps * np.outer(left[:, 0], right[0])
    error = np.linalg.norm(target - iterate) / np.linalg.norm(target)
    assert error >= frank_wolfe_floor(steps) - 1e-9
    if steps == 50:
        assert error == pytest.approx(frank_wolfe_floor(steps), rel=0.1)


def test_the_stall_is_said_of_frank_wolfe_alone() -> None:
    als = theory.compare_bound(BOUNDS["dpals"], "users", power_law("dpals", "users", -1.0))
    fw = theory.compare_bound(BOUNDS["dpfw"], "users", power_law("dpfw", "users", 0.0))
    assert theory.stall(als) == ""
    assert "below 0.33" in theory.stall(fw)
