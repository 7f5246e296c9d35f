"""A chosen method over the grid of epsilons: known points, and computing the rest.

On public and simulated data the rest is computed at low priority while the page is open. The
previous result stays on the page meanwhile.
"""

import statistics
from collections.abc import Collection
from dataclasses import replace
from itertools import accumulate
from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.jobs import machine
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.queue import IDLE
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.epsilon_grid import EPSILONS, EpsilonGrid, grid_runs, read_grid
from dpmf_core.runs.specification import RunSpec
from pages.kit import data_sets, runs, time_estimate
from pages.kit.sidebar_values import Choice

LOOK = 2.0  # seconds between updates of a filling grid
Story = dict[str, Any]  # data of a first view's component


def read(spec: RunSpec, metric: str = "rmse", also: Collection[float] = ()) -> EpsilonGrid:
    """Return the known points of a private run's grid, stored or shipped; raise BadInput.

    also: further epsilons to look up. On private data the grid also has the epsilons at which the
    method was trained, and nothing counts as missing.
    """
    public = data_sets.is_public(spec.data.id)
    bought_epsilons = [] if public else engine().known_runs.epsilons(spec)
    runs_along = grid_runs(spec, (*EPSILONS, *also, *bought_epsilons))
    summaries = engine().known_runs.find_all([run.spec for run in runs_along])
    grid = read_grid(runs_along, summaries, metric)
    return grid if public else replace(grid, missing=())


def specs(spec: RunSpec) -> list[RunSpec]:
    return [run.spec for run in grid_runs(spec)]


def fill(place: str, grid: EpsilonGrid) -> runs.Request:
    """Request a grid's missing runs at low priority while its page is open, once each."""
    specs_by_text = {spec.model_dump_json(): spec for spec in _affordable(grid)}
    request = runs.request_at(f"{place}.grid")
    if request.called_off or not specs_by_text.keys() <= request.specs.keys():
        request.submit(request.want(specs_by_text), (), IDLE)
    runs.hold(f"{place}.grid", request, by_button=False)
    return request


def keep_filling(place: str, spec: RunSpec, grid: EpsilonGrid) -> None:
    """Fill a grid and draw the page again as it fills. spec: the grid's run."""
    request = fill(place, grid)

    def watch() -> None:
        """Draw the page again once nothing more comes, or on a quiet server after a fifth."""
        now = runs.strain() <= 1 and len(read(spec).missing) <= 0.8 * len(grid.missing)
        if now or not request.busy:
            st.rerun()

    if request.busy:
        runs.follow(watch, LOOK)


def _affordable(grid: EpsilonGrid) -> list[RunSpec]:
    """Return missing runs, in order, as far as the grid needs no confirmation.

    Empty on private data and on machines with little memory.
    """
    missing = grid.missing
    if not missing or not data_sets.is_public(missing[0].data.id) or machine.is_small():
        return []
    costs = time_estimate.costs(missing)
    remaining_seconds = engine().limits.ask_seconds - grid.count * statistics.median(costs)
    return [
        spec for spec, at in zip(missing, accumulate(costs), strict=True) if at <= remaining_seconds
    ]


def displayed(place: str, choice: Choice, story: Story | None, waits: bool) -> Story | None:
    """Return what is drawn: the new result, or the previous one, greyed, with its description.

    story: the new result, which is kept if it contains the chosen epsilon. waits: whether the
    previous one stays meanwhile.
    """
    key = f"{place}.story"
    if story is not None:
        now = f"{algorithms.find(choice.algorithm).title} at ε = {budget_text(choice.epsilon)}"
        for point in story["points"]:
            if point["epsilon"] == choice.epsilon:
                texts = {"title": point["title"], "sentence": point["sentence"]}
                st.session_state[key] = f"{now} on {choice.entry.title}", story | texts
        return story
    if not waits or key not in st.session_state:
        return None
    last: tuple[str, Story] = st.session_state[key]
    description, previous = last
    sentence = f"Still showing {description}; the new result is being computed."
    return previous | {"stale": True, "words": previous["words"] | {"stale": sentence}}
