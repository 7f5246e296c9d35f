"""Bounds of Jain, Thakkar & Thakurta 2018, and its tables of comparison.

n users, m items; the paper writes m for users and n for items. Corollary 3.1 is the sum of Theorem
3.2's error and of Theorem D.6's, sqrt(T (n + m) / |Omega|), at the number of steps T that balances
both without noise. tests/papers/test_jain.py balances them again.
"""

import math

from dpmf_core.papers.bounds import Axis, Bound, Place, PrintedTable
from dpmf_core.papers.clauses import Results
from dpmf_core.papers.methods import DPFW
from dpmf_core.papers.theory import PLACES, bound_claims, place_at
from dpmf_core.runs.specification import DataSpec

J18 = "Jain et al. 2018"
# of the simulated low-rank set, whose entries have standard deviation 1 and are within 5: the
# nuclear norm over √(n m), and a row's norm over √(its ratings), as entries within 1 have them
NUCLEAR_NORM = math.sqrt(5) / 5
ENTRY = 1 / 5


def corollary_steps(at: Place) -> float:
    """Return the number of steps T of Corollary 3.1: k^(4/3) / (|Omega| (n + m))^(1/3).

    k is the nuclear norm and |Omega| the number of ratings; logarithms and the constant are open.
    """
    k = NUCLEAR_NORM * math.sqrt(at.users * at.items)
    return float(k ** (4 / 3) / (_ratings(at) * (at.users + at.items)) ** (1 / 3))


def corollary_terms(at: Place) -> tuple[float, float]:
    """Return both terms of Corollary 3.1's mean squared error: of noise, and of missing entries."""
    k = NUCLEAR_NORM * math.sqrt(at.users * at.items)
    row_norm = ENTRY * math.sqrt(at.share * at.items)
    size, ratings = at.users + at.items, _ratings(at)
    noise = k ** (4 / 3) * row_norm * at.items**0.25
    noise /= math.sqrt(at.epsilon * ratings ** (13 / 6) * size ** (1 / 6))
    return noise, float((k * math.sqrt(size) / ratings) ** (2 / 3))


def _ratings(at: Place) -> float:
    return at.share * at.users * at.items


def generalisation_error(at: Place) -> float:
    """Return the root of Corollary 3.1's mean squared error, without its constant.

    It hides logarithms in n and m; here one stands for them, as in Theorem D.6.
    """
    return math.sqrt(math.log(at.users + at.items) * sum(corollary_terms(at)))


DPFW_BOUND = Bound(
    id="dpfw",
    title="DPFW",
    algorithm="dpfw",
    source=f"{J18}, Corollary 3.1",
    quote="If we choose the number of rounds in Algorithm 1 to be",
    statement=(
        "with T of the order k^(4/3) / (|Ω| (n + m))^(1/3) steps, k the nuclear norm and L the norm"
        " of a user's row, the mean squared error is the sum of a term of the noise and of a term"
        " of the ratings that are missing, up to logarithms"
    ),
    formula=(
        r"F(Y) = \tilde O\left(\frac{k^{4/3} L\, m^{1/4}}{\sqrt{\epsilon\, |\Omega|^{13/6}"
        r" (n+m)^{1/6}}} + \left(\frac{k \sqrt{n+m}}{|\Omega|}\right)^{2/3}\right)"
    ),
    error=generalisation_error,
    needs=(
        "entries seen uniformly at random and ε ≤ 2 ln(1/δ); by the abstract the estimate is"
        " consistent with more than m^(5/4) users and √m ratings of each"
    ),
)
BOUNDS = (DPFW_BOUND,)


# ---- tables --------------------------------------------------------------------------------------

FRANK_WOLFE, PRIVATE_SVD = "Private FW (Jain et al. 2018)", "Private SVD (Jain et al. 2018)"
SAMPLE_COMPLEXITY = {
    "Nuclear norm minimisation, not private (Shalev-Shwartz et al. 2011)": (
        "n above m; above n √m ratings"
    ),
    "Noisy SVD + kNN (McSherry & Mironov 2009)": "none is known",
    "Noisy SGLD (Liu et al. 2015)": "none is known",
    FRANK_WOLFE: "n above m^(5/4); above n √m ratings",
}
LOW_RANK = {
    "Randomised response (Blum et al. 2005; Chan et al. 2011; Dwork et al. 2014)": "√(n + m)",
    "Gaussian measurement (Hardt & Roth 2012)": "√n + √(μ m / n), at μ = 1",
    "Noisy power method (Hardt & Roth 2013)": "√μ, at μ = 1",
    "Exponential mechanism (Kapralov & Talwar 2013)": "n + m",
    FRANK_WOLFE: "n^(3/10) m^(1/10)",
    PRIVATE_SVD: "√μ times a root of two terms, which our copy does not show legibly",
}
# of a matrix of rank one with entries of order one. Frank-Wolfe's error is the first term of
# Corollary 3.1, because the second vanishes. The noise of private SVD [Theorem B.3] has spectral
# norm √m L², L² = √m, compared with the square n / √m · √m of the observed matrix' singular value;
# missing entries leave √m of its m.
RANK_ONE = {
    "Private Frank-Wolfe, excess risk on the ratings (Theorem 3.2, Remark 1)": "m^(1/2) / n^(2/5)",
    "Private Frank-Wolfe where every entry is seen (Theorem 3.2, Remark 2)": "m^(1/5) / n^(2/5)",
    "Private Frank-Wolfe, mean squared error (Corollary 3.1, Remark 3)": "m^(5/8) / n^(1/2)",
    "Private SVD, mean squared error, incoherent matrix (Theorem B.3, Remark 5)": (
        "m² / n² + 1 / √m"
    ),
}
TABLES = (
    PrintedTable(
        title="What o(1) generalisation error takes",
        place="section 1.2, Table 2",
        rows=SAMPLE_COMPLEXITY,
    ),
    PrintedTable(
        title="Frobenius error of a low-rank approximation of a fully observed matrix",
        place="section 1.2, Table 2",
        rows=LOW_RANK,
        note="A matrix of rank one whose rows have norm at most 1. The formulas are as printed in"
        " Thakkar 2019, Table 3.2.",
    ),
    PrintedTable(
        title="Errors on a matrix of rank one with √m ratings of each user",
        place="Remarks 1 to 3, 5 and 6",
        rows=RANK_ONE,
        note="Orders derived here from the theorems. Private SVD's is the smaller one below"
        " m^(9/4) users, private Frank-Wolfe's above.",
    ),
)


def frank_wolfe_floor(steps: int) -> float:
    """Return the smallest relative error of Frank-Wolfe with steps of 1/T.

    The matrix has equal singular values, and the ball's radius is its nuclear norm. From 0 the
    iterate's nuclear norm grows as x <- (1 - 1/T) x + 1/T, to 1 - (1 - 1/T)^T of the radius; by
    Hoelder's inequality the rest is also missing in Frobenius norm.
    """
    return (1 - 1 / steps) ** steps


# ---- claims --------------------------------------------------------------------------------------


def _stall(results: Results) -> str:
    return (
        "T is the corollary's with constant 1, and one logarithm stands for those that it hides. At"
        " these sizes its term of missing ratings is by far the larger one, so it hardly moves with"
        " n and ε. Steps of the source's size 1/T cannot bring the"
        f" error below {frank_wolfe_floor(6):.2f} on these matrices even without noise, for the"
        " iterate never fills the ball."
    )


def _steps(axis: Axis, data: DataSpec) -> tuple[int]:
    """Return the corollary's number of steps, which changes only along items."""
    at = data.top_items if axis == "items" else getattr(PLACES[axis], axis)
    return (max(1, round(corollary_steps(place_at(axis, at or PLACES[axis].items)))),)


CLAIMS = bound_claims(DPFW_BOUND, DPFW, _steps, remark=_stall)
