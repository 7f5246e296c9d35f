"""Errata about stochastic gradient Langevin dynamics: Liu, Wang & Smola 2015, and its use in Balu &
Furon 2016.
"""

import math

import numpy as np

from dpmf_core.algorithms.base import Streams
from dpmf_core.algorithms.sgld import SGLD
from dpmf_core.data.ratings import Shape
from dpmf_core.papers.errata.erratum import Comparison, Effect, Erratum, Reading

L15, B16 = "Liu, Wang & Smola 2015", "Balu & Furon 2016"
RATE, STEPS, CHAINS = 0.02, 500, 20_000
SHAPE = Shape(6040, 400, (1.0, 5.0))  # MovieLens 1M, its 400 most rated films


def stationary_variance(noise: float) -> float:
    """Of chains with target N(0, 1): whole gradient steps of length RATE, and noise of variance
    noise * RATE.
    """
    rng = Streams(np.random.default_rng(2015), 0)
    state = np.zeros(CHAINS)
    for _ in range(STEPS):
        state = state - RATE * state + math.sqrt(noise * RATE) * rng.init.standard_normal(CHAINS)
    return float(state.var())


def temperature() -> Comparison:
    """The variance of chains whose target has variance 1, with either noise."""
    form = "variance {:.2f}"
    return Comparison(
        Reading("the target", 1.0, form),
        Reading("chains with noise √η", stationary_variance(1.0), form),
        (Reading("chains with noise √(2η)", stationary_variance(2.0), form),),
    )


def convergence() -> Comparison:
    """The variance of an item that nobody rated, after the steps that are affordable."""
    parameters = {"reading": "posterior-sample"}
    chain = SGLD(**(parameters | SGLD.recommend(SHAPE, None, parameters)))
    one, five, twenty = (chain.prior_variance(SHAPE, 1 / epsilon) for epsilon in (1.0, 5.0, 20.0))
    form = "variance {:.2f}"
    return Comparison(
        Reading("the posterior", 1 / chain.prior_precision, form),
        Reading("after 150 steps at ε = 20", twenty, form),
        (
            Reading("after 150 steps at ε = 5", five, form),
            Reading("after 150 steps at ε = 1", one, form),
        ),
    )


ERRATA = (
    Erratum(
        id="sgld-temperature",
        title="Langevin noise of half the variance",
        source=B16,
        place="Equations 11 and 12",
        effect=Effect.MISPRINT,
        statement="A gradient step of length η comes with noise of deviation √η.",
        holds="A whole step of length η needs √(2η), or noise √η half a step. As printed the chain"
        " samples the posterior at temperature one half: its variance is half of what it should"
        " be.",
        section="Temperature of the chain",
        means=temperature,
        stored_figures=("variance 1.00", "variance 0.51"),
        settings="20,000 chains of 500 steps of length .02 towards a normal distribution of"
        " variance 1.",
    ),
    Erratum(
        id="sgld-convergence",
        title="A sample is private if the chain has converged",
        source=L15,
        place="Posterior sampling, SGLD",
        effect=Effect.UNPROVEN,
        statement="One sample of a posterior with bounded likelihood is private; SGLD draws it.",
        holds="The first half is right. A chain gives such a sample once it has converged, which is"
        " assumed. An item that nobody rated must keep the variance of its prior, and after an"
        " affordable number of steps it has another. Accounting every step needs no such"
        " assumption.",
        section="Convergence of the chain",
        means=convergence,
        settings="6,040 users and 400 items, 150 steps, prior variance .25, start variance .09."
        " The variance follows from the steps in closed form.",
    ),
)
