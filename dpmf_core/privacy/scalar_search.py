"""The root and the least value of a function of one number, by Brent's two methods.

They take the steps of scipy's `optimize.brentq` and bounded `minimize_scalar` and end at the same
bits, so that noise does not depend on which of them found it. Loading `scipy.optimize` takes longer
than an account does.

Source: Brent 1973, Algorithms for Minimization without Derivatives, chapters 4 and 5.
"""

import math
from collections.abc import Callable

Function = Callable[[float], float]
GOLDEN = (3.0 - math.sqrt(5.0)) / 2
RESOLUTION = math.sqrt(2.2e-16)  # near a minimum nothing finer, relative to x, shows in f
MOST_ROOT_STEPS = 100


def root(f: Function, low: float, high: float, *, xtol: float, rtol: float) -> float:
    """Where f, continuous on [low, high], is 0, within xtol + rtol |root|.

    Raises ValueError where f has the same sign at both ends or is not a number, RuntimeError where
    100 steps do not find it.
    """
    f_low, f_high = f(low), f(high)
    if f_low == 0:
        return low
    if f_high == 0:
        return high
    if (f_low < 0) == (f_high < 0):
        raise ValueError("The function has the same sign at both ends.")
    return _root_between(f, (low, f_low), (high, f_high), xtol, rtol)


def _root_between(
    f: Function,
    first: tuple[float, float],
    last: tuple[float, float],
    xtol: float,
    rtol: float,
) -> float:
    """The root between two points whose values have different signs."""
    (before, f_before), (now, f_now) = first, last
    across = f_across = move = last_move = 0.0
    for _ in range(MOST_ROOT_STEPS):
        if f_before != 0 and (f_before < 0) != (f_now < 0):
            across, f_across = before, f_before
            last_move = move = now - before
        if abs(f_across) < abs(f_now):
            before, now, across = now, across, now
            f_before, f_now, f_across = f_now, f_across, f_now
        least, half = (xtol + rtol * abs(now)) / 2, (across - now) / 2
        if f_now == 0 or abs(half) < least:
            return now
        step = math.nan
        if abs(last_move) > least and abs(f_now) < abs(f_before):
            step = _through((before, f_before), (now, f_now), (across, f_across))
        if 2 * abs(step) < min(abs(last_move), 3 * abs(half) - least):
            last_move, move = move, step
        else:
            last_move = move = half
        before, f_before = now, f_now
        now += move if abs(move) > least else math.copysign(least, half)
        f_now = f(now)
        if math.isnan(f_now):
            raise ValueError(f"The function has no number at {now}.")
    raise RuntimeError(f"No root within {MOST_ROOT_STEPS} steps.")


def _through(
    before: tuple[float, float], now: tuple[float, float], across: tuple[float, float]
) -> float:
    """The step from `now` to the root of the line through two points, or of the inverse parabola
    through three; nan where there is none.
    """
    (x, fx), (a, fa), (b, fb) = now, before, across
    if a == b:
        return -fx * (x - a) / (fx - fa)
    slope_a, slope_b = (fa - fx) / (a - x), (fb - fx) / (b - x)
    below = slope_b * slope_a * (fb - fa)
    return -fx * (fb * slope_b - fa * slope_a) / below if below else math.nan


def first_that_holds(holds: Callable[[float], bool], start: float, direction: float) -> float:
    """The first of `start` and of points 1, 3, 7, ... units in its last place away from it, upwards
    or downwards by the sign of `direction`, at which `holds` is true.

    A root is as near from either side; a bound must lie on one.
    """
    x, step = start, math.copysign(math.ulp(start), direction)
    while not holds(x):
        x, step = x + step, 2 * step
    return x


def least_value(f: Function, low: float, high: float, *, xatol: float) -> float:
    """The least value that f, unimodal on [low, high], takes where the search for its place, within
    xatol, looks.
    """
    x = second = third = low + GOLDEN * (high - low)
    fx = f_second = f_third = f(x)
    step = step_before = 0.0
    while True:
        middle, least = 0.5 * (low + high), RESOLUTION * abs(x) + xatol / 3.0
        if abs(x - middle) <= 2.0 * least - 0.5 * (high - low):
            return fx
        vertex_step = None
        if abs(step_before) > least:
            others = (second, f_second), (third, f_third)
            vertex_step = _to_vertex((x, fx), *others, (low, high), step_before)
            step_before = step
        if vertex_step is not None:
            step = vertex_step
            if min(x + step - low, high - (x + step)) < 2.0 * least:
                step = math.copysign(least, middle - x)
        else:
            step_before = (low if x >= middle else high) - x
            step = GOLDEN * step_before
        new = x + math.copysign(max(abs(step), least), step)
        f_new = f(new)
        if f_new <= fx:
            low, high = (x, high) if new >= x else (low, x)
            third, f_third, second, f_second = second, f_second, x, fx
            x, fx = new, f_new
            continue
        low, high = (new, high) if new < x else (low, new)
        if f_new <= f_second or second == x:
            third, f_third, second, f_second = second, f_second, new, f_new
        elif f_new <= f_third or third in (x, second):
            third, f_third = new, f_new


def _to_vertex(
    best: tuple[float, float],
    second: tuple[float, float],
    third: tuple[float, float],
    within: tuple[float, float],
    step_before: float,
) -> float | None:
    """The step to the vertex of the parabola through three points; None where that lies outside or
    is no shorter than half the step before the last.
    """
    (x, fx), (a, fa), (b, fb) = best, second, third
    r, q = (x - a) * (fx - fb), (x - b) * (fx - fa)
    p, q = (x - b) * q - (x - a) * r, 2.0 * (q - r)
    p, q = (-p if q > 0.0 else p), abs(q)
    inside = q * (within[0] - x) < p < q * (within[1] - x)
    return (p + 0.0) / q if inside and abs(p) < abs(0.5 * q * step_before) else None
