"""The table of a chosen method over the grid of epsilons: finished draws, and computing the rest.

On public and simulated data the rest is computed at low priority while the page is open. The
previous result stays on the page meanwhile.
"""

import functools
import math
import statistics
from collections.abc import Collection, Iterable
from itertools import accumulate
from typing import Any

import streamlit as st

from dpmf_core.jobs import machine
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.queue import IDLE
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.comparison import EPSILONS, grid_points, own_points
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.first_views import DEFAULT_EPSILON
from dpmf_core.runs.measurements import Point
from dpmf_core.runs.references import RECOMMENDED
from dpmf_core.runs.specification import RunSpec
from pages.kit.base import data_sets
from pages.kit.controls.sidebar_values import SidebarChoice
from pages.kit.running import runs, time_estimate
from pages.kit.running.run_request import RunRequest

LOOK = 2.0  # seconds between updates of a filling grid
# in the session: results of private selections, by specification
WINNERS = "choose.selected"


def read(spec: RunSpec, shape: Any, also: Collection[float] = ()) -> Draws:
    """The table of a private run over the grid, stored or shipped.

    On private data the table has the epsilons at which the method was trained. It has no rivals,
    and nothing counts as missing.

    Parameters
    ----------
    spec
        The run.
    shape
        The shape of the data.
    also
        Further epsilons to look up.

    Raises
    ------
    BadInput
        If the run cannot be made.
    """
    if not data_sets.is_public(spec.data.id):
        epsilons = (*EPSILONS, *also, *engine().known_runs.epsilons(spec))
        return Draws(_find(own_points(spec, shape, epsilons)).rows)
    epsilons = tuple(sorted({*EPSILONS, *also}))
    points, shipped_draws = _shipped(_any_run(spec), shape, epsilons)
    if not shipped_draws.missing:
        return shipped_draws
    computed = _find(shipped_draws.missing).rows
    row_by_key = {row.point.key: row for row in (*shipped_draws.rows, *computed)}
    rows = (row_by_key[point.key] for point in points if point.key in row_by_key)
    missing = (point for point in points if point.key not in row_by_key)
    return Draws(tuple(rows), tuple(missing))


def _any_run(spec: RunSpec) -> RunSpec:
    """The same for runs that differ only in epsilon, for the caches below."""
    return spec.at_epsilon(DEFAULT_EPSILON)


@functools.lru_cache(maxsize=64)
def _own_points(spec: RunSpec, shape: Any) -> tuple[Point, ...]:
    """The points of a run and of its references over the grid."""
    return own_points(spec, shape, EPSILONS)


@functools.lru_cache(maxsize=64)
def _shipped(
    spec: RunSpec, shape: Any, epsilons: tuple[float, ...]
) -> tuple[tuple[Point, ...], Draws]:
    """The points of a grid, and their table as it comes with the package."""
    points = grid_points(spec, shape, epsilons)
    return points, Draws.of(
        points, [shipped_runs.summary(point.spec) for point in points]
    )


def read_for(choice: SidebarChoice, spec: RunSpec) -> Draws:
    """The table of a page's run. Raises BadInput.

    For the best known method it is the table in which that method is the best.
    """
    if choice.is_best and choice.entry.public:
        spec = choice.spec(algorithm=RECOMMENDED["ratings"])
    return read(spec, choice.shape, also=(choice.epsilon,))


def _find(points: Collection[Point]) -> Draws:
    """The table of these points as far as their runs are known."""
    specs = [point.spec for point in points]
    return Draws.of(points, engine().known_runs.find_all(specs))


def best_method(choice: SidebarChoice) -> str:
    """The best proven method for these ratings at this epsilon, as far as it is known.

    On public data it is the best at the nearest epsilon where all rivals have finished. On private
    data it is what a paid selection chose. Otherwise it is the recommended method.
    """
    if choice.entry.public:
        method = _best_measured(choice)
    else:
        method = _last_winner(choice.dataset)
    return method or RECOMMENDED["ratings"]


def _last_winner(data_id: str) -> str:
    """The method that a private selection on these data chose last; '' if there is none."""
    for result in reversed(st.session_state.get(WINNERS, {}).values()):
        if result.winner and result.spec.searches[0].data.id == data_id:
            return str(result.winner["method"])
    return ""


def _best_measured(choice: SidebarChoice) -> str:
    """The best method at the nearest epsilon where all finished; '' if there is none."""
    judgement = read_for(choice, choice.spec()).by("rmse")
    if not judgement.epsilons:
        return ""
    best = judgement.best(nearest(judgement.epsilons, choice.epsilon))
    if best is None:
        return ""
    return best.algorithm


def nearest(epsilons: Iterable[float], epsilon: float) -> float:
    """The nearest of these epsilons on a logarithmic scale."""
    return min(epsilons, key=lambda known: abs(math.log(known / epsilon)))


def specs(spec: RunSpec, shape: Any) -> list[RunSpec]:
    return [point.spec for point in _own_points(_any_run(spec), shape)]


def fill(place: str, missing: Collection[Point], n_finished: int) -> RunRequest:
    """Request a grid's missing runs at low priority while its page is open, once each."""
    affordable = _affordable([point.spec for point in missing], n_finished)
    specs_by_text = {spec.model_dump_json(): spec for spec in affordable}
    request = runs.request_at(f"{place}.grid")
    # fewer runs are missing at each drawing, which must not cancel those that go on
    if request.called_off or not specs_by_text.keys() <= request.specs.keys():
        request.submit(request.want(specs_by_text), (), IDLE)
    runs.hold(f"{place}.grid", request, by_button=False)
    return request


def keep_filling(place: str, spec: RunSpec, shape: Any) -> None:
    """Fill the method's own part of a grid, and draw the page again as it fills."""
    if not data_sets.is_public(spec.data.id):
        return
    missing = {point.key for point in read(spec, shape).missing}
    points = _own_points(_any_run(spec), shape)
    if not any(point.key in missing for point in points):
        return
    before = _find(points)
    request = fill(place, before.missing, len(before.rows))

    def watch() -> None:
        """Draw the page again once nothing more comes, or on a quiet server after a fifth."""
        n_missing = len(_find(points).missing)
        has_filled = n_missing <= 0.8 * len(before.missing)
        if not request.busy or (has_filled and runs.strain() <= 1):
            st.rerun()

    if request.busy:
        runs.follow(watch, LOOK)


def _affordable(missing: list[RunSpec], n_finished: int) -> list[RunSpec]:
    """Missing runs, in order, as far as the grid needs no confirmation.

    Empty on machines with little memory.
    """
    if not missing or machine.is_small():
        return []
    costs = time_estimate.costs(missing)
    remaining_seconds = engine().limits.ask_seconds - n_finished * statistics.median(
        costs
    )
    return [
        spec
        for spec, total_seconds in zip(missing, accumulate(costs), strict=True)
        if total_seconds <= remaining_seconds
    ]
