"""What a browser lets the pages do: everything they need under the server's policy, in a course
site that may embed them, and nowhere else.
"""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from pages.kit.page_table import PAGES
from tests.browser.conftest import CHROMIUM, QUIET, Server

pytestmark = pytest.mark.browser
PATIENCE = 240_000  # milliseconds, on a machine that has much else to do
INLINE_SCRIPT = (
    "document.head.append(Object.assign(document.createElement('script'), {textContent:"
    " 'window.planted = 1'}))"
)
UNFOLD = "document.querySelectorAll('details:not([open]) > summary').forEach(it => it.click())"
NOTE_VIOLATIONS = (
    "window.violations = []; document.addEventListener('securitypolicyviolation', it =>"
    " violations.push(it.violatedDirective + ' ' + it.blockedURI));"
)


def wait_until_settled(page: Any) -> None:
    """The script has run to its end and nothing is being computed any more, or a while has
    passed with work under way.
    """
    page.get_by_test_id("stApp").wait_for()
    page.locator("h1").first.wait_for()
    expect(page.get_by_test_id("stApp")).to_have_attribute(
        "data-test-script-state", "notRunning", timeout=PATIENCE
    )


@pytest.fixture
def watched_page(chromium: Any, server: Server) -> Iterator[Callable[[str], Any]]:
    """watched_page(path): a page whose violations of the policy are noted from its first byte."""
    profile = chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    profile.add_init_script(NOTE_VIOLATIONS)

    def open_page(path: str) -> Any:
        page = profile.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(server.url + path)
        wait_until_settled(page)
        return page

    yield open_page
    profile.close()


def test_charts_tables_and_downloads_work_under_the_policy(
    watched_page: Callable[[str], Any], tmp_path: Path
) -> None:
    page = watched_page("/explore?data=cinema-small&algo=private-bias&eps=2")
    page.wait_for_selector("h1:has-text('At ε = 2')")
    chart = page.locator(".js-plotly-plot").first
    chart.hover()
    with page.expect_download() as picture:
        page.get_by_label("Download plot as a PNG").first.click()
    assert Path(picture.value.path()).read_bytes().startswith(b"\x89PNG")
    page.get_by_role("button", name="Numbers").first.click()
    with page.expect_download() as table:
        page.get_by_role("button", name="Download as CSV").first.click()
    assert Path(table.value.path()).stat().st_size > 0
    assert page.evaluate("violations") == []


@pytest.mark.parametrize("name", [page.id for page in PAGES])
def test_a_page_stays_within_the_policy(watched_page: Callable[[str], Any], name: str) -> None:
    page = watched_page(f"/{name}")
    page.evaluate(UNFOLD)
    wait_until_settled(page)
    assert page.evaluate("violations") == []
    page.evaluate(INLINE_SCRIPT)
    page.wait_for_function("() => violations.length === 1")
    assert (
        page.evaluate("violations[0] + ' ' + window.planted") == "script-src-elem inline undefined"
    )


@pytest.fixture
def course(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """course(url): the address of a page elsewhere that holds this one in a frame."""
    site = tmp_path / "course"
    site.mkdir()
    running = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(site))
    )
    threading.Thread(target=running.serve_forever, daemon=True).start()

    def holding(url: str) -> str:
        (site / "lesson.html").write_text(f"<iframe src='{url}' width=1000 height=800></iframe>")
        return f"http://127.0.0.1:{running.server_port}"

    yield holding
    running.shutdown()
    running.server_close()


@pytest.mark.parametrize("is_named", [True, False])
def test_a_named_course_site_alone_embeds_the_pages(
    chromium: Any, course: Callable[[str], str], tmp_path: Path, is_named: bool
) -> None:
    server = Server(tmp_path)
    site = course(f"{server.url}/glossary")
    server.settings = {"DPMF_EMBED_IN": site} if is_named else {}
    server.start()
    page = chromium.new_page()
    try:
        page.goto(f"{site}/lesson.html")
        heading = page.frame_locator("iframe").locator("h1")
        if is_named:
            expect(heading).to_have_text("What the words mean")
        else:
            page.wait_for_function("() => document.readyState === 'complete'")
            # the browser's own words, in place of the page
            expect(heading).to_contain_text("blocked")
            assert page.frames[1].url == "chrome-error://chromewebdata/"
    finally:
        page.close()
        server.kill()


def test_a_name_bound_to_this_address_by_somebody_else_gets_nothing(
    chromium: Any, server: Server
) -> None:
    rebound = f"--host-resolver-rules=MAP evil.example 127.0.0.1:{server.port}"
    browser = chromium.browser_type.launch(executable_path=CHROMIUM, args=[*QUIET, rebound])
    page = browser.new_page()
    answer = page.goto("http://evil.example/glossary")
    assert answer.status == 400
    browser.close()
