"""Bounds of Jain, Thakkar & Thakurta 2018, and its tables of comparison.

n users, m items; the paper writes m for users and n for items.
"""

import math

from dpmf_core.papers.bounds import Bound, Place, PrintedTable, Row
from dpmf_core.papers.methods import DPFW
from dpmf_core.papers.theory_claims import bound_claims

TABLES = "Jain et al. 2018, comparison tables, as printed in Thakkar 2019, Tables 3.1 and 3.2"
STEPS = 5

DPFW_BOUND = Bound(
    id="dpfw",
    title="DPFW",
    algorithm="dpfw",
    source="Jain et al. 2018, abstract",
    statement=(
        "n of the order m^(5/4) / (ζ^5 ε) users suffice for a relative Frobenius error ζ,"
        " with at least √m ratings each"
    ),
    formula=r"\zeta = C \left(\frac{m^{5/4}}{n\,\epsilon}\right)^{1/5}",
    error=lambda at: (at.items**1.25 / (at.users * at.epsilon)) ** 0.2,
    users=lambda zeta, at: at.items**1.25 / (zeta**5 * at.epsilon),
    ratings=lambda at: math.sqrt(at.items),
    needs="at least √m ratings of each user; a nuclear norm of the order √(n m)",
)
BOUNDS = (DPFW_BOUND,)


SAMPLE_COMPLEXITY = (
    Row(
        "Nuclear norm minimisation, not private (Shalev-Shwartz et al. 2011)",
        users=lambda at: at.items,
        ratings=lambda at: at.users * math.sqrt(at.items),
        note="n above m; above n √m ratings",
    ),
    Row("Noisy SVD + kNN (McSherry & Mironov 2009)", note="none is known"),
    Row("Noisy SGLD (Liu et al. 2015)", note="none is known"),
    Row(
        "Private Frank-Wolfe (Jain et al. 2018)",
        users=lambda at: at.items**1.25,
        ratings=lambda at: at.users * math.sqrt(at.items),
        note="n above m^(5/4); above n √m ratings",
    ),
)
LOW_RANK = (
    Row(
        "Randomised response (Blum et al. 2005; Chan et al. 2011; Dwork et al. 2014)",
        error=lambda at: math.sqrt(at.users + at.items),
        note="√(n + m)",
    ),
    Row(
        "Exponential mechanism (Kapralov & Talwar 2013)",
        error=lambda at: at.users + at.items,
        note="n + m",
    ),
    Row(
        "Private Frank-Wolfe (Jain et al. 2018)",
        error=lambda at: at.users**0.3 * at.items**0.1,
        note="n^(3/10) m^(1/10)",
    ),
)
PRINTED_TABLES = (
    PrintedTable(
        title="What o(1) generalisation error takes",
        place="Table 1 (sample complexity)",
        rows=SAMPLE_COMPLEXITY,
    ),
    PrintedTable(
        title="Frobenius error of a low-rank approximation of a fully observed matrix",
        place="Table 2 (low-rank approximation)",
        rows=LOW_RANK,
    ),
)


def output_rank(place: Place) -> float:
    """The order of the rank of Private Frank-Wolfe's output in the second table, and so of its
    number of steps: each adds one.
    """
    return float(place.users**0.4 / place.items**0.2)


def frank_wolfe_floor(steps: int) -> float:
    """The relative error below which Frank-Wolfe with steps of 1/T cannot come on a matrix of equal
    singular values, where the ball's radius is its nuclear norm.

    From 0 the iterate's nuclear norm grows as x <- (1 - 1/T) x + 1/T, to 1 - (1 - 1/T)^T of the
    radius; by Hoelder's inequality the rest is missing in Frobenius norm too.
    """
    return (1 - 1 / steps) ** steps


STALL = (
    f"Measured with T = {STEPS} steps of the source's size 1/T: they cannot bring the error below"
    f" {frank_wolfe_floor(STEPS):.2f} even without noise, for the iterate never fills the ball. The"
    " bound lets T grow with n."
)
CLAIMS = bound_claims(DPFW_BOUND, DPFW, (STEPS,), remark=lambda results: STALL)
