"""An erratum of Balu & Furon 2016 about stochastic gradient Langevin dynamics."""

import math

import numpy as np

from dpmf_core.algorithms.base import Streams
from dpmf_core.papers.balu_2016.protocol import B16
from dpmf_core.papers.erratum import Comparison, Erratum, Reading, Status

RATE, STEPS, CHAINS = 0.02, 500, 20_000


def stationary_variance(noise: float) -> float:
    """Return the variance of chains with target N(0, 1).

    Each takes full gradient steps of length RATE with noise of variance noise * RATE.
    """
    rng = Streams(np.random.default_rng(2015), 0)
    state = np.zeros(CHAINS)
    for _ in range(STEPS):
        state = state - RATE * state + math.sqrt(noise * RATE) * rng.init.standard_normal(CHAINS)
    return float(state.var())


def temperature() -> Comparison:
    """Compare the variance of chains with either noise; the target has variance 1."""
    form = "variance {:.2f}"
    return Comparison(
        Reading("the target", 1.0, form),
        Reading("chains with noise √η", stationary_variance(1.0), form),
        (Reading("chains with noise √(2η)", stationary_variance(2.0), form),),
    )


ERRATA = (
    Erratum(
        id="sgld-temperature",
        title="Langevin noise with half the variance",
        source=B16,
        place="Section 2.4.2, equations 11 and 12",
        status=Status.ERROR,
        quote="This technique is called Stochastic Gradient Langevin Dynamics (SGLD). In our"
        " context, this would mean replacing (2) and (3) by",
        statement="A gradient step of length η has noise of standard deviation √η.",
        holds="A full step of length η needs noise √(2η), or noise √η needs half a step. With the"
        " sign of equation 5 corrected and the gradient of the whole functional (equation 1), the"
        " chain samples the posterior at temperature one half: its variance is half of what it"
        " should be. The paper describes SGLD but does not use it: its own method differs (section"
        " 4.3).",
        section="Temperature of the chain",
        means=temperature,
        stored_figures=("variance 1.00", "variance 0.51"),
        settings="20,000 chains of 500 steps of length .02 towards a normal distribution of"
        " variance 1.",
    ),
)
