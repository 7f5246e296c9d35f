"""The way of docs/SERVING.md to serve a class, as written: nginx with TLS before the app, and a
login through OpenID Connect.
"""

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.conftest import CHROMIUM, QUIET, ROOT, Server
from tests.browser.provider import CLIENT, SECRET, Provider, provider

pytestmark = pytest.mark.browser
NAME = "dpmf.example.org"
OPENSSL = shutil.which("openssl")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


def block(kind: str) -> str:
    """The one block of a kind of code in docs/SERVING.md."""
    text = (ROOT / "docs" / "SERVING.md").read_text("utf-8")
    (code,) = re.findall(rf"```{kind}\n(.*?)```", text, re.S)
    return str(code)


def put(text: str, *pairs: tuple[str, str]) -> str:
    """The block with the names of this machine; each must be in it."""
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


@pytest.fixture
def issuer() -> Iterator[Provider]:
    with provider() as running:
        yield running


@pytest.fixture
def more() -> dict[str, str]:
    """Further environment of the server."""
    return {}


@pytest.fixture
def port(tmp_path: Path, issuer: Provider, more: dict[str, str]) -> Iterator[int]:
    """Of nginx, before a server that asks for a login."""
    if not (NGINX and OPENSSL and CHROMIUM):
        pytest.skip("nginx, openssl or Chromium is not on this machine")
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(login(issuer))
    server = Server(tmp_path, STREAMLIT_SECRETS_FILES=str(secrets), DPMF_HOSTS=NAME, **more)
    server.start()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        outer: int = free.getsockname()[1]
    make_certificate(tmp_path)
    (tmp_path / "nginx.conf").write_text(nginx_configuration(tmp_path, outer, server.port))
    nginx = subprocess.Popen(
        [NGINX, "-c", tmp_path / "nginx.conf", "-g", "daemon off;"],
        stderr=(tmp_path / "nginx.log").open("wb"),
    )
    yield outer
    nginx.terminate()
    nginx.wait()
    server.kill()


def login(issuer: Provider) -> str:
    """The documentation's secrets, of this issuer."""
    return put(
        block("toml"),
        ('client_id = "..."', f'client_id = "{CLIENT}"'),
        ('client_secret = "..."', f'client_secret = "{SECRET}"'),
        ('"https://login.example.org/', f'"{issuer.url}/'),
    )


def make_certificate(folder: Path) -> None:
    """Its own, for the server's name: `pem` and `key`."""
    request = [str(OPENSSL), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    out = ["-keyout", folder / "key", "-out", folder / "pem"]
    subprocess.run([*request, "-subj", f"/CN={NAME}", *out], check=True, capture_output=True)


def nginx_configuration(folder: Path, outer: int, inner: int) -> str:
    """The documentation's site, at other ports and with files in a folder."""
    site = put(
        block("nginx"),
        ("listen 443 ssl", f"listen 127.0.0.1:{outer} ssl"),
        ("127.0.0.1:8501", f"127.0.0.1:{inner}"),
        ("/etc/ssl/dpmf.pem", str(folder / "pem")),
        ("/etc/ssl/dpmf.key", str(folder / "key")),
    )
    own = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return (
        f"pid {folder}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log"
        f" off;\n{own}{site}}}\n"
    )


def test_a_class_is_let_in_through_tls_and_a_login(
    port: int, issuer: Provider, tmp_path: Path
) -> None:
    with sync_playwright() as playwright:
        at = f"--host-resolver-rules=MAP {NAME}:443 127.0.0.1:{port}"
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*QUIET, at])
        page: Any = browser.new_page(ignore_https_errors=True)
        page.set_default_timeout(60_000)
        page.goto(f"https://{NAME}/explore?data=cinema-small&algo=private-bias&eps=2")
        button = page.get_by_role("button", name="Log in")
        button.wait_for()
        expect(page.get_by_role("spinbutton")).to_have_count(0)
        expect(page.get_by_test_id("stTopNavLink")).to_have_count(0)
        assert issuer.tokens == 0
        button.click()
        # the link that was opened
        page.wait_for_selector("h1:has-text('At ε = 2, Private biases')")
        page.wait_for_url(
            lambda url: url.startswith(f"https://{NAME}/explore?") and "algo=private-bias" in url
        )
        assert issuer.tokens == 1
        box = page.get_by_role("spinbutton", name="ε, exactly")
        box.fill("3")
        box.press("Enter")
        page.wait_for_selector("h1:has-text('At ε = 3')")  # the websocket goes through the proxy
        page.goto(f"https://{NAME}/glossary")
        page.wait_for_selector("h1:has-text('What the words mean')")  # still known

        stranger: Any = browser.new_page(ignore_https_errors=True)
        stranger.goto(f"https://{NAME}/runs")
        stranger.get_by_role("button", name="Log in").wait_for()
        expect(stranger.get_by_text("runs")).to_have_count(0)
        browser.close()
