"""A real server on loopback and a real Chromium."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from pages.kit.base.page_table import PAGES, SECTIONS

ROOT = Path(__file__).parents[2]
NOTE_VIOLATIONS = (
    "window.violations = []; document.addEventListener('securitypolicyviolation', it =>"
    " violations.push(it.violatedDirective + ' ' + it.blockedURI));"
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
)


def go(page, name):
    """To another page through the navigation, until it is drawn: its section, then its view."""
    target = next(page for page in PAGES if page.title == name)
    page.get_by_test_id("stTopNavLink").get_by_text(
        SECTIONS[target.section].title, exact=True
    ).click()
    if target.view:
        row = page.locator(".st-key-navigation-row")
        row.get_by_role("radio", name=name, exact=True).click()
    await_view(page, name)


def await_view(page, name):
    """Until the view of this name, or the first page, is drawn to its end."""
    target = next((page for page in PAGES if page.title == name), PAGES[0])
    opened = page.locator("[data-testid=stTopNavLink][aria-current=page]")
    expect(opened).to_contain_text(SECTIONS[target.section].title)
    # the server names the view in the window's title when it starts to draw it
    expect(page).to_have_title(re.compile("^" + re.escape(name or "dpmf")))
    settle(page)


def settle(page):
    """Until the page is drawn to its end and nothing is being computed any more."""
    page.locator("h1").first.wait_for()
    page.get_by_role("button", name="Cancel").first.wait_for(
        state="detached", timeout=300_000
    )
    page.wait_for_selector("[data-test-script-state=notRunning]", timeout=300_000)
    assert page.get_by_test_id("stException").count() == 0


def choose(page, box, option):
    """Take an option of a select box by typing it: a list that is only looked at may close."""
    settle(page)
    widget = page.get_by_role("combobox", name=box, exact=True)
    widget.fill(option)
    widget.press("Enter")


class Server:
    """The dashboard as `make app` starts it, on a data directory of its own."""

    def __init__(self, data, **settings):
        self.data = data
        self.settings = settings
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = data / "server.log"
        self.process = None

    def launch(self, log):
        options = ("--server.port", str(self.port), "--server.headless", "true")
        command = [sys.executable, "-m", "streamlit", "run", "app.py", *options]
        own = {"DPMF_DATA": str(self.data), "DPMF_WARM": "false"}
        environment = os.environ | own | self.settings
        return subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )

    def start(self):
        """Until the server says where it listens."""
        self.process = self.launch(subprocess.PIPE)
        output = self.process.stdout
        log = self.log.open("ab")
        for line in iter(output.readline, b""):
            log.write(line)
            log.flush()
            if b"URL:" in line:
                break
        else:
            raise RuntimeError(f"the server did not start:\n{self.log.read_text()}")
        self._copy = threading.Thread(target=_copied, args=(output, log), daemon=True)
        self._copy.start()

    def kill(self):
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


def _copied(output, log):
    """What a server writes, in its log at once."""
    with log:
        for line in iter(output.readline, b""):
            log.write(line)
            log.flush()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("data"))
    running.start()
    yield running
    running.kill()


@pytest.fixture(scope="session")
def chromium():
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    expect.set_options(timeout=180_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium, server, tmp_path):
    """visit(path, script, **context): a page in a fresh profile, with its requests and errors."""
    contexts = []

    def open_page(path="/", script="", **context):
        profile = chromium.new_context(
            **({"viewport": {"width": 1280, "height": 900}} | context)
        )
        contexts.append(profile)
        page = profile.new_page()
        page.add_init_script(script)
        page.outside = []
        page.errors = []
        page.on(
            "request",
            lambda request: (
                page.outside.append(request.url)
                if "127.0.0.1" not in request.url and request.url.startswith("http")
                else None
            ),
        )
        page.on(
            "console",
            lambda message: (
                page.errors.append(message.text) if message.type == "error" else None
            ),
        )
        page.set_default_timeout(180_000)  # on a machine that has much else to do
        page.goto(server.url + path)
        return page

    yield open_page
    for place, profile in enumerate(contexts):
        for page in profile.pages:  # the last look, for when a test has failed
            page.screenshot(path=tmp_path / f"{place}.png")
        profile.close()
