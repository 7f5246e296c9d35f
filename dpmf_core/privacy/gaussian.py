"""The exact privacy of Gaussian releases, in the log domain.

There is no overflow at epsilon 700 and no loss of precision at delta 1e-15. Ledgers of Gaussian
releases compose exactly: mu^2 = sum(count / noise_multiplier^2), and
    delta(eps) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)        (Balle & Wang 2018, Thm. 8)

scipy is loaded where it is used, because a run without privacy starts without it.
"""

import functools
import math
from collections.abc import Callable

from dpmf_core.privacy.events import Event, normal_form
from dpmf_core.privacy.mechanisms import Gaussian, Relation, UnsupportedEvent


def _log_erfcx(x: float) -> float:
    """log(e^{x^2} erfc(x)) for any x; log_ndtr covers the tail where erfcx overflows."""
    from scipy.special import erfcx, log_ndtr

    if x > -20:
        return math.log(erfcx(x))
    return x * x + math.log(2) + float(log_ndtr(-x * math.sqrt(2)))


def log_delta(mu: float, epsilon: float) -> float:
    """log delta(epsilon) of a mu-GDP mechanism, exact in the tails.

    The e^eps of the formula cancels analytically.
    """
    if mu == 0:
        if epsilon >= 0:
            return -math.inf
        return math.log(-math.expm1(epsilon))
    from scipy.special import log_ndtr

    a = mu / 2 - epsilon / mu
    b = mu / 2 + epsilon / mu
    # the log of the second term over the first
    ratio = _log_erfcx(b / math.sqrt(2)) - _log_erfcx(-a / math.sqrt(2))
    return float(log_ndtr(a)) + math.log(-math.expm1(min(ratio, -1e-300)))


def first_that_holds(
    holds: Callable[[float], bool], start: float, direction: float
) -> float:
    """The first number near `start` for which `holds` is true.

    It tries `start` and then 1, 3, 7, ... units in the last place away, upwards or downwards by the
    sign of `direction`: root finding may end on either side, and a bound must end on one.
    """
    x = start
    step = math.copysign(math.ulp(start), direction)
    while not holds(x):
        x += step
        step *= 2
    return x


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The smallest epsilon >= 0 with delta(epsilon) <= delta; infinite at delta = 0."""
    if not delta:
        if mu:
            return math.inf
        return 0.0
    target = math.log(delta)
    if mu == 0 or log_delta(mu, 0.0) <= target:
        return 0.0
    from scipy.optimize import brentq

    # the zCDP bound (Bun & Steinke 2016) is always above
    high = mu * mu / 2 + mu * math.sqrt(2 * -target) + 1e-9
    solution = brentq(
        lambda eps: log_delta(mu, eps) - target,
        0.0,
        high,
        xtol=1e-15 * high,
        rtol=1e-14,
    )
    return first_that_holds(lambda eps: log_delta(mu, eps) <= target, solution, +1)


@functools.lru_cache(1024)
def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest mu of an (epsilon, delta)-DP Gaussian mechanism."""
    from scipy.optimize import brentq

    target = math.log(delta)
    low = math.log(1e-12)
    high = math.log(10.0 + 2 * math.sqrt(epsilon) + epsilon)

    def excess(log_mu: float) -> float:
        return log_delta(math.exp(log_mu), epsilon) - target

    solution = brentq(excess, low, high, xtol=1e-13, rtol=1e-14)
    return first_that_holds(
        lambda mu: log_delta(mu, epsilon) <= target, math.exp(solution), -1
    )


def mu(event: Event, relation: Relation = Relation.ADD_REMOVE) -> float:
    """The Gaussian-DP parameter of a ledger of Gaussian releases.

    Raises
    ------
    UnsupportedEvent
        On any other release.
    """
    total = 0.0
    for leaf, count in normal_form(event):
        if not isinstance(leaf, Gaussian) or leaf.failure:
            raise UnsupportedEvent(
                f"The GDP rule covers Gaussian noise only. Got {leaf.mechanism} noise on"
                f" {leaf.statistic!r}. Use `epsilon`, which covers it."
            )
        total += count / leaf.multiplier(relation) ** 2
    return math.sqrt(total)


def all_gaussian(event: Event) -> bool:
    return all(
        isinstance(leaf, Gaussian) and not leaf.failure
        for leaf, _ in normal_form(event)
    )
