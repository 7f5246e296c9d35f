"""The Trade-off page in a real browser.

The tests of this module run in order, on one cold server.
"""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from dpmf_core.runs.store import Store
from tests.browser.conftest import Server

pytestmark = pytest.mark.browser
SMALL = "/trade-off?data=cinema-small&methods=private-bias&epsilons=1,5"
# 400 runs
LONG = (
    "/trade-off?data=lowrank-5k&methods=dpals,spectral,private-bias&epsilons=1,2,3,5,10,20&draws=20"
)
Visit = Callable[..., Any]


def stored_keys(server: Server) -> set[str]:
    store = Store(server.data / "runs")
    keys = {row["key"] for row in store.rows()}
    store.close()
    return keys


def shows(page: Any, box: str, value: str) -> None:
    """The box shows a value, which arrives a moment after it is drawn."""
    expect(page.get_by_role("textbox", name=box)).to_have_value(value)


def at_rest(page: Any) -> None:
    """Every run is done and the page drawn to its end."""
    page.get_by_role("button", name="Share link").wait_for()  # the last thing drawn
    page.get_by_role("button", name="Cancel").wait_for(state="detached")
    page.wait_for_selector("h1:not(:has-text('runs have finished'))")
    page.wait_for_selector("[data-test-script-state=notRunning]")


def begun(page: Any, server: Server, more: int) -> set[str]:
    """A long question, its button pressed; what is stored once so many of its runs are new."""
    before = stored_keys(server)
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("button", name="Cancel").wait_for()
    for _ in range(600):
        if len(now := stored_keys(server)) >= len(before) + more:
            return now
        page.wait_for_timeout(200)
    raise AssertionError(f"{len(now) - len(before)} runs in two minutes")


def test_the_first_request_of_a_cold_server_is_a_question_in_a_link(visit: Visit) -> None:
    page = visit(SMALL + "&draws=1&metric=mae")
    page.wait_for_selector("h1:has-text('Private biases has MAE')")
    shows(page, "Epsilons", "1,5")
    assert page.outside == []
    assert page.get_by_test_id("stException").count() == 0


def test_a_grid_in_a_share_link_is_the_same_for_whoever_opens_it(visit: Visit) -> None:
    page = visit(
        "/trade-off?data=cinema-small&methods=dpals&epsilons=5&draws=1&judge=validation&grid=rank%20%3D%202%2C%204"
    )
    page.wait_for_selector("text=does best at ε = 5 with rank r")
    at_rest(page)
    page.get_by_role("button", name="Share link").click()
    link = page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").inner_text().strip()
    assert " " not in link
    other = visit(link.removeprefix(page.url.split("/trade-off")[0]))
    other.wait_for_selector("text=does best at ε = 5 with rank r")
    at_rest(other)
    shows(other, "Grid", "rank = 2, 4")
    expect(other.locator("h1")).to_have_text(page.inner_text("h1"))


def test_a_long_question_streams_answers_meanwhile_and_is_cancelled(
    visit: Visit, server: Server
) -> None:
    page = visit(LONG)
    page.wait_for_selector(
        "text=/These are 400 runs, of which 0 are stored. The other 400 take roughly/"
    )
    begun(page, server, 10)
    page.wait_for_selector("h1:has-text('runs have finished')")
    page.get_by_test_id("stButtonGroup").get_by_text("MAE", exact=True).click()
    page.get_by_role("figure", name="MAE against").wait_for()  # a widget answers while runs go on
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector("text=Cancelled. What had finished is shown")
    page.wait_for_selector("h1:has-text('runs have finished')")
    assert 10 <= len(stored_keys(server)) < 400


def test_a_killed_server_goes_on_where_it_was(visit: Visit, server: Server) -> None:
    before = stored_keys(server)
    server.kill()
    server.start()
    page = visit(LONG)
    page.wait_for_selector("text=/These are 400 runs, of which [1-9]\\d* are stored/")
    # what is stored is shown before anything is made
    page.wait_for_selector("h1:has-text('runs have finished')")
    assert before < begun(page, server, 2)
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector("text=Cancelled. What had finished is shown")


def test_a_phone_needs_no_sideways_scrolling(visit: Visit) -> None:
    page = visit(SMALL + "&draws=1", viewport={"width": 390, "height": 844})
    page.wait_for_selector("h1:has-text('Private biases has RMSE')")
    assert page.evaluate("document.documentElement.scrollWidth") <= 391


def test_the_figure_stands_above_the_fold(visit: Visit) -> None:
    page = visit(SMALL + "&draws=1", viewport={"width": 1280, "height": 800})
    page.wait_for_selector("h1:has-text('Private biases has RMSE')")
    at_rest(page)
    page.locator("[data-testid=stPlotlyChart] .main-svg").first.wait_for()
    # while the page is drawn anew a lower figure can be the first for a moment
    page.wait_for_function("""() => {
            const box = document.querySelector('[data-testid=stPlotlyChart]')?.getBoundingClientRect()
            return box && box.height > 200 && box.bottom <= 800
        }""")  # noqa: E501
    box = page.get_by_test_id("stPlotlyChart").first.bounding_box()
    assert box["y"] + box["height"] <= 800
