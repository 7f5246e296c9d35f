"""Bounds of Jain, Thakkar & Thakurta 2018.

n users, m items; the paper writes m for users and n for items. Corollary 3.1 is the sum of Theorem
3.2's error and of Theorem D.6's, sqrt(T (n + m) / |Omega|), at the number of steps T that balances
both without noise. tests/papers/test_jain.py balances them again.
"""

import math

from dpmf_core.papers.clauses import Results
from dpmf_core.papers.figures import texts
from dpmf_core.papers.shared_methods import LOWRANK_ROW, dpfw_as_printed
from dpmf_core.papers.theory import PLACES, Axis, Bound, Place, bound_claims, place_at
from dpmf_core.runs.specification import DataSpec

# The simulated low-rank set has entries within 5, of standard deviation 1. For entries within 1:
# the nuclear norm over √(n m), and a row's norm over √(its ratings).
NUCLEAR_NORM = math.sqrt(5) / 5
ENTRY = 1 / 5


def corollary_steps(at: Place) -> float:
    """The number of steps T of Corollary 3.1: k^(4/3) / (|Omega| (n + m))^(1/3).

    k is the nuclear norm and |Omega| the number of ratings; logarithms and the constant are open.
    """
    k = NUCLEAR_NORM * math.sqrt(at.users * at.items)
    return float(k ** (4 / 3) / (_ratings(at) * (at.users + at.items)) ** (1 / 3))


def corollary_terms(at: Place) -> tuple[float, float]:
    """The two terms of Corollary 3.1's mean squared error: from noise, and from missing entries."""
    k = NUCLEAR_NORM * math.sqrt(at.users * at.items)
    row_norm = ENTRY * math.sqrt(at.share * at.items)
    size = at.users + at.items
    ratings = _ratings(at)
    noise = k ** (4 / 3) * row_norm * at.items**0.25
    noise /= math.sqrt(at.epsilon * ratings ** (13 / 6) * size ** (1 / 6))
    return noise, float((k * math.sqrt(size) / ratings) ** (2 / 3))


def _ratings(at: Place) -> float:
    return at.share * at.users * at.items


def generalisation_error(at: Place) -> float:
    """The root of Corollary 3.1's mean squared error, without its constant.

    It hides logarithms in n and m; here one stands for them, as in Theorem D.6.
    """
    return math.sqrt(math.log(at.users + at.items) * sum(corollary_terms(at)))


DPFW_BOUND = Bound(**texts(__package__)["bounds"][0], error=generalisation_error)
BOUNDS = (DPFW_BOUND,)


def frank_wolfe_floor(steps: int) -> float:
    """The smallest relative error of Frank-Wolfe with steps of 1/T.

    The matrix has equal singular values, and the ball's radius is its nuclear norm. From 0 the
    iterate's nuclear norm grows as x <- (1 - 1/T) x + 1/T, to 1 - (1 - 1/T)^T of the radius. By
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
    """The corollary's number of steps, which changes only along items."""
    if axis == "items":
        at = data.top_items
    else:
        at = getattr(PLACES[axis], axis)
    return (max(1, round(corollary_steps(place_at(axis, at or PLACES[axis].items)))),)


CLAIMS = bound_claims(
    DPFW_BOUND,
    dpfw_as_printed(LOWRANK_ROW),
    _steps,
    remark=_stall,
    words=(
        "DPFW is Algorithm 1 with L = 38.3, the norm of the longest row, and β = 0.01; it takes one"
        " direction more."
    ),
    left_open=(
        "The corollary leaves out its constant. Where DPFW is no better than predicting 0, a bound"
        " above that error is contradicted by nothing."
    ),
)
