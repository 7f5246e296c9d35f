"""Claims of Balu & Furon 2016."""

import functools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpmf_core.evaluation.evaluations import BUSY
from dpmf_core.evaluation.metrics import rmse
from dpmf_core.papers.balu_2016 import protocol, statements
from dpmf_core.papers.balu_2016.protocol import HASHING, SKETCH, TOP_USERS
from dpmf_core.papers.figures import Claim, grouped
from dpmf_core.runs.data_access import open_split
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measurements import Measured, Point
from dpmf_core.runs.record import Run, Runs


def _divergences(points: Sequence[Point], runs: Runs, metric: str) -> list[Measured]:
    """The divergence over all ratings, and over the busiest users' ratings."""
    busy = Draws.of_runs(points, runs).measured("kl_top_users")
    return Draws.of_runs(points, runs).measured(metric) + [
        replace(result, label=result.label + TOP_USERS) for result in busy
    ]


def _errors_of_top_users(
    points: Sequence[Point], runs: Runs, metric: str
) -> list[Measured]:
    """Held-out errors of sketches over all users, and over the busiest users."""
    chosen_points = [point for point in points if point.label in (SKETCH, HASHING)]
    busy = (
        (
            point.label + TOP_USERS,
            point.spec.algorithm,
            None,
            point.grid,
            error_of_busy(runs[point.key]),
        )
        for point in chosen_points
    )
    return Draws.of_runs(chosen_points, runs).measured(metric) + grouped(busy)


def error_of_busy(run: Run) -> float:
    """Held-out RMSE of the busiest tenth of the users, as `kl_top_users` has them."""
    parts = open_split(run.spec)
    model = run.model
    activity = parts.train.user_counts
    is_busy = activity >= np.quantile(activity, BUSY, method="inverted_cdf")
    test = parts.test.only(is_busy[parts.test.users])
    predictions = model.predict(model.personal(parts.history), test.users, test.items)
    return rmse(predictions, test.values)


claim = functools.partial(Claim.of, __package__, sweeps=protocol.by_threshold)


CLAIMS = (
    claim("balu-fig1", sweeps=protocol.by_regularisation, clauses=statements.FIG_1),
    claim("balu-fig2", sweeps=protocol.best_regularisation, clauses=statements.FIG_2),
    claim(
        "balu-fig3", clauses=(statements.of_error(SKETCH), statements.of_error(HASHING))
    ),
    claim(
        "balu-fig4",
        measure=_divergences,
        clauses=(*statements.of_divergence(SKETCH), *statements.of_divergence(HASHING)),
    ),
    claim("balu-top-users-kl", measure=_divergences),
    claim("balu-fig4-d", sweeps=protocol.by_dimension),
    claim("balu-top-users", measure=_errors_of_top_users),
)
