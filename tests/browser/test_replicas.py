"""Two servers on one data folder behind nginx, as `deploy/nginx-replicas.conf` has it."""

import contextlib
import re
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dpmf_core.runs.store import Store
from tests.browser.conftest import CHROMIUM, QUIET, ROOT, Server
from tests.browser.test_class_server import NAME, NGINX, OPENSSL, put

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SAMPLE = ROOT / "deploy" / "nginx-replicas.conf"
PAGE = f"https://{NAME}/explore?data=cinema-small&algo=private-bias&eps=2"


@dataclass
class Site:
    """Two servers and the nginx before them."""

    port: int
    servers: dict[str, Server]
    log: Path

    def requests(self) -> list[tuple[str, str, str]]:
        """What nginx passed on: the server's port, the cookie that came, the path.

        A websocket is there when it ended.
        """
        lines = [line.split() for line in self.log.read_text().splitlines()]
        return [(address.rpartition(":")[2], cookie, path) for address, cookie, path in lines]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    if not (NGINX and OPENSSL and CHROMIUM):
        pytest.skip("nginx, openssl or Chromium is not on this machine")
    with contextlib.ExitStack() as cleanup:
        servers = {}
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            server = servers[name] = Server(
                tmp_path / name,
                DPMF_DATA=str(tmp_path / "data"),
                DPMF_ENGINE="threads",
                DPMF_HOSTS=NAME,
            )
            cleanup.callback(server.kill)
            server.start()
        yield _before(tmp_path, servers, cleanup)


def _before(folder: Path, servers: dict[str, Server], cleanup: contextlib.ExitStack) -> Site:
    """nginx with the sample as it is, but for addresses and the certificate."""
    assert NGINX and OPENSSL
    certificate = (
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        f"/CN={NAME}",
    )
    subprocess.run(
        [OPENSSL, *certificate, "-keyout", folder / "key", "-out", folder / "pem"],
        check=True,
        capture_output=True,
    )
    outer = free_port()
    text = put(
        SAMPLE.read_text("utf-8"), ("listen 443 ssl", f"listen 127.0.0.1:{outer} ssl"),
        ("/etc/ssl/dpmf.pem", str(folder / "pem")), ("/etc/ssl/dpmf.key", str(folder / "key")),
    )  # fmt: skip
    ports = {"8501": servers["one"].port, "8502": servers["two"].port}
    text = re.sub(r"127\.0\.0\.1:(8501|8502)", lambda match: f"127.0.0.1:{ports[match[1]]}", text)
    own = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    log = (
        "log_format who '$upstream_addr -$cookie_dpmf_replica $uri';\naccess_log"
        f" {folder}/access.log who;\n"
    )
    (folder / "nginx.conf").write_text(
        f"pid {folder}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n{log}{own}{text}}}\n"
    )
    process = subprocess.Popen(
        [NGINX, "-c", folder / "nginx.conf", "-g", "daemon off;"],
        stderr=(folder / "nginx.log").open("wb"),
    )
    cleanup.callback(process.wait)
    cleanup.callback(process.terminate)
    return Site(outer, servers, folder / "access.log")


def visitor(browser: Any, replica: str) -> Any:
    """A browser of its own whose first visit was given to a replica."""
    for _ in range(40):
        profile = browser.new_context(ignore_https_errors=True)
        page = profile.new_page()
        page.set_default_timeout(120_000)
        answer = page.goto(f"https://{NAME}/_stcore/health")
        assert answer.ok
        (cookie,) = [cookie for cookie in profile.cookies() if cookie["name"] == "dpmf_replica"]
        assert cookie["secure"] and cookie["httpOnly"] and cookie["path"] == "/"
        if cookie["value"] == replica:
            return page
        profile.close()
    raise AssertionError(f"nobody was given to replica {replica}")


def test_a_session_stays_on_one_of_two_replicas_that_share_their_runs(
    site: Site, tmp_path: Path
) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        at = f"--host-resolver-rules=MAP {NAME}:443 127.0.0.1:{site.port}"
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, at])
        first, second = visitor(browser, "one"), visitor(browser, "two")
        first.goto(PAGE)
        first.wait_for_selector("h1:has-text('At ε = 2, Private biases')")
        store = Store(tmp_path / "data" / "runs")
        before = {row["key"]: row["created"] for row in store.rows()}
        assert before
        second.goto(PAGE)
        second.wait_for_selector("h1:has-text('At ε = 2, Private biases')")
        for page in (first, second):
            box = page.get_by_role("spinbutton", name="ε, exactly")
            box.fill("3")
            box.press("Enter")  # through the websocket, from both at nearly the same time
        for page in (first, second):
            page.wait_for_selector("h1:has-text('At ε = 3')")
        rows = {row["key"]: row["created"] for row in store.rows()}
        assert {key: rows[key] for key in before} == before  # not written again, but found
        assert (
            len(
                [
                    row
                    for row in store.rows()
                    if row["nominal_epsilon"] == 3
                    and row["algorithm"] == "private-bias"
                    and row["seed"] == 0
                ]
            )
            == 1
        )
        least = len(store.rows())  # grids are filled while their pages are open
        second.goto(f"https://{NAME}/runs")
        heading = second.get_by_role("heading", name=re.compile(r"^\d+ runs"))
        heading.wait_for()
        assert least <= int(heading.inner_text().split()[0]) <= len(store.rows())
        store.close()
        browser.close()
    ports = {name: str(server.port) for name, server in site.servers.items()}
    requests = [(port, cookie.lstrip("-"), path) for port, cookie, path in site.requests()]
    assert all(port == ports[cookie] for port, cookie, _ in requests if cookie)
    assert {cookie for _, cookie, path in requests if path.endswith("/_stcore/stream")} == {
        "one",
        "two",
    }
