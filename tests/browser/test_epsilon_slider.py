"""The slider of epsilon under a hand, on keys, and on a small screen."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.test_doors import NOTE_VIOLATIONS

pytestmark = pytest.mark.browser
NOTE_EPSILONS = (
    "window.heard = []; window.addEventListener('dpmf:epsilon', it =>"
    " heard.push([it.detail.epsilon, it.detail.held]));"
)
PAGE = "/accountant?data=cinema-small&algo=private-bias&eps=2"


@pytest.fixture
def open_page(visit: Callable[..., Any]) -> Callable[..., Any]:
    def look(**context: Any) -> Any:
        page = visit("/glossary", **context)
        page.add_init_script(NOTE_VIOLATIONS + NOTE_EPSILONS)
        page.goto(page.url.replace("/glossary", PAGE))
        expect(page.get_by_test_id("stApp")).to_have_attribute(
            "data-test-script-state", "notRunning"
        )
        return page

    return look


def box(page: Any) -> Any:
    return page.get_by_test_id("stSidebar").get_by_role("spinbutton", name="ε, exactly")


def test_a_held_handle_tells_the_page_and_a_released_one_the_session(
    open_page: Callable[..., Any],
) -> None:
    page = open_page()
    slider = page.get_by_test_id("stSidebar").get_by_role("slider")
    expect(slider).to_have_attribute(
        "aria-valuetext",
        "ε = 2. An even suspicion that you took part,"
        " 50%, becomes at most 88.1%, rare outcomes aside.",
    )
    line = slider.bounding_box()
    x, y = line["x"] + line["width"] * 0.48, line["y"] + line["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 0.3 * line["width"], y, steps=10)
    events = page.evaluate("heard")
    assert len(events) >= 8 and all(is_held for _, is_held in events)
    assert [epsilon for epsilon, _ in events] == sorted((it for it, _ in events), reverse=True)
    expect(box(page)).to_have_value("2")
    page.mouse.up()
    assert page.evaluate("heard.at(-1)") == [events[-1][0], False]
    expect(box(page)).to_have_value(f"{events[-1][0]:g}")
    assert f"eps={events[-1][0]:g}&" in page.url
    assert page.evaluate("violations") == []


def test_keys_marks_and_the_box_move_it(open_page: Callable[..., Any]) -> None:
    page = open_page()
    sidebar = page.get_by_test_id("stSidebar")
    slider = sidebar.get_by_role("slider")
    slider.focus()
    for key, epsilon in (
        ("ArrowRight", 2.2),
        ("ArrowDown", 2),
        ("PageUp", 3.5),
        ("Home", 0.05),
        ("End", 100),
        ("PageDown", 56.2),
    ):
        page.keyboard.press(key)
        expect(slider).to_have_attribute("aria-valuenow", str(epsilon))
    expect(box(page)).to_have_value("56.2")
    sidebar.locator("[title='US Census 2020: ε = 19.61']").click()
    expect(box(page)).to_have_value("19.61")
    expect(slider).to_have_attribute(
        "aria-valuetext",
        "ε = 19.61. An even suspicion that you took"
        " part, 50%, may become all but certainty. US Census 2020",
    )
    box(page).fill("0.7")
    box(page).press("Enter")
    expect(slider).to_have_attribute("aria-valuenow", "0.7")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuenow", "0.71")


def test_on_a_phone_it_stays_at_the_bottom_and_hides_nothing(open_page: Callable[..., Any]) -> None:
    page = open_page(viewport={"width": 390, "height": 844}, has_touch=True)
    bar = page.get_by_test_id("stMain").get_by_role("slider")
    lowest = (
        "() => scrollTo(0, 1e6) ?? document.querySelector('[data-testid=stMain]').scrollTo(0, 1e6)"
    )
    for _ in range(2):
        line = bar.bounding_box()
        assert 844 - 130 < line["y"] < 844 - line["height"] and line["x"] >= 0
        page.evaluate(lowest)
    line = bar.bounding_box()
    page.touchscreen.tap(line["x"] + line["width"] - 1, line["y"] + line["height"] / 2)
    expect(bar).to_have_attribute("aria-valuenow", "100")
    page.wait_for_url("**eps=100&**")
    expect(page.get_by_text("ε = 100", exact=True).last).to_be_in_viewport()
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(bar).to_be_hidden()
