"""Statements of Chien et al. 2021 about Figs. 3 to 5 as clauses. Their runs are in `sweeps`."""

import itertools
from collections.abc import Callable
from typing import TypeVar

from dpmf_core.papers.chien_2021 import sweeps as runs
from dpmf_core.papers.clauses import (
    Clause,
    Median,
    MissingResult,
    Quantity,
    Results,
    above,
    along,
    best,
    between,
    judged,
    less,
    line,
)
from dpmf_core.papers.methods import SOURCE_DPFW
from dpmf_core.privacy.formatting import budget_text

COMPARABLE = 0.1  # a share within which we call two figures comparable; the source gives none
SOURCE_DPALS = "DPALS, source's noise"
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


# ---- Fig. 3 --------------------------------------------------------------------------------------


def gain(results: Results, epsilon: float, dpals: str = "DPALS") -> float:
    """Return the share by which DPALS's RMSE is below DPFW's with its source's noise."""
    return 1 - Median(dpals, epsilon)(results) / Median(SOURCE_DPFW, epsilon)(results)


def _of_gains(words: str, margin: Callable[[list[float]], float]) -> Clause:
    """State something about the gains in percent, from the smallest epsilon to the largest."""
    return judged(
        words,
        lambda results: by_epsilon(results, "DPALS", lambda at: 100 * gain(results, at)),
        lambda gains: margin(list(gains.values())),
        lambda gains: along(gains, "{:.1f}%".format, "ε ="),
    )


def _loss(epsilon: float, dpals: str = "DPALS", als: str = "ALS") -> Quantity:
    """Return the share by which DPALS's RMSE is above that of ALS, as a quantity of results."""
    return lambda results: Median(dpals, epsilon)(results) / Median(als)(results) - 1


def with_theorem_1(results: Results) -> str:
    """Return DPALS's lead with the noise of its own source's theorem."""
    leads = by_epsilon(results, "DPALS", lambda at: gain(results, at, SOURCE_DPALS))
    return (
        "With the noise of Theorem 1 the error of DPALS is"
        f" {along(leads, '{:.1%}'.format, 'ε =')} below that of DPFW."
    )


FIG_3A = (
    _of_gains(
        "the error of DPALS is 7% to 11.6% below that of DPFW",  # 6.5 and 11.65 allow for rounding
        lambda gains: min(min(gains) - 6.5, 11.65 - max(gains)),
    ),
    _of_gains(
        "the improvement increases with ε",
        lambda gains: min(after - before for before, after in itertools.pairwise(gains)),
    ),
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
    ),
    above(
        "the loss of DPALS to ALS is smaller at ε = 20 than at ε = 1",
        _loss(1.0),
        _loss(20.0),
        "{:.1%} and {:.1%}",
    ),
    between(
        "at ε = 20 the error of DPALS is within 10% of that of ALS (10% is ours)",
        _loss(20.0),
        high=COMPARABLE,
        name="loss",
    ),
)
FIG_3B = (
    *(less(Median("DPALS", at), Median(runs.FREQUENT.name, at)) for at in (1.0, 20.0)),
    *(
        above(
            f"at ε = {budget_text(at)} DPALS loses more to ALS on all films than on 400",
            _loss(at),
            _loss(at, runs.DPALS_TOP, runs.ALS_TOP),
            "{:.1%} on all, {:.1%} on 400",
        )
        for at in (1.0, 20.0)
    ),
)
FIG_3C = (
    less(
        Median("ALS"),
        Median("DPALS", 20.0),
        "at ε = 20 the recall of DPALS is within 10% of that of ALS (10% is ours)",
        by=-COMPARABLE,
    ),
    less(
        Median("DPALS", 20.0),
        Median("DPALS", 1.0),
        "at ε = 1 the recall of DPALS is within 10% of that at ε = 20 (10% is ours)",
        by=-COMPARABLE,
    ),
)

# ---- Fig. 4 --------------------------------------------------------------------------------------


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
    )


def _at_one(words: str, label: str, name: str, margin: Callable[[list[float]], float]) -> Clause:
    """State something about a method's errors at epsilon 1, for any number of users."""
    return judged(
        words,
        lambda results: _by_users(results, label, 1.0),
        margin,
        lambda errors: f"{name} from {min(errors):.3f} to {max(errors):.3f}",
    )


def _ratios(results: Results) -> Values:
    """Return DPFW's error divided by DPALS's for the most users."""
    return by_epsilon(
        results,
        "DPALS",
        lambda at: _by_users(results, SOURCE_DPFW, at)[-1] / _by_users(results, "DPALS", at)[-1],
    )


FIG_4 = (
    _improves_with_users("DPALS", "DPALS"),
    _improves_with_users(SOURCE_DPFW, "DPFW"),
    _at_one(
        "at ε = 1 DPFW is no better than predicting 0, whose error is 1, for any number of users"
        " (below .98 we call better)",
        SOURCE_DPFW,
        "DPFW",
        lambda errors: min(errors) - 0.98,
    ),
    _at_one(
        "at ε = 1 DPALS has a lower error than 1 for any number of users",
        "DPALS",
        "DPALS",
        lambda errors: 1 - max(errors),
    ),
    judged(
        "for the most users the error of DPFW is at least 7 times that of DPALS, at every ε",
        _ratios,
        lambda ratios: min(ratios.values()) - 7,
        lambda ratios: along(ratios, "{:.1f} times".format, "ε ="),
    ),
)


def untuned(results: Results) -> str:
    """Return what differs from the source's protocol, and the effect of DPFW's rule."""
    exact, theirs = (_by_users(results, label, 5.0)[-1] for label in ("DPFW", SOURCE_DPFW))
    return (
        "The source chooses parameters on validation ratings, which may lower both errors. At ε = 5"
        f" DPFW has {theirs:.3f} as in its source, and {exact:.3f} with noise for the exact ε and"
        " residuals clipped to a third of L, as ours runs it."
    )


# ---- Fig. 5 --------------------------------------------------------------------------------------


def _better(better: str, worse: str, words: str = "") -> Clause:
    words = words or f"{better}, at its best share, is below {worse} at its own"
    return above(words, best(worse), best(better), f"{better} {{1:.4f}}, {worse} {{0:.4f}}")


def _effect(one: str, other: str) -> Quantity:
    """Return how far two methods' best errors are apart, as a quantity of results."""
    return lambda results: abs(best(one)(results) - best(other)(results))


def _by_share(words: str, label: str, margin: Callable[[Values], float]) -> Clause:
    """State something about a method's errors by the share of films."""
    return judged(words, lambda results: line(results, label, "frequent_fraction"), margin, along)


FIG_5 = (
    _by_share(
        "ALS without privacy has its highest error on all films, as printed",
        "ALS",
        lambda errors: errors[1.0] - max(error for at, error in errors.items() if at < 1),
    ),
    _by_share(
        "with uniform sampling private models err less on a subset of the films than on all",
        "Uniform sampling",
        lambda errors: errors[1.0] - min(errors.values()) or -1e-9,
    ),
    _better(
        "ALS", "ALS, uniform sample", "without privacy sampling 50 ratings a user costs accuracy"
    ),
    _better("Adaptive sampling", "Uniform sampling"),
    above(
        "without privacy the sampling strategy has less effect than with it",
        _effect("Uniform sampling", "Adaptive sampling"),
        _effect("ALS, uniform sample", "ALS, adaptive sample"),
        "{1:.4f} without privacy, {0:.4f} with it",
    ),
    _better("Uniform sampling", "Uniform, no PSD projection"),
)
