"""Topics and Faces in a real browser. The tests of this module run in order, on one cold server."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import go

pytestmark = pytest.mark.browser
Visit = Callable[..., Any]
FINISHED = "h1:has-text('of the gain over guessing')"


def at_rest(page: Any) -> None:
    page.get_by_role("button", name="Share link").wait_for()
    page.get_by_role("button", name="Cancel").wait_for(state="detached")
    page.wait_for_selector("[data-test-script-state=notRunning]")


def test_the_first_request_of_a_cold_server_is_a_link_to_topics(visit: Visit) -> None:
    page = visit("/topics?data=news&algo=oneshot-nmf&eps=1&seed=3")
    page.wait_for_selector("h1:has-text('At ε = 1, One-shot NMF')")
    at_rest(page)
    page.wait_for_url(lambda url: "algo=oneshot-nmf" in url and "eps=1" in url)
    assert page.outside == []
    assert page.get_by_test_id("stException").count() == 0


def test_each_kind_of_data_keeps_its_own_choice_and_all_share_epsilon(visit: Visit) -> None:
    page = visit("/topics?eps=2")
    page.wait_for_selector(FINISHED)
    go(page, "Faces")
    page.wait_for_selector("h1:has-text('At ε = 2')")
    go(page, "Explore")
    page.wait_for_selector("h1:has-text('At ε = 2, DPALS')")
    go(page, "Topics")
    page.wait_for_selector("h1:has-text('At ε = 2, One-shot NMF')")
    page.wait_for_url("**data=news**")


def test_parts_are_pictures_and_change_with_epsilon(visit: Visit) -> None:
    page = visit("/faces?data=digits&eps=5")
    page.wait_for_selector(FINISHED)
    at_rest(page)
    page.get_by_test_id("stImage").nth(4).wait_for()
    page.get_by_text("How the parts change with ε").click()
    page.get_by_text("Every part keeps its place.").wait_for()
    at_rest(page)
    slider = page.get_by_role("slider", name="ε of the grid")
    slider.focus()
    for _ in range(3):
        slider.press("ArrowRight")
    page.get_by_text("ε = 5: objective").wait_for()
    assert page.get_by_test_id("stException").count() == 0


@pytest.mark.parametrize("path", ["/topics", "/faces?data=digits"])
def test_a_phone_needs_no_sideways_scrolling(visit: Visit, path: str) -> None:
    page = visit(path, viewport={"width": 390, "height": 844})
    page.wait_for_selector(FINISHED)
    at_rest(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 391
