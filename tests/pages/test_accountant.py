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
from dpmf_core.papers.source_noise import chien, saha
from dpmf_core.privacy import (
    Budget,
    Event,
    Gaussian,
    Laplace,
    Relation,
    Repeat,
    normal_form,
    sequence,
)
from dpmf_core.privacy.accounting import epsilon
from dpmf_core.privacy.rules import every_epsilon
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.privacy_record import PrivacyRecord
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from pages.accountant import growth, ledger_table
from tests.pages.driving import behind_sidebar, frames, plain, widget_of, words
from tests.support.records import run_of

ROOT = Path(__file__).parents[2]
SCRIPT = behind_sidebar("accountant/page.py")
DELTA = 5e-6  # of the first page's 20,000 users


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


def test_epsilon_in_full_comes_first() -> None:
    app = page()
    event = sequence(Repeat(Gaussian(10.0), 5), Gaussian(20.0))
    exact, replacement = (epsilon(event, DELTA, relation) for relation in Relation)
    assert app.title[0].value == f"These 6 releases cost ε = {exact:.2f}"
    assert plain(app.markdown[0].value).startswith(
        f"ε = {exact:.2f} (δ = 5e-6, per unit, add/remove, exact), all together; not per release."
    )
    assert f"at most {replacement:.2f}" in app.markdown[0].value
    assert "except with probability" in words(app)


def test_every_rule_stands_beside_the_exact_one() -> None:
    event = sequence(Repeat(Gaussian(10.0), 5), Gaussian(20.0))
    table = table_with(page(), "rule")
    for relation, column in zip(
        Relation, ["ε, add/remove", "ε, replace-one, at most"], strict=True
    ):
        expected = [
            "not valid here" if row.epsilon is None else f"{row.epsilon:.2f}"
            for row in every_epsilon(event, DELTA, relation)
        ]
        assert table[column].tolist() == expected
    invalid = table["ε, replace-one, at most"] == "not valid here"
    assert invalid.any() and table.loc[invalid, "why not"].str.contains("below 1").all()


def test_a_link_holds_the_ledger() -> None:
    app = page(ledger="g:7.25:100,l:40:3:1.5")
    event = sequence(Repeat(Gaussian(7.25, "a"), 100), Repeat(Laplace(40.0, "b", 1.0, 1.5), 3))
    assert f"ε = {epsilon(event, DELTA):.2f}" in app.title[0].value
    assert in_link(app, "ledger") == "g:7.25:100,l:40:3:1.5"
    assert "The odds sentence is exact for Gaussian noise only" in words(app)


@pytest.mark.parametrize(
    "text", ["g:x:1", "cauchy:1:1", "g:5", "g:1:1:1:1", ",".join(["g:9:1"] * 41)]
)
def test_a_link_that_cannot_be_read_is_named(text: str) -> None:
    app = page(ledger=text)
    assert "An example is shown instead" in app.warning[0].value
    assert "ε = " in app.title[0].value


@pytest.mark.parametrize(
    ("text", "sentence"),
    {
        "": "The ledger is empty",
        "g:0:5": "Row 1: the noise multiplier must be from 0.001 to 1,000,000,000. Got 0.",
        "g:10:1,g:-1:5": "Row 2: the noise multiplier must be",
        "g:nan:5": "Row 1: the noise multiplier must be from 0.001 to 1,000,000,000. Got nothing.",
        "g:inf:5": "Got inf.",
        "g:10:0": "Row 1: the number of times must be from 1 to 100,000. Got 0.",
        "g:10:1e9": "Got 1e+09.",
        "g:10:nan": "the number of times must be from 1 to 100,000. Got nothing.",
        "g:10:2.5": "Row 1: the number of times must be a whole number. Got 2.5.",
        "g:10:1:3": "Row 1: the replace-one factor must be from 1 to 2. Got 3.",
        "l:10:20000": "Laplace noise is composed numerically: at most 10,000 such releases",
        "l:0.01:50": "times / multiplier at most 100",
    }.items(),
)
def test_bad_input_is_a_sentence_and_loses_nothing(text: str, sentence: str) -> None:
    app = page(ledger=text)
    assert sentence in app.error[0].value
    assert "Your entries are kept" in words(app)
    assert app.title[0].value == "An entry needs correcting"
    assert len(app.session_state["accountant.held"]) == len(
        [part for part in text.split(",") if part]
    )
    assert "Noise multiplier" in words(app)  # the rest of the page stands


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


def test_a_loaded_ledger_can_be_edited() -> None:
    app = page(**{"from": "claim"})
    app.button(key="accountant.take").click()
    ran(app)
    assert app.segmented_control(key="accountant.source").value == "hand"
    assert (
        app.title[0].value == f"These 20 releases cost ε = {epsilon(chien(1.0).event, DELTA):.2f}"
    )
    assert in_link(app, "ledger").count("g:") == 2


def test_a_stored_run_is_accounted_from_its_ledger() -> None:
    app = from_(page(), "run")
    assert "No private run is stored yet" in app.error[0].value
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


@pytest.mark.parametrize(
    ("which", "figures"),
    {
        "Chien et al. 2021": [1.060],
        "Jain et al. 2018": [0.545, 0.790, 0.124, 0.179],
        "Saha & Imtiaz 2022, 100 steps": [6.82, 6.82, 2.34, 3.85],
        "Saha & Imtiaz 2022, 500 steps": [18.6, 18.6, 5.89, 9.99],
    }.items(),
)
def test_a_paper_s_claim_stands_beside_what_its_noise_costs(
    which: str, figures: list[float]
) -> None:
    app = from_(page(), "claim")
    app.selectbox(key="accountant.claim").set_value(which)
    costs = table_with(ran(app), "nominal ε").filter(like="exact total").to_numpy().ravel()
    assert [float(text) for text in costs[: len(figures)]] == pytest.approx(figures, rel=2e-3)


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
    with pytest.raises(BadInput, match=f"Row 1: the (number of )?{column} must be .* Got nothing"):
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
