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
