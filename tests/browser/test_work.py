"""Sketch, Retention, Audit, Tune, Data, Runs, Lessons and Glossary in a real browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import choose, go

pytestmark = pytest.mark.browser
Visit = Callable[..., Any]
SMALL = "data=cinema-small"


def at_rest(page: Any) -> None:
    page.wait_for_selector("h1")
    page.get_by_role("button", name="Cancel").first.wait_for(state="detached")
    page.wait_for_selector("[data-test-script-state=notRunning]")
    assert page.get_by_test_id("stException").count() == 0


PLACES = [
    f"/sketch?{SMALL}",
    f"/retention?{SMALL}",
    "/audit?attack=private-bias",
    f"/tune?{SMALL}",
    "/data",
    "/runs",
    "/lessons?lesson=clipping",
    "/glossary",
]


@pytest.mark.parametrize("path", PLACES)
def test_every_page_opens_cold_on_a_phone_and_asks_nobody_outside(visit: Visit, path: str) -> None:
    page = visit(path, viewport={"width": 390, "height": 844})
    at_rest(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 391
    assert page.outside == []


def test_a_fault_is_planted_and_caught(visit: Visit) -> None:
    page = visit("/audit?attack=private-bias")
    page.wait_for_selector("h1:has-text('is proved')", timeout=180_000)
    at_rest(page)
    choose(page, "Plant a fault", "ten times less noise than the ledger says")
    page.wait_for_selector("h1:has-text('Caught. The attack on')", timeout=180_000)


def test_explore_leads_to_the_attack_and_back(visit: Visit) -> None:
    page = visit(f"/explore?{SMALL}&algo=private-bias")
    at_rest(page)
    page.get_by_role("link", name="Attack it: what an audit finds").click()
    page.wait_for_url("**/audit?attack=private-bias*")
    page.wait_for_selector("h1:has-text('is proved')", timeout=180_000)


def test_a_file_becomes_a_trade_off_curve_and_stays_out_of_the_link(
    visit: Visit, tmp_path: Path
) -> None:
    rows = [
        f"c{u},Thing {i},{1 + 0.5 * ((u + 2 * i) % 9)}"
        for u in range(120)
        for i in range(u % 7, 30)
    ]
    bad = [f"c{u},Thing 1,n/a?" for u in range(30)]
    (tmp_path / "shop.csv").write_text(
        "Customer No,Product,Points\n" + "\n".join(rows + bad) + "\n"
    )
    page = visit("/data")
    at_rest(page)
    page.locator("input[type=file]").set_input_files(tmp_path / "shop.csv")
    page.get_by_role("radio", name="another").click()
    for label, value in (("Lowest rating anybody can give", "1"), ("Highest", "5")):
        page.get_by_label(label, exact=True).fill(value)
        page.get_by_label(label, exact=True).press("Tab")
    page.get_by_role("button", name="Check and use").click()
    page.get_by_role("cell", name="rating is not a number").wait_for()
    page.get_by_role("cell", name="30", exact=True).wait_for()
    go(page, "Trade-off")
    # on private data nothing is trained unasked
    page.get_by_role("button", name="total ε 0.00 →").click()
    page.wait_for_selector("h1:has-text('At ε = 5')")
    at_rest(page)
    expect(page.get_by_text("120 users")).to_have_count(1)
    assert "data=" not in page.url and "uploads" not in page.url


def test_a_search_runs_to_its_winner(visit: Visit) -> None:
    page = visit(f"/tune?{SMALL}&algo=private-bias&eps=2")
    at_rest(page)
    trials = page.get_by_role("spinbutton", name="Trials")
    trials.fill("4")
    trials.press("Enter")
    page.wait_for_selector("[data-test-script-state=notRunning]")
    page.get_by_role("button", name="Search", exact=True).click()
    page.get_by_text("On test ratings: ").wait_for(timeout=180_000)
    page.get_by_role("heading", name="What choosing costs").wait_for()
    page.get_by_role("link", name="The winner in Explore").click()
    page.wait_for_selector("h1:has-text('At ε = 2, Private biases')")
    page.wait_for_url("**p.prior_deviation=**")
