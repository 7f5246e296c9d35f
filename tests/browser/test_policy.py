"""What the server's policy lets browsers do: all that pages need, also in a course site."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from pages.kit.base.page_table import PAGES
from tests.browser.conftest import CHROMIUM, NOTE_VIOLATIONS, QUIET, Server, settle

pytestmark = pytest.mark.browser
INLINE_SCRIPT = (
    "document.head.append(Object.assign(document.createElement('script'), {textContent:"
    " 'window.planted = 1'}))"
)
UNFOLD = "document.querySelectorAll('details:not([open]) > summary').forEach(it => it.click())"


@pytest.mark.parametrize("name", [page.id for page in PAGES])
def test_a_page_opens_on_a_phone_within_the_policy_and_asks_nobody_outside(visit, name):
    page = visit(f"/{name}", NOTE_VIOLATIONS, viewport={"width": 390, "height": 844})
    settle(page)
    page.evaluate(UNFOLD)
    settle(page)
    assert page.evaluate("violations") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 391
    assert page.outside == []
    page.evaluate(INLINE_SCRIPT)
    page.wait_for_function("() => violations.length === 1")
    assert (
        page.evaluate("violations[0] + ' ' + window.planted")
        == "script-src-elem inline undefined"
    )


@pytest.fixture
def course(tmp_path):
    """course(url): the address of a page elsewhere that holds this one in a frame."""
    site = tmp_path / "course"
    site.mkdir()
    running = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(site))
    )
    threading.Thread(target=running.serve_forever, daemon=True).start()

    def holding(url):
        (site / "lesson.html").write_text(
            f"<iframe src='{url}' width=1000 height=800></iframe>"
        )
        return f"http://127.0.0.1:{running.server_port}"

    yield holding
    running.shutdown()
    running.server_close()


def test_a_named_course_site_embeds_the_pages(chromium, course, tmp_path):
    server = Server(tmp_path)
    site = course(f"{server.url}/glossary")
    server.settings = {"DPMF_EMBED_IN": site}
    server.start()
    page = chromium.new_page()
    try:
        page.goto(f"{site}/lesson.html")
        expect(page.frame_locator("iframe").locator("input").first).to_be_visible()
    finally:
        page.close()
        server.kill()


def test_no_other_site_embeds_the_pages(chromium, server, course):
    page = chromium.new_page()
    page.goto(f"{course(f'{server.url}/glossary')}/lesson.html")
    page.wait_for_function("() => document.readyState === 'complete'")
    expect(page.frame_locator("iframe").locator("h1")).to_be_attached()
    assert page.frames[1].url == "chrome-error://chromewebdata/"
    page.close()


def test_a_foreign_host_name_for_this_address_gets_nothing(chromium, server):
    rebound = f"--host-resolver-rules=MAP evil.example 127.0.0.1:{server.port}"
    browser = chromium.browser_type.launch(
        executable_path=CHROMIUM, args=[*QUIET, rebound]
    )
    answer = browser.new_page().goto("http://evil.example/glossary")
    assert answer.status == 400
    browser.close()
