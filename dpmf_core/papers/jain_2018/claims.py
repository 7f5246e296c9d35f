"""Jain, Thakkar & Thakurta 2018, "Differentially Private Matrix Completion Revisited": its figures
as claims.
"""

from dataclasses import dataclass

from dpmf_core.data.splits import SplitSpec
from dpmf_core.papers.clauses import Clause, Mean, MissingResult, Results, between, less
from dpmf_core.papers.figures import Claim, first_present
from dpmf_core.papers.methods import DPFW, DPFW_THEIRS, MEAN, SVD
from dpmf_core.papers.source_noise import jain
from dpmf_core.privacy.accounting import epsilon as exact_epsilon
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.specification import DataSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

J18 = "Jain et al. 2018"
DELTA = 1e-6
RATINGS_PER_USER = 80
EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
JUDGED_EPSILONS = (1.0, 10.0)
DRAWS = 10  # of which the source gives the mean
STAND_INS = ("ml-1m", "cinema")

CLEANSING, PGD, OJA = (
    Method(algorithm="svd-cleansing", label="SVD after cleansing", parameters={"row_clip": 0.5}),
    Method(algorithm="private-pgd", label="Private PGD"),
    Method(
        algorithm="dpfw-oja",
        label="DPFW with Oja",
        parameters={"product_clip": 1.0, "user_step": "steps"},
    ),
)
# u and v uniform in [-1, 1]: the nuclear norm |u| |v| is a third of √(n m)
TRUE_NORM: dict[str, Value] = {"nuclear_norm": 1 / 3}


def _sweep(
    data: DataSpec,
    methods: tuple[Method, ...],
    draws: int,
    epsilons: tuple[float, ...] = JUDGED_EPSILONS,
) -> tuple[Sweep, ...]:
    return (
        Sweep(
            data=data,
            split=SplitSpec(test_fraction=0.01),
            methods=methods,
            epsilons=epsilons,
            seeds=tuple(range(draws)),
            delta=DELTA,
        ),
    )


def _frank_wolfe(full: bool) -> Method:
    """400 steps as in the source; fewer on a page."""
    steps: dict[str, Value] = {"steps": 400 if full else 30}
    return Method(algorithm="fw", label="Frank-Wolfe", parameters=steps)


@dataclass(frozen=True)
class RealRatings:
    """The data of a panel: ids of the source's set, and how many of its most rated items."""

    ids: tuple[str, ...]
    top: int
    capped: bool = True

    def __call__(self, full: bool) -> tuple[Sweep, ...]:
        name = first_present(*(self.ids if full else ()), *STAND_INS)
        data = DataSpec(
            id=name,
            top_items=None if name in ("cinema", "jester") else self.top,
            most_per_user=RATINGS_PER_USER if self.capped else None,
        )
        methods = DPFW_THEIRS, DPFW, CLEANSING, PGD, _frank_wolfe(full), MEAN
        if full:
            return _sweep(data, methods, DRAWS, EPSILONS)
        return _sweep(data, methods, draws=1 if self.top > 400 else 2)


@dataclass(frozen=True)
class RankOne:
    """Simulated data of a panel: 500,000 users, or 20,000 on a page. One draw, at the epsilons that
    are judged: at full size it tests 400,000 ratings, and all of the source's would take 320
    trainings on 40 million.
    """

    id: str

    def __call__(self, full: bool) -> tuple[Sweep, ...]:
        data = DataSpec(id=self.id if full else f"{self.id}-20k", most_per_user=RATINGS_PER_USER)
        on_ball = tuple(
            method.model_copy(update={"parameters": {**TRUE_NORM, **method.parameters}})
            for method in (DPFW_THEIRS, DPFW, PGD, *([_frank_wolfe(full)] if full else []))
        )
        return _sweep(data, (*on_ball, CLEANSING, SVD, MEAN), draws=1)


def _with_oja(full: bool) -> tuple[Sweep, ...]:
    name = first_present(*(("ml-10m",) if full else ()), *STAND_INS)
    data = DataSpec(
        id=name,
        top_items=None if name == "cinema" else 400,
        most_per_user=RATINGS_PER_USER,
    )
    methods = DPFW, OJA, MEAN
    return _sweep(data, methods, DRAWS, EPSILONS) if full else _sweep(data, methods, draws=2)


BEST = tuple(
    less(
        Mean("DPFW", epsilon),
        Mean(other, epsilon),
        f"private Frank-Wolfe errs less than {name} at ε = {budget_text(epsilon)}",
    )
    for other, name in (
        ("SVD after cleansing", "SVD after cleansing"),
        ("Private PGD", "private projected gradient"),
    )
    for epsilon in JUDGED_EPSILONS
)


def _least(results: Results, epsilon: float) -> str:
    """Who errs least among those that are exactly accounted."""
    labels = {it.label for it in results if it.epsilon == epsilon} - {DPFW_THEIRS.label}
    if not labels:
        raise MissingResult(f"nothing at {epsilon:g}")
    best = min(labels, key=lambda label: Mean(label, epsilon)(results))
    return f"{best} {Mean(best, epsilon)(results):.4f} at ε = {budget_text(epsilon)}"


def by_its_own_rule(results: Results) -> str:
    """Who is best, and what private Frank-Wolfe has with the noise and the slack of its source;
    '' where it was not measured.
    """
    try:
        least = " and ".join(_least(results, epsilon) for epsilon in JUDGED_EPSILONS)
        errors = [Mean(DPFW_THEIRS.label, epsilon)(results) for epsilon in JUDGED_EPSILONS]
    except MissingResult:
        return ""
    costs = [exact_epsilon(jain(epsilon, DELTA).event, DELTA) for epsilon in JUDGED_EPSILONS]
    return (
        f"Exactly accounted, the least error in private is {least}. With its source's noise and"
        f" slack private Frank-Wolfe has {errors[0]:.4f} and {errors[1]:.4f}, at an exact ε of"
        f" {costs[0]:.3f} and {costs[1]:.2f}."
    )


def of_one_draw(results: Results) -> str:
    """The same, with how many draws these results are of."""
    words = "These are errors of one draw, the source's means of ten."
    return f"{by_its_own_rule(results)} {words}".strip()


def _no_worse(epsilon: float) -> Clause:
    def ratio(results: Results) -> float:
        return Mean("DPFW with Oja", epsilon)(results) / Mean("DPFW", epsilon)(results)

    return between(
        f"Oja's products cost private Frank-Wolfe no more than 1% at ε = {budget_text(epsilon)}",
        ratio,
        -float("inf"),
        1.01,
        "error with Oja over error with the covariance",
    )


def _panel(
    place: str, title: str, source_data: str, sweeps: RealRatings | RankOne, ids: tuple[str, ...]
) -> Claim:
    number, letter = place[0], place[1:]
    return Claim(
        id=f"jain-fig{place}",
        title=title,
        source=f"{J18}, Fig. {number}{letter}",
        words=(
            "Private Frank-Wolfe against SVD after cleansing and private projected gradient, 1% of"
            " the ratings held out."
        ),
        sweeps=sweeps,
        clauses=BEST,
        remark=of_one_draw if isinstance(sweeps, RankOne) else by_its_own_rule,
        source_data=source_data,
        source_ids=ids,
    )


def _real_claim(
    place: str, title: str, source_data: str, ids: tuple[str, ...], top: int, capped: bool = True
) -> Claim:
    return _panel(place, title, source_data, RealRatings(ids, top, capped), ids)


def _simulated_claim(place: str, title: str, items: int, id: str) -> Claim:  # noqa: A002
    source_data = f"a simulated matrix of rank one, 500,000 users and {items} items"
    return _panel(place, title, source_data, RankOne(id), (id,))


def _films(top: int, of: str) -> str:
    return f"the {top} most rated items of {of}"


CLAIMS = (
    _simulated_claim("2a", "Rank one, 400 items", 400, "rankone"),
    _real_claim("2b", "Jester", "Jester (100 jokes)", ("jester",), 100, capped=False),
    _real_claim("2c", "MovieLens 10M, 400 films", _films(400, "MovieLens 10M"), ("ml-10m",), 400),
    _real_claim("2d", "Netflix, 400 films", _films(400, "Netflix"), ("netflix",), 400),
    _real_claim("2e", "Yahoo! Music, 400 items", _films(400, "Yahoo! Music"), (), 400),
    _simulated_claim("3a", "Rank one, 900 items", 900, "rankone-900"),
    _real_claim("3b", "MovieLens 10M, 900 films", _films(900, "MovieLens 10M"), ("ml-10m",), 900),
    _real_claim("3c", "Netflix, 900 films", _films(900, "Netflix"), ("netflix",), 900),
    _real_claim("3d", "Yahoo! Music, 900 items", _films(900, "Yahoo! Music"), (), 900),
    Claim(
        id="jain-oja",
        title="Frank-Wolfe by Oja's products",
        source=f"{J18}, Alg. 2",
        words="Noisy products with one vector in place of a noisy covariance.",
        sweeps=_with_oja,
        clauses=tuple(_no_worse(epsilon) for epsilon in JUDGED_EPSILONS),
        source_data=_films(400, "MovieLens 10M"),
        source_ids=("ml-10m",),
    ),
)
