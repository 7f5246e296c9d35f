"""What pages ask of the engine: the first view first, nothing for pages that nobody looks at, estimates before long work."""

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.audit import AuditSpec
from dpmf_core.engine import engine
from pages.kit import forecast, retained, runs
from tests.pages.driving import behind_sidebar, words

TWO_PAGES = """
import streamlit as st
from dpmf_core.experiment import RunSpec
from pages.kit import runs
runs.begin()
page = st.query_params["page"]
if page in ("slow", "asked"):
    slow = {f"run {seed}": RunSpec.parse(data={"id": "cinema"}, algorithm="als", parameters={"rank": 40, "steps": 200}, seed=9000 + seed) for seed in range(12)}
    runs.wanted("slow", slow, patience=0.0, first=["run 3"], asked=page == "asked")
runs.leave()
"""


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    yield
    for page in ("slow", "retention"):
        runs.presence().let_go("test session id", page)


def open_jobs() -> list[str]:
    return [job.spec.algorithm for job in engine().jobs() if getattr(job.spec, "seed", 0) >= 9000]


def opened(page: str) -> AppTest:
    app = AppTest.from_string(TWO_PAGES, default_timeout=60)
    app.query_params["page"] = page
    return app.run()


def went_to(app: AppTest, page: str) -> AppTest:
    app.query_params["page"] = page
    return app.run()


def asked_for(app: AppTest, page: str) -> set[str]:
    """Names of the runs that a page has handed to the engine."""
    return {name for name, (_, job) in app.session_state[f"{page}.jobs"].items() if job is not None}


def test_a_page_asks_for_its_first_view_alone() -> None:
    app = opened("slow")
    assert asked_for(app, "slow") == {"run 3"} and len(open_jobs()) == 1
    assert app.get("progress")[0].proto.text.startswith("0 of 12 runs finished")


def test_retention_begins_with_what_its_sentence_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.kit.runs._settle", lambda jobs, patience: None)
    app = AppTest.from_string(behind_sidebar("recommend/retention.py"), default_timeout=60)
    app.session_state["retention.epochs"] = 1999
    app.run()
    assert not app.exception and asked_for(app, "retention") == set(retained.FIRST)


def test_another_page_calls_off_what_a_page_began_by_itself() -> None:
    app = opened("slow")
    went_to(app, "other")
    assert open_jobs() == []
    went_to(app, "slow")  # and it is asked for again, as if it had never been
    assert len(open_jobs()) == 1 and not app.info


def test_what_a_button_began_goes_on() -> None:
    app = opened("asked")
    went_to(app, "other")
    assert len(open_jobs()) == 1


def test_who_cancels_is_not_asked_for_more() -> None:
    app = opened("slow")
    app.button(key="slow.cancel").click().run()
    app.run()
    assert open_jobs() == [] and asked_for(app, "slow") == {"run 3"}
    assert app.info[0].value.startswith("Cancelled")


def test_a_long_audit_waits_for_its_button_and_says_how_long_it_takes() -> None:
    app = AppTest.from_string(behind_sidebar("privacy/audit.py"), default_timeout=60)
    app.session_state["audit.runs"], app.session_state["audit.algorithm"] = 100_000, "private-bias"
    app.run()
    assert "100,000 trainings would take about **8 min** (an estimate)" in words(app)
    assert not [job for job in engine().jobs() if isinstance(job.spec, AuditSpec)]


@pytest.mark.parametrize(("number", "text"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (21, "21st"), (1113, "1,113th")])
def test_places_are_said_as_people_do(number: int, text: str) -> None:
    assert runs.ordinal(number) == text


def test_estimates_rise_with_trainings_and_steps() -> None:
    few, many = (AuditSpec.parse(algorithm="private-bias", epsilon=1.0, runs=count) for count in (1000, 10_000))
    assert forecast.cost(many) == pytest.approx(10 * forecast.cost(few))
