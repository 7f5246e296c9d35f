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
