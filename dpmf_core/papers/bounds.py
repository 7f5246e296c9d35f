"""Published error bounds: how an error may grow with users, items and epsilon.

Every statement leaves its constant, logarithms, the rank and the condition number open: a bound
says how the error changes along an axis, never how large it is. n users, m items in all of them;
Jain et al. write m for users and n for items.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from dpmf_core.errors import BadInput
from dpmf_core.registry import by_id

Axis = Literal["users", "items", "epsilon"]
SUMMARY = "Chien et al. 2021, authors' summary"  # research.google, an earlier version
SUMMARY_TITLE = (
    "Private Alternating Least Squares: (Nearly) Optimal Privacy/Utility Trade-off for Matrix"
    " Completion"
)
TABLES = "Jain et al. 2018, comparison tables, as printed in Thakkar 2019, Tables 3.1 and 3.2"


@dataclass(frozen=True)
class Place:
    """Where a bound is asked: numbers of users and items, and epsilon. Raises BadInput unless all
    are positive.
    """

    users: float = 20_000
    items: float = 1_000
    epsilon: float = 10.0

    def __post_init__(self) -> None:
        if wrong := [name for name, value in vars(self).items() if not 0 < value < math.inf]:
            raise BadInput(
                f"A bound needs positive users, items and epsilon; '{wrong[0]}' is"
                f" {getattr(self, wrong[0])}."
            )

    def with_value(self, axis: Axis, value: float) -> "Place":
        """The same with one number changed."""
        return replace(self, **{axis: value})


@dataclass(frozen=True, kw_only=True)
class Bound:
    """One published bound.

    algorithm: its id in the registry; empty: it is not run here.
    statement: what is printed, in our words. formula: as LaTeX, n users and m items.
    error: the bound without its constant.
    exponents: the powers of the axes in it; an axis that the statement does not name is missing.
    users: how many users suffice for an error, without the constant; None: not printed.
    ratings: how many ratings of each user it asks for, without the constant.
    needs: when it is valid. unit: of which error it speaks.
    """

    id: str
    title: str
    algorithm: str = ""
    source: str
    statement: str
    formula: str
    error: Callable[[Place], float]
    exponents: Mapping[Axis, float] = field(default_factory=lambda: MappingProxyType({}))
    users: Callable[[float, Place], float] | None = None
    ratings: Callable[[Place], float] | None = None
    needs: str = ""
    unit: str = "error relative to the matrix, in Frobenius norm"

    def constant(self, error: float, place: Place) -> float:
        """The constant that puts the bound on one measured error."""
        return error / self.error(place)


def crossing(
    first: Bound, second: Bound, constants: tuple[float, float], place: Place, axis: Axis
) -> float | None:
    """Where on an axis two bounds, each times its constant, are equal; beyond it the first is the
    smaller one if its exponent is. None where their exponents are equal.
    """
    gap = second.exponents[axis] - first.exponents[axis]
    if gap == 0:
        return None
    start = place.with_value(axis, 1.0)
    ratio = constants[0] * first.error(start) / (constants[1] * second.error(start))
    return float(ratio ** (1 / gap))


BOUNDS: dict[str, Bound] = by_id(
    (
        Bound(
            id="dpals",
            title="DPALS (as printed)",
            algorithm="dpals",
            source=SUMMARY,
            statement=(
                "n of the order m / (√ζ ε) users suffice for a relative Frobenius error ζ, with"
                " about log(n + m) ratings each; rank and condition number are left out"
            ),
            formula=r"\zeta = C \left(\frac{m}{n\,\epsilon}\right)^2",
            error=lambda at: (at.items / (at.users * at.epsilon)) ** 2,
            exponents={"users": -2.0, "items": 2.0, "epsilon": -2.0},
            users=lambda zeta, at: at.items / (math.sqrt(zeta) * at.epsilon),
            ratings=lambda at: math.log(at.users + at.items),
            needs="about log(n + m) ratings of each user; a matrix of low rank, seen at random",
        ),
        Bound(
            id="dpals-squared",
            title="DPALS (ζ read as a squared error)",
            algorithm="dpals",
            source=f"our reading of {SUMMARY}",
            statement=(
                "the same sentence with ζ as the squared relative error: n of the order m / (ζ ε)"
                " users for a relative error ζ"
            ),
            formula=r"\zeta = C\,\frac{m}{n\,\epsilon}",
            error=lambda at: at.items / (at.users * at.epsilon),
            exponents={"users": -1.0, "items": 1.0, "epsilon": -1.0},
            users=lambda zeta, at: at.items / (zeta * at.epsilon),
            ratings=lambda at: math.log(at.users + at.items),
            needs="about log(n + m) ratings of each user; a matrix of low rank, seen at random",
        ),
        Bound(
            id="dpfw",
            title="DPFW",
            algorithm="dpfw",
            source="Jain et al. 2018, abstract",  # ζ and ε as restated in SUMMARY
            statement=(
                "n of the order m^(5/4) / (ζ^5 ε) users suffice for a relative Frobenius error ζ,"
                " with at least √m ratings each"
            ),
            formula=r"\zeta = C \left(\frac{m^{5/4}}{n\,\epsilon}\right)^{1/5}",
            error=lambda at: (at.items**1.25 / (at.users * at.epsilon)) ** 0.2,
            exponents={"users": -0.2, "items": 0.25, "epsilon": -0.2},
            users=lambda zeta, at: at.items**1.25 / (zeta**5 * at.epsilon),
            ratings=lambda at: math.sqrt(at.items),
            needs="at least √m ratings of each user; a nuclear norm of the order √(n m)",
        ),
    )
)


@dataclass(frozen=True)
class Row:
    """One line of a printed comparison: for o(1) generalisation error it takes more than `users`
    users and `ratings` observed ratings; or its error in Frobenius norm. Orders, without privacy
    parameters and logarithms. None: the table has a dash.
    """

    method: str
    users: Callable[[Place], float] | None = None
    ratings: Callable[[Place], float] | None = None
    error: Callable[[Place], float] | None = None
    note: str = ""


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
