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
from pages.kit.privacy import account_summary, purchases
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
    rows = ["user,item,rating"]
    for user in range(users):
        for item in range(items):
            if (user + item) % 4:
                rating = 1 + (user * user + 3 * item + user * item) % 5
                rows.append(f"p{user},thing {item},{rating}")
    return ("\n".join(rows) + "\n").encode()


@pytest.fixture
def mine():
    upload = session_files.read(table(), "clinic.csv", {"bounds": "1,5"})
    yield upload
    forget(upload)


def page_with(page, mine, epsilon=2.0, algorithm="private-bias"):
    """A page in a session that brought these data."""
    state = brought(mine.entry) | {
        "sidebar.epsilon": epsilon,
        "sidebar.algorithm": algorithm,
        "sidebar.delta": DELTA,
        "sidebar.top_items": None,
    }
    return settled(app_of(behind_sidebar(page), state))


def total_epsilon(mine):
    return account_of(mine.entry.id).total.epsilon


def entries(mine):
    return len(account_of(mine.entry.id).entries)


def buttons(app):
    """Buttons with a price, by what they ask for."""
    found = {}
    for button in app.button:
        _, is_price, name = str(button.key).rpartition(".buy.")
        if is_price:
            found[name] = button
    return found


def set_epsilon(app, text):
    widget_of(app.sidebar.text_input, "sidebar.epsilon").set_value(text)
    settled(app)


def buy(app, name):
    buttons(app)[name].click()
    settled(app)


@pytest.mark.parametrize("name", ["explore", "compare", "tune", "accountant", "ledger"])
def test_nothing_is_trained_unasked(name, mine):
    app = page_with(f"{name}/page.py", mine)
    assert not app.error, [error.value for error in app.error]
    assert entries(mine) == 0
    assert "0.00" in words(app)
    assert bool(buttons(app)) is (name in ("explore", "compare"))
    set_epsilon(app, "1")
    assert entries(mine) == 0


def test_each_button_says_what_it_costs_and_costs_it(mine):
    app = page_with("explore/page.py", mine)
    run_label = buttons(app)["This run"].label
    assert "0.00" in run_label
    assert "2.00" in run_label
    assert "0.00" in buttons(app)["Without privacy"].label
    buy(app, "This run")
    assert entries(mine) == 1
    assert total_epsilon(mine) == pytest.approx(2.0, abs=1e-6)
    assert "2.00" in words(app)
    assert "This run" not in buttons(app)

    others = "Other private methods"
    (text,) = re.findall(r"→ ([\d.]+)", buttons(app)[others].label)
    price = float(text)
    buy(app, others)
    assert 0 <= price - total_epsilon(mine) < 0.01  # rounded up
    set_epsilon(app, "1")
    assert 0 <= price - total_epsilon(mine) < 0.01  # moving epsilon trains nothing
    assert f"{price:.2f}" in buttons(app)["This run"].label
    engine().forget(mine.entry.id)  # a lost answer is not made again unasked
    bought = entries(mine)
    assert "This run" in buttons(page_with("explore/page.py", mine))
    assert entries(mine) == bought


def test_a_figure_over_epsilons_shows_what_was_bought_and_costs_twelve(mine):
    """The page that showed 2.00 where 12.33 had been drawn."""
    app = page_with("explore/page.py", mine)
    buy(app, "This run")
    buy(app, "Without privacy")
    assert [point["epsilon"] for point in component(app, "hero")["points"]] == [2.0]
    for epsilon in ("0.5", "1", "5", "10"):
        set_epsilon(app, epsilon)
        buy(app, "This run")
    points = component(app, "hero")["points"]
    assert [point["epsilon"] for point in points] == [0.5, 1.0, 2.0, 5.0, 10.0]
    assert "5.00" in points[3]["label"]
    expected = epsilon_of([7.0318, 3.7306, 1.9938, 0.8919, 0.4999], DELTA)
    assert total_epsilon(mine) == pytest.approx(12.327, abs=0.001)
    assert total_epsilon(mine) == pytest.approx(expected, abs=0.002)
    assert "12.33" in words(app)


def test_a_price_says_how_delta_grows(mine):
    """The deltas of private selections add up; that of equal runs stays."""
    account = account_of(mine.entry.id)
    selection = Charge(
        "selection",
        (),
        Status.PROVEN,
        delta=DELTA,
        price=(1.0, 2.0),
    )
    run = Charge("run", ((Gaussian(3.0), 1),), Status.PROVEN, delta=DELTA)
    assert "δ" not in purchases.price_text(account, [selection])
    account.enter(run)
    assert "δ" not in purchases.price_text(account, [run])
    assert account.n_raw_errors == 1
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
    # a link may be of any method
    linked = app_of(script, {"method": "dpals"}, **address).run()
    assert "p.local_columns" in linked.query_params


def test_a_budget_refuses_in_words(mine):
    account = account_of(mine.entry.id)
    account.set_budget(2.5, DELTA)
    app = page_with("explore/page.py", mine)
    assert "0.00" in words(app)
    assert "2.50" in words(app)
    buy(app, "This run")
    assert buttons(app)["Other private methods"].disabled
    assert "2.50" in words(app)
    assert buttons(app)["Without privacy"].disabled
    account.set_budget(2.5, DELTA, allow_unprotected=True)
    assert not buttons(app.run())["Without privacy"].disabled


def test_the_account_of_private_data_stands_on_both_views_of_account(mine):
    for view in ("accountant", "ledger"):
        app = page_with(f"{view}/page.py", mine)
        assert app.title[0].value == "The account of your data"
        assert len(app.title) == 1
        assert len(app.header) >= 2


def test_the_account_itself_refuses_a_page_that_was_drawn_before_the_rest_was_spent(
    mine,
):
    account = account_of(mine.entry.id)
    account.set_budget(2.5, DELTA)
    account.enter(charge(2.0))
    spec = RunSpec.of(
        dataset=mine.entry.id,
        algorithm="spectral",
        epsilon=2.0,
        delta=DELTA,
    )
    with pytest.raises(ValueError):
        engine().submit(spec).result(WAIT)
    assert total_epsilon(mine) == pytest.approx(2.0, abs=1e-6)


def test_a_budget_is_set_where_the_figure_stands(mine):
    app = page_with("accountant/page.py", mine)
    widget_of(app.text_input, "sidebar.budget.epsilon").set_value("3").run()
    app.checkbox(key="sidebar.budget.unprotected").check().run()
    app.button(key="sidebar.budget.set").click().run()
    account = account_of(mine.entry.id)
    assert account.budget is not None
    assert account.budget.epsilon == 3.0
    assert account.budget.allow_unprotected
    assert "of 3.00" in words(app)


def test_a_search_of_private_data_draws_nothing_from_them(mine):
    app = page_with("tune/page.py", mine)
    app.number_input(key="tune.trials").set_value(3).run()
    app.number_input(key=data_sets.each_key(mine.entry)).set_value(8).run()
    app.button(key="tune.go").click()
    run_until(app, lambda: any(button.key == "tune.use" for button in app.button))
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
        drawn = charge(epsilon)
        account.settle(account.enter(drawn), drawn, None, "finished")
    account.set_budget(5.0, DELTA)
    app = page_with("accountant/page.py", mine)
    assert not app.exception
    assert app.title[0].value == "The account of your data"

    mu = math.hypot(mu_of(1.0, DELTA), mu_of(2.0, DELTA))
    total = epsilon_of([1 / mu], DELTA)
    total_text = f"so far: ε = {epsilon_text(total)} of 5.00"
    heads = [plain(header.value).replace("\\", "") for header in app.header]
    assert f"Released from clinic (yours) {total_text}" in heads
    sidebar = "\n".join(plain(text.value) for text in app.sidebar.markdown)
    assert f"Released from these data {total_text}" in sidebar

    text = words(app)
    left = epsilon_of([1 / math.sqrt(mu_of(5.0, DELTA) ** 2 - mu**2)], DELTA)
    assert f"ε = {math.floor(100 * left) / 100:.2f} at δ = 1e-5" in text
    assert certainty_at(total, DELTA).words() in text
    # several models a year compose with what was drawn before
    assert f"drawn before {epsilon_text(total)}, planned 2.00" in text

    tables = [frame for frame in frames(app) if "ε together" in frame.columns]
    of_sidebar, of_page = tables
    assert of_sidebar.equals(of_page)
    assert of_page["what"].tolist() == ["DPALS", "DPALS"]
    for time in of_page["last (UTC)"]:
        assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d", time)


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
    assert "An earlier upload of this file is still held" in text
    assert "ε = 2.00" in text
    session_files.remove(first.entry)
    session_files.remove(second.entry)
    accounts.sweep(session_files.origins)
    third = uploaded_again()
    text = words(page_with("accountant/page.py", third))
    assert "began at 0" in text
    assert "Totals of uploads that were deleted before are not" in text
    forget(third)


def test_imported_data_keep_their_account(mine):
    assert "also after a reload" in account_summary.held_words("/data/imported", 0.0)
