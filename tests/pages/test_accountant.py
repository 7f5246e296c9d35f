"""The two views of Account, driven as a person would, without a browser."""

import math
import re

import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Shape
from dpmf_core.jobs.engine import engine
from dpmf_core.papers.source_noise import saha
from dpmf_core.privacy import (
    Budget,
    Laplace,
    Repeat,
    normal_form,
)
from dpmf_core.privacy.accounting import epsilon
from dpmf_core.privacy.certainty import certainty_at
from dpmf_core.privacy.gaussian import gaussian_epsilon, gaussian_mu
from dpmf_core.runs.planning import epsilon_of_each, prepare
from dpmf_core.runs.privacy_record import PrivacyRecord
from dpmf_core.runs.specification import RunSpec
from pages.accountant import ledger
from tests.pages.conftest import fresh_store
from tests.pages.driving import ROOT, app_of, behind_sidebar, frames, widget_of, words
from tests.support.records import run_of

PLAN = behind_sidebar("accountant/page.py")
LEDGER = behind_sidebar("ledger/page.py")
BOTH = (
    "import streamlit as st\nfrom runpy import run_path\nfrom pages.kit import sidebar\n"
    "sidebar.draw('ratings')\n"
    "view = 'ledger' if st.query_params.get('view') == 'ledger' else 'accountant'\n"
    f"run_path(f'{ROOT}/pages/{{view}}/page.py')\n"
)


@pytest.fixture(autouse=True)
def own_store(tmp_path):
    with fresh_store(tmp_path):
        yield


def page(script=LEDGER, **parameters):
    return ran(app_of(script, **parameters))


def ran(app):
    app.run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def test_the_sidebar_s_algorithm_costs_the_sidebar_s_epsilon():
    app = page(**{"from": "plan", "epsilon": "3"})
    assert app.title[0].value.endswith("cost ε = 3.00")
    widget_of(app.text_input, "sidebar.epsilon").set_value("0.004")
    assert ran(app).title[0].value.endswith("cost ε = 0.004")  # never "0.00"


def test_a_stored_run_is_accounted_from_its_ledger():
    app = page()
    app.segmented_control(key="accountant.source").set_value("run")
    assert ran(app).error
    run = stored_run()
    engine().store.put(run)
    app = ran(app)
    assert app.title[0].value.endswith("cost ε = 2.00")
    assert "(δ = 1e-5, per user, add/remove, exact)" in words(app)
    assert "PROVEN" in words(app)
    (releases,) = [frame for frame in frames(app) if "noise scale" in frame.columns]
    assert releases["sensitivity"].tolist() == [
        row.sensitivity for row in run.record.ledger
    ]


def stored_run(seed=4):
    """A run as the store keeps it; only what it spent matters here."""
    budget = {"epsilon": 2.0, "delta": 1e-5}
    spec = RunSpec.parse(
        data={"id": "cinema"},
        algorithm="dpals",
        budget=budget,
        seed=seed,
    )
    ready = prepare(spec, Shape(20_000, 400, (0.5, 5.0)))
    privacy = PrivacyRecord.of(
        normal_form(ready.plan), ready.plan, Budget(**budget), ready.guarantee
    )
    facts = {
        "spec": spec,
        "key": f"{seed}" * 32,
        "title": "DPALS",
        "seconds": {"fit": 1.0},
    }
    return run_of(**dict(privacy), **facts, public=True, metrics={})


@pytest.mark.parametrize(
    "text", ["g:10:5", "g:0.001:100000,l:1e+09:1", "l:3.25:2:1.5,g:7:1"]
)
def test_text_and_table_are_inverse(text):
    assert ledger.text_of(ledger.table(text)) == text


def test_a_decimal_comma_in_a_cell_is_read_and_thousands_are_refused():
    rows = ledger.table("g:10:5")
    rows["noise multiplier"] = rows["replace-one factor"] = "1,5"
    assert ledger.event_of(rows) == ledger.event_of(ledger.table("g:1.5:5:1.5"))
    assert ledger.text_of(rows) == "g:1.5:5:1.5"
    rows["noise multiplier"] = "1,000"
    with pytest.raises(BadInput, match="1,000"):
        ledger.event_of(rows)


@pytest.mark.parametrize("event", [saha(0.5).event, Repeat(Laplace(20.0), 10)])
def test_figures_agree_with_the_accountant(event):
    totals = ledger.totals(event, 1e-6)
    assert totals["epsilon"].tolist() == [
        epsilon(Repeat(event, n), 1e-6) for n in totals["times"]
    ]
    once = totals["epsilon"].iloc[0]
    curve = ledger.deltas(event, once)
    assert len(curve) >= 10
    assert curve["delta"].is_monotonic_decreasing
    assert (curve.loc[curve["epsilon"] > once, "delta"] < 1e-6).all()
    assert (curve.loc[curve["epsilon"] < once, "delta"] > 1e-6).all()


def test_fifteen_models_at_a_total_of_two_have_what_gaussian_composition_says():
    """Gaussian releases of mu each compose to mu times the root of their number."""
    delta = 1e-5
    spec = RunSpec.of(
        dataset="cinema-small",
        algorithm="spectral",
        epsilon=2.0,
        delta=delta,
    )
    each = epsilon_of_each(spec, Shape(2000, 200, (1.0, 5.0)), 15)
    exact = gaussian_epsilon(gaussian_mu(2.0, delta) / math.sqrt(15), delta)
    assert 0.995 * exact < each <= exact
    assert epsilon_of_each(spec, Shape(2000, 200, (1.0, 5.0)), 1) == 2.0
    with pytest.raises(BadInput):
        epsilon_of_each(spec, Shape(2000, 200, (1.0, 5.0)), 10**9)


def test_many_models_are_answered_with_what_each_keeps_and_ways_to_it():
    app = page(
        PLAN,
        models="3",
        years="5",
        total="2",
        dataset="cinema",
        algorithm="dpals",
    )
    delta = app.session_state["sidebar.delta"]
    exact = gaussian_epsilon(gaussian_mu(2.0, delta) / math.sqrt(15), delta)
    said = app.title[0].value
    assert said.startswith("15 models over 5 years")
    assert float(said.rpartition("= ")[2]) == pytest.approx(exact, rel=0.01)
    assert "ε = 2.00 in total (δ = " in words(app)
    assert certainty_at(2.0, delta).verdict() in words(app)
    measured = re.search(r"keeps (\d+)% to (\d+)%", words(app))
    assert measured is not None
    assert int(measured[1]) < int(measured[2]) <= 100
    app.button(key="accountant.next.explore").click()
    app.run()
    assert app.session_state["sidebar.epsilon"] == pytest.approx(exact, rel=0.01)
    assert app.session_state["choose.wish"] == "spend"


def show(app, view):
    """The other view, as its tab shows it: the address names the view alone."""
    app.query_params.clear()
    if view:
        app.query_params["view"] = view
    return ran(app)


def test_each_view_shows_its_own_part_alone():
    plan = page(PLAN)
    account = page()
    assert not plan.segmented_control
    assert not plan.get("arrow_data_frame")
    assert plan.title[0].value.startswith("15 models over 5 years")
    assert account.title[0].value.startswith("Example: ")
    for button in account.button:
        assert ".next." not in str(button.key)
        assert "models" not in button.label


def test_what_is_entered_in_one_view_is_kept_while_the_other_is_shown():
    app = page(BOTH, models="4")
    app.number_input(key="accountant.years").set_value(7)
    widget_of(app.text_input, "accountant.total").set_value("3")
    assert ran(app).title[0].value.startswith("28 models over 7 years at a total of 3")
    show(app, "ledger")
    app.segmented_control(key="accountant.source").set_value("claim")
    ran(app).selectbox(key="accountant.claim").set_value(
        "Saha & Imtiaz 2022, 100 steps"
    )
    title = ran(app).title[0].value
    show(app, "")
    assert app.title[0].value.startswith("28 models over 7 years at a total of 3")
    assert "models" in app.query_params
    assert "from" not in app.query_params
    show(app, "ledger")
    assert app.title[0].value == title
    assert (
        app.selectbox(key="accountant.claim").value == "Saha & Imtiaz 2022, 100 steps"
    )


def test_the_run_that_is_accounted_is_kept_while_the_other_view_is_shown():
    for seed in (4, 5):
        engine().store.put(stored_run(seed))
    app = page(BOTH, view="ledger")
    app.segmented_control(key="accountant.source").set_value("run")
    last = ran(app).selectbox(key="accountant.run").options[-1]
    app.selectbox(key="accountant.run").select(last)
    ran(app)
    show(show(app, ""), "ledger")
    box = app.selectbox(key="accountant.run")
    assert box.options.index(last) == box.index


def test_a_link_to_another_ledger_wins_over_the_session():
    app = page()
    app.query_params["from"] = "claim"
    assert ran(app).selectbox(key="accountant.claim")
    app.segmented_control(key="accountant.source").set_value("hand")
    assert not [box for box in ran(app).selectbox if box.key == "accountant.claim"]
    assert app.segmented_control(key="accountant.source").value == "hand"


def test_years_that_the_box_takes_are_years_that_a_link_takes():
    app = page(PLAN, years="100")
    assert not app.warning
    assert app.number_input(key="accountant.years").max == 100
