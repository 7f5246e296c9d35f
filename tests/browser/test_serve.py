"""`python -m dpmf_core serve --processes 2`: nginx, two server processes, one set of workers."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from dpmf_core.administration.front import COOKIE
from dpmf_core.administration.supervisor import free_port
from dpmf_core.runs.store import Store
from tests.browser.conftest import CHROMIUM, QUIET, ROOT, go
from tests.browser.test_class_server import NGINX

pytestmark = [pytest.mark.browser, pytest.mark.slow]
QUERY = "explore?data=cinema-small&algo=private-bias&eps=2"
FIRST = "h1:has-text('At ε = 2, Private biases')"


@dataclass
class Site:
    """A running `serve`."""

    process: "subprocess.Popen[bytes]"
    url: str
    log: Path
    data: Path

    def servers(self) -> dict[str, psutil.Process]:
        """The processes that serve pages, by the name that cookies have for them."""
        below = psutil.Process(self.process.pid).children()
        apps = [it for it in below if any(part.endswith("app.py") for part in it.cmdline())]
        upstream_ports = re.findall(r"127\.0\.0\.1:(\d+) fail", self.front())
        by_name = {}
        for app in apps:
            port = app.cmdline()[app.cmdline().index("--server.port") + 1]
            by_name[str(upstream_ports.index(port) + 1)] = app
        return by_name

    def front(self) -> str:
        """nginx's configuration: the first upstream has all servers, in order."""
        (path,) = self.data.glob("working/*/front/nginx.conf")
        return path.read_text("utf-8")

    def wait_for_log(self, words: str, seconds: float = 120) -> None:
        """Wait until the log says it."""
        until = time.monotonic() + seconds
        while words not in self.log.read_text("utf-8"):
            assert time.monotonic() < until and self.process.poll() is None, self.log.read_text()
            time.sleep(0.2)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    if not (NGINX and CHROMIUM):
        pytest.skip("nginx or Chromium is not on this machine")
    port, data, path = free_port(), tmp_path / "data", tmp_path / "serve.log"
    arguments = ("serve", "--processes", "2", "--port", str(port))
    with path.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "dpmf_core", *arguments],
            cwd=ROOT,
            env={**os.environ, "DPMF_DATA": str(data)},
            stdout=log,
            stderr=log,
        )
    site = Site(process, f"http://127.0.0.1:{port}", path, data)
    try:
        site.wait_for_log("2 processes at")
        yield site
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def backend(profile: Any) -> str:
    """The process that a browser's cookie names."""
    (cookie,) = [it for it in profile.cookies() if it["name"] == COOKIE]
    assert cookie["httpOnly"] and cookie["path"] == "/"
    return str(cookie["value"])


def two_visitors(browser: Any, site: Site) -> dict[str, Any]:
    """A page in a browser of its own for each process."""
    by_process: dict[str, Any] = {}
    for _ in range(8):
        profile = browser.new_context()
        page = profile.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{site.url}/_stcore/health")
        if by_process.setdefault(backend(profile), page) is not page:
            profile.close()
        if len(by_process) == 2:
            return by_process
    raise AssertionError("newcomers do not take turns")


def set_epsilon(page: Any, value: str) -> None:
    box = page.get_by_role("spinbutton", name="ε, exactly")
    box.fill(value)
    box.press("Enter")
    page.wait_for_selector(f"h1:has-text('At ε = {value},')")


def bring_a_file(page: Any, site: Site, folder: Path) -> None:
    rows = [f"c{u},Thing {i},{1 + (u + 2 * i) % 5}" for u in range(120) for i in range(u % 7, 30)]
    (folder / "shop.csv").write_text("user,item,rating\n" + "\n".join(rows) + "\n")
    page.goto(f"{site.url}/data")
    page.locator("input[type=file]").set_input_files(folder / "shop.csv")
    page.get_by_role("radio", name="another").click()
    for label, value in (("Lowest rating anybody can give", "1"), ("Highest", "5")):
        page.get_by_label(label, exact=True).fill(value)
        page.get_by_label(label, exact=True).press("Tab")
    page.get_by_role("button", name="Check and use").click()
    page.get_by_text("shop (yours)").first.wait_for()


def test_each_browser_stays_with_its_process_and_all_share_runs(site: Site, tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        pages = two_visitors(browser, site)
        pages["1"].goto(f"{site.url}/{QUERY}")
        pages["1"].wait_for_selector(FIRST)
        store = Store(site.data / "runs")
        before = {row["key"]: row["created"] for row in store.rows()}
        assert before
        pages["2"].goto(f"{site.url}/{QUERY}")
        pages["2"].wait_for_selector(FIRST)
        for page in pages.values():
            page.reload()
            page.wait_for_selector(FIRST)
            set_epsilon(page, "3")
        rows = {row["key"]: row["created"] for row in store.rows()}
        assert {key: rows[key] for key in before} == before  # not computed again, but found
        store.close()
        assert {name: backend(page.context) for name, page in pages.items()} == {"1": "1", "2": "2"}

        # websockets break and come back to their sessions, which know what was brought
        bring_a_file(pages["2"], site, tmp_path)
        (proxy,) = [
            it for it in psutil.Process(site.process.pid).children() if it.name() == "nginx"
        ]
        proxy.kill()
        proxy.wait(10)
        site.wait_for_log("[nginx] has ended (signal 9) and is started again")
        knows_its_file(pages["2"])
        assert backend(pages["2"].context) == "2"

        # of a process that dies the other's visitors see nothing
        site.servers()["1"].kill()
        site.wait_for_log("[1] has ended (signal 9) and is started again")
        knows_its_file(pages["2"])
        pages["1"].goto(f"{site.url}/{QUERY}")
        pages["1"].wait_for_selector(FIRST)
        assert backend(pages["1"].context) in ("1", "2")
        set_epsilon(pages["1"], "4")
        assert backend(pages["2"].context) == "2"
        browser.close()
    below = psutil.Process(site.process.pid).children(recursive=True)
    site.process.send_signal(signal.SIGINT)
    assert site.process.wait(60) == 130
    assert not psutil.wait_procs(below, timeout=20)[1]


def knows_its_file(page: Any) -> None:
    """The session is the one that it was, and answers: without a reload it shows its file."""
    page.wait_for_selector("[data-test-connection-state=CONNECTED]")
    go(page, "Choose")
    page.wait_for_selector("h1:has-text('Which method')")
    go(page, "Data")
    page.get_by_text("shop (yours)").first.wait_for()
