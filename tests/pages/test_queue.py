"""What pages ask of the engine: the first view first, nothing for pages that nobody looks at,
estimates before long work.
"""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.audit.membership_inference import AuditSpec
from dpmf_core.engine.executor import engine
from dpmf_core.runs.specification import RunSpec
from pages.kit import time_estimate
from pages.retention import frames
from pages.server import sessions
from tests.pages.driving import behind_sidebar, words

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


def test_retention_begins_with_what_its_sentence_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.kit.run_progress._settle", lambda jobs, patience: None)
    app = AppTest.from_string(behind_sidebar("retention/page.py"), default_timeout=60)
    app.session_state["retention.epochs"] = 1999
    app.run()
    assert not app.exception and asked_for(app, "retention") == set(frames.FIRST)


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


def test_a_long_audit_waits_for_its_button_and_says_how_long_it_takes() -> None:
    time_estimate._training_seconds().clear()  # what other tests have learnt
    app = AppTest.from_string(behind_sidebar("audit/page.py"), default_timeout=60)
    app.session_state["audit.runs"], app.session_state["audit.algorithm"] = 100_000, "private-bias"
    app.run()
    assert "100,000 trainings would take about **8 min** (an estimate)" in words(app)
    assert not [job for job in engine().jobs() if isinstance(job.spec, AuditSpec)]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "1st"),
        (2, "2nd"),
        (3, "3rd"),
        (4, "4th"),
        (11, "11th"),
        (12, "12th"),
        (21, "21st"),
        (1113, "1,113th"),
    ],
)
def test_places_are_said_as_people_do(number: int, text: str) -> None:
    assert time_estimate.ordinal(number) == text


def test_estimates_rise_with_trainings_and_steps() -> None:
    few, many = (
        AuditSpec.parse(algorithm="private-bias", epsilon=1.0, runs=count)
        for count in (1000, 10_000)
    )
    assert time_estimate.cost(many) == pytest.approx(10 * time_estimate.cost(few))


def test_the_estimate_for_images_grows_with_their_pixels() -> None:
    """A method that was never run: 4,000 images of 576 pixels, 1,797 of 64."""
    faces, digits = (
        time_estimate.cost(RunSpec.parse(data={"id": name}, algorithm="nmf"))
        for name in ("faces", "digits")
    )
    assert faces == pytest.approx(2.304 * time_estimate.UNKNOWN + time_estimate.AROUND)
    assert digits == pytest.approx(time_estimate.UNKNOWN + time_estimate.AROUND)


def test_the_time_that_is_said_counts_the_runs_that_are_not_asked_for_yet() -> None:
    """Each by its own cost: what is asked for first may be quicker than the rest."""
    jobs: list[Any] = [
        SimpleNamespace(cost=10.0, state="waiting", ahead=0, waiting=3, progress=None)
        for _ in range(3)
    ]
    rest = [RunSpec.parse(data={"id": "faces"}, algorithm="nmf", seed=seed) for seed in range(90)]
    later = 90 * time_estimate.cost(rest[0])
    text = time_estimate.progress(jobs, jobs, rest)[1]
    assert text.endswith(time_estimate.words((30 + later) / engine().width))
    assert "0 of 93" in text
    assert time_estimate.progress(jobs, jobs, [])[1].endswith(
        time_estimate.words(30 / engine().width)
    )


def test_what_was_refused_or_failed_is_not_said_to_have_finished() -> None:
    states = ("done", "failed", "failed", "cancelled", "waiting")
    jobs: list[Any] = [
        SimpleNamespace(cost=1.0, state=state, ahead=0, waiting=1, progress=None)
        for state in states
    ]
    share, text = time_estimate.progress(jobs, jobs[-1:], [])
    assert text.startswith("1 of 5 runs finished; 3 refused, failed or cancelled;")
    assert share == pytest.approx(0.8)
