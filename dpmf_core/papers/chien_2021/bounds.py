"""Bounds of Chien et al. 2021: Theorem 2 as printed, with its logarithms.

n users, m items. mu is the incoherence of the matrix, kappa its condition number, r its rank, p the
share of entries that are observed. Logarithms are natural. Universal constants are left out.
"""

import math
from dataclasses import replace

from dpmf_core.papers.figures import texts
from dpmf_core.papers.shared_methods import DPALS
from dpmf_core.papers.theory import PLACES, Bound, Place, bound_claims


def gamma(at: Place) -> float:
    """gamma = kappa^6 mu^3 r^2 sqrt(m) log^2(kappa n) for kappa = mu = r = 1."""
    return math.sqrt(at.items) * math.log(at.users) ** 2


def frobenius(at: Place) -> float:
    """Theorem 2's bound on the relative Frobenius error for kappa = mu = r = 1.

    It is sqrt(m) log(1/delta) / (eps n) times kappa gamma / sqrt(p).
    """
    noise = math.sqrt(at.items) * math.log(1 / at.delta) / (at.epsilon * at.users)
    return noise * gamma(at) / math.sqrt(at.share)


def least_share(at: Place, rank: int = 1) -> float:
    """The share of entries that Theorem 2 requires: mu^6 kappa^12 r^6 log^3 n / m."""
    return rank**6 * math.log(at.users) ** 3 / at.items


def noise_of_a_step(at: Place, steps: int) -> float:
    """alpha, by which Lemma 4 lets Err(V*, V) grow in a step, for rank 1."""
    logs = math.log(at.users) * math.sqrt(at.items)
    return (
        logs
        * steps
        * math.log(1 / at.delta)
        / (math.sqrt(at.share) * at.users * at.epsilon)
    )


FROBENIUS = Bound(**texts(__package__)["bounds"][0], error=frobenius)
BOUNDS = (FROBENIUS,)


def out_of_reach() -> str:
    """Why the paper's own synthetic data, of rank 5, are outside the theorem."""
    at = replace(PLACES["users"], users=5_000)
    share = least_share(at, rank=5)
    return (
        "Theorem 2 asks for a share p of observed entries of at least μ⁶κ¹²r⁶ log³n / m. For r = 5,"
        f" m = {at.items:,.0f} and n = {at.users:,.0f} that is {share:,.0f} even with μ = κ = 1,"
        " and a share is at most 1: no data of these sizes meet it. The theorem also asks for"
        " ε < ln(1/δ) = 11.5. At rank 1 its conditions are met by “Theorem 2 where its conditions"
        " hold”."
    )


CLAIMS = bound_claims(
    FROBENIUS,
    DPALS,
    lambda axis, _: (3, 6) if axis == "items" else (),
    words=(
        "DPALS is ours, with a ridge after the projection, ridges of their own for items and users,"
        " a random start, and noise for the exact ε."
    ),
    limits=out_of_reach(),
)
