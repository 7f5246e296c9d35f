"""The Choose page: three questions, one answer."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.runs.spending import account_of
from dpmf_datasets import session_files
from tests.pages.driving import ROOT, run_until, words
from tests.support.messy_table import messy_table

SCRIPT = (
    "import runpy\nfrom pages.kit import runs\nwith runs.following():\n"
    f"    runpy.run_path({str(ROOT / 'pages/choose/page.py')!r})\n"
)


def page(data: str = "cinema-small") -> AppTest:
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    app.query_params["data"] = data
    app.run()
    assert not app.exception, [error.value for error in app.exception]
    return app


@pytest.mark.slow
def test_a_question_is_answered_when_it_is_asked() -> None:
    app = page()
    app.button(key="choose.go").click()
    run_until(app, lambda: app.title[0].value.startswith("Use "))
    assert "python -m dpmf_core fit" in app.code[0].value


@pytest.fixture
def mine() -> Iterator[Any]:
    table = messy_table()
    columns = {"user": "client_ref", "item": "programme", "rating": "stars", "time": "watched_on"}
    upload = session_files.ratings(
        session_files.table(table.content, "visits.csv"), columns, (0.5, 5.0), "dmy"
    )
    yield table, upload.entry
    session_files.remove(upload.entry)


@pytest.mark.slow
def test_private_rows_are_not_touched(mine: Any) -> None:
    table, entry = mine
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    app.session_state["data.own"] = {entry.id: entry}
    app.session_state["sidebar.dataset"] = entry.id
    app.run()
    assert "a simulated twin" in words(app)
    app.number_input(key=f"choose.each.{entry.id}").set_value(9)
    app.button(key="choose.go").click()
    run_until(app, lambda: "ε" in app.title[0].value and "Which" not in app.title[0].value)
    inquiry = app.session_state["choose.asked"]
    density = f"{9 / entry.n_items:.4g}"
    assert inquiry.question.data.id == (
        f"cinema?users={entry.n_users}&items={entry.n_items}&density={density}&bounds=0.5,5"
    )
    account = account_of(entry.id)
    assert account is not None and not account.entries
    assert "user=client_ref" in app.code[0].value and "dates=dmy" in app.code[0].value
    assert not {secret for secret in table.secrets if secret in words(app)}


@pytest.mark.slow
def test_a_choice_on_private_data_is_bought_and_in_the_account(mine: Any) -> None:
    table, entry = mine
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    app.session_state["data.own"] = {entry.id: entry}
    app.session_state["sidebar.dataset"] = entry.id
    app.session_state["choose.spend"] = 10.0
    app.run()
    app.button(key="choose.go").click()
    run_until(app, lambda: app.title[0].value.startswith("Use "))
    account = account_of(entry.id)
    assert account is not None and not account.entries
    price = re.search(r"total ε 0\.00 → (\d+\.\d\d)", app.button(key="choose.own").label)
    assert price is not None
    app.button(key="choose.own").click()
    run_until(app, lambda: app.success)
    assert f"{account.total.epsilon:.2f}" == price[1] and len(account.entries) == 1
    text = app.success[0].value
    assert f"ε = {price[1]}" in text and "It chose" in text
    assert not {secret for secret in table.secrets if secret in words(app)}
