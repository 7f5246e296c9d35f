"""The start page in a real browser: its figure answers while the button is held, by keys too.

The tests of this module run in order, on one cold server.
"""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from pages.kit.page_table import SECTIONS
from pages.start.page import DOORS

pytestmark = pytest.mark.browser
Visit = Callable[..., Any]


def test_the_first_page_of_a_cold_server_shows_its_figure_and_its_doors(visit: Visit) -> None:
    page = visit("/", viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    expect(page.locator(".number")).to_have_text(["ε = 2", "81% kept", "88 in 100"])
    expect(page.get_by_role("heading", level=1)).to_have_text("dpmf: what privacy costs")
    for name in DOORS:
        box = page.get_by_test_id("stMain").get_by_role("link", name=name).first.bounding_box()
        assert box["y"] + box["height"] <= 800
    assert set(DOORS) < set(SECTIONS)
    assert page.outside == [] and page.get_by_test_id("stException").count() == 0


def test_lesson_0_is_one_click_away(visit: Visit) -> None:
    page = visit("/", reduced_motion="reduce")
    page.get_by_role("link", name="New here? Lesson 0").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("You are found")


def test_the_figure_answers_while_the_button_is_held_and_explore_opens_there(visit: Visit) -> None:
    page = visit("/", reduced_motion="reduce")
    handle = page.get_by_role("slider", name="Epsilon")
    epsilon = page.locator(".number").first
    expect(epsilon).to_have_text("ε = 2")
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 150, y)
    expect(epsilon).not_to_have_text("ε = 2")
    link = page.get_by_role("link", name="in full")
    expect(link).to_contain_text("ε = 2 in full")  # the server has not been asked
    text = epsilon.inner_text()
    page.mouse.up()
    expect(link).to_contain_text(f"{text} in full")
    link.click()
    page.wait_for_url(f"**/explore?*eps={text.removeprefix('ε = ')}*")


@pytest.mark.parametrize("width", [390, 320])
def test_a_phone_needs_no_sideways_scrolling(visit: Visit, width: int) -> None:
    page = visit("/", viewport={"width": width, "height": 640}, color_scheme="dark")
    page.get_by_role("slider", name="Epsilon").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width + 1
