"""The accountant's page, driven as a person would, without a browser."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.jobs.engine import Engine, engine
from dpmf_core.papers.source_noise import saha
from dpmf_core.privacy import (
    Budget,
    Event,
    Laplace,
    Repeat,
    normal_form,
)
from dpmf_core.privacy.accounting import epsilon
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.privacy_record import PrivacyRecord
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from pages.accountant import figures, ledger_table
from tests.pages.driving import behind_sidebar, frames, widget_of, words
from tests.support.records import run_of

SCRIPT = behind_sidebar("accountant/page.py")


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    engines: list[Engine] = []
    monkeypatch.setattr("dpmf_core.jobs.engine._only", engines)
    yield
    for one in engines:
        one.close()
        one.store.close()


def page(**parameters: str) -> AppTest:
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    for name, value in parameters.items():
        app.query_params[name] = value
    return ran(app)


def ran(app: AppTest) -> AppTest:
    app.run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def from_(app: AppTest, source: str) -> AppTest:
    app.segmented_control(key="accountant.source").set_value(source)
    return ran(app)


def table_with(app: AppTest, column: str) -> pd.DataFrame:
    return next(frame for frame in frames(app) if column in frame.columns)


# ---- the page ------------------------------------------------------------------------------------


def test_the_sidebar_s_algorithm_costs_the_sidebar_s_epsilon() -> None:
    app = page(**{"from": "plan", "eps": "3"})
    assert app.title[0].value.endswith("cost ε = 3.00")
    widget_of(app.number_input, "sidebar.epsilon").set_value(0.004)
    assert ran(app).title[0].value.endswith("cost ε = 0.004")  # never "0.00"


def test_a_stored_run_is_accounted_from_its_ledger() -> None:
    app = from_(page(), "run")
    assert app.error
    run = stored_run()
    engine().store.put(run)
    app = ran(app)
    assert app.title[0].value.endswith("cost ε = 2.00")
    assert "(δ = 1e-5, per user, add/remove, exact)" in words(app)
    assert "PROVEN" in words(app)
    releases = table_with(app, "noise scale")
    assert releases["sensitivity"].tolist() == [row.sensitivity for row in run.record.ledger]


def stored_run() -> Run:
    """A run as the store keeps it; only what it spent matters here."""
    from dpmf_core.data.ratings import Shape

    spec = RunSpec.parse(
        data={"id": "cinema"}, algorithm="dpals", budget={"epsilon": 2.0, "delta": 1e-5}, seed=4
    )
    ready = prepare(spec, Shape(20_000, 400, (0.5, 5.0)))
    privacy = PrivacyRecord.of(
        normal_form(ready.plan), ready.plan, Budget(epsilon=2.0, delta=1e-5), ready.guarantee
    )
    rest = {
        "spec": spec,
        "key": "k" * 32,
        "title": "DPALS",
        "public": True,
        "metrics": {},
        "seconds": {"fit": 1.0},
    }
    return run_of(**dict(privacy), **rest)


# ---- ledgers as text and tables ------------------------------------------------------------------


@pytest.mark.parametrize("text", ["g:10:5", "g:0.001:100000,l:1e+09:1", "l:3.25:2:1.5,g:7:1"])
def test_text_and_table_are_inverse(text: str) -> None:
    assert ledger_table.text_of(ledger_table.table(text)) == text


@pytest.mark.parametrize("event", [saha(0.5).event, Repeat(Laplace(20.0), 10)])
def test_figures_agree_with_the_accountant(event: Event) -> None:
    totals = figures.totals(event, 1e-6)
    assert totals["epsilon"].tolist() == [epsilon(Repeat(event, n), 1e-6) for n in totals["times"]]
    once = totals["epsilon"].iloc[0]
    curve = figures.deltas(event, once)
    assert len(curve) >= 10 and curve["delta"].is_monotonic_decreasing
    assert (curve.loc[curve["epsilon"] > once, "delta"] < 1e-6).all() and (
        curve.loc[curve["epsilon"] < once, "delta"] > 1e-6
    ).all()
