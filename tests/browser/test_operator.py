"""Two people before the nginx of docs/SERVING.md, one of them the operator: what each sees and may
do.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.conftest import QUIET
from tests.browser.provider import Provider
from tests.browser.test_class_server import NAME, issuer, port

__all__ = ["issuer", "port"]  # fixtures
pytestmark = pytest.mark.browser
TEACHER = {
    "sub": "t-1",
    "name": "A Teacher",
    "email": "teacher@example.org",
    "email_verified": True,
}
LIARS = (
    {
        "sub": "s-2",
        "name": "teacher@example.org",
        "email": "student@example.org",
        "email_verified": True,
    },
    # says so, and nobody has verified it
    {"sub": "teacher@example.org", "name": "A Teacher", "email": "teacher@example.org"},
    {"sub": "s-3", "email": "teacher@example.org", "email_verified": False},
)
LONG_RUN = "dpals on cinema, epsilon 1, seed 0, rank 64, steps 50"
LONG = "explore?data=cinema&algo=dpals&eps=1&p.rank=64&p.steps=50"


@pytest.fixture
def more() -> dict[str, str]:
    return {
        "DPMF_PROFILE": "class",
        "DPMF_OPERATORS": "teacher@example.org",
        "DPMF_DELETES": "owner",
    }


@pytest.fixture
def browser(port: int) -> Iterator[Any]:
    with sync_playwright() as playwright:
        at = f"--host-resolver-rules=MAP {NAME}:443 127.0.0.1:{port}"
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=[*QUIET, at]
        )
        yield chromium
        chromium.close()


def logged_in(browser: Any, issuer: Provider, person: dict[str, Any], path: str) -> Any:
    """A page of a new browser profile, at a path of the server."""
    issuer.person = person
    page = browser.new_context(
        ignore_https_errors=True, viewport={"width": 1280, "height": 900}
    ).new_page()
    page.set_default_timeout(60_000)
    page.goto(f"https://{NAME}/{path}")
    page.get_by_role("button", name="Log in").click()
    page.get_by_test_id("stTopNavLink").first.wait_for()
    return page


def operators_entry(page: Any) -> Any:
    """The Operator page beside the others of its section, in a tab of its own."""
    tab = page.context.new_page()
    tab.goto(f"https://{NAME}/runs", timeout=60_000)
    tab.get_by_role("heading", level=1).wait_for(timeout=60_000)
    return tab.get_by_test_id("stPageLink-NavLink").get_by_text("Operator", exact=True)


def test_an_operator_sees_and_stops_what_a_student_asked_for(
    browser: Any, issuer: Provider, tmp_path: Path
) -> None:
    student = logged_in(browser, issuer, LIARS[0], LONG)
    student.get_by_role("button", name="Cancel").wait_for()
    expect(operators_entry(student)).to_have_count(0)

    teacher = logged_in(browser, issuer, TEACHER, "operator")
    teacher.wait_for_selector("h1:has-text('What goes on here')")
    expect(operators_entry(teacher)).to_be_visible()
    expect(teacher.get_by_text(LONG_RUN, exact=True)).to_be_visible()
    expect(teacher.get_by_text("student@example.org").first).to_be_visible()
    expect(teacher.get_by_test_id("stDataFrame")).to_be_visible()

    line = teacher.get_by_test_id("stHorizontalBlock").filter(has_text=LONG_RUN)
    line.get_by_role("button", name="Stop").click()
    teacher.get_by_text(f"Stopped {LONG_RUN}.").wait_for()
    student.get_by_text("Cancelled. What had finished is shown").wait_for()


@pytest.mark.parametrize("person", LIARS, ids=["by-name", "unverified", "denied"])
def test_the_operators_address_answers_others_nothing(
    browser: Any, issuer: Provider, person: dict[str, Any]
) -> None:
    """As any address at which there is no page."""
    page = logged_in(browser, issuer, person, "operator")
    page.get_by_text("Page not found").wait_for()
    expect(page.get_by_text("What goes on here")).to_have_count(0)
    expect(page.get_by_text("Memory, server")).to_have_count(0)
    page.goto(f"https://{NAME}/nothing-at-all")
    page.get_by_text("Page not found").wait_for()
