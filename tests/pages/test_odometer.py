"""On private data nothing trains unasked, and every button shows its price."""

import math
import re

import pytest

from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import Gaussian, Status, accounts
from dpmf_core.privacy.certainty import certainty_at
from dpmf_core.privacy.formatting import delta_text, epsilon_text
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs.planning import account_of
from dpmf_core.runs.specification import RunSpec
from dpmf_datasets import session_files
from pages.kit.base import data_sets
from pages.kit.privacy import odometer, purchases
from tests.pages.driving import (
    app_of,
    behind_sidebar,
    brought,
    component,
    forget,
    frames,
    plain,
    run_until,
    settled,
    widget_of,
    words,
)
from tests.support.engines import WAIT
from tests.support.gaussian import epsilon_of, mu_of

DELTA = 1e-5
pytestmark = pytest.mark.usefixtures("short_grid")


def table(users=60, items=12):
    rows = [
        f"p{u},thing {i},{1 + (u * u + 3 * i + u * i) % 5}"
        for u in range(users)
        for i in range(items)
        if (u + i) % 4
    ]
    return ("user,item,rating\n" + "\n".join(rows) + "\n").encode()


@pytest.fixture
def mine():
    upload = session_files.read(table(), "clinic.csv", {"bounds": "1,5"})
    yield upload
    forget(upload)


def page_with(page, mine, epsilon=2.0, algorithm="private-bias"):
    """A page in a session that brought these data."""
    chosen = {
        "epsilon": epsilon,
        "algorithm": algorithm,
        "delta": DELTA,
        "top_items": None,
    }
    state = brought(mine.entry) | {
        f"sidebar.{name}": value for name, value in chosen.items()
    }
    return settled(app_of(behind_sidebar(page), state))


def total_epsilon(mine):
    return account_of(mine.entry.id).total.epsilon


def entries(mine):
    return len(account_of(mine.entry.id).entries)


def buttons(app):
    """Buttons with a price, by what they ask for."""
    return {
        str(it.key).rpartition(".buy.")[2]: it
        for it in app.button
        if ".buy." in str(it.key)
    }


@pytest.mark.parametrize("name", ["explore", "compare", "tune", "accountant", "ledger"])
def test_nothing_is_trained_unasked(name, mine):
    app = page_with(f"{name}/page.py", mine)
    assert not app.error, [it.value for it in app.error]
    assert entries(mine) == 0
    assert "0.00" in words(app)
    assert bool(buttons(app)) is (name in ("explore", "compare"))
    widget_of(app.sidebar.text_input, "sidebar.epsilon").set_value("1")
    settled(app)
    assert entries(mine) == 0


def test_each_button_says_what_it_costs_and_costs_it(mine):
    app = page_with("explore/page.py", mine)
    labels = {title: button.label for title, button in buttons(app).items()}
    assert all(it in labels["This run"] for it in ("0.00", "2.00"))
    assert "0.00" in labels["Without privacy"]
    buttons(app)["This run"].click()
    settled(app)
    assert entries(mine) == 1 and total_epsilon(mine) == pytest.approx(2.0, abs=1e-6)
    assert "2.00" in words(app)
    assert "This run" not in buttons(app)
    price = float(
        re.findall(r"→ ([\d.]+)", buttons(app)["Other private methods"].label)[0]
    )
    buttons(app)["Other private methods"].click()
    settled(app)
    assert 0 <= price - total_epsilon(mine) < 0.01  # rounded up
    widget_of(app.sidebar.text_input, "sidebar.epsilon").set_value("1")
    settled(app)
    assert 0 <= price - total_epsilon(mine) < 0.01  # moving epsilon trains nothing
    assert f"{price:.2f}" in buttons(app)["This run"].label
    engine().forget(mine.entry.id)  # a lost answer is not made again unasked
    bought = entries(mine)
    assert (
        "This run" in buttons(page_with("explore/page.py", mine))
        and entries(mine) == bought
    )


def test_a_figure_over_epsilons_shows_what_was_bought_and_costs_twelve(mine):
    """The page that showed 2.00 where 12.33 had been drawn."""
    app = page_with("explore/page.py", mine)
    buttons(app)["This run"].click()
    settled(app)
    buttons(app)["Without privacy"].click()
    settled(app)
    assert [it["epsilon"] for it in component(app, "hero")["points"]] == [2.0]
    for epsilon in (0.5, 1.0, 5.0, 10.0):
        widget_of(app.sidebar.text_input, "sidebar.epsilon").set_value(f"{epsilon:g}")
        settled(app)
        buttons(app)["This run"].click()
        settled(app)
    points = component(app, "hero")["points"]
    assert [it["epsilon"] for it in points] == [0.5, 1.0, 2.0, 5.0, 10.0]
    assert "5.00" in points[3]["label"]
    assert total_epsilon(mine) == pytest.approx(12.327, abs=0.001)
    assert total_epsilon(mine) == pytest.approx(
        epsilon_of([7.0318, 3.7306, 1.9938, 0.8919, 0.4999], DELTA), abs=0.002
    )
    assert "12.33" in words(app)


def test_a_price_says_how_delta_grows(mine):
    """The deltas of private selections add up; that of equal runs stays."""
    account = account_of(mine.entry.id)
    selection = Charge("selection", (), Status.PROVEN, delta=DELTA, price=(1.0, 2.0))
    run = Charge("run", ((Gaussian(3.0), 1),), Status.PROVEN, delta=DELTA)
    assert "δ" not in purchases.price_text(account, [selection])
    account.enter(run)
    assert "δ" not in purchases.price_text(account, [run]) and account.n_raw_errors == 1
    account.enter(selection)
    assert account.n_raw_errors == 1
    price = purchases.price_text(account, [selection])
    assert price.endswith(f"δ {delta_text(2 * DELTA)} → {delta_text(3 * DELTA)}")


def test_parameters_are_of_the_method_for_which_the_session_wrote_them():
    script = (
        "import streamlit as st\nfrom pages.kit.controls import forms\n"
        "forms.read_address(st.session_state.method)\n"
        "values = forms.set_parameters(st.session_state.method)\n"
        "forms.write_to_address(st.session_state.method, values)\n"
    )
    address = {"p.local_columns": "False"}
    app = app_of(script, {"method": "private-bias"}, **address).run()
    assert "p.local_columns" in app.query_params
    app.session_state["method"] = "dpals"
    app.run()
    assert "p.local_columns" not in app.query_params
    app.session_state["method"] = "private-bias"
    assert "p.local_columns" in app.run().query_params
    linked = app_of(
        script, {"method": "dpals"}, **address
    ).run()  # a link may be of any method
    assert "p.local_columns" in linked.query_params


def test_a_budget_refuses_in_words(mine):
    account = account_of(mine.entry.id)
    account.set_budget(2.5, DELTA)
    app = page_with("explore/page.py", mine)
    assert all(it in words(app) for it in ("0.00", "2.50"))
    buttons(app)["This run"].click()
    settled(app)
    assert buttons(app)["Other private methods"].disabled
    assert "2.50" in words(app)
    assert buttons(app)["Without privacy"].disabled
    account.set_budget(2.5, DELTA, allow_unprotected=True)
    assert not buttons(app.run())["Without privacy"].disabled
    # a page that was drawn before somebody else spent the rest is refused by the account itself
    spec = RunSpec.of(
        dataset=mine.entry.id, algorithm="spectral", epsilon=2.0, delta=DELTA
    )
    with pytest.raises(ValueError):
        engine().submit(spec).result(WAIT)
    assert total_epsilon(mine) == pytest.approx(2.0, abs=1e-6)


def test_the_account_of_private_data_stands_on_both_views_of_account(mine):
    for view in ("accountant", "ledger"):
        app = page_with(f"{view}/page.py", mine)
        assert app.title[0].value == "The account of your data"
        assert len(app.title) == 1 and len(app.header) >= 2


def test_a_budget_is_set_where_the_figure_stands(mine):
    app = page_with("accountant/page.py", mine)
    widget_of(app.text_input, "sidebar.budget.epsilon").set_value("3").run()
    app.checkbox(key="sidebar.budget.unprotected").check().run()
    next(it for it in app.button if it.key == "sidebar.budget.set").click().run()
    account = account_of(mine.entry.id)
    assert account.budget is not None
    assert account.budget.epsilon == 3.0 and account.budget.allow_unprotected
    assert "of 3.00" in words(app)


def test_a_search_of_private_data_draws_nothing_from_them(mine):
    app = page_with("tune/page.py", mine)
    app.number_input(key="tune.trials").set_value(3).run()
    app.number_input(key=data_sets.each_key(mine.entry)).set_value(8).run()
    app.button(key="tune.go").click()
    run_until(app, lambda: any(it.key == "tune.use" for it in app.button))
    assert entries(mine) == 0


def charge(epsilon, title="DPALS"):
    """One Gaussian release that costs epsilon at DELTA."""
    release = Gaussian(1 / mu_of(epsilon, DELTA), title)
    return Charge(title, ((release, 1),), Status.PROVEN, delta=DELTA)


def test_verify_account_shows_what_was_drawn_from_the_session_s_data_and_what_is_left(
    mine,
):
    account = account_of(mine.entry.id)
    for epsilon in (1.0, 2.0):
        account.settle(
            account.enter(charge(epsilon)), charge(epsilon), None, "finished"
        )
    account.set_budget(5.0, DELTA)
    app = page_with("accountant/page.py", mine)
    assert not app.exception
    assert app.title[0].value == "The account of your data"
    mu = math.hypot(mu_of(1.0, DELTA), mu_of(2.0, DELTA))
    total = epsilon_of([1 / mu], DELTA)
    text = words(app)
    heads = [plain(it.value).replace("\\", "") for it in app.header]
    assert (
        f"Released from clinic (yours) so far: ε = {epsilon_text(total)} of 5.00"
        in heads
    )
    left = epsilon_of([1 / math.sqrt(mu_of(5.0, DELTA) ** 2 - mu**2)], DELTA)
    assert f"ε = {math.floor(100 * left) / 100:.2f} at δ = 1e-5" in text
    assert certainty_at(total, DELTA).words() in text
    tables = [it for it in frames(app) if "ε together" in it.columns]
    # the sidebar's and the page's
    assert len(tables) == 2 and tables[0].equals(tables[1])
    table_of_page = tables[0]
    assert table_of_page["what"].tolist() == ["DPALS", "DPALS"]
    assert all(
        re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d", it) for it in table_of_page["last (UTC)"]
    )
    # several models a year compose with what was drawn before
    assert f"drawn before {epsilon_text(total)}, planned 2.00" in text
    # the strip of the sidebar states the same total
    strip = "\n".join(plain(it.value) for it in app.sidebar.markdown)
    assert (
        f"Released from these data so far: ε = {epsilon_text(total)} of 5.00" in strip
    )


def test_without_private_data_the_ledger_opens_on_its_example():
    app = settled(app_of(behind_sidebar("ledger/page.py")))
    assert app.title[0].value.startswith("Example: ")
    assert "The account of your data" not in words(app)


def uploaded_again():
    """The same file in another session, as after a reload."""
    return session_files.read(table(), "clinic.csv", {"bounds": "1,5"})


def test_the_same_file_after_a_reload_says_which_totals_are_held():
    first = uploaded_again()
    account = account_of(first.entry.id)
    assert "began at 0 when it was uploaded here" in words(
        page_with("accountant/page.py", first)
    )
    account.settle(account.enter(charge(2.0)), charge(2.0), None, "finished")
    second = uploaded_again()  # while the file of the first session is still there
    text = words(page_with("accountant/page.py", second))
    assert "An earlier upload of this file is still held" in text and "ε = 2.00" in text
    session_files.remove(first.entry)
    session_files.remove(second.entry)
    accounts.sweep(session_files.origins)
    third = uploaded_again()
    text = words(page_with("accountant/page.py", third))
    assert (
        "began at 0" in text
        and "Totals of uploads that were deleted before are not" in text
    )
    forget(third)


def test_imported_data_keep_their_account(mine):
    assert "also after a reload" in odometer._held_words("/data/imported", 0.0)
