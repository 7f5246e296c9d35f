"""Topics and Faces in a real browser. The tests of this module run in order, on one cold server."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import go

pytestmark = pytest.mark.browser
Visit = Callable[..., Any]
FINISHED_HEADLINE = "h1:has-text('of the gain over guessing')"


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


def test_each_kind_of_data_keeps_its_own_choice_and_epsilon(visit: Visit) -> None:
    page = visit("/topics?eps=2")
    page.wait_for_selector(FINISHED_HEADLINE)
    go(page, "Faces")
    page.wait_for_selector("h1:has-text('At ε = 0.32')")
    go(page, "Explore")
    page.wait_for_selector("h1:has-text('At ε = 5, DPALS')")
    go(page, "Topics")
    page.wait_for_selector("h1:has-text('At ε = 2, One-shot NMF')")
    page.wait_for_url("**data=news**")


def open_page(visit: Visit, path: str) -> Any:
    """A page at epsilon 5, from a store that has 0.1 too."""
    for epsilon in ("0.1", "5"):
        page = visit(f"{path}&eps={epsilon}")
        page.wait_for_selector(FINISHED_HEADLINE)
    expect(page.locator(".story tr").nth(2)).to_be_attached()
    at_rest(page)
    return page


def press_handle(page: Any) -> tuple[Callable[[float], None], Any]:
    """Press the button on the handle; what moves it along the line, from 0 to 1, and the slider."""
    slider = page.get_by_test_id("stSidebar").get_by_role("slider")
    line, handle = slider.bounding_box(), slider.locator(".handle").bounding_box()
    y = handle["y"] + handle["height"] / 2
    page.mouse.move(handle["x"] + handle["width"] / 2, y)
    page.mouse.down()
    return lambda share: page.mouse.move(line["x"] + share * line["width"], y, steps=8), slider


def test_words_are_struck_out_and_come_while_the_handle_is_held(visit: Visit) -> None:
    page = open_page(visit, "/topics?data=news")
    title, deletions, new = (page.locator(it) for it in (".story h1", ".topics del", ".topics ins"))
    seldom = deletions.count()
    move, slider = press_handle(page)
    move(0.1)
    expect(slider).to_have_attribute("aria-valuenow", "0.11")
    expect(title).to_contain_text("At ε = 0.1, One-shot NMF")
    expect(page.locator(".status")).to_have_text(
        "≈ At ε = 0.11 nothing was measured: this is the nearest measured point, ε = 0.1."
    )
    assert deletions.count() > seldom + 20 and new.count() > seldom + 20
    labels = page.locator(".topics ul").get_by_role("listitem").filter(has_text="gone:")
    assert labels.count() == deletions.count()  # in words too, for who does not see the line
    assert "eps=5" in page.url  # the session has heard of nothing
    move(0.99)
    expect(title).to_have_text(re.compile(r"At ε = (5|10|20|31\.6), One-shot NMF"))
    assert deletions.count() <= seldom + 8
    move(0.33)
    page.mouse.up()
    page.wait_for_url(lambda url: "eps=5&" not in url)
    assert page.outside == [] and page.get_by_test_id("stException").count() == 0


def test_parts_change_in_place_while_the_handle_is_held(visit: Visit) -> None:
    page = open_page(visit, "/faces?data=digits")
    with_privacy, without = (page.locator(".sides figure").nth(it) for it in (0, 1))
    pictures = with_privacy.get_by_role("img")
    expect(pictures).to_have_count(16)
    expect(pictures.first).to_have_attribute("alt", re.compile(r"Part 1, with privacy: \d+% like"))

    def sources(side: Any) -> list[str]:
        return [str(it.get_attribute("src")) for it in side.get_by_role("img").all()]

    before, plain = sources(with_privacy), sources(without)
    move, _ = press_handle(page)
    move(0.09)
    expect(page.locator(".story h1")).to_contain_text("At ε = 0.1, One-shot NMF")
    assert all(now != then for now, then in zip(sources(with_privacy), before, strict=True))
    assert sources(without) == plain
    page.mouse.up()
    at_rest(page)
    assert page.get_by_test_id("stException").count() == 0


@pytest.mark.parametrize("path", ["/topics", "/faces?data=digits"])
def test_a_phone_needs_no_sideways_scrolling(visit: Visit, path: str) -> None:
    page = visit(path, viewport={"width": 390, "height": 844})
    page.wait_for_selector(FINISHED_HEADLINE)
    at_rest(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 391
