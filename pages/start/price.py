"""The start page's figure: the best proven method at each epsilon, from the runs of the package."""

import functools
from collections.abc import Sequence
from typing import Any

import pandas as pd

from dpmf_core.privacy.certainty import WHAT_IS_AN_EXCEPTION, Certainty, certainty_at
from dpmf_core.privacy.formatting import budget_text, epsilon_in_full
from dpmf_core.runs import conclusions
from dpmf_core.runs.along_epsilon import interpolate
from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.draws import Judgement
from dpmf_core.runs.first_views import METRICS, shipped_draws, usual_run
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.references import paper_of
from dpmf_core.runs.specification import RunSpec
from pages.explore.story import BEST_LINE, USUAL
from pages.kit.base import data_sets
from pages.kit.components import StoryPart
from pages.kit.controls.sidebar_values import EPSILONS
from pages.kit.figures import colours
from pages.kit.running.epsilon_grid import nearest

# ---- what is known -------------------------------------------------------------------------------


@functools.cache
def run() -> RunSpec:
    """The run that a page about ratings shows first."""
    return usual_run("ratings")


@functools.cache
def judgement() -> Judgement:
    return shipped_draws("ratings").by(METRICS["ratings"])


@functools.cache
def best_shares() -> Sequence[Measured]:
    """The shares that the best proven method keeps at each measured epsilon, ascending."""
    return judgement().shares_along(judgement().best_line)


@functools.cache
def papers_shares() -> dict[str, Sequence[Measured]]:
    """The shares of the papers' methods along epsilon, by algorithm."""
    labels = dict.fromkeys((one.algorithm, one.label) for one in judgement().ranked)
    return {
        algorithm: judgement().shares_along(judgement().line(label))
        for algorithm, label in labels
        if paper_of(algorithm)
    }


def entry() -> Any:
    return data_sets.find(run().data.id)


def delta() -> float:
    return run().require_budget().delta


def certainty_here(epsilon: float) -> Certainty:
    """What an epsilon of these data lets an attacker become certain of."""
    return certainty_at(epsilon, delta())


def best_at(epsilon: float) -> Measured:
    """The best proven method at the nearest measured epsilon."""
    best = judgement().best(nearest(judgement().epsilons, epsilon))
    assert best is not None  # at the epsilons of a judgement
    return best


# ---- the figure ----------------------------------------------------------------------------------


def places(also: float) -> tuple[float, ...]:
    """The stops of the handle: measured epsilons, and the slider's stops between them.

    Parameters
    ----------
    also
        One more epsilon, if it lies between them.
    """
    measured = judgement().epsilons
    # nothing is extrapolated
    between = [
        epsilon for epsilon in (*EPSILONS, also) if measured[0] < epsilon < measured[-1]
    ]
    return tuple(sorted({*measured, *between}))


@functools.lru_cache(maxsize=64)
def _values(epsilons: tuple[float, ...]) -> list[Measured]:
    shares = [interpolate(best_shares(), epsilon) for epsilon in epsilons]
    return [share for share in shares if share is not None]


def stops(epsilons: tuple[float, ...]) -> list[StoryPart]:
    """What the figure shows at each of these places of its handle."""
    measured = set(judgement().epsilons)
    return [
        {
            "epsilon": share.epsilon,
            "kept": share.median,
            "low": share.low,
            "high": share.high,
            "measured": share.epsilon in measured,
            "colour": colours.of(share.algorithm),
            "facts": _facts(share, share.epsilon in measured),
        }
        for share in _values(epsilons)
    ]


def _facts(share: Measured, is_measured: bool) -> list[dict[str, str]]:
    """Three numbers, each with a sentence."""
    about = "about "
    if is_measured:
        about = ""
    epsilon = share.epsilon or 0.0
    kept = conclusions.share_words(judgement(), share.median, about=about)
    certainty = certainty_here(epsilon)
    return [
        {
            "number": f"ε = {budget_text(epsilon)}",
            "words": "bounds what everything that is published reveals about one person; drag the"
            " point to the left for more privacy.",
        },
        {
            "number": conclusions.share_figure(share.median, about),
            "words": f"{share.label} {kept}.",
        },
        {"number": certainty.percent, "words": certainty.words_of_figure},
    ]


def papers_lines() -> list[StoryPart]:
    """The thin lines of the papers' methods."""
    return [
        {
            "name": shares[0].label,
            "colour": colours.of(algorithm),
            "points": [[share.epsilon, share.median] for share in shares],
        }
        for algorithm, shares in papers_shares().items()
        if shares
    ]


def table(with_papers: bool) -> pd.DataFrame:
    """The measured points: epsilon, method, share kept, RMSE."""
    lines = [judgement().best_line]
    if with_papers:
        lines += [
            judgement().line(shares[0].label) for shares in papers_shares().values()
        ]
    return pd.DataFrame(
        {
            "epsilon": one.epsilon,
            "method": one.label,
            "kept": share.median,
            "lowest draw": share.low,
            "highest draw": share.high,
            "RMSE": one.median,
        }
        for line in lines
        for one in line
        if (share := judgement().shares(one)) is not None
    )


def words() -> dict[str, str]:
    """The names of the figure's parts."""
    best_known = judgement().best_known
    assert best_known is not None  # it is shipped
    return {
        "name": "Epsilon",
        "low": "more private",
        "high": "more accurate",
        "best": f"100%: {conclusions.best_known_words(judgement())}",
        "bestShort": f"100%: {best_known.label}, not private",
        "floor": f"0%: {conclusions.floor_words(judgement())}",
        "own": BEST_LINE,
        "price": "what privacy costs",
    }


def caption() -> str:
    return (
        f"At each ε the best proven private method on {entry().title}, a synthetic data set,"
        " trained with and without privacy."
    )


# ---- what exactly --------------------------------------------------------------------------------


def exact_words(epsilon: float) -> str:
    """What the figure's numbers mean at the handle's epsilon, as Markdown."""
    best = best_at(epsilon)
    at = budget_text(best.epsilon or 0.0)
    kept = conclusions.kept_words(judgement(), best)
    needed = "".join(conclusions.needed_words(best_shares(), USUAL / 100))
    others = conclusions.no_difference_words(judgement(), best)
    costs = ""
    cost = judgement().cost(best)
    if cost is not None:
        costs = conclusions.cost_words(judgement(), cost)
    return "\n\n".join(
        [
            f"**Epsilon.** {epsilon_in_full(epsilon, delta())}, for all releases together.",
            f"**Certainty.** {certainty_here(epsilon).words()} {WHAT_IS_AN_EXCEPTION}",
            f"**The scale.** {conclusions.scale_words(judgement())}",
            f"**At ε = {at}**, {best.label} {kept}. {costs} {others}".rstrip(),
            f"**To keep {USUAL}%:** {needed}.",
            f"**Draws.** Points are measured: medians of {DRAWS} draws of split and noise. The band"
            " is their range. Between points the line is interpolated along log ε.",
        ]
    )
