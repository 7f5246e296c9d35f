"""Explore's first view in a real browser: heights, the figure's units, and names of lines."""

import pytest

from tests.browser.conftest import settle

pytestmark = [pytest.mark.browser, pytest.mark.slow]
HEIGHTS = {1280: 2000, 390: 3800}  # px at most, by width, as a visitor finds the page
# names that overlap another, or leave the figure; a box is some px higher than its letters
NAMES_IN_TROUBLE = """figure => {
    const names = [...figure.querySelectorAll("text.line-name")];
    const box = name => name.getBoundingClientRect();
    const isOut = name => box(name).right > box(figure).right + 1;
    const isUnder = (name, place) => names.slice(place + 1).some(
        other => box(name).top < box(other).bottom - 3 && box(other).top < box(name).bottom - 3);
    return names.filter((name, place) => isOut(name) || isUnder(name, place))
        .map(name => name.textContent);
}"""


def visit_explore(visit, query="", **context):
    page = visit(f"/explore{query}", **context)
    settle(page)
    page.get_by_test_id("stExpander").filter(has_text="Export").first.wait_for(
        state="attached"
    )
    settle(page)
    return page


@pytest.mark.parametrize("width", HEIGHTS)
def test_explore_is_no_higher_than_a_visitor_reads(visit, width):
    page = visit_explore(visit, viewport={"width": width, "height": 900})
    height = page.get_by_test_id("stMain").evaluate("it => it.scrollHeight")
    assert height <= HEIGHTS[width]
    assert page.evaluate("document.documentElement.scrollWidth") <= width + 1
    assert page.locator(".hero .plot").evaluate(NAMES_IN_TROUBLE) == []


def test_a_switch_shows_errors_without_the_server_and_is_remembered(visit):
    page = visit_explore(visit, "?dataset=cinema-small")
    value = page.locator(".hero text.value")
    assert value.text_content().endswith("%")
    switch = page.get_by_role("button", name="RMSE", exact=True)
    switch.click()
    assert value.text_content().startswith("0.")  # at once
    assert page.locator(".hero .plot").evaluate(NAMES_IN_TROUBLE) == []
    page.reload()
    settle(page)
    page.get_by_role("button", name="RMSE", exact=True).wait_for()
    assert (
        page.get_by_role("button", name="RMSE", exact=True).get_attribute(
            "aria-pressed"
        )
        == "true"
    )
    assert "unit" not in page.url


def test_a_click_shows_a_paper_s_method_and_another_the_best_again(visit):
    page = visit_explore(visit, "?dataset=cinema-small")
    first = page.locator(".hero h1").inner_text()
    page.get_by_role("button", name="DPFW with Oja (Jain et al.)").click()
    page.wait_for_selector(".hero h1:has-text('DPFW with Oja keeps')")
    page.wait_for_url("**algorithm=dpfw-oja*")
    assert (
        "A better proven method is known"
        in page.locator(".hero .sentence").inner_text()
    )
    page.get_by_role("button", name="Best at each ε").click()
    page.wait_for_selector(f".hero h1:has-text('{first}')")
