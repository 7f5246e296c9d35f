"""The Retention page, and the small stream that it shows."""

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.experiment import RunSpec, run
from dpmf_core.subpoena import MOMENTS, stream
from tests.pages.driving import behind_sidebar, settled

SCRIPT = behind_sidebar("recommend/retention.py")


def page() -> AppTest:
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    app.query_params["data"] = "cinema-small"
    return settled(app)


def rmse(variant: str) -> float:
    given = {"variant": variant, "static_share": 0.5, "arrival": "random", "steps": 30}
    return float(run(RunSpec.parse(data={"id": "cinema-small"}, algorithm="no-retention", parameters=given)).record["metrics"]["rmse"])


def test_the_sentence_says_what_the_runs_say() -> None:
    app = page()
    assert app.title[0].value.startswith(f"Keeping nothing of users costs {rmse('rated') / rmse('baseline') - 1:.1%} in RMSE")
    assert "no ε" in app.info[0].value
    assert not any("ε =" in element.value for element in (*app.markdown, *app.caption))


@pytest.mark.parametrize(("view", "said"), [("activity", "Fig. 2"), ("windows", "Fig. 3")])
def test_the_other_views(view: str, said: str) -> None:
    app = page()
    app.segmented_control(key="retention.view").set_value(view)
    settled(app)
    assert any(said in element.value for element in app.caption)
    table = app.dataframe[0].value
    assert set(table["variant"]) >= {"rated", "online", "static"}
    assert (table.groupby("variant")["excess"].mean()["static"]) > table.groupby("variant")["excess"].mean()["rated"]


def test_by_time_where_there_is_none_is_a_sentence() -> None:
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    app.query_params["data"] = "lowrank-5k"
    app.session_state["retention.arrival"] = "time"
    settled(app)
    assert any("no times" in element.value for element in app.error)


def test_each_moment_lists_what_each_server_holds() -> None:
    app = page()
    app.slider(key="retention.moment").set_value(MOMENTS)
    settled(app)
    held = app.dataframe[-1].value.set_index("variant")
    assert held.loc["baseline", "ratings"] == MOMENTS
    assert held.loc["rated", "ratings"] == 0 == held.loc["rated", "numbers about users"]
    assert held.loc["rated", "numbers about items"] == 18


def test_the_stream_is_run_not_invented() -> None:
    moments = stream()
    assert [moment.number for moment in moments] == list(range(1, MOMENTS + 1))
    assert all(moment.moved > 0 for moment in moments)
    assert len({(moment.user, moment.item) for moment in moments}) == MOMENTS
    assert stream() == moments
    assert stream(1) != moments
    assert moments[-1].holdings[0].ratings == MOMENTS


@pytest.mark.parametrize("variant", ["new", "rated"])
def test_what_passes_is_told_and_not_kept(variant: str) -> None:
    for moment in stream():
        (held,) = [one for one in moment.holdings if one.variant == variant]
        assert held.ratings == held.user_numbers == 0
        assert "she brought" in held.for_a_moment
