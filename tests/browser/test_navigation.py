"""The navigation in a real browser: what somebody comes for is visible at once, and every page is
one click from its section.

The tests of this module run in order, on one cold server.
"""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from pages.kit.page_table import PAGES, SECTIONS
from tests.browser.conftest import go

pytestmark = pytest.mark.browser
Visit = Callable[..., Any]


def test_a_former_address_opens_its_page_on_a_cold_server(visit: Visit) -> None:
    page = visit("/tradeoff?data=cinema-small&methods=private-bias&epsilons=1,5&draws=1")
    page.wait_for_url("**/trade-off?**")
    expect(page.get_by_role("textbox", name="Epsilons")).to_have_value("1,5")


def test_the_sections_are_visible_and_lead_to_every_page(visit: Visit) -> None:
    page = visit("/home")
    links = page.get_by_test_id("stTopNavLink")
    expect(links).to_contain_text([PAGES[0].title, *SECTIONS])
    for link in links.all():
        box = link.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 1280
    for it in PAGES:
        if it.section and not it.for_operator:
            go(page, it.title)
            page.wait_for_url(f"**/{it.id}*")
            current = page.locator("[data-testid=stTopNavLink][aria-current=page]")
            expect(current).to_contain_text(it.section)


def test_a_stored_link_to_the_first_page_shows_its_run(visit: Visit) -> None:
    page = visit("/?data=cinema-small&algo=private-bias&eps=2")
    page.wait_for_url("**/explore?**eps=2**")
    expect(page.get_by_role("spinbutton", name="ε, exactly")).to_have_value("2")


def test_a_phone_has_a_menu(visit: Visit) -> None:
    page = visit("/glossary", viewport={"width": 390, "height": 844})
    page.get_by_role("heading", level=1).wait_for()
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebarNavLink").get_by_text("Verify").click()
    page.wait_for_url("**/accountant*")
