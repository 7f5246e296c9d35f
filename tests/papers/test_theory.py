"""Bounds beside measurements: what planted power laws make of claims and sentences."""

import math

import numpy as np
import pytest

from dpmf_core.papers import theory
from dpmf_core.papers.chien_2021 import bounds as chien_2021
from dpmf_core.papers.figures import Outcome
from dpmf_core.papers.jain_2018 import bounds as jain_2018
from dpmf_core.papers.jain_2018.bounds import frank_wolfe_floor
from dpmf_core.papers.registry import BOUNDS
from dpmf_core.papers.theory_claims import bound_exponent, place_at
from dpmf_core.runs.sweep import Summary

CLAIMS = (*chien_2021.CLAIMS, *jain_2018.CLAIMS)
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
    exponent_of_bound = bound_exponent(BOUNDS[algorithm], axis, SIZES[axis])
    for shift, outcome in (
        (-0.5, Outcome.REPRODUCED),
        (0.0, Outcome.REPRODUCED),
        (0.15, Outcome.DIFFERS),
    ):
        assert claim.judge(power_law(algorithm, axis, exponent_of_bound + shift)).outcome is outcome


def test_a_curve_starts_on_the_first_point_and_follows_the_bound() -> None:
    it = theory.compare_bound(BOUNDS["dpals"], "users", power_law("dpals", "users", -0.1))
    assert it.start == 5_000
    error = [BOUNDS["dpals"].error(place_at("users", n)) for n in (5_000, 160_000)]
    assert it.curve([5_000, 160_000]) == pytest.approx([0.4, 0.4 * error[1] / error[0]])
    assert not it.holds
    assert it.exponent.value == pytest.approx(-0.1)
    assert it.bound_exponent == pytest.approx(
        math.log(it.curve([20_000])[0] / 0.4) / math.log(4), abs=0.01
    )


def test_the_logarithms_of_a_bound_count() -> None:
    """n^-1 log^2 n / sqrt(20 log n): n^-.84 from 5,000 to 50,000, as (log n ratio)^1.5 / 10."""
    ends = (5_000.0, 50_000.0)
    by_hand = -1 + 1.5 * math.log10(math.log(ends[1]) / math.log(ends[0]))
    assert bound_exponent(BOUNDS["dpals"], "users", [*ends, *ends]) == pytest.approx(by_hand)
    assert round(by_hand, 2) == -0.84


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
