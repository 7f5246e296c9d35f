"""Claims of Vallet, Friedman & Berkovsky 2014.

The measured quantity is the excess in RMSE over keeping everything, in percent.
"""

import functools
import statistics
import time

import numpy as np

from dpmf_core.algorithms.no_retention import Biases, MovedItems, Server
from dpmf_core.data.splits import moments
from dpmf_core.papers.clauses import Results
from dpmf_core.papers.deviations import read_deviations
from dpmf_core.papers.figures import Claim, every_draw
from dpmf_core.papers.vallet_2014 import protocol, retention_excess, statements
from dpmf_core.papers.vallet_2014.statements import BY_TIME, RANDOM
from dpmf_core.runs.data_access import open_ratings
from dpmf_core.runs.measurements import Measured

BATCHES = f"Online {read_deviations(__package__)['no-retention'][-1].ours}."


def _online(results: Results) -> str:
    """How Online departs from the paper."""
    return BATCHES


def _weighted_step(results: Results) -> str:
    """The same, and the effect of section 3.3's weighting on the excess of Rated."""
    draws = [
        draw
        for result in results
        if result.label == protocol.WEIGHTED
        for draw in result.draws
    ]
    if not draws:
        return BATCHES
    return (
        f"With the weighted step Rated costs {statistics.fmean(draws):.2f}%. {BATCHES}"
    )


RECOMMENDATIONS = 10  # after each rating
PROCESSED = 500  # ratings
ITEM_RATES: dict[MovedItems, float] = {"rated": 0.005, "new": 0.05}
LABELS: dict[MovedItems, str] = {"rated": "Rated", "new": "New"}


def ratings_a_second() -> list[Measured]:
    """The speed of both variants on the last ratings, each followed by recommendations."""
    return [
        Measured(
            label,
            "no-retention",
            None,
            {"ratings": PROCESSED},
            (_rate(step, PROCESSED),),
        )
        for step, label in LABELS.items()
    ]


def _rate(step: MovedItems, count: int) -> float:
    ratings = open_ratings(protocol.dated_films())
    times = moments(ratings, 0)
    by_user = np.lexsort((times, ratings.users))
    items = ratings.items[by_user]
    values = ratings.values[by_user]
    last = np.argsort(times[by_user])[-count:]
    rows = [
        slice(ratings.by_user[user], place + 1)
        for place, user in zip(last, ratings.users[by_user][last], strict=True)
    ]
    rank = int(protocol.PUBLISHED["rank"])
    # any will do
    factors = 0.1 * np.cos(np.arange(ratings.n_items * rank)).reshape(-1, rank)
    server = Server.of(
        factors,
        Biases.of(ratings, of_items=True),
        step=step,
        item_rate=ITEM_RATES[step],
    )
    _process(server, items, values, rows[:1])  # compiled code is loaded
    began = time.process_time()
    _process(server, items, values, rows)
    return count / (time.process_time() - began)


def _process(
    server: Server, items: np.ndarray, values: np.ndarray, rows: list[slice]
) -> None:
    for row in rows:
        server.update(items[row], values[row])
        server.recommend(items[row], values[row], RECOMMENDATIONS)


claim = functools.partial(Claim.of, __package__, measure=retention_excess.by_share)
CLAIMS = (
    claim("vallet-table1", sweeps=protocol.random_split, remark=_online),
    claim("vallet-table1-time", sweeps=protocol.time_split, remark=_weighted_step),
    claim(
        "vallet-fig1a",
        sweeps=protocol.random_split,
        clauses=(statements.significant_order(RANDOM),),
        remark=_online,
    ),
    claim(
        "vallet-fig1b",
        sweeps=protocol.time_split,
        clauses=(statements.significant_order(BY_TIME),),
        remark=_online,
    ),
    claim(
        "vallet-fig2",
        sweeps=protocol.activity_random,
        clauses=statements.FIG_2A,
        measure=retention_excess.by_activity,
    ),
    claim(
        "vallet-fig2b",
        sweeps=protocol.activity_time,
        clauses=statements.FIG_2B,
        measure=retention_excess.by_activity,
    ),
    claim(
        "vallet-fig3",
        sweeps=protocol.by_month,
        measure=retention_excess.by_stretch,
        clauses=statements.FIG_3,
    ),
    claim(
        "vallet-speed",
        compute=ratings_a_second,
        computed_on=protocol.dated_films,
        measure=every_draw,
    ),
)
