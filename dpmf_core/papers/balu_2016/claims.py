"""Claims of Balu & Furon 2016."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

from dpmf_core.papers.balu_2016 import protocol, statements
from dpmf_core.papers.balu_2016.protocol import HASHING, SKETCH, TOP_USERS
from dpmf_core.papers.clauses import Clause
from dpmf_core.papers.figures import Claim, Runs
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measurements import Measured, Point


def _divergences(points: Sequence[Point], runs: Runs, metric: str) -> list[Measured]:
    """Return the divergence over all ratings, and over the busiest users' ratings."""
    busy = Draws.of_runs(points, runs).measured("kl_top_users")
    return Draws.of_runs(points, runs).measured(metric) + [
        replace(it, label=it.label + TOP_USERS) for it in busy
    ]


def _errors_of_top_users(points: Sequence[Point], runs: Runs, metric: str) -> list[Measured]:
    """Return held-out errors of sketches over all users, and over the quarter with most ratings."""
    chosen_points = [it for it in points if it.label in (SKETCH, HASHING)]
    return Draws.of_runs(chosen_points, runs).measured(metric) + [
        Measured(
            it.label + TOP_USERS,
            it.spec.algorithm,
            None,
            dict(it.grid),
            (float(runs[it.key].record.buckets["activity"][-1][metric] or 0.0),),
        )
        for it in chosen_points
    ]


claim = functools.partial(Claim.of, __package__, sweeps=protocol.by_threshold, axis="threshold")


def _of_both(clauses: Callable[[str], tuple[Clause, ...]]) -> tuple[Clause, ...]:
    return (*clauses(SKETCH), *clauses(HASHING))


CLAIMS = (
    claim(
        "balu-fig1",
        sweeps=protocol.by_regularisation,
        clauses=statements.FIG_1,
        axis="regularisation",
    ),
    claim(
        "balu-fig2",
        sweeps=protocol.best_regularisation,
        clauses=statements.FIG_2,
        axis="regularisation",
    ),
    claim("balu-fig3", clauses=_of_both(statements.of_error)),
    claim(
        "balu-fig4", measure=_divergences, clauses=_of_both(statements.of_divergence), metric="kl"
    ),
    claim(
        "balu-top-users-kl",
        measure=_divergences,
        clauses=tuple(map(statements.smaller_for_top_users, (SKETCH, HASHING))),
        metric="kl",
    ),
    claim(
        "balu-fig4-d",
        sweeps=protocol.by_dimension,
        clauses=(statements.LOWER_DIMENSION,),
        axis="rank",
        metric="kl",
    ),
    claim(
        "balu-top-users",
        measure=_errors_of_top_users,
        clauses=tuple(map(statements.better_for_top_users, (SKETCH, HASHING))),
    ),
)
