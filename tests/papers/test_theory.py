"""Bounds beside measurements: what planted power laws make of claims and sentences."""

import numpy as np
import pytest

from dpmf_core.papers import theory
from dpmf_core.papers.bounds import BOUNDS, frank_wolfe_floor
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
    assert "1.41" in theory.price_of_half(it)
    assert "0.1" in theory.users_for(it)


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
