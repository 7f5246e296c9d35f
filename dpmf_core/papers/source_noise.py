"""The noise that published methods draw at a nominal epsilon, as events for exact accounting.

Each function derives an event from the source's own formula; nothing here is a result.
docs/PRIVACY.md, "Corrections of the sources".
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpmf_core.algorithms.item_moments import RowBound, noise_level
from dpmf_core.base.registry import by_id
from dpmf_core.privacy.events import Event, Repeat, sequence
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.privacy.mechanisms import Gaussian


@dataclass(frozen=True)
class SourceNoise:
    """A source's statement of what its noise costs, and the releases that it makes."""

    title: str
    words: str
    event: Event
    delta: float


# ratings of a user and steps of a run; any numbers give the same epsilon
RATINGS = 50
STEPS = 10


def chien(epsilon: float, delta: float = 1e-5) -> SourceNoise:
    """The noise of Chien et al. 2021, Thm. 1: sigma = sqrt(2kT(eps + ln(1/delta)))/eps.

    Both statistics of a step move by sqrt(k) at multiplier sigma.
    """
    sigma = math.sqrt(2 * RATINGS * STEPS * (epsilon - math.log(delta))) / epsilon
    z = sigma / math.sqrt(RATINGS)
    event = Repeat(
        sequence(
            Gaussian(z, "item Grams", 1.0, math.sqrt(2)),
            Gaussian(z, "item right-hand sides", 1.0, 2.0),
        ),
        STEPS,
    )
    return SourceNoise(
        "Chien et al. 2021, private ALS",
        f"σ is set for ε = {budget_text(epsilon)} over all steps, counting one of the two"
        " releases of a step",
        event,
        delta,
    )


def jain(
    epsilon: float, delta: float = 1e-6, row_bound: RowBound = "2L"
) -> SourceNoise:
    """The noise of Jain et al. 2018: sigma^2 = 64 L^4 T ln(1/delta)/eps^2 on A'A.

    Parameters
    ----------
    row_bound
        The bound on the rows of A. 2L: residuals of private Frank-Wolfe [Alg. 1, Thm. 3.1]. L: rows
        projected to L, as in private SVD [Alg. 4, T = 1].
    """
    z = noise_level(epsilon, delta, row_bound) * math.sqrt(STEPS)
    event = Repeat(Gaussian(z, "second moment of rows", 1.0, math.sqrt(2)), STEPS)
    method = "private Frank-Wolfe"
    rows = ""
    if row_bound == "L":
        method = "private SVD, or residuals clipped to L"
        rows = ", and rows are within L"
    words = (
        f"σ is set for ε = {budget_text(epsilon)} over all steps, by a concentrated-DP bound with"
        f" slack, for rows within 2L{rows}"
    )
    return SourceNoise(f"Jain et al. 2018, {method}", words, event, delta)


def saha(
    epsilon: float, delta: float = 1e-5, steps: int = 100, tight: bool = False
) -> SourceNoise:
    """The noise of Saha & Imtiaz 2022, Alg. 2, without outliers.

    It is the noise of the classical Gaussian mechanism on two statistics in every step, at
    sensitivities of 2/N. docs/PRIVACY.md, "Sensitivities of A and B".

    Parameters
    ----------
    tight
        Whether to account the same noise with the true sensitivities: 1/N for adding or removing a
        row, √2/N for replacing one.
    """
    multiplier = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    factor = 1.0  # the source's own sensitivities are for replacement already
    if tight:
        multiplier *= 2
        factor = math.sqrt(2)
    step = sequence(
        Gaussian(multiplier, "A = HHᵀ/N", 1.0, factor),
        Gaussian(multiplier, "B = (V − R)Hᵀ/N", 1.0, factor),
    )
    if tight:
        which = "the sensitivities that hold"
    else:
        which = "its own sensitivities"
    return SourceNoise(
        f"Saha & Imtiaz 2022, private NMF, with {which}",
        f"ε = {budget_text(epsilon)} for each of two statistics in each of {steps} steps",
        Repeat(step, steps),
        delta,
    )


@dataclass(frozen=True)
class NoiseSource:
    """A paper whose claim can be accounted.

    Attributes
    ----------
    id
        The paper's citation.
    claims
        The paper's statements and the releases that it makes, at a nominal epsilon.
    usual_epsilon
        The paper's nominal epsilon.
    """

    id: str
    claims: Callable[[float], tuple[SourceNoise, ...]]
    usual_epsilon: float = 1.0


def _both_sensitivities(steps: int) -> Callable[[float], tuple[SourceNoise, ...]]:
    return lambda epsilon: (
        saha(epsilon, steps=steps),
        saha(epsilon, steps=steps, tight=True),
    )


SOURCE_NOISE = by_id(
    (
        NoiseSource("Chien et al. 2021", lambda epsilon: (chien(epsilon),)),
        NoiseSource(
            "Jain et al. 2018",
            lambda epsilon: (jain(epsilon), jain(epsilon, row_bound="L")),
        ),
        NoiseSource("Saha & Imtiaz 2022, 100 steps", _both_sensitivities(100), 0.5),
        NoiseSource("Saha & Imtiaz 2022, 500 steps", _both_sensitivities(500), 0.5),
    )
)
