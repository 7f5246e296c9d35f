"""The Retention page, and the small stream that it shows."""

from collections import Counter

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.teaching.subpoena import IN_TRANSIT, MEMORY, MOMENTS, stream
from tests.pages.driving import behind_sidebar, frames, settled

SCRIPT = behind_sidebar("retention/page.py")


def page() -> AppTest:
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    app.query_params["data"] = "cinema-small"
    return settled(app)


def rmse(variant: str) -> float:
    parameters = {"variant": variant, "static_share": 0.5, "arrival": "random", "steps": 30}
    return float(
        run(
            RunSpec.parse(
                data={"id": "cinema-small"}, algorithm="no-retention", parameters=parameters
            )
        ).record.metrics["rmse"]
    )


def test_the_sentence_says_what_the_runs_say() -> None:
    app = page()
    assert app.title[0].value.startswith(
        f"Keeping nothing of users costs {rmse('rated') / rmse('baseline') - 1:.1%} in RMSE"
    )
    assert "no ε" in app.info[0].value
    assert not any("ε =" in element.value for element in (*app.main.markdown, *app.main.caption))


def _wait(dispatcher: object, task: object) -> None:
    """No worker is free."""


def test_while_runs_go_on_no_result_is_named_and_what_is_missing_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = page()
    app.number_input(key="retention.epochs").set_value(3)
    with monkeypatch.context() as no_worker_is_free:
        no_worker_is_free.setattr("dpmf_core.engine.dispatcher.Dispatcher.line_up", _wait)
        no_worker_is_free.setattr("pages.kit.run_progress._settle", lambda jobs, patience: None)
        app.run()
        waiting = app.title[0].value, " ".join(it.value for it in app.markdown)
        app.button(key="retention.cancel").click().run()
    assert waiting[0] == "1 of 22 runs have finished"  # Slope One takes no epochs
    assert "baseline, rated (at 0.15, 0.3, 0.5, 0.7, 0.9), new (at 0.15, " in waiting[1]


@pytest.mark.slow
def test_a_figure_of_the_source_ends_with_its_statements() -> None:
    app = page()
    app.selectbox(key="retention.figure").set_value("vallet-fig3")
    settled(app)
    assert any("statements hold" in box.value for box in (*app.success, *app.warning))
    (text,) = [it.value for it in app.markdown if "at the last month" in it.value]
    assert "hold" in text and "the gap in %" in text


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
    table = frames(app)[-1].set_index("variant")
    assert table.loc["baseline", "ratings"] == str(MOMENTS)
    assert table.loc["rated", "ratings"] == "0" == table.loc["rated", "numbers about users"]
    assert table.loc["rated", "numbers about items"] == "18"
    assert table.loc["baseline", "ratings sent"] == "1"


def test_what_is_not_kept_crosses_the_wire() -> None:
    assert set(IN_TRANSIT) == set(MEMORY)
    counts: Counter[str] = Counter()
    for moment in stream():
        counts[moment.user] += 1
        ratings_sent = {holding.variant: holding.ratings_sent for holding in moment.holdings}
        assert ratings_sent == {
            "baseline": 1, "static": 0, "online": 1,
            "new": counts[moment.user], "rated": counts[moment.user],
        }  # fmt: skip


def test_the_stream_is_run_not_invented() -> None:
    moments = stream()
    assert [moment.number for moment in moments] == list(range(1, MOMENTS + 1))
    assert all(moment.item_move > 0 for moment in moments)
    assert len({(moment.user, moment.item) for moment in moments}) == MOMENTS
    assert stream() == moments
    assert stream(1) != moments
    assert moments[-1].holdings[0].ratings == MOMENTS


@pytest.mark.parametrize("variant", ["new", "rated"])
def test_what_passes_is_told_and_not_kept(variant: str) -> None:
    for moment in stream():
        (holding,) = [one for one in moment.holdings if one.variant == variant]
        assert holding.ratings == holding.user_numbers == 0
        assert "she brought" in holding.for_a_moment
