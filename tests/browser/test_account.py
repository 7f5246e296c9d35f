"""The two views of Account in a real browser: tabs, reload, back, and links of earlier versions."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import settle

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def show(page, tab):
    page.get_by_role("radiogroup", name="Tab").get_by_role("radio", name=tab).click()


def expect_heading(page, text):
    expect(page.locator("h1").first).to_have_text(re.compile(f"^{text}"))
    settle(page)


def test_both_views_keep_what_is_entered_over_tabs_reload_and_back(visit):
    page = visit("/verify?view=ledger&from=hand&ledger=g:10:4")
    expect_heading(page, "These 4 releases")
    grid = page.get_by_test_id("stDataFrame").first
    box = grid.bounding_box()
    page.mouse.click(box["x"] + 150, box["y"] + 87)  # the empty row below the first one
    expect_heading(page, "These 5 releases")
    show(page, "Plan several models")
    expect_heading(page, "15 models over 5 years")
    models = page.get_by_role("spinbutton", name="Models a year")
    models.fill("4")
    models.press("Enter")
    expect_heading(page, "20 models over 5 years")
    page.wait_for_url("**/verify?*models=4*")
    show(page, "Ledger")
    expect_heading(page, "These 5 releases")
    show(page, "Plan several models")
    expect_heading(page, "20 models over 5 years")
    page.reload()
    expect_heading(page, "20 models over 5 years")
    page.go_back()
    expect_heading(page, "These 5 releases")
    page.reload()
    expect_heading(page, "These 5 releases")


@pytest.mark.parametrize(
    ("link", "heading"),
    [
        (
            "/verify?from=hand&ledger=g:10:5,g:20:1#many-models",
            "15 models over 5 years",
        ),
        ("/accountant?models=4", "20 models over 5 years"),
        ("/accountant?from=claim", "These 20 releases"),
    ],
)
def test_a_link_to_account_as_one_page_opens_the_view_that_it_means(
    visit, link, heading
):
    page = visit(link)
    expect_heading(page, heading)
    expect(page.get_by_test_id("stAlert")).to_have_count(0)
