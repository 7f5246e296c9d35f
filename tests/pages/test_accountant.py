"""The accountant's page, driven as a person would, without a browser."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.engine.executor import Engine, engine
from dpmf_core.errors import BadInput
from dpmf_core.papers.source_noise import saha
from dpmf_core.privacy import (
    Budget,
    Event,
    Gaussian,
    Laplace,
    Repeat,
    normal_form,
    sequence,
)
from dpmf_core.privacy.accounting import epsilon
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.privacy_record import PrivacyRecord
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from pages.accountant import growth, ledger_table
from tests.pages.driving import behind_sidebar, frames, widget_of, words
from tests.support.records import run_of

SCRIPT = behind_sidebar("accountant/page.py")


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    monkeypatch.setenv("DPMF_ENGINE", "threads")
    engines: list[Engine] = []
    monkeypatch.setattr("dpmf_core.engine.executor._only", engines)
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


def in_link(app: AppTest, name: str) -> str:
    """A parameter of the link: what the page wrote, or what the test gave and the page left
    alone (a list).
    """
    value = app.query_params[name]
    return value if isinstance(value, str) else value[0]


# ---- the page ------------------------------------------------------------------------------------


def test_the_table_comes_back_after_a_look_elsewhere() -> None:
    app = page(ledger="g:3:7")
    first = app.title[0].value
    assert from_(app, "plan").title[0].value != first
    assert in_link(app, "from") == "plan" and "ledger" not in app.query_params
    assert from_(app, "hand").title[0].value == first
    assert in_link(app, "ledger") == "g:3:7"


def test_the_sidebar_s_algorithm_costs_the_sidebar_s_epsilon() -> None:
    app = page(**{"from": "plan", "eps": "3"})
    assert app.title[0].value.endswith("cost ε = 3.00")
    widget_of(app.number_input, "sidebar.eps").set_value(0.004)
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


def test_noise_for_a_total() -> None:
    app = page()
    app.number_input(key="accountant.total").set_value(2.0)
    app.number_input(key="accountant.releases").set_value(100)
    app.number_input(key="accountant.delta_of_total").set_value(1e-5)
    level = float(re.search(r"Noise multiplier ([\d.]+) for each of 100", words(ran(app))).group(1))  # type: ignore[union-attr]
    assert level == pytest.approx(10 * 1.9938, rel=1e-3)


# ---- ledgers as text and tables ------------------------------------------------------------------


@pytest.mark.parametrize("text", ["g:10:5", "g:0.001:100000,l:1e+09:1", "l:3.25:2:1.5,g:7:1"])
def test_text_and_table_are_inverse(text: str) -> None:
    assert ledger_table.text_of(ledger_table.table(text)) == text


def test_a_ledger_survives_table_and_text() -> None:
    event = sequence(
        Repeat(Gaussian(math.pi, "sums", 1.0, math.sqrt(2)), 7), Laplace(math.e, "counts")
    )
    again = ledger_table.event_of(ledger_table.rows_of(normal_form(event)))
    assert normal_form(again) == normal_form(event)
    from_text = ledger_table.event_of(
        ledger_table.table(ledger_table.text_of(ledger_table.rows_of(normal_form(event))))
    )
    assert epsilon(from_text, 1e-6) == pytest.approx(epsilon(event, 1e-6), rel=1e-6)


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA])
@pytest.mark.parametrize("column", ["noise", "noise multiplier", "times", "replace-one factor"])
def test_an_empty_cell_is_named(column: str, missing: Any) -> None:
    rows = ledger_table.table("g:10:5").astype(object)
    rows.loc[0, column] = missing
    with pytest.raises(BadInput):
        ledger_table.event_of(rows)


def test_a_release_without_a_name_gets_its_row_s() -> None:
    rows = ledger_table.table("g:10:5,g:10:5")
    rows["released"] = [None, ""]
    assert [leaf.statistic for leaf, _ in normal_form(ledger_table.event_of(rows))] == [
        "row 1",
        "row 2",
    ]


@pytest.mark.parametrize("event", [saha(0.5).event, Repeat(Laplace(20.0), 10)])
def test_figures_agree_with_the_accountant(event: Event) -> None:
    totals = growth.totals(event, 1e-6)
    assert totals["epsilon"].tolist() == [epsilon(Repeat(event, n), 1e-6) for n in totals["times"]]
    once = totals["epsilon"].iloc[0]
    curve = growth.deltas(event, once)
    assert len(curve) >= 10 and curve["delta"].is_monotonic_decreasing
    assert (curve.loc[curve["epsilon"] > once, "delta"] < 1e-6).all() and (
        curve.loc[curve["epsilon"] < once, "delta"] > 1e-6
    ).all()
