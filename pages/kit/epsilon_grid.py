"""A chosen method over the grid of epsilons: what is there, and on public and simulated data the
rest, asked for behind everything else while its page is looked at; and the result before, which
stays while the next is computed.
"""

import functools
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.jobs import machine
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.queue import IDLE
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.epsilon_grid import COARSE, EPSILONS, EpsilonGrid, grid_runs, read_grid
from dpmf_core.runs.specification import RunSpec
from pages.kit import data_sets, runs, time_estimate
from pages.kit.sidebar_values import Choice

__all__ = ["COARSE", "EPSILONS"]

LOOK = 2.0  # seconds between looks at a grid that fills
RunSummary = Mapping[str, Any] | None  # a run's summary
Story = dict[str, Any]  # what a component of a first view draws


def read(spec: RunSpec, metric: str = "rmse", also: Collection[float] = ()) -> EpsilonGrid:
    """What is there of a private run's grid, from the index of the store, else from what comes with
    the package.

    also: further epsilons at which it is looked for. On private data those too at which the
    algorithm was asked for, and nothing is missing: a point is there only if it was bought.
    Raises BadInput.
    """
    public = data_sets.is_public(spec.data.id)
    bought_epsilons = [] if public else engine().known_runs.epsilons(spec)
    runs_along = grid_runs(spec, (*EPSILONS, *also, *bought_epsilons))
    grid = read_grid(runs_along, run_summaries([run.spec for run in runs_along]), metric)
    return grid if public else replace(grid, missing=())


def specs(spec: RunSpec) -> list[RunSpec]:
    """The runs of a private run's grid. Raises BadInput."""
    return [run.spec for run in grid_runs(spec)]


def run_summaries(specs: Sequence[RunSpec]) -> Sequence[RunSummary]:
    """The summary of each of these runs: from the store, else from what comes with the package."""
    return engine().known_runs.find_all(specs)


def fill(place: str, grid: EpsilonGrid) -> runs.Request:
    """Ask for what a grid lacks, behind everything else, until the page is left or wants another
    grid. What failed is not asked for again.
    """
    specs_by_text = {spec.model_dump_json(): spec for spec in _affordable(grid)}
    request = runs.request_at(f"{place}.grid")
    if request.called_off or not specs_by_text.keys() <= request.specs.keys():
        request.submit(request.want(specs_by_text), (), IDLE)
    runs.hold(f"{place}.grid", request, by_button=False)
    return request


def keep_filling(place: str, spec: RunSpec, grid: EpsilonGrid) -> None:
    """Fill a grid, and draw the page again as it fills. spec: the run that the grid is of."""
    if fill(place, grid).busy:
        runs.follow(functools.partial(_watch_grid, place, spec, len(grid.missing)), LOOK)


def _watch_grid(place: str, spec: RunSpec, missing: int) -> None:
    """Draw the page again when nothing more comes; on a quiet server as soon as a fifth of what
    the grid lacked is there.
    """
    busy = runs.goes_on(f"{place}.grid")
    if not busy or (runs.strain() <= 1 and len(read(spec).missing) <= 0.8 * missing):
        st.rerun()


def _affordable(grid: EpsilonGrid) -> list[RunSpec]:
    """What a grid lacks, in its order, as far as the grid as a whole needs no confirmation; nothing
    on private data, nor where there is little memory.
    """
    missing = grid.missing
    if not missing or not data_sets.is_public(missing[0].data.id) or machine.is_small():
        return []
    costs = time_estimate.costs(missing)
    remaining_seconds = engine().limits.ask_seconds - grid.count * statistics.median(costs)
    return [
        spec for spec, at in zip(missing, accumulate(costs), strict=True) if at <= remaining_seconds
    ]


# ---- what is shown meanwhile ---------------------------------------------------------------------


def remember(place: str, choice: Choice, story: Story) -> None:
    """Keep what is drawn, for as long as the next result is being computed."""
    description = (
        f"{algorithms.find(choice.algorithm).title} at ε = {budget_text(choice.epsilon)} on"
        f" {choice.entry.title}"
    )
    st.session_state[f"{place}.story"] = (description, story)


def before(place: str) -> Story | None:
    """The last result, greyed, with what it is of; None where there was none."""
    previous: tuple[str, Story] | None = st.session_state.get(f"{place}.story")
    if previous is None:
        return None
    description, story = previous
    sentence = f"This is still {description}; what you chose is not there yet."
    return story | {"stale": True, "words": story["words"] | {"stale": sentence}}
