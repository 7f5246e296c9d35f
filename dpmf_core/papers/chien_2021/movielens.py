"""Statements of Chien et al. 2021 about Figs. 3 and 5, ratings of films, as clauses.

Their runs are in `sweeps`.
"""

import itertools

from dpmf_core.papers.chien_2021 import sweeps as runs
from dpmf_core.papers.clauses import (
    Clause,
    Median,
    MissingResult,
    Results,
    best,
    larger,
    less,
    line,
)
from dpmf_core.privacy.formatting import budget_text

COMPARABLE = 0.1  # a share within which we call two figures comparable; the source gives none
SOURCE_DPFW, SOURCE_DPALS = "DPFW, source's noise", "DPALS, source's noise"

# ---- Fig. 3 --------------------------------------------------------------------------------------


def gain(results: Results, epsilon: float, dpals: str = "DPALS") -> float:
    """Return the share by which DPALS's RMSE is below DPFW's with its source's noise."""
    return 1 - Median(dpals, epsilon)(results) / Median(SOURCE_DPFW, epsilon)(results)


def epsilons_of(results: Results, label: str) -> list[float]:
    values = sorted({it.epsilon for it in results if it.label == label and it.epsilon is not None})
    if len(values) < 2:
        raise MissingResult(f"{label} has fewer than two epsilons")
    return values


def _gains(results: Results) -> list[float]:
    """Return the gains in percent, by ascending epsilon."""
    return [100 * gain(results, at) for at in epsilons_of(results, "DPALS")]


def _in_percent(results: Results) -> str:
    at = zip(epsilons_of(results, "DPALS"), _gains(results), strict=True)
    return ", ".join(f"{value:.1f}% at ε = {budget_text(epsilon)}" for epsilon, value in at)


def _loss(results: Results, epsilon: float, dpals: str = "DPALS", als: str = "ALS") -> float:
    """Return the share by which DPALS's RMSE is above that of ALS."""
    return Median(dpals, epsilon)(results) / Median(als)(results) - 1


def _cleansing(results: Results) -> dict[float, float]:
    return line(results, "SVD after cleansing", "epsilon")


def with_theorem_1(results: Results) -> str:
    """Return DPALS's lead with the noise of its own source's theorem."""
    leads = ", ".join(
        f"{gain(results, at, SOURCE_DPALS):.1%} at ε = {budget_text(at)}"
        for at in epsilons_of(results, "DPALS")
    )
    return f"With the noise of Theorem 1 the error of DPALS is {leads} below that of DPFW."


SECTION_62 = "section 6.2, DPALS vs. DPFW on ML10M"
FIG_3A = (
    Clause(
        "the error of DPALS is 7% to 11.6% below that of DPFW",  # 6.5 and 11.65 allow for rounding
        lambda results: min(min(_gains(results)) - 6.5, 11.65 - max(_gains(results))),
        _in_percent,
    ).quoting(
        SECTION_62,
        "with a relative improvement in RMSE (compared to DPFW) that ranges from 7% to 11.6%",
    ),
    Clause(
        "the improvement increases with ε",
        lambda results: min(
            after - before for before, after in itertools.pairwise(_gains(results))
        ),
        _in_percent,
    ).quoting(SECTION_62, "and that increases with"),
    Clause(
        "DPSVD (SVD after cleansing) is worse than the global mean, at every ε",
        lambda results: min(_cleansing(results).values()) - Median("Global mean")(results),
        lambda results: (
            f"SVD after cleansing from {min(_cleansing(results).values()):.4f} to"
            f" {max(_cleansing(results).values()):.4f}, global mean"
            f" {Median('Global mean')(results):.4f}"
        ),
    ).quoting(SECTION_62, "The performance of DPSVD is worse than that of the simple baseline."),
    Clause(
        "the loss of DPALS to ALS is smaller at ε = 20 than at ε = 1",
        lambda results: _loss(results, 1.0) - _loss(results, 20.0),
        lambda results: f"{_loss(results, 1.0):.1%} and {_loss(results, 20.0):.1%}",
    ).quoting(
        "Fig. 3, caption",
        "the loss in accuracy for DPALS compared to ALS is relatively small, especially for",
    ),
)


def _harder(epsilon: float) -> Clause:
    def losses(results: Results) -> tuple[float, float]:
        few = _loss(results, epsilon, runs.DPALS_TOP, runs.ALS_TOP)
        return _loss(results, epsilon), few

    return Clause(
        f"at ε = {budget_text(epsilon)} DPALS loses more to ALS on all films than on 400",
        lambda results: losses(results)[0] - losses(results)[1],
        lambda results: "{:.1%} on all, {:.1%} on 400".format(*losses(results)),
    ).quoting(SECTION_62, "the privacy-utility trade-off is worse on the full data")


FIG_3B = (
    *(
        less(Median("DPALS", epsilon), Median(runs.FREQUENT.name, epsilon)).quoting(
            "Fig. 3, caption", "DPALS is significantly more accurate than DPFW method"
        )
        for epsilon in (1.0, 20.0)
    ),
    *(_harder(epsilon) for epsilon in (1.0, 20.0)),
)
LISTS_PLACE = "section 6.2, DPALS on MovieLens 20M"
FIG_3C = (
    larger(
        Median("DPALS", 20.0),
        Median("ALS"),
        "at ε = 20 the recall of DPALS is within 10% of that of ALS (10% is ours)",
        by=-COMPARABLE,
    ).quoting(LISTS_PLACE, "DPALS can achieve performance comparable to the previously reported"),
    larger(
        Median("DPALS", 1.0),
        Median("DPALS", 20.0),
        "at ε = 1 the recall of DPALS is within 10% of that at ε = 20 (10% is ours)",
        by=-COMPARABLE,
    ).quoting(LISTS_PLACE, "the utility does not significantly degrade, even at small"),
)

# ---- Fig. 5 --------------------------------------------------------------------------------------

SECTION_63 = "section 6.3"


def _better(better: str, worse: str, words: str = "") -> Clause:
    return Clause(
        words or f"{better}, at its best share, is below {worse} at its own",
        lambda results: best(results, worse) - best(results, better),
        lambda results: f"{better} {best(results, better):.4f}, {worse} {best(results, worse):.4f}",
    )


def _by_share(results: Results, label: str) -> dict[float, float]:
    return line(results, label, "frequent_fraction")


def _figures_by_share(label: str) -> Clause:
    """Return words and figures shared by clauses on one line of Fig. 5."""
    return Clause(
        "",
        lambda results: 0.0,
        lambda results: ", ".join(
            f"{value:.4f} at {share:g}" for share, value in _by_share(results, label).items()
        ),
    )


def _effects(results: Results) -> tuple[float, float]:
    """Return how much the sampling strategies differ, without and with privacy."""
    free = best(results, "ALS, uniform sample") - best(results, "ALS, adaptive sample")
    paid = best(results, "Uniform sampling") - best(results, "Adaptive sampling")
    return abs(free), abs(paid)


FIG_5 = (
    Clause(
        "ALS without privacy has its highest error on all films, as printed",
        lambda results: (
            _by_share(results, "ALS")[1.0]
            - max(value for at, value in _by_share(results, "ALS").items() if at < 1)
        ),
        _figures_by_share("ALS").figures,
    ).quoting(SECTION_63, "for non-private ALS, we get the highest RMSE by training on all movies"),
    Clause(
        "with uniform sampling private models err less on a subset of the films than on all",
        lambda results: (
            (_by_share(results, "Uniform sampling")[1.0] - best(results, "Uniform sampling"))
            or -1e-9
        ),
        _figures_by_share("Uniform sampling").figures,
    ).quoting(
        SECTION_63,
        "there is a benefit for training on a subset of the movies for the private models",
    ),
    _better(
        "ALS", "ALS, uniform sample", "without privacy sampling 50 ratings a user costs accuracy"
    ).quoting(
        SECTION_63,
        "When training the non-private model on sub-sampled data [...] there is a considerable"
        " increase in RMSE",
    ),
    _better("Adaptive sampling", "Uniform sampling").quoting(
        SECTION_63, "adaptive sampling improves the RMSE from 0.870 to 0.854"
    ),
    Clause(
        "without privacy the sampling strategy has less effect than with it",
        lambda results: _effects(results)[1] - _effects(results)[0],
        lambda results: "{:.4f} without privacy, {:.4f} with it".format(*_effects(results)),
    ).quoting(
        SECTION_63, "the sampling strategy appears to have little effect on non-private models"
    ),
    _better("Uniform sampling", "Uniform, no PSD projection").quoting(
        SECTION_63,
        "training the private model without PSD projection [...] results in a terrible performance",
    ),
)
