"""Corrections of Balu & Furon 2016, matrix factorisation in a count sketch."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.algorithms.base import Streams
from dpmf_core.evaluation.audit.membership_inference import AuditSpec
from dpmf_core.papers.balu_2016 import printed
from dpmf_core.papers.erratum import Attack, Means, Values
from dpmf_core.runs.data_access import open_ratings
from dpmf_core.runs.specification import DataSpec

THRESHOLD = 2.0
RANK, RATE, STEPS = 8, 0.05, 20
CHAIN_RATE, CHAIN_STEPS, CHAINS = 0.02, 500, 20_000
Array = npt.NDArray[Any]


def gradient_sign() -> Values:
    """Compare the error of one rating after steps as in equation 5, and by equation 4."""
    return _error_after(0, -1), _error_after(STEPS, 1), _error_after(STEPS, -1)


def _error_after(steps: int, sign: printed.Sign) -> float:
    """Return |r - p q| of a rating 1 above the mean."""
    P, Q = np.full((1, RANK), 0.1), np.full((1, RANK), 0.2)
    for _ in range(steps):
        printed.factorise([(0, 0, 1.0)], P, Q, eta=RATE, lambda_=0.0, sign=sign)
    return abs(1.0 - float(P[0] @ Q[0]))


def thresholds() -> Values:
    """Compare the shares of ratings that either rule skips at the same threshold.

    Also the largest errors that count.
    """
    residuals = _residuals()
    half, whole = (float(np.mean(loss > THRESHOLD)) for loss in (residuals**2 / 2, residuals**2))
    return half, whole, math.sqrt(2 * THRESHOLD), math.sqrt(THRESHOLD)


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


def temperature() -> Values:
    """Compare the variance of chains with either noise; the target has variance 1."""
    return 1.0, stationary_variance(1.0), stationary_variance(2.0)


MEANS: dict[str, Means] = {
    "balu-gradient": gradient_sign,
    "balu-thresholds": thresholds,
    "balu-distribution": Attack(
        AuditSpec(
            algorithm="sketch", runs=400, parameters={"threshold": THRESHOLD, "loss": "whole"}
        ),
        THRESHOLD,
    ),
    "sgld-temperature": temperature,
}
