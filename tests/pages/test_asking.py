"""Runs that a page asks for."""

from streamlit.testing.v1 import AppTest

from dpmf_core.runs.specification import RunSpec
from pages.kit.running import runs
from tests.pages.driving import engine_run
from tests.support.engines import WAIT

SPEC = RunSpec.parse(data={"id": "cinema-small"}, algorithm="global-mean")


def page():
    import streamlit as st

    from pages.kit.running import runs
    from tests.pages.test_asking import SPEC

    with runs.following():
        st.write(",".join(runs.ask("place", {"main": SPEC})))


def test_a_run_that_ends_while_results_are_taken_is_shown(monkeypatch):
    """Runs may end after results were collected and before the page asks what goes on."""
    take = runs.RunRequest.collect
    looks = list[int]()

    def collect_before_the_end(request, whole):
        looks.append(len(request.jobs))
        if len(looks) == 1:
            for job in request.jobs.values():
                job.wait(WAIT)
        else:
            take(request, None)

    monkeypatch.setattr(runs, "PATIENCE", 0.0)
    monkeypatch.setattr(runs.RunRequest, "collect", collect_before_the_end)
    app = AppTest.from_function(page, default_timeout=WAIT).run()
    assert not app.exception
    assert looks[0] == 1
    assert app.markdown[0].value == "main"
    assert engine_run(SPEC).record.metrics["rmse"] > 0
