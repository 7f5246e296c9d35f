"""Ratings that a server without retention processes in a second on one core."""

import time

import numpy as np

from dpmf_core.algorithms.retention_server import Biases, Server, Step
from dpmf_core.data.splits import moments
from dpmf_core.papers.vallet_2014.protocol import PUBLISHED, dated_films
from dpmf_core.runs.data_access import open_ratings
from dpmf_core.runs.sweep import Summary

RECOMMENDATIONS = 10  # after each rating
ITEM_RATES: dict[Step, float] = {"rated": 0.005, "new": 0.05}
LABELS: dict[Step, str] = {"rated": "Rated", "new": "New"}


def ratings_a_second(full: bool) -> list[Summary]:
    """Return the speed of both variants on the last ratings, each followed by recommendations."""
    count = 20_000 if full else 500
    return [
        Summary(label, "no-retention", None, {"ratings": count}, (_rate(full, step, count),))
        for step, label in LABELS.items()
    ]


def _rate(full: bool, step: Step, count: int) -> float:
    ratings = open_ratings(dated_films(full))
    times = moments(ratings, 0)
    by_user = np.lexsort((times, ratings.users))
    items, values = ratings.items[by_user], ratings.values[by_user]
    last = np.argsort(times[by_user])[-count:]
    rows = [
        slice(ratings.by_user[user], place + 1)
        for place, user in zip(last, ratings.users[by_user][last], strict=True)
    ]
    rank = int(PUBLISHED["rank"])
    factors = 0.1 * np.cos(np.arange(ratings.n_items * rank)).reshape(-1, rank)  # any will do
    server = Server(
        factors, Biases.of(ratings, of_items=True), step=step, item_rate=ITEM_RATES[step]
    )
    _process(server, items, values, rows[:1])  # compiled code is loaded
    began = time.process_time()
    _process(server, items, values, rows)
    return count / (time.process_time() - began)


def _process(server: Server, items: np.ndarray, values: np.ndarray, rows: list[slice]) -> None:
    for row in rows:
        server.update(items[row], values[row])
        server.recommend(items[row], values[row], RECOMMENDATIONS)
