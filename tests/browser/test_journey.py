"""What a person does with the dashboard, in a real browser.

The tests of this module run in order, on one cold server.
"""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from dpmf_core.runs.store import Store
from tests.browser.conftest import Server, go, unfold_more

pytestmark = pytest.mark.browser
SMALL = "/explore?data=cinema-small"
FINISHED_HEADLINE = "h1:has-text('of the gain over guessing')"
Visit = Callable[..., Any]


def all_finished(page: Any) -> None:
    """The headline with its range: every draw is there."""
    page.wait_for_selector(FINISHED_HEADLINE)
    page.wait_for_selector("h1:not(:has-text('first draw'))")
    page.get_by_role("button", name="Cancel").first.wait_for(state="detached")
    page.wait_for_selector("[data-test-script-state=notRunning]")


def epsilon_box(page: Any) -> Any:
    return page.get_by_role("spinbutton", name="ε, exactly")


def holds(page: Any, epsilon: float) -> None:
    """The box shows a value, at the latest when the page has been drawn."""
    expect(epsilon_box(page)).to_have_value(re.compile(rf"^{re.escape(f'{epsilon:g}')}0*$"))


def type_epsilon(page: Any, value: str) -> None:
    box = epsilon_box(page)
    box.fill(value)
    box.press("Enter")


def no_trace(page: Any) -> None:
    assert page.outside == []
    # Streamlit probes /page/_stcore first
    assert [error for error in page.errors if "404" not in error] == []
    assert page.get_by_test_id("stException").count() == 0


def test_the_first_request_of_a_cold_server_is_a_deep_link(visit: Visit) -> None:
    page = visit("/accountant?eps=2&seed=3&data=cinema-small&ledger=Gaussian:10:5")
    page.wait_for_selector("h1:has-text('These 5 releases cost ε =')")
    holds(page, 2)
    unfold_more(page)
    expect(page.get_by_role("spinbutton", name="Seed")).to_have_value("3")
    no_trace(page)


def test_explore_ends_with_a_finding_and_shows_the_card(visit: Visit) -> None:
    page = visit(SMALL + "&eps=5")
    page.wait_for_selector(FINISHED_HEADLINE)
    page.wait_for_selector("text=ε = 5.00 in total")
    page.get_by_role("button", name="Privacy card").click()
    page.wait_for_selector("text=ε = 5.00 (δ = 5e-5, per user, add/remove, exact)")
    page.get_by_text("PROVEN").first.wait_for()
    page.wait_for_selector("text=recommendations stay the same with privacy")
    no_trace(page)


def test_moving_epsilon_moves_card_sentence_link_and_slider(visit: Visit) -> None:
    page = visit(SMALL + "&eps=5")
    page.wait_for_selector(FINISHED_HEADLINE)
    type_epsilon(page, "1")
    page.wait_for_selector("text=ε = 1.00 in total")
    page.wait_for_selector("h1:has-text('At ε = 1,')")
    page.wait_for_url(re.compile(r"[?&]eps=1(&|$)"))
    slider = page.get_by_role("slider").first
    expect(slider).to_have_attribute("aria-valuenow", "1")
    slider.focus()
    slider.press("ArrowRight")
    page.wait_for_selector("text=ε = 1.10 in total")
    holds(page, 1.1)


def test_pages_share_the_sidebar_and_a_reload_keeps_it(visit: Visit) -> None:
    page = visit(SMALL + "&eps=2&seed=7")
    page.wait_for_selector(FINISHED_HEADLINE)
    go(page, "Accountant")
    page.wait_for_selector("h1:has-text('releases cost')")
    holds(page, 2)
    page.wait_for_url("**seed=7**")
    page.reload()
    page.wait_for_selector("h1:has-text('releases cost')")
    holds(page, 2)


def test_a_share_link_shows_the_same_in_a_fresh_profile(visit: Visit) -> None:
    page = visit(SMALL + "&eps=3&p.rank=3")
    all_finished(page)
    first = page.inner_text("h1")
    page.get_by_role("button", name="Share link").click()
    link = page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").inner_text().strip()
    assert "p.rank=3" in link
    other = visit("/?" + link.split("?", 1)[1])
    other.wait_for_selector(FINISHED_HEADLINE)
    expect(other.locator("h1")).to_have_text(first)


@pytest.mark.parametrize("seed", [11, 12])
def test_a_slow_browser_keeps_every_value_of_a_link(visit: Visit, seed: int) -> None:
    """Runs that finish before the browser has drawn the widgets draw the page anew; what the
    link set must not come back as the widgets' first values.
    """
    page = visit("/glossary")
    page.wait_for_selector("h1")
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 6})
    page.goto(
        page.url.split("/glossary")[0]
        + f"{SMALL}&eps=1.5&algo=dpals&top=50&delta=1e-06&rule=source&seed={seed}&p.rank=3"
    )
    page.wait_for_selector("h1:has-text('ε = 1.5')")
    page.get_by_role("button", name="Cancel").first.wait_for(state="detached")
    for _ in range(2):
        page.wait_for_selector("[data-test-script-state=notRunning]")
        unfold_more(page)
        for name, value in {
            "ε, exactly": "1.5",
            "δ": "1.0e-6",
            "Seed": str(seed),
            "Most rated items only": "50",
        }.items():
            expect(page.get_by_role("spinbutton", name=name)).to_have_value(value)
        expect(page.get_by_role("radio", name="the source's rule")).to_be_checked()
        for part in (
            "data=cinema-small",
            "eps=1.5",
            "top=50",
            "delta=1e-06",
            "rule=source",
            f"seed={seed}",
            "p.rank=3",
        ):
            assert part in page.url
        assert page.get_by_test_id("stAlert").filter(has_text="link").count() == 0
        go(page, "Accountant")
        page.wait_for_selector("h1:has-text('releases cost')")
        go(page, "Explore")
        page.wait_for_selector("h1:has-text('ε = 1.5')")


def test_an_emptied_box_takes_its_value_back(visit: Visit) -> None:
    page = visit(SMALL + "&eps=5")
    page.wait_for_selector(FINISHED_HEADLINE)
    type_epsilon(page, "2")
    page.wait_for_selector("h1:has-text('At ε = 2,')")
    type_epsilon(page, "")
    holds(page, 2)
    unfold_more(page)
    top = page.get_by_role("spinbutton", name="Most rated items only")
    top.fill("50")
    top.press("Enter")
    page.wait_for_url("**top=50**")
    top.fill("")
    top.press("Enter")
    page.wait_for_url(lambda url: "top=" not in url)
    assert "eps=2" in page.url


def test_a_long_run_is_cancelled_within_two_seconds_and_the_page_stays_usable(visit: Visit) -> None:
    page = visit("/explore?data=lowrank-5k&p.rank=64&p.steps=50")
    page.get_by_role("button", name="Cancel").wait_for()
    page.wait_for_selector("text=/step \\d+ of 50/")
    began = time.monotonic()
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector("text=nothing of the cancelled runs was kept")
    assert time.monotonic() - began < 3
    page.get_by_role("button", name="Run again").wait_for()
    type_epsilon(page, "4")
    page.wait_for_selector("text=ε = 4.00 in total")
    page.wait_for_selector("text=nothing of the cancelled runs was kept", state="detached")
    # long runs again; the next test wants the workers
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector("text=nothing of the cancelled runs was kept")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("eps=abc", "'eps' in the link must be a number"),
        ("eps=nan", "'eps' in the link must be a number"),
        ("eps=1e9", "'eps' in the link must be a number"),
        ("delta=1", "'delta' in the link must be a number"),
        ("data=../../etc/passwd", "'data' in the link must be a data set"),
        ("algo=als", "'algo' in the link must be a private algorithm"),
        ("p.rank=-3", "'p.rank' in the link cannot be used"),
        ("top=1", "'top' in the link must be a whole number"),
    ],
)
def test_a_bad_link_says_what_is_wrong_and_goes_on(visit: Visit, query: str, sentence: str) -> None:
    page = visit(f"{SMALL}&{query}" if not query.startswith("data") else f"/explore?{query}")
    page.wait_for_selector(f"text={sentence}")
    page.wait_for_selector("h1")
    assert page.get_by_test_id("stException").count() == 0


def test_an_impossible_parameter_is_named_and_settings_stay(visit: Visit) -> None:
    page = visit(SMALL + "&eps=2&p.rank=300")
    page.wait_for_selector(
        "text=The 'rank' parameter of DPALS must be at most the number of items, 200. Got 300."
    )
    holds(page, 2)


def _brightness(page: Any, selector: str, what: str) -> float:
    colour = page.eval_on_selector(selector, f"node => getComputedStyle(node).{what}")
    return (
        sum(
            int(part)
            for part in colour.removeprefix("rgba(").removeprefix("rgb(").rstrip(")").split(",")[:3]
        )
        / 765
    )


def test_dark_mode_is_dark_and_legible(visit: Visit) -> None:
    page = visit(SMALL, color_scheme="dark")
    page.wait_for_selector(FINISHED_HEADLINE)
    assert _brightness(page, "[data-testid=stApp]", "backgroundColor") < 0.2
    assert _brightness(page, "h1", "color") > 0.8


def test_a_phone_needs_no_sideways_scrolling(visit: Visit) -> None:
    page = visit(SMALL, viewport={"width": 390, "height": 844})
    page.wait_for_selector(FINISHED_HEADLINE)
    assert page.evaluate("document.documentElement.scrollWidth") <= 391
    assert page.locator("h1").bounding_box()["width"] <= 390


def test_a_killed_server_keeps_what_was_finished_and_loses_what_was_not(
    visit: Visit, server: Server
) -> None:
    page = visit(SMALL + "&eps=6")
    all_finished(page)
    expect(page.locator("h1")).not_to_contain_text("draws")  # all of them are in
    sentence = page.inner_text("h1")
    slow = visit("/explore?data=lowrank-5k&p.rank=64&p.steps=50&seed=9")
    slow.wait_for_selector("text=/step \\d+ of 50/")
    server.kill()
    store = Store(server.data / "runs")
    assert store.check() == []
    records = [run.record for row in store.rows() if (run := store.get(row["key"]))]
    store.close()
    assert records
    assert not any(record.parameters.get("steps") == 50 for record in records)
    server.start()
    page = visit(SMALL + "&eps=6")
    all_finished(page)
    expect(page.locator("h1")).to_have_text(sentence)
