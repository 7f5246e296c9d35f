"""Claims of Balu & Furon 2016.

"Differentially Private Matrix Factorization using Sketching Techniques".
"""

from collections.abc import Sequence
from dataclasses import replace

from dpmf_core.papers.balu_2016 import protocol, statements
from dpmf_core.papers.balu_2016.protocol import (
    B16,
    EACHMOVIE,
    HASHING,
    MOVIELENS,
    SKETCH,
    TOP_USERS,
)
from dpmf_core.papers.figures import Claim, Runs, by_metric
from dpmf_core.runs.sweep import Point, Summary


def _divergences(points: Sequence[Point], runs: Runs, metric: str) -> list[Summary]:
    """Return the divergence over all ratings, and over the busiest users' ratings."""
    busy = by_metric(points, runs, "kl_top_users")
    return by_metric(points, runs, metric) + [
        replace(it, label=it.label + TOP_USERS) for it in busy
    ]


def _errors_of_top_users(points: Sequence[Point], runs: Runs, metric: str) -> list[Summary]:
    """Return held-out errors of sketches over all users, and over the quarter with most ratings."""
    chosen_points = [it for it in points if it.label in (SKETCH, HASHING)]
    return by_metric(chosen_points, runs, metric) + [
        Summary(
            it.label + TOP_USERS,
            it.spec.algorithm,
            None,
            dict(it.grid),
            (float(runs[it.key].record.buckets["activity"][-1][metric] or 0.0),),
        )
        for it in chosen_points
    ]


def _fewer_passes(full: bool) -> str:
    """Return the limits: only full size makes the source's 100 passes."""
    return "" if full else "The source makes 100 passes over the ratings, page size fewer."


def _fewer_passes_at_either_size(full: bool) -> str:
    return "The source makes 100 passes over the ratings; these runs make fewer."


CLAIMS = (
    Claim(
        id="balu-fig1",
        title="RMSE as the regularisation goes to 0",
        source=f"{B16}, Fig. 1",
        words="No threshold; γ = 1. The source has d = 32 and 100 passes; page size d = 8 and 20"
        " passes.",
        sweeps=protocol.by_regularisation,
        limits=_fewer_passes,
        clauses=statements.FIG_1,
        source_data=EACHMOVIE,
        page="sketch",
        axis="regularisation",
    ),
    Claim(
        id="balu-fig2",
        title="Best regularisation by dimension and space gain",
        source=f"{B16}, Fig. 2",
        words="No threshold. The source has d of 8, 16 and 32, γ of 1, 2 and 4, and 100 passes"
        " over the ratings; full size has 40 passes, page size 15, with d up to 16 and γ of 1 and"
        " 4.",
        sweeps=protocol.best_regularisation,
        limits=_fewer_passes_at_either_size,
        clauses=statements.FIG_2,
        source_data=MOVIELENS,
        source_ids=("ml-1m",),
        page="sketch",
        axis="regularisation",
    ),
    Claim(
        id="balu-fig3",
        title="RMSE against the threshold",
        source=f"{B16}, Fig. 3",
        words="Ratings with a larger loss are skipped. Page size: d = 8 and 10 passes over the"
        " ratings.",
        sweeps=protocol.by_threshold,
        limits=_fewer_passes,
        clauses=tuple(
            clause(label) for label in (SKETCH, HASHING) for clause in statements.OF_ERROR
        ),
        source_data=MOVIELENS,
        source_ids=("ml-1m",),
        page="sketch",
        axis="threshold",
    ),
    Claim(
        id="balu-fig4",
        title="KL divergence against the threshold",
        source=f"{B16}, Fig. 4",
        words="The divergence of training errors from held-out errors. Page size: d = 8 and 10"
        " passes.",
        sweeps=protocol.by_threshold,
        measure=_divergences,
        limits=_fewer_passes,
        clauses=tuple(
            clause(label) for label in (SKETCH, HASHING) for clause in statements.OF_DIVERGENCE
        ),
        source_data=MOVIELENS,
        source_ids=("ml-1m",),
        page="sketch",
        axis="threshold",
        metric="kl",
    ),
    Claim(
        id="balu-top-users-kl",
        title="KL divergence of users with many ratings",
        source=f"{B16}, section 5.4, top users",
        words="The paper's top users submitted many ratings, without a number; here they are the"
        " busiest tenth. Page size: d = 8 and 10 passes over the ratings.",
        sweeps=protocol.by_threshold,
        measure=_divergences,
        limits=_fewer_passes,
        clauses=tuple(statements.smaller_for_top_users(label) for label in (SKETCH, HASHING)),
        source_data=MOVIELENS,
        source_ids=("ml-1m",),
        page="sketch",
        axis="threshold",
        metric="kl",
    ),
    Claim(
        id="balu-fig4-d",
        title="KL divergence against the dimension",
        source=f"{B16}, Fig. 4, dimensions",
        words="γ = 1. Page size: 10 passes over the ratings; the source makes 100.",
        sweeps=protocol.by_dimension,
        limits=_fewer_passes,
        clauses=(statements.LOWER_DIMENSION,),
        source_data=MOVIELENS,
        source_ids=("ml-1m",),
        page="sketch",
        axis="rank",
        metric="kl",
    ),
    Claim(
        id="balu-top-users",
        title="RMSE of users with many ratings",
        source=f"{B16}, section 5.4, top users",
        words="The paper's top users submitted many ratings, without a number; here they are the"
        " quarter with most ratings. Page size: d = 8 and 10 passes over the ratings.",
        sweeps=protocol.by_threshold,
        measure=_errors_of_top_users,
        limits=_fewer_passes,
        clauses=tuple(statements.better_for_top_users(label) for label in (SKETCH, HASHING)),
        source_data=MOVIELENS,
        source_ids=("ml-1m",),
        page="sketch",
        axis="threshold",
    ),
)
