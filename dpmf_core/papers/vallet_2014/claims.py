"""Claims of Vallet, Friedman & Berkovsky 2014.

The measured quantity is the excess in RMSE over keeping everything, in percent.
"""

import statistics
from collections.abc import Mapping

from dpmf_core.papers.clauses import Clause, Mean, Results
from dpmf_core.papers.figures import Claim, Mark
from dpmf_core.papers.vallet_2014 import protocol, retention_excess, speed, statements
from dpmf_core.papers.vallet_2014.statements import BY_TIME, RANDOM

V14 = "Vallet et al. 2014"
MOVIELENS = "MovieLens 10M"
NETFLIX = "a tenth of the users of the Netflix Prize, drawn at random"
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


def _stretches(full: bool) -> str:
    return (
        "A month here is one of 72 periods with equally many ratings, not a calendar month. The"
        " source states that results for such periods (1M ratings each, footnote 5) are similar,"
        " and prints none."
    )


def _other_machine(full: bool) -> str:
    return "The source measured on one core of an AMD Opteron 4184; we use another machine."


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


SPEED = Clause(
    "Rated and New each process at least 900 ratings a second, recommendations included",
    lambda results: min(Mean("Rated")(results), Mean("New")(results)) - 900,
    lambda results: (
        f"Rated {Mean('Rated')(results):,.0f}, New {Mean('New')(results):,.0f} (published 900)"
    ),
).quoting(
    "section 4.3, footnote 6",
    "was done at a rate of 900 ratings/second, using one core of AMD Opteron 4184",
)

CLAIMS = (
    Claim(
        id="vallet-table1",
        title="The cost of storing nothing, ratings in random order",
        source=f"{V14}, Table 1, random split",
        words=f"Means over static shares and draws. {DRAWS}",
        sweeps=protocol.random_split,
        measure=retention_excess.by_share,
        quantity=retention_excess.AXIS_TITLE,
        clauses=statements.TABLE_RANDOM,
        limits=_few_shares,
        source_data=MOVIELENS,
        source_ids=("ml-10m",),
        page="retention",
        axis="static_share",
        marks=_marks(RANDOM, MOVIELENS),
    ),
    Claim(
        id="vallet-table1-time",
        title="The cost of storing nothing, ratings in order of time",
        source=f"{V14}, Table 1, time split",
        words=(
            "Means over static shares and draws. The last 10% of every user's ratings are held out,"
            " and ratings arrive by time. No clause is about the weighted step: section 3.3"
            " suggests it against a bias to active users, and does not measure it."
        ),
        sweeps=protocol.time_split,
        measure=retention_excess.by_share,
        quantity=retention_excess.AXIS_TITLE,
        clauses=statements.TABLE_TIME,
        remark=_weighted_step,
        limits=_few_shares,
        source_data=NETFLIX,
        page="retention",
        axis="static_share",
        marks=_marks(BY_TIME, "Netflix"),
    ),
    Claim(
        id="vallet-fig1a",
        title="Excess by the share known from the start, random order",
        source=f"{V14}, Fig. 1a",
        words=f"From R_s = 0, where nothing is known, to .9. {DRAWS}",
        sweeps=protocol.random_split,
        measure=retention_excess.by_share,
        quantity=retention_excess.AXIS_TITLE,
        clauses=statements.FIG_1A,
        source_data=MOVIELENS,
        source_ids=("ml-10m",),
        page="retention",
        axis="static_share",
    ),
    Claim(
        id="vallet-fig1b",
        title="Excess by the share known from the start, in order of time",
        source=f"{V14}, Fig. 1b",
        words="From R_s = 0, where nothing is known, to .9; each user's last 10% are held out.",
        sweeps=protocol.time_split,
        measure=retention_excess.by_share,
        quantity=retention_excess.AXIS_TITLE,
        clauses=statements.FIG_1B,
        source_data=NETFLIX,
        page="retention",
        axis="static_share",
    ),
    Claim(
        id="vallet-fig2",
        title="Excess by activity, as ratings arrive in random order",
        source=f"{V14}, Fig. 2a",
        words=_of_activity("up to 35, 69, 156 and 7,359 ratings"),
        sweeps=protocol.activity_random,
        measure=retention_excess.by_activity,
        quantity=retention_excess.AXIS_TITLE,
        clauses=statements.FIG_2A,
        source_data=MOVIELENS,
        source_ids=("ml-10m",),
        page="retention",
        axis="arrived_share",
    ),
    Claim(
        id="vallet-fig2b",
        title="Excess by activity, as ratings arrive by time",
        source=f"{V14}, Fig. 2b",
        words=_of_activity("up to 39, 96, 257 and 9,767 ratings")
        + " The source compares with the random split of other data (Fig. 2a); here the data are"
        " the same.",
        sweeps=protocol.activity_time,
        measure=retention_excess.by_activity,
        quantity=retention_excess.AXIS_TITLE,
        clauses=statements.FIG_2B,
        source_data=NETFLIX,
        page="retention",
        axis="arrived_share",
    ),
    Claim(
        id="vallet-fig3",
        title="Month by month",
        source=f"{V14}, Fig. 3",
        words="The first 4 of 72 months are known from the start; each later month is predicted"
        " from those before it, with a baseline trained anew.",
        sweeps=protocol.by_month,
        measure=retention_excess.by_stretch,
        quantity=retention_excess.AXIS_TITLE,
        clauses=statements.FIG_3,
        limits=_stretches,
        source_data="the Netflix Prize",
        source_ids=("netflix",),
        page="retention",
        axis="stretch",
        marks=(
            Mark("Rated", 14, 2.0, f"{V14}, Fig. 3: about 2% in months 4 to 24"),
            Mark("Rated", 55, 1.0, f"{V14}, Fig. 3: smaller than 1% around month 55"),
            Mark("Rated", 68, 0.0, f"{V14}, Fig. 3: virtually disappears from month 68"),
        ),
    ),
    Claim(
        id="vallet-speed",
        title="Ratings processed in a second",
        source=f"{V14}, footnote 6",
        words="After each rating the user's vector is computed, item factors take their steps, and"
        " ten items are recommended; the last ratings in order of time, by processor time.",
        compute=speed.ratings_a_second,
        computed_on=protocol.dated_films,
        quantity="ratings a second",
        clauses=(SPEED,),
        limits=_other_machine,
        source_data="the Netflix Prize",
        source_ids=("netflix",),
        page="retention",
        axis="ratings",
        marks=(Mark("Rated", 500, 900, f"{V14}, footnote 6, of no variant by name"),),
    ),
)
