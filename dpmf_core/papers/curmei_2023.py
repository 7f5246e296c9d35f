"""Curmei, Krichene, Zhang & Sundararajan 2023, "Private Matrix Factorization with Public Item
Features": what its abstract states, as claims.

Its figures' numbers were not at hand, so none is marked.
"""

from dpmf_core.papers.clauses import Clause, Median, MissingResult, Results, line
from dpmf_core.papers.figures import Claim, first_present
from dpmf_core.papers.methods import DPALS, FRESH
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.sweep import Method, Sweep

C23 = "Curmei et al. 2023"
BENCHMARK = "a standard benchmark of private recommendation, which the abstract does not name"
WITH = Method(algorithm="dp-cmf", label="DP-CMF")
TWIN = Method(algorithm="cmf", label="CMF", parameters={"feature_weight": 0.1})
ALONE = Method(algorithm="als", label="ALS")
# the largest is features alone: ratings then say only how far to go along them
WEIGHTS = (0.1, 1.0, 10.0, 100.0, 10_000.0)
LIGHT, HEAVY = 0.1, 100.0


def _data(full: bool) -> DataSpec:
    name = first_present("ml-1m", "cinema") if full else first_present("ml-100k", "cinema-small")
    return DataSpec(id=name, item_features="public")


def _beside_dpals(full: bool) -> tuple[Sweep, ...]:
    return (
        Sweep(
            data=_data(full),
            methods=(WITH, DPALS, TWIN, ALONE),
            epsilons=(0.5, 1.0, 2.0, 5.0, 10.0, 20.0) if full else (1.0, 5.0, 20.0),
            seeds=FRESH[:5] if full else FRESH[:3],
        ),
    )


def _over_weights(full: bool) -> tuple[Sweep, ...]:
    return (
        Sweep(
            data=_data(full),
            methods=(WITH,),
            epsilons=(1.0, 5.0, 20.0),
            seeds=FRESH[:3],
            grid={"feature_weight": WEIGHTS},
        ),
    )


def _gap(results: Results, private: str, without: str, epsilon: float) -> float:
    return Median(private, epsilon)(results) - Median(without)(results)


def _narrows(epsilon: float) -> Clause:
    return Clause(
        f"public features narrow the gap to the non-private twin at ε = {budget_text(epsilon)}",
        lambda results: (
            _gap(results, "DPALS", "ALS", epsilon) - _gap(results, "DP-CMF", "CMF", epsilon)
        ),
        lambda results: (
            f"gap {_gap(results, 'DP-CMF', 'CMF', epsilon):.4f} with features,"
            f" {_gap(results, 'DPALS', 'ALS', epsilon):.4f} without"
        ),
    )


def _at(results: Results, epsilon: float) -> dict[float, float]:
    """The medians over the feature weight at one epsilon."""
    return line([it for it in results if it.epsilon == epsilon], "DP-CMF", "feature_weight")


def _help(results: Results, epsilon: float) -> float:
    """By how much heavy features err less than light ones."""
    values = _at(results, epsilon)
    if not {LIGHT, HEAVY} <= values.keys():
        raise MissingResult(f"light or heavy features were not measured at epsilon {epsilon:g}")
    return values[LIGHT] - values[HEAVY]


def _lead(results: Results, epsilon: float) -> float:
    """By how much the best weight errs less than features alone."""
    values = _at(results, epsilon)
    if WEIGHTS[-1] not in values:
        raise MissingResult(f"features alone were not measured at epsilon {epsilon:g}")
    return values[WEIGHTS[-1]] - min(values.values())


def _relies_more(strict: float, loose: float) -> Clause:
    return Clause(
        f"leaning on features helps more at ε = {budget_text(strict)} than at {loose:g}",
        lambda results: _help(results, strict) - _help(results, loose),
        lambda results: (
            f"weight {HEAVY:g} instead of {LIGHT:g} gains {_help(results, strict):.4f} at"
            f" {strict:g}, {_help(results, loose):.4f} at {loose:g}"
        ),
    )


def _moves_away(strict: float, loose: float) -> Clause:
    return Clause(
        f"it is closer to features alone at ε = {budget_text(strict)} than at {loose:g}",
        lambda results: _lead(results, loose) - _lead(results, strict),
        lambda results: (
            f"{_lead(results, strict):.4f} better than they at {strict:g},"
            f" {_lead(results, loose):.4f} at {loose:g}"
        ),
    )


CLAIMS = (
    Claim(
        id="curmei-gap",
        title="Public item features narrow the gap",
        source=f"{C23}, abstract",
        words="Private and non-private factorisation, each with a public item table and without.",
        sweeps=_beside_dpals,
        clauses=tuple(_narrows(epsilon) for epsilon in (1.0, 5.0, 20.0)),
        source_data=BENCHMARK,
    ),
    Claim(
        id="curmei-weight",
        title="From other people's ratings to features alone",
        source=f"{C23}, abstract",
        words="The stricter the promise, the more a model relies on what is public.",
        sweeps=_over_weights,
        clauses=(
            *(_relies_more(*pair) for pair in ((1.0, 5.0), (5.0, 20.0))),
            *(_moves_away(*pair) for pair in ((1.0, 5.0), (5.0, 20.0))),
        ),
        source_data=BENCHMARK,
        axis="feature_weight",
    ),
)
