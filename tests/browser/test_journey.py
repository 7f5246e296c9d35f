"""What a person does with the dashboard, in a real browser.

The tests of this module run in order, on one cold server.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import go

pytestmark = pytest.mark.browser
SMALL = "/explore?data=cinema-small"
FINISHED_HEADLINE = "h1:has-text('of the gain over guessing')"
Visit = Callable[..., Any]


def all_finished(page: Any) -> None:
    """The headline with its range: every draw is there."""
    page.wait_for_selector(FINISHED_HEADLINE)
    page.wait_for_selector("h1:not(:has-text('first draw'))")
    page.get_by_role("button", name="Cancel").first.wait_for(state="detached")
    page.wait_for_selector("[data-test-script-state=notRunning]")


def epsilon_box(page: Any) -> Any:
    return page.get_by_role("spinbutton", name="ε, exactly")


def holds(page: Any, epsilon: float) -> None:
    """The box shows a value, at the latest when the page has been drawn."""
    expect(epsilon_box(page)).to_have_value(re.compile(rf"^{re.escape(f'{epsilon:g}')}0*$"))


def type_epsilon(page: Any, value: str) -> None:
    box = epsilon_box(page)
    box.fill(value)
    box.press("Enter")


def no_trace(page: Any) -> None:
    assert page.outside == []
    # Streamlit probes /page/_stcore first
    assert [error for error in page.errors if "404" not in error] == []
    assert page.get_by_test_id("stException").count() == 0


def test_explore_ends_with_a_finding_and_shows_the_card(visit: Visit) -> None:
    page = visit(SMALL + "&eps=5")
    page.wait_for_selector(FINISHED_HEADLINE)
    page.wait_for_selector("text=ε = 5.00 in total")
    page.get_by_role("button", name="Privacy card").click()
    page.wait_for_selector("text=ε = 5.00 (δ = 5e-5, per user, add/remove, exact)")
    page.get_by_text("PROVEN").first.wait_for()
    page.wait_for_selector("text=recommendations stay the same with privacy")
    no_trace(page)


def test_moving_epsilon_moves_card_sentence_link_and_slider(visit: Visit) -> None:
    page = visit(SMALL + "&eps=5")
    page.wait_for_selector(FINISHED_HEADLINE)
    type_epsilon(page, "1")
    page.wait_for_selector("text=ε = 1.00 in total")
    page.wait_for_selector("h1:has-text('At ε = 1,')")
    page.wait_for_url(re.compile(r"[?&]eps=1(&|$)"))
    slider = page.get_by_role("slider").first
    expect(slider).to_have_attribute("aria-valuenow", "1")
    slider.focus()
    slider.press("ArrowRight")
    page.wait_for_selector("text=ε = 1.10 in total")
    holds(page, 1.1)


def test_pages_share_the_sidebar_and_a_reload_keeps_it(visit: Visit) -> None:
    page = visit(SMALL + "&eps=2&seed=7")
    page.wait_for_selector(FINISHED_HEADLINE)
    go(page, "Accountant")
    page.wait_for_selector("h1:has-text('releases cost')")
    holds(page, 2)
    page.wait_for_url("**seed=7**")
    page.reload()
    page.wait_for_selector("h1:has-text('releases cost')")
    holds(page, 2)


def test_a_share_link_shows_the_same_in_a_fresh_profile(visit: Visit) -> None:
    page = visit(SMALL + "&eps=3&p.rank=3")
    all_finished(page)
    first = page.inner_text("h1")
    page.get_by_role("button", name="Share link").click()
    link = page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").inner_text().strip()
    assert "p.rank=3" in link
    other = visit("/?" + link.split("?", 1)[1])
    other.wait_for_selector(FINISHED_HEADLINE)
    expect(other.locator("h1")).to_have_text(first)
