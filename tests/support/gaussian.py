"""The Gaussian mechanism by Theorem 8 of Balle & Wang 2018: independent of the package."""

import math
from collections.abc import Iterable
from typing import Any

import mpmath
from scipy.optimize import brentq
from scipy.stats import norm


def delta_of(mu: float, epsilon: float) -> float:
    """Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)."""
    return float(
        norm.cdf(mu / 2 - epsilon / mu)
        - math.exp(epsilon + float(norm.logcdf(-mu / 2 - epsilon / mu)))
    )


def exact_delta(mu: Any, epsilon: Any) -> Any:
    """`delta_of` in as many digits as mpmath has been set to."""
    half = mpmath.mpf(mu) / 2
    threshold = mpmath.mpf(epsilon) / mu
    above = mpmath.ncdf(half - threshold)
    below = mpmath.ncdf(-half - threshold)
    return above - mpmath.exp(epsilon) * below


def epsilon_of(multipliers: Iterable[float], delta: float) -> float:
    """Epsilon of Gaussian releases with these noise multipliers together."""
    mu = math.sqrt(sum(z**-2.0 for z in multipliers))
    return float(
        brentq(lambda epsilon: delta_of(mu, epsilon) - delta, 0.0, 500.0, xtol=1e-13)
    )


def mu_of(epsilon: float, delta: float) -> float:
    """The mu at which one release costs epsilon."""
    return float(
        brentq(lambda mu: delta_of(mu, epsilon) - delta, 1e-6, 60.0, xtol=1e-13)
    )
