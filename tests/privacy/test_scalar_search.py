"""Brent's methods take scipy's steps, to the last bit."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

from dpmf_core.privacy.gaussian import log_delta
from dpmf_core.privacy.scalar_search import first_that_holds, least_value, root

Function = Callable[[float], float]
RNG = np.random.default_rng(4)
CUBES = RNG.normal(size=(40, 4)).tolist()


class CountingFunction:
    """A function that keeps where it was asked."""

    def __init__(self, f: Function) -> None:
        self.f, self.arguments = f, list[float]()

    def __call__(self, x: float) -> float:
        self.arguments.append(float(x))
        return self.f(x)


ROOTS: dict[str, tuple[Function, float, float]] = {
    "line": (lambda x: 2 * x - 1, -3.0, 5.0),
    "root at the lower end": (lambda x: x, 0.0, 1.0),
    "root at the upper end": (lambda x: x - 1, 0.0, 1.0),
    "steep": (lambda x: math.expm1(40 * (x - 0.1)), -1.0, 1.0),
    "step": (lambda x: -1.0 if x < math.pi else 1.0, 0.0, 10.0),
    "steps": (lambda x: math.floor(8 * x) - 17.5, -10.0, 10.0),
    "infinite at one end": (lambda x: math.log(x) if x > 0 else -math.inf, 0.0, 9.0),
    "falling": (lambda x: math.exp(-x) - 0.01, 0.0, 40.0),
    "log delta": (lambda x: log_delta(1.3, x) - math.log(1e-6), 0.0, 12.0),
} | {
    f"cube {number}": (lambda x, c=c: c[0] * x + c[1] * math.sin(c[2] * x) + x**3 - c[3], -9.0, 9.0)
    for number, c in enumerate(CUBES)
}
LEAST: dict[str, tuple[Function, float, float]] = {
    "square": (lambda x: (x - 1.25) ** 2, -12.0, 18.0),
    "kink": (lambda x: abs(x - 0.7), -12.0, 18.0),
    "rising": (lambda x: x, -12.0, 18.0),
    "falling": (lambda x: -x, -12.0, 18.0),
    "level": (lambda x: 3.0, -12.0, 18.0),
    "infinite above": (lambda x: x * x if x < 5 else math.inf, -12.0, 18.0),
    "order": (lambda x: 2 * (1 + math.exp(x)) + 14 * math.exp(-x), -12.0, 18.0),
} | {
    f"valley {number}": (
        lambda x, c=c: abs(x - c[0]) ** 1.5 + c[1] ** 2 * x**2 + 0.1 * math.sin(3 * c[2] * x),
        -12.0,
        18.0,
    )
    for number, c in enumerate(CUBES)
}


@pytest.mark.parametrize("name", ROOTS)
@pytest.mark.parametrize(("xtol", "rtol"), [(1e-13, 1e-14), (1e-9, 1e-12), (1e-4, 1e-3)])
def test_a_root_is_scipys(name: str, xtol: float, rtol: float) -> None:
    f, low, high = ROOTS[name]
    ours, theirs = CountingFunction(f), CountingFunction(f)
    solution = root(ours, low, high, xtol=xtol, rtol=rtol)
    assert solution == brentq(theirs, low, high, xtol=xtol, rtol=rtol)
    assert ours.arguments == theirs.arguments
    beside = 2 * (xtol + rtol * abs(solution))
    before, after = f(max(low, solution - beside)), f(min(high, solution + beside))
    assert min(before, after) <= 0 <= max(before, after)


@pytest.mark.parametrize("name", LEAST)
@pytest.mark.parametrize("xatol", [1e-9, 1e-3])
def test_a_least_value_is_scipys(name: str, xatol: float) -> None:
    f, low, high = LEAST[name]
    ours, theirs = CountingFunction(f), CountingFunction(f)
    solution = least_value(ours, low, high, xatol=xatol)
    reference = minimize_scalar(
        theirs, bounds=(low, high), method="bounded", options={"xatol": xatol}
    )
    assert solution == reference.fun and ours.arguments == theirs.arguments


def test_a_root_that_is_not_there_is_said() -> None:
    with pytest.raises(ValueError, match="same sign"):
        root(lambda x: x * x + 1, -1.0, 1.0, xtol=1e-9, rtol=1e-12)
    with pytest.raises(ValueError, match="no number at"):
        root(lambda x: math.nan if abs(x) < 0.6 else x, -2.0, 3.0, xtol=1e-9, rtol=1e-12)


def test_a_flat_root_that_scipy_does_not_find_is_not_found() -> None:
    for find in (root, brentq):
        with pytest.raises(RuntimeError, match="100"):
            find(lambda x: x**3, -1.0, 2.0, xtol=1e-13, rtol=1e-14)


def test_a_bound_lies_on_its_side() -> None:
    assert first_that_holds(lambda x: x >= 1.0, 1.0, +1) == 1.0
    unit = math.ulp(1.0)
    assert first_that_holds(lambda x: x > 1.0 + 2 * unit, 1.0, +1) == 1.0 + 3 * unit
    assert first_that_holds(lambda x: x * x <= 2, 1.5, -1) < math.sqrt(2)
