"""Statements of Chien et al. 2021 about Figs. 3 to 5 as clauses. Their runs are in `sweeps`."""

import itertools
from collections.abc import Callable
from typing import TypeVar

from dpmf_core.papers.chien_2021 import sweeps as runs
from dpmf_core.papers.clauses import (
    Clause,
    Median,
    MissingResult,
    Results,
    above,
    best,
    judged,
    less,
    line,
)
from dpmf_core.privacy.formatting import budget_text

COMPARABLE = 0.1  # a share within which we call two figures comparable; the source gives none
SOURCE_DPFW, SOURCE_DPALS = "DPFW, source's noise", "DPALS, source's noise"
Values = dict[float, float]  # by epsilon, or by the share of films
Figure = TypeVar("Figure")


def by_epsilon(
    results: Results, label: str, figure: Callable[[float], Figure]
) -> dict[float, Figure]:
    """Return a figure at each epsilon of a method, ascending; raise MissingResult."""
    epsilons = {it.epsilon for it in results if it.label == label and it.epsilon is not None}
    if len(epsilons) < 2:
        raise MissingResult(f"{label} has fewer than two epsilons")
    return {at: figure(at) for at in sorted(epsilons)}


def _texts(form: str, values: Values) -> str:
    return ", ".join(f"{form.format(it)} at ε = {budget_text(at)}" for at, it in values.items())


# ---- Fig. 3 --------------------------------------------------------------------------------------


def gain(results: Results, epsilon: float, dpals: str = "DPALS") -> float:
    """Return the share by which DPALS's RMSE is below DPFW's with its source's noise."""
    return 1 - Median(dpals, epsilon)(results) / Median(SOURCE_DPFW, epsilon)(results)


def _gains(results: Results) -> Values:
    """Return the gains in percent."""
    return by_epsilon(results, "DPALS", lambda at: 100 * gain(results, at))


def _loss(results: Results, epsilon: float, dpals: str = "DPALS", als: str = "ALS") -> float:
    """Return the share by which DPALS's RMSE is above that of ALS."""
    return Median(dpals, epsilon)(results) / Median(als)(results) - 1


def with_theorem_1(results: Results) -> str:
    """Return DPALS's lead with the noise of its own source's theorem."""
    leads = by_epsilon(results, "DPALS", lambda at: gain(results, at, SOURCE_DPALS))
    return (
        f"With the noise of Theorem 1 the error of DPALS is {_texts('{:.1%}', leads)} below that"
        " of DPFW."
    )


SECTION_62 = "section 6.2, DPALS vs. DPFW on ML10M"
FIG_3A = (
    judged(
        "the error of DPALS is 7% to 11.6% below that of DPFW",  # 6.5 and 11.65 allow for rounding
        _gains,
        lambda gains: min(min(gains.values()) - 6.5, 11.65 - max(gains.values())),
        lambda gains: _texts("{:.1f}%", gains),
    ).quoting(
        SECTION_62,
        "with a relative improvement in RMSE (compared to DPFW) that ranges from 7% to 11.6%",
    ),
    judged(
        "the improvement increases with ε",
        _gains,
        lambda gains: min(after - before for before, after in itertools.pairwise(gains.values())),
        lambda gains: _texts("{:.1f}%", gains),
    ).quoting(SECTION_62, "and that increases with"),
    judged(
        "DPSVD (SVD after cleansing) is worse than the global mean, at every ε",
        lambda results: (
            list(line(results, "SVD after cleansing", "epsilon").values()),
            Median("Global mean")(results),
        ),
        lambda both: min(both[0]) - both[1],
        lambda both: (
            f"SVD after cleansing from {min(both[0]):.4f} to {max(both[0]):.4f}, global mean"
            f" {both[1]:.4f}"
        ),
    ).quoting(SECTION_62, "The performance of DPSVD is worse than that of the simple baseline."),
    above(
        "the loss of DPALS to ALS is smaller at ε = 20 than at ε = 1",
        lambda results: _loss(results, 1.0),
        lambda results: _loss(results, 20.0),
        "{:.1%} and {:.1%}",
    ).quoting(
        "Fig. 3, caption",
        "the loss in accuracy for DPALS compared to ALS is relatively small, especially for",
    ),
)


def _harder(epsilon: float) -> Clause:
    return above(
        f"at ε = {budget_text(epsilon)} DPALS loses more to ALS on all films than on 400",
        lambda results: _loss(results, epsilon),
        lambda results: _loss(results, epsilon, runs.DPALS_TOP, runs.ALS_TOP),
        "{:.1%} on all, {:.1%} on 400",
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
    less(
        Median("ALS"),
        Median("DPALS", 20.0),
        "at ε = 20 the recall of DPALS is within 10% of that of ALS (10% is ours)",
        by=-COMPARABLE,
    ).quoting(LISTS_PLACE, "DPALS can achieve performance comparable to the previously reported"),
    less(
        Median("DPALS", 20.0),
        Median("DPALS", 1.0),
        "at ε = 1 the recall of DPALS is within 10% of that at ε = 20 (10% is ours)",
        by=-COMPARABLE,
    ).quoting(LISTS_PLACE, "the utility does not significantly degrade, even at small"),
)

# ---- Fig. 4 --------------------------------------------------------------------------------------

SYNTHETIC = "section 6.2, DPALS vs. DPFW on synthetic data"


def _by_users(results: Results, label: str, epsilon: float) -> list[float]:
    """Return medians at an epsilon, from the fewest to the most users."""
    at_epsilon = [it for it in results if it.epsilon == epsilon]
    return list(line(at_epsilon, label, "users").values())


def _improves_with_users(label: str, name: str) -> Clause:
    """State that at every epsilon the error for the most users is below that for the fewest."""
    return judged(
        f"the error of {name} is lower for the most users than for the fewest, at every ε",
        lambda results: by_epsilon(results, label, lambda at: _by_users(results, label, at)),
        lambda lines: min(errors[0] - errors[-1] for errors in lines.values()),
        lambda lines: ", ".join(
            f"{errors[0]:.3f} to {errors[-1]:.3f} at ε = {budget_text(at)}"
            for at, errors in lines.items()
        ),
    ).quoting(
        SYNTHETIC, "the trade-off of both algorithms improves as the number of users increases"
    )


def _ratios(results: Results) -> Values:
    """Return DPFW's error divided by DPALS's for the most users."""
    return by_epsilon(
        results,
        "DPALS",
        lambda at: _by_users(results, SOURCE_DPFW, at)[-1] / _by_users(results, "DPALS", at)[-1],
    )


def only_ten_thousand(full: bool) -> str:
    return (
        ""
        if full
        else "The 7-fold improvement is stated for 50,000 users; here there are 10,000 at most."
    )


FIG_4 = (
    _improves_with_users("DPALS", "DPALS"),
    _improves_with_users(SOURCE_DPFW, "DPFW"),
    judged(
        "at ε = 1 DPFW is no better than predicting 0, whose error is 1, for any number of users"
        " (below .98 we call better)",
        lambda results: _by_users(results, SOURCE_DPFW, 1.0),
        lambda errors: min(errors) - 0.98,
        lambda errors: f"DPFW from {min(errors):.3f} to {max(errors):.3f}",
    ).quoting(
        SYNTHETIC,
        "the quality of the DPFW models is no better than the trivial model (RMSE equal to 1)",
    ),
    judged(
        "at ε = 1 DPALS has a lower error than 1 for any number of users",
        lambda results: _by_users(results, "DPALS", 1.0),
        lambda errors: 1 - max(errors),
        lambda errors: f"DPALS from {min(errors):.3f} to {max(errors):.3f}",
    ).quoting(SYNTHETIC, "while DPALS has a lower RMSE, which significantly improves with larger"),
    judged(
        "for the most users the error of DPFW is at least 7 times that of DPALS, at every ε",
        _ratios,
        lambda ratios: min(ratios.values()) - 7,
        lambda ratios: _texts("{:.1f} times", ratios),
    ).quoting(
        SYNTHETIC,
        "the relative improvement in RMSE between DPALS and DPFW is at least 7-fold across all",
    ),
)


def untuned(results: Results) -> str:
    """Return what differs from the source's protocol, and the effect of DPFW's rule."""
    exact, theirs = (_by_users(results, label, 5.0)[-1] for label in ("DPFW", SOURCE_DPFW))
    return (
        "DPFW draws the noise of its own source's rule. Parameters are fixed here: the source"
        " chooses them on validation ratings, which may lower both errors. At ε = 5 DPFW has"
        f" {theirs:.3f} by its source's rule and {exact:.3f} exactly accounted."
    )


# ---- Fig. 5 --------------------------------------------------------------------------------------

SECTION_63 = "section 6.3"


def _better(better: str, worse: str, words: str = "") -> Clause:
    return above(
        words or f"{better}, at its best share, is below {worse} at its own",
        lambda results: best(results, worse),
        lambda results: best(results, better),
        f"{better} {{1:.4f}}, {worse} {{0:.4f}}",
    )


def _by_share(words: str, label: str, margin: Callable[[Values], float]) -> Clause:
    """State something about a method's errors by the share of films."""
    return judged(
        words,
        lambda results: line(results, label, "frequent_fraction"),
        margin,
        lambda errors: ", ".join(f"{error:.4f} at {share:g}" for share, error in errors.items()),
    )


FIG_5 = (
    _by_share(
        "ALS without privacy has its highest error on all films, as printed",
        "ALS",
        lambda errors: errors[1.0] - max(error for at, error in errors.items() if at < 1),
    ).quoting(SECTION_63, "for non-private ALS, we get the highest RMSE by training on all movies"),
    _by_share(
        "with uniform sampling private models err less on a subset of the films than on all",
        "Uniform sampling",
        lambda errors: errors[1.0] - min(errors.values()) or -1e-9,
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
    above(
        "without privacy the sampling strategy has less effect than with it",
        lambda its: abs(best(its, "Uniform sampling") - best(its, "Adaptive sampling")),
        lambda its: abs(best(its, "ALS, uniform sample") - best(its, "ALS, adaptive sample")),
        "{1:.4f} without privacy, {0:.4f} with it",
    ).quoting(
        SECTION_63, "the sampling strategy appears to have little effect on non-private models"
    ),
    _better("Uniform sampling", "Uniform, no PSD projection").quoting(
        SECTION_63,
        "training the private model without PSD projection [...] results in a terrible performance",
    ),
)
