"""Pages read the grid of epsilons from the store, and on public data fill it by and by."""

import statistics
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.engine.executor import engine
from dpmf_core.runs.epsilon_grid import COARSE, EPSILONS, grid_runs
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.spending import account_of
from pages.kit import time_estimate
from tests.pages.driving import engine_run, run_until
from tests.pages.test_odometer import mine

__all__ = ["mine"]  # a fixture

SCRIPT = """
import streamlit as st
from pages.kit import epsilon_grid, run_progress
run_progress.begin()
if "elsewhere" in st.session_state:
    run_progress.leave()
    st.stop()
spec = st.session_state["spec"]
grid = st.session_state["grid"] = epsilon_grid.read(spec, also=(3.0,))
st.session_state["goes on"] = epsilon_grid.fill("page", grid)
run_progress.leave()
"""


def spec(data: str, **more: Any) -> RunSpec:
    return RunSpec.parse(
        data={"id": data},
        algorithm="private-bias",
        budget={"epsilon": 3.0, "delta": 1e-5},
        **more,
    )


def test_a_grid_fills_while_it_is_looked_at_and_is_then_read_from_the_store() -> None:
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    app.session_state["spec"] = spec("cinema-small")
    run_until(app, lambda: "goes on" in app.session_state and not app.session_state["goes on"])
    app.run()
    grid = app.session_state["grid"]
    assert grid.missing == () and set(grid.epsilons) == {*EPSILONS, 3.0}
    ours = [engine_run(spec("cinema-small", seed=seed)).record.metric("rmse") for seed in range(3)]
    point = grid.point(3.0)
    assert list(point.values) == ours and point.median == statistics.median(ours)
    twin = engine_run(spec("cinema-small").on("bias").canonical()).record.metric("rmse")
    assert grid.twin[0] == twin and len(grid.trivial) == 3


def test_a_page_that_is_left_stops_filling() -> None:
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    app.session_state["spec"] = spec("cinema-small", seed=100)
    app.run()
    filling = app.session_state["page.grid"]
    assert filling.busy
    app.session_state["elsewhere"] = True
    app.run()
    assert not filling.busy


def test_of_a_grid_that_would_take_long_the_most_useful_runs_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(time_estimate, "costs", lambda works: [1.0 for _ in works])
    monkeypatch.setattr(engine(), "limits", replace(engine().limits, ask_seconds=7.0))
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    app.session_state["spec"] = spec("cinema-small", seed=200)
    run_until(app, lambda: "goes on" in app.session_state and not app.session_state["goes on"])
    for _ in range(2):  # what is there counts: a look makes no more
        app.run()
        grid = app.session_state["grid"]
        assert grid.count == 7 and not app.session_state["goes on"]
        assert (len(grid.twin), len(grid.trivial), grid.epsilons) == (1, 1, COARSE[:5])


def test_private_data_show_what_was_bought_and_are_asked_nothing(mine: Any) -> None:
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    app.session_state["data.own"] = {mine.entry.id: mine.entry}
    app.session_state["spec"] = spec(mine.entry.id)
    app.run()
    assert not app.exception
    grid = app.session_state["grid"]
    assert (grid.points, grid.missing, app.session_state["goes on"]) == ((), (), False)
    account = account_of(mine.entry.id)
    assert account is not None and not account.entries

    purchase = grid_runs(spec(mine.entry.id), (4.5,), draws=1)[-1].spec  # at no epsilon of the grid
    engine().submit(purchase).result(60)
    app.run()
    point = app.session_state["grid"].point(4.5)
    assert len(app.session_state["grid"].points) == 1 and len(account.entries) == 1
    assert abs(point.prices[0] - 4.5) < 1e-6 and point.values[0] > 0
