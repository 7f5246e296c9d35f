"""A chosen method over the grid of epsilons: what is there, and on public and simulated data the
rest, asked for behind everything else while its page is looked at.
"""

import functools
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import streamlit as st

from dpmf_core.jobs import machine
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.job import Job
from dpmf_core.jobs.queue import IDLE
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.epsilon_grid import COARSE, EPSILONS, EpsilonGrid, grid_runs, read_grid
from dpmf_core.runs.specification import RunSpec
from pages.kit import data_sets, run_progress, time_estimate
from pages.server import sessions, visitor
from pages.server.background_work import Filling

__all__ = [
    "COARSE",
    "EPSILONS",
    "fill",
    "keep_filling",
    "read",
    "run_summaries",
    "specs",
]
RunSummary = Mapping[str, Any] | None  # a run's summary
LOOK = 2.0  # seconds between looks at a grid that fills


def read(spec: RunSpec, metric: str = "rmse", also: Collection[float] = ()) -> EpsilonGrid:
    """What is there of a private run's grid, from the index of the store, else from what comes with
    the package.

    also: further epsilons at which it is looked for. On private data those too at which the
    algorithm was asked for, and nothing is missing: a point is there only if it was bought.
    Raises BadInput.
    """
    public = data_sets.is_public(spec.data.id)
    bought_epsilons = [] if public else engine().known_runs.epsilons(spec)
    runs = grid_runs(spec, (*EPSILONS, *also, *bought_epsilons))
    grid = read_grid(runs, run_summaries([run.spec for run in runs]), metric)
    return grid if public else replace(grid, missing=())


def specs(spec: RunSpec) -> list[RunSpec]:
    """The runs of a private run's grid. Raises BadInput."""
    return [run.spec for run in grid_runs(spec)]


def run_summaries(specs: Sequence[RunSpec]) -> list[RunSummary]:
    """The summary of each of these runs: from the store, else from what comes with the package."""
    summaries = engine().known_runs.summaries(specs)
    lacking = iter(shipped_runs.summaries(_lacking(specs, summaries)))
    return [next(lacking) if here is None else here for here in summaries]


def _lacking(specs: Sequence[RunSpec], summaries: Sequence[RunSummary]) -> list[RunSpec]:
    return [spec for spec, here in zip(specs, summaries, strict=True) if here is None]


def fill(page: str, grid: EpsilonGrid) -> bool:
    """Ask the engine for what a grid lacks, behind everything else, until the page is left or
    wants another grid; whether that goes on.

    Never on private data, nor where there is little memory; and no more than what takes no long
    time together with what is there, the most useful first.
    """
    affordable = _affordable(grid)
    key = f"{page}.grid"
    st.session_state.setdefault("runs.drawn", set()).add(key)
    before: Filling | None = st.session_state.get(key)
    if before is None or not before.covers(affordable):
        sessions.registry.let_go(sessions.this(), key)
        before = st.session_state[key] = Filling(affordable, _submission())
    before.advance()
    sessions.registry.hold(sessions.this(), key, before, by_button=False)
    return before.busy


def keep_filling(page: str, spec: RunSpec, grid: EpsilonGrid) -> None:
    """Fill a grid, and draw the page again as it fills. spec: the run that the grid is of."""
    if fill(page, grid):
        run_progress.follow(functools.partial(_watch, page, spec, len(grid.missing)), LOOK)


def _watch(page: str, spec: RunSpec, missing: int) -> None:
    """Draw the page again when nothing more comes; on a quiet server as soon as a fifth of what
    the grid lacked is there.
    """
    filling: Filling = st.session_state[f"{page}.grid"]
    quiet = run_progress.strain() <= 1
    if not filling.busy or (quiet and len(read(spec).missing) <= 0.8 * missing):
        st.rerun()


def _affordable(grid: EpsilonGrid) -> list[RunSpec]:
    """What a grid lacks, in its order, as far as the grid as a whole needs no confirmation."""
    missing = grid.missing
    if not missing or not data_sets.is_public(missing[0].data.id) or machine.is_small():
        return []
    costs = time_estimate.costs(missing)
    remaining_seconds = engine().limits.ask_seconds - grid.count * statistics.median(costs)
    return [
        spec for spec, at in zip(missing, accumulate(costs), strict=True) if at <= remaining_seconds
    ]


def _submission() -> Callable[[RunSpec], Job]:
    """What asks the engine for a run on behalf of whoever is at the page, from any thread."""
    here, asker = visitor.VisitorEngine(visitor.asker()), sessions.this()
    return lambda spec: here.submit(spec, IDLE, asker, light=True)
