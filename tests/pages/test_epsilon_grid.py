"""Pages read the grid of epsilons from the store, and on public data fill it by and by."""

from typing import Any

from streamlit.testing.v1 import AppTest

from dpmf_core.engine.executor import engine
from dpmf_core.runs.epsilon_grid import grid_runs
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.spending import account_of
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
