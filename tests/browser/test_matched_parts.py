"""The components of Topics and Faces in a real browser: how large they are, and how they pair."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import settle

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NAMES = {
    "topics": r"Topic 3 and its non-private partner: \d+ of 10 words survive",
    "faces": r"Component 3 and its non-private partner: \d+% similar",
}
CONTENTS = {"topics": "li", "faces": "img"}  # of a pair: words, or two pictures
TRANSPARENT = "rgba(0, 0, 0, 0)"
FORMER_WIDTHS = {1280: 53, 390: 47}  # of a picture, in pixels, by the page's width
FORMER_LETTERS = 0.95 * 16


def opened(visit, view, **context):
    """The page and the pairs of its first view."""
    page = visit(f"/explore?view={view}", **context)
    pairs = page.locator(".pair")
    pairs.first.wait_for()
    settle(page)
    return page, pairs


def expect_paired(pairs, number):
    """The pair is highlighted, and all others step back."""
    for place in range(pairs.count()):
        is_paired = place == number
        opacity = re.compile("^1$" if is_paired else r"^0\.")
        expect(pairs.nth(place)).to_have_css("opacity", opacity)
        outline = pairs.nth(place).evaluate(
            "pair => getComputedStyle(pair).outlineColor"
        )
        assert (outline == TRANSPARENT) != is_paired


def expect_none_paired(pairs):
    for place in range(pairs.count()):
        expect(pairs.nth(place)).to_have_css("opacity", "1")


def boxes(pairs):
    return pairs.evaluate_all(
        "pairs => pairs.map(pair => [pair.offsetLeft, pair.offsetTop, pair.offsetWidth,"
        " pair.offsetHeight])"
    )


@pytest.mark.parametrize("view", NAMES)
def test_a_component_and_its_partner_are_highlighted_under_the_pointer_and_by_focus(
    visit, view
):
    page, pairs = opened(visit, view, reduced_motion="reduce")
    before = boxes(pairs)
    expect_none_paired(pairs)
    contents = pairs.nth(2).locator(CONTENTS[view])
    for component in (contents.first, contents.last):
        component.hover()
        expect_paired(pairs, 2)
    assert boxes(pairs) == before
    expect(pairs.nth(2)).to_have_css("transition-duration", "0s")
    page.mouse.move(0, 0)
    expect_none_paired(pairs)
    pairs.nth(1).focus()
    page.keyboard.press("Tab")
    expect(pairs.nth(2)).to_be_focused()
    expect_paired(pairs, 2)
    assert boxes(pairs) == before
    expect(pairs.nth(2)).to_have_accessible_name(re.compile(NAMES[view]))


@pytest.mark.parametrize("view", NAMES)
def test_a_tap_pairs_and_a_tap_elsewhere_ends_it(visit, view):
    phone = {"width": 390, "height": 844}
    page, pairs = opened(
        visit, view, viewport=phone, has_touch=True, color_scheme="dark"
    )
    pairs.nth(1).tap()
    expect_paired(pairs, 1)
    page.locator(".story h1").tap()
    expect_none_paired(pairs)


def expect_within(page, pairs, width):
    page.set_viewport_size({"width": width, "height": 900})
    expect(pairs.first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for left, _, own_width, _ in boxes(pairs):
        assert left + own_width <= width


def test_pictures_are_twice_as_large_as_they_were_and_stand_above_their_partners(visit):
    page, pairs = opened(visit, "faces")
    pictures = pairs.first.locator("img")
    for width, former_width in FORMER_WIDTHS.items():
        expect_within(page, pairs, width)
        private = pictures.nth(0).bounding_box()
        partner = pictures.nth(1).bounding_box()
        assert private["width"] >= 2 * former_width
        assert private["x"] == partner["x"]
        assert private["y"] < partner["y"]
        tops = [top for _, top, *_ in boxes(pairs)]
        assert tops.count(tops[0]) >= 2
    expect_within(page, pairs, 320)


def test_words_of_topics_take_twice_the_area_they_took(visit):
    page, pairs = opened(visit, "topics")
    size = pairs.first.locator("li").first.evaluate(
        "word => getComputedStyle(word).fontSize"
    )
    assert float(size.removesuffix("px")) ** 2 >= 2 * FORMER_LETTERS**2
    expect_within(page, pairs, 320)
