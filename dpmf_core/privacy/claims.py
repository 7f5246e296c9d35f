"""The noise that published methods draw at a nominal epsilon, as events, so that it can be accounted exactly.

Each function derives an event from the source's own noise formula; nothing here is a result. privacy.md, section 3.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpmf_core.privacy.events import Event, Gaussian, Repeat, sequence
from dpmf_core.privacy.printed import budget_text


@dataclass(frozen=True)
class Claim:
    """What a source says its noise costs, and the releases that it makes with it."""

    title: str
    words: str
    event: Event
    delta: float


def _nominal(epsilon: float) -> str:
    return f"ε = {budget_text(epsilon)}"


def chien(epsilon: float, delta: float = 1e-5, ratings_per_user: int = 50, steps: int = 10) -> Claim:
    """Chien et al. 2021, Thm. 1: sigma = sqrt(2kT(eps + ln(1/delta)))/eps. Both statistics of a step move by sqrt(k) at multiplier sigma."""
    sigma = math.sqrt(2 * ratings_per_user * steps * (epsilon - math.log(delta))) / epsilon
    z = sigma / math.sqrt(ratings_per_user)
    event = Repeat(sequence(Gaussian(z, "item Grams", 1.0, math.sqrt(2)), Gaussian(z, "item right-hand sides", 1.0, 2.0)), steps)
    return Claim("Chien et al. 2021, private ALS", f"σ is set for {_nominal(epsilon)} over all steps, counting one of the two releases of a step", event, delta)


def jain(epsilon: float, delta: float = 1e-6, steps: int = 10) -> Claim:
    """Jain, Thakkar & Thakurta 2018, Thm. 3.1: sigma^2 = 64 L^4 T ln(1/delta)/eps^2 on A'A with rows within 2L, hence sensitivity 4 L^2."""
    z = 8 * math.sqrt(steps * -math.log(delta)) / epsilon / 4
    event = Repeat(Gaussian(z, "second moment of residuals", 1.0, math.sqrt(2)), steps)
    return Claim(
        "Jain et al. 2018, private Frank-Wolfe", f"σ is set for {_nominal(epsilon)} over all steps, by a concentrated-DP bound with slack", event, delta
    )


def saha(epsilon: float, delta: float = 1e-5, steps: int = 100, tight: bool = False) -> Claim:
    """Saha & Imtiaz 2022, Alg. 2: the classical Gaussian mechanism on each of two statistics, in every step, at sensitivities 2/N and 4/N.

    tight: the same noise against the sensitivities that hold, 1/N and 1/N (replace-one: sqrt(2)/N and 2/N).
    """
    z = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    slack_A, slack_B = (2.0, 4.0) if tight else (1.0, 1.0)
    factors = (math.sqrt(2), 2.0) if tight else (1.0, 1.0)  # the source's own figures are for replacement already
    step = sequence(Gaussian(slack_A * z, "A = HHᵀ/N", 1.0, factors[0]), Gaussian(slack_B * z, "B = (V − R)Hᵀ/N", 1.0, factors[1]))
    whose = "with the sensitivities that hold" if tight else "with its own sensitivities"
    return Claim(
        f"Saha & Imtiaz 2022, private NMF, {whose}",
        f"{_nominal(epsilon)} for each of two statistics in each of {steps} steps",
        Repeat(step, steps),
        delta,
    )


CLAIMS: dict[str, Callable[[float], tuple[Claim, ...]]] = {
    "Chien et al. 2021": lambda epsilon: (chien(epsilon),),
    "Jain et al. 2018": lambda epsilon: (jain(epsilon),),
    "Saha & Imtiaz 2022, 100 steps": lambda epsilon: (saha(epsilon), saha(epsilon, tight=True)),
    "Saha & Imtiaz 2022, 500 steps": lambda epsilon: (saha(epsilon, steps=500), saha(epsilon, steps=500, tight=True)),
}
