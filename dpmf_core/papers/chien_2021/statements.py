"""Statements of Chien et al. 2021 that are computed. Their runs are in `sweeps`."""

import itertools
from collections.abc import Callable

from dpmf_core.papers.clauses import Clause, MissingResult, Results, along, judged
from dpmf_core.papers.compared_figures import MeasuredFigure
from dpmf_core.papers.shared_methods import SOURCE_DPFW

SOURCE_DPALS = "DPALS, source's noise"


def gain(results: Results, epsilon: float, dpals: str = "DPALS") -> float:
    """The share by which DPALS's RMSE is below DPFW's with its source's noise."""
    ours, theirs = (
        MeasuredFigure(label=label, epsilon=epsilon)(results)
        for label in (dpals, SOURCE_DPFW)
    )
    return 1 - ours / theirs


def _gains(results: Results, dpals: str = "DPALS") -> dict[float, float]:
    """The gain at each epsilon, ascending. Raises MissingResult."""
    epsilons = {
        place.epsilon
        for place in results
        if place.label == "DPALS" and place.epsilon is not None
    }
    if len(epsilons) < 2:
        raise MissingResult("DPALS has fewer than two epsilons")
    return {epsilon: gain(results, epsilon, dpals) for epsilon in sorted(epsilons)}


def _of_gains(words: str, margin: Callable[[list[float]], float]) -> Clause:
    """State something about the gains, from the smallest epsilon to the largest."""
    return judged(
        words,
        _gains,
        lambda gains: margin(list(gains.values())),
        lambda gains: along(gains, "{:.1%}".format, "ε ="),
    )


def with_theorem_1(results: Results) -> str:
    """DPALS's lead with the noise of its own source's theorem."""
    leads = _gains(results, SOURCE_DPALS)
    return (
        "With the noise of Theorem 1 the error of DPALS is"
        f" {along(leads, '{:.1%}'.format, 'ε =')} below that of DPFW."
    )


FIG_3A = (
    _of_gains(
        "the error of DPALS is 7% to 11.6% below that of DPFW",  # allows for rounding
        lambda gains: min(min(gains) - 0.065, 0.1165 - max(gains)),
    ),
    _of_gains(
        "the improvement increases with ε",
        lambda gains: min(
            after - before for before, after in itertools.pairwise(gains)
        ),
    ),
)


def untuned(results: Results) -> str:
    """What differs from the source's protocol, and the effect of DPFW's rule."""
    exact, theirs = (
        MeasuredFigure(
            label=label,
            epsilon=5.0,
            along="users",
        )(results)
        for label in ("DPFW", SOURCE_DPFW)
    )
    return (
        "The source chooses parameters on validation ratings, which may lower both errors. At ε = 5"
        f" DPFW has {theirs:.3f} as in its source, and {exact:.3f} with noise for the exact ε and"
        " residuals clipped to a third of L, as ours runs it."
    )
