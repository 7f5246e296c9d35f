"""Corrections of Balu & Furon 2016, matrix factorisation in a count sketch."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.algorithms.base import Streams
from dpmf_core.evaluation.audit.membership_inference import AuditSpec
from dpmf_core.papers.erratum import Attack, Comparison, Means, Reading, nominal
from dpmf_core.runs.data_access import open_ratings
from dpmf_core.runs.specification import DataSpec

THRESHOLD = 2.0
RANK, RATE, STEPS = 8, 0.05, 20
CHAIN_RATE, CHAIN_STEPS, CHAINS = 0.02, 500, 20_000
Array = npt.NDArray[Any]


def gradient_sign() -> Comparison:
    """Compare the error of one rating after steps along and against the loss's gradient."""
    against, along = _error_after(-1.0), _error_after(1.0)
    form = "error {:.2f}"
    return Comparison(
        Reading("before the first step", _error_after(0.0), form),
        Reading("after 20 steps as printed", along, form),
        (Reading("after 20 steps against the gradient", against, form),),
    )


def _error_after(sign: float) -> float:
    """Return |r - p . q| of a rating 1 above the mean after STEPS of `sign` times the gradient."""
    p, q = np.full(RANK, 0.1), np.full(RANK, 0.2)
    for _ in range(STEPS):
        error = 1.0 - float(p @ q)
        p, q = p - sign * RATE * error * q, q - sign * RATE * error * p
    return abs(1.0 - float(p @ q))


def thresholds() -> Comparison:
    """Compare the shares of ratings that either rule skips at the same threshold."""
    residuals = _residuals()
    share = "{:.1%} of ratings"
    half, whole = (float(np.mean(loss > THRESHOLD)) for loss in (residuals**2 / 2, residuals**2))
    return Comparison(
        Reading("passed over by section 3.2, half the square", half, share),
        Reading("passed over by section 4.3, the whole square", whole, share),
        (
            Reading("largest error that counts, section 3.2", math.sqrt(2 * THRESHOLD), "{:.2f}"),
            Reading("largest error that counts, section 4.3", math.sqrt(THRESHOLD), "{:.2f}"),
        ),
    )


def _residuals() -> Array:
    """Return the small simulated cinema minus global, item and user means, as in the source."""
    ratings = open_ratings(DataSpec(id="cinema-small"))
    residuals: Array = ratings.values.astype(np.float64) - ratings.values.mean(dtype=np.float64)
    for of, size in ((ratings.items, ratings.n_items), (ratings.users, ratings.n_users)):
        means = np.bincount(of, residuals, size) / np.maximum(np.bincount(of, minlength=size), 1)
        residuals = residuals - means[of]
    return residuals


def stationary_variance(noise: float) -> float:
    """Return the variance of chains with target N(0, 1).

    Each takes full gradient steps of length CHAIN_RATE with noise of variance noise * CHAIN_RATE.
    """
    rng = Streams(np.random.default_rng(2015), 0)
    state = np.zeros(CHAINS)
    for _ in range(CHAIN_STEPS):
        state = (
            state
            - CHAIN_RATE * state
            + math.sqrt(noise * CHAIN_RATE) * rng.init.standard_normal(CHAINS)
        )
    return float(state.var())


def temperature() -> Comparison:
    """Compare the variance of chains with either noise; the target has variance 1."""
    form = "variance {:.2f}"
    return Comparison(
        Reading("the target", 1.0, form),
        Reading("chains with noise √η", stationary_variance(1.0), form),
        (Reading("chains with noise √(2η)", stationary_variance(2.0), form),),
    )


MEANS: dict[str, Means] = {
    "balu-gradient": gradient_sign,
    "balu-thresholds": thresholds,
    "balu-distribution": Attack(
        AuditSpec(
            algorithm="sketch", runs=400, parameters={"threshold": THRESHOLD, "loss": "whole"}
        ),
        nominal(THRESHOLD),
    ),
    "sgld-temperature": temperature,
}
