"""The first view of Explore under a hand: it follows the slider while its handle is held, and the
page agrees when it is let go.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from dpmf_core.runs.epsilon_grid import EPSILONS

pytestmark = pytest.mark.browser
PAGE = "/explore?data=cinema-small&algo=dpals&eps=5"
FOLLOWERS = (".hero h1", ".hero .sentence", ".hero .list", ".hundred")


@pytest.fixture
def measured_page(visit: Callable[..., Any]) -> Any:
    """The page once every epsilon of the grid is there, in every draw."""
    page = visit(PAGE)
    expect(page.locator(".hero circle.draw")).to_have_count(3 * len(EPSILONS), timeout=300_000)
    page.get_by_role("button", name="Cancel").first.wait_for(state="detached")
    page.wait_for_selector("[data-test-script-state=notRunning]")
    return page


class Handle:
    """The slider's handle under the mouse."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.rail = page.get_by_test_id("stSidebar").get_by_role("slider")

    def to(self, epsilon: float) -> None:
        line = self.rail.bounding_box()
        share = self.rail.evaluate(
            """(rail, epsilon) => {
                const [low, high] = [rail.ariaValueMin, rail.ariaValueMax].map(Math.log);
                return (Math.log(epsilon) - low) / (high - low);
            }""",
            epsilon,
        )
        x, y = line["x"] + share * line["width"], line["y"] + line["height"] / 2
        self.page.mouse.move(x, y, steps=4)
        expect(self.rail).to_have_attribute("aria-valuenow", str(epsilon))


def first_view_texts(page: Any) -> list[str]:
    """What the first view says."""
    return [page.locator(it).inner_text() for it in FOLLOWERS]


def marker(page: Any) -> float:
    """Where the figure's marker stands, across the figure."""
    return float(page.locator(".hero line.now").get_attribute("x1"))


def test_figure_sentence_list_and_meaning_follow_a_held_handle_and_stay_when_it_is_let_go(
    measured_page: Any,
) -> None:
    page, handle = measured_page, Handle(measured_page)
    before, stood = first_view_texts(page), marker(page)
    assert before[0].startswith("At ε = 5,") and "at ε = 5" in before[2]
    handle.to(5)
    page.mouse.down()
    handle.to(0.5)
    after = first_view_texts(page)
    assert all(now != was for now, was in zip(after, before, strict=True))
    assert after[0].startswith("At ε = 0.5, DPALS") and "about" not in after[0]
    assert "at ε = 0.5" in after[2] and after[3].startswith("What ε = 0.5 means")
    assert marker(page) < stood
    box = page.get_by_test_id("stSidebar").get_by_role("spinbutton", name="ε, exactly")
    expect(box).to_have_value("5")  # the session knows nothing of it yet
    assert "eps=5&" in page.url
    page.mouse.up()
    expect(box).to_have_value("0.5")
    expect(page.get_by_test_id("stMain").get_by_text("ε = 0.50 in total")).to_be_visible()
    page.wait_for_url(re.compile(r"[?&]eps=0\.5(&|$)"))
    page.wait_for_selector("[data-test-script-state=notRunning]")
    assert first_view_texts(page) == after
