"""What pages ask of the engine: the first view first, nothing for pages that nobody looks at,
estimates before long work.
"""

from collections.abc import Iterator

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.engine.executor import engine
from pages.server import sessions

TWO_PAGES = """
import streamlit as st
from dpmf_core.runs.specification import RunSpec
from pages.kit import run_progress
run_progress.begin()
page = st.query_params["page"]
if page in ("slow", "asked"):
    slow = {f"run {seed}": RunSpec.parse(data={"id": "cinema"}, algorithm="als", parameters={"rank": 40, "steps": 200}, seed=9000 + seed) for seed in range(12)}
    run_progress.request("slow", slow, patience=0.0, first=["run 3"], by_button=page == "asked")
run_progress.leave()
"""  # noqa: E501


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    yield
    for page in ("slow", "retention"):
        sessions.registry.let_go("test session id", page)


def open_jobs() -> list[str]:
    return [job.spec.algorithm for job in engine().jobs() if getattr(job.spec, "seed", 0) >= 9000]


def visit(page: str) -> AppTest:
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
    app = visit("slow")
    assert asked_for(app, "slow") == {"run 3"} and len(open_jobs()) == 1
    assert app.get("progress")[0].proto.text.startswith("0 of 12 runs finished")


def test_another_page_calls_off_what_a_page_began_by_itself() -> None:
    app = visit("slow")
    went_to(app, "other")
    assert open_jobs() == []
    went_to(app, "slow")  # and it is asked for again, as if it had never been
    assert len(open_jobs()) == 1 and not app.info


def test_what_a_button_began_goes_on() -> None:
    app = visit("asked")
    went_to(app, "other")
    assert len(open_jobs()) == 1


def test_who_cancels_is_not_asked_for_more() -> None:
    app = visit("slow")
    app.button(key="slow.cancel").click().run()
    app.run()
    assert open_jobs() == [] and asked_for(app, "slow") == {"run 3"}
    assert app.info[0].value.startswith("Cancelled")
