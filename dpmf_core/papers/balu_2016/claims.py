"""Claims of Balu & Furon 2016."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from dpmf_core.papers.balu_2016 import protocol, statements
from dpmf_core.papers.balu_2016.protocol import B16, EACHMOVIE, HASHING, SKETCH, TOP_USERS
from dpmf_core.papers.clauses import Clause
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


PASSES = "Page size: d = 8 and 10 passes over the ratings."
TOP = "The paper's top users submitted many ratings, without a number; here they are the"


def _claim(name: str, title: str, place: str, words: str, **fields: Any) -> Claim:
    """Return a claim on the thresholds of MovieLens; `fields` may replace this."""
    fields = {
        "sweeps": protocol.by_threshold,
        "limits": _fewer_passes,
        "source_data": "MovieLens 1M",
        "source_ids": ("ml-1m",),
        "axis": "threshold",
        **fields,
    }
    return Claim(id=f"balu-{name}", title=title, source=f"{B16}, {place}", words=words, **fields)


def _of_both(*clauses: Callable[[str], Clause]) -> tuple[Clause, ...]:
    return tuple(clause(label) for label in (SKETCH, HASHING) for clause in clauses)


CLAIMS = (
    _claim(
        "fig1",
        "RMSE as the regularisation goes to 0",
        "Fig. 1",
        "No threshold; γ = 1. The source has d = 32 and 100 passes; page size d = 8 and 20 passes.",
        sweeps=protocol.by_regularisation,
        clauses=statements.FIG_1,
        source_data=EACHMOVIE,
        source_ids=(),
        axis="regularisation",
    ),
    _claim(
        "fig2",
        "Best regularisation by dimension and space gain",
        "Fig. 2",
        "No threshold. The source has d of 8, 16 and 32, γ of 1, 2 and 4, and 100 passes"
        " over the ratings; full size has 40 passes, page size 15, with d up to 16 and γ of 1 and"
        " 4.",
        sweeps=protocol.best_regularisation,
        limits=_fewer_passes_at_either_size,
        clauses=statements.FIG_2,
        axis="regularisation",
    ),
    _claim(
        "fig3",
        "RMSE against the threshold",
        "Fig. 3",
        f"Ratings with a larger loss are skipped. {PASSES}",
        clauses=_of_both(*statements.OF_ERROR),
    ),
    _claim(
        "fig4",
        "KL divergence against the threshold",
        "Fig. 4",
        "The divergence of training errors from held-out errors. Page size: d = 8 and 10 passes.",
        measure=_divergences,
        clauses=_of_both(*statements.OF_DIVERGENCE),
        metric="kl",
    ),
    _claim(
        "top-users-kl",
        "KL divergence of users with many ratings",
        "section 5.4, top users",
        f"{TOP} busiest tenth. {PASSES}",
        measure=_divergences,
        clauses=_of_both(statements.smaller_for_top_users),
        metric="kl",
    ),
    _claim(
        "fig4-d",
        "KL divergence against the dimension",
        "Fig. 4, dimensions",
        "γ = 1. Page size: 10 passes over the ratings; the source makes 100.",
        sweeps=protocol.by_dimension,
        clauses=(statements.LOWER_DIMENSION,),
        axis="rank",
        metric="kl",
    ),
    _claim(
        "top-users",
        "RMSE of users with many ratings",
        "section 5.4, top users",
        f"{TOP} quarter with most ratings. {PASSES}",
        measure=_errors_of_top_users,
        clauses=_of_both(statements.better_for_top_users),
    ),
)
