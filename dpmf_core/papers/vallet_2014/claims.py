"""Claims of Vallet, Friedman & Berkovsky 2014.

The measured quantity is the excess in RMSE over keeping everything, in percent.
"""

import statistics
from collections.abc import Mapping
from typing import Any

from dpmf_core.papers.clauses import Mean, Results, judged
from dpmf_core.papers.figures import Claim, Mark, by_metric
from dpmf_core.papers.vallet_2014 import protocol, retention_excess, speed, statements
from dpmf_core.papers.vallet_2014.statements import BY_TIME, RANDOM

V14 = "Vallet et al. 2014"
DRAWS = (
    "Independent draws of a tenth of the ratings stand for the ten folds of the paper, and the"
    " parameters are the published ones."
)


def _marks(source_values: Mapping[str, float], row: str) -> tuple[Mark, ...]:
    """Return means over all shares, drawn in the middle of the axis."""
    return tuple(
        Mark(label, 0.45, value, f"{V14}, Table 1: mean over shares, {row}")
        for label, value in source_values.items()
    )


def _few_shares(full: bool) -> str:
    if full:
        return ""
    n_shares = len(protocol.shares(full))
    return f"The source averages over ten static shares; we use {n_shares}."


STRETCHES = (
    "A month here is one of 72 periods with equally many ratings, not a calendar month. The"
    " source states that results for such periods (1M ratings each, footnote 5) are similar,"
    " and prints none."
)
OTHER_MACHINE = "The source measured on one core of an AMD Opteron 4184; we use another machine."


def _weighted_step(results: Results) -> str:
    """Return the effect of section 3.3's weighting on the excess of Rated."""
    draws = [draw for it in results if it.label == protocol.WEIGHTED for draw in it.draws]
    return f"With the weighted step Rated costs {statistics.fmean(draws):.2f}%." if draws else ""


def _of_activity(words: str) -> str:
    return (
        f"R_s = .3; users in four equal groups by number of ratings ({words} in the source). Users"
        " bring what has arrived. Our baseline keeps all ratings, including future ones; the"
        " source's retains all available ratings."
    )


SPEED = judged(
    "Rated and New each process at least 900 ratings a second, recommendations included",
    lambda results: (Mean("Rated")(results), Mean("New")(results)),
    lambda speeds: min(speeds) - 900,
    lambda speeds: "Rated {:,.0f}, New {:,.0f} (published 900)".format(*speeds),
).quoting(
    "section 4.3, footnote 6",
    "was done at a rate of 900 ratings/second, using one core of AMD Opteron 4184",
)


def _claim(name: str, title: str, place: str, words: str, **fields: Any) -> Claim:
    """Return a claim on the excess by share on MovieLens; `fields` may replace these."""
    fields = {
        "measure": retention_excess.by_share,
        "quantity": "RMSE above keeping everything, %",
        "source_data": "MovieLens 10M",
        "source_ids": ("ml-10m",),
        "axis": "static_share",
        **fields,
    }
    return Claim(id=f"vallet-{name}", title=title, source=f"{V14}, {place}", words=words, **fields)


TENTH_OF_NETFLIX: dict[str, Any] = {
    "source_data": "a tenth of the users of the Netflix Prize, drawn at random",
    "source_ids": (),
}
NETFLIX: dict[str, Any] = {"source_data": "the Netflix Prize", "source_ids": ("netflix",)}
OF_ACTIVITY: dict[str, Any] = {"measure": retention_excess.by_activity, "axis": "arrived_share"}
CLAIMS = (
    _claim(
        "table1",
        "The cost of storing nothing, ratings in random order",
        "Table 1, random split",
        f"Means over static shares and draws. {DRAWS}",
        sweeps=protocol.random_split,
        clauses=statements.TABLE_RANDOM,
        limits=_few_shares,
        marks=_marks(RANDOM, "MovieLens 10M"),
    ),
    _claim(
        "table1-time",
        "The cost of storing nothing, ratings in order of time",
        "Table 1, time split",
        "Means over static shares and draws. The last 10% of every user's ratings are held out,"
        " and ratings arrive by time. No clause is about the weighted step: section 3.3"
        " suggests it against a bias to active users, and does not measure it.",
        sweeps=protocol.time_split,
        clauses=statements.TABLE_TIME,
        remark=_weighted_step,
        limits=_few_shares,
        marks=_marks(BY_TIME, "Netflix"),
        **TENTH_OF_NETFLIX,
    ),
    _claim(
        "fig1a",
        "Excess by the share known from the start, random order",
        "Fig. 1a",
        f"From R_s = 0, where nothing is known, to .9. {DRAWS}",
        sweeps=protocol.random_split,
        clauses=statements.FIG_1A,
    ),
    _claim(
        "fig1b",
        "Excess by the share known from the start, in order of time",
        "Fig. 1b",
        "From R_s = 0, where nothing is known, to .9; each user's last 10% are held out.",
        sweeps=protocol.time_split,
        clauses=statements.FIG_1B,
        **TENTH_OF_NETFLIX,
    ),
    _claim(
        "fig2",
        "Excess by activity, as ratings arrive in random order",
        "Fig. 2a",
        _of_activity("up to 35, 69, 156 and 7,359 ratings"),
        sweeps=protocol.activity_random,
        clauses=statements.FIG_2A,
        **OF_ACTIVITY,
    ),
    _claim(
        "fig2b",
        "Excess by activity, as ratings arrive by time",
        "Fig. 2b",
        _of_activity("up to 39, 96, 257 and 9,767 ratings")
        + " The source compares with the random split of other data (Fig. 2a); here the data are"
        " the same.",
        sweeps=protocol.activity_time,
        clauses=statements.FIG_2B,
        **OF_ACTIVITY,
        **TENTH_OF_NETFLIX,
    ),
    _claim(
        "fig3",
        "Month by month",
        "Fig. 3",
        "The first 4 of 72 months are known from the start; each later month is predicted"
        " from those before it, with a baseline trained anew.",
        sweeps=protocol.by_month,
        measure=retention_excess.by_stretch,
        clauses=statements.FIG_3,
        limits=lambda full: STRETCHES,
        axis="stretch",
        marks=(
            Mark("Rated", 14, 2.0, f"{V14}, Fig. 3: about 2% in months 4 to 24"),
            Mark("Rated", 55, 1.0, f"{V14}, Fig. 3: smaller than 1% around month 55"),
            Mark("Rated", 68, 0.0, f"{V14}, Fig. 3: virtually disappears from month 68"),
        ),
        **NETFLIX,
    ),
    _claim(
        "speed",
        "Ratings processed in a second",
        "footnote 6",
        "After each rating the user's vector is computed, item factors take their steps, and"
        " ten items are recommended; the last ratings in order of time, by processor time.",
        compute=speed.ratings_a_second,
        computed_on=protocol.dated_films,
        measure=by_metric,
        quantity="ratings a second",
        clauses=(SPEED,),
        limits=lambda full: OTHER_MACHINE,
        axis="ratings",
        marks=(Mark("Rated", 500, 900, f"{V14}, footnote 6, of no variant by name"),),
        **NETFLIX,
    ),
)
