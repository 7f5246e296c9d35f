"""A real server that requires a login, and a real provider of it."""

import contextlib
import re
import socket
import subprocess
from http.client import HTTPConnection

import httpx
import pytest
import websockets.sync.client
from websockets.exceptions import InvalidStatus

from tests.browser.conftest import Server
from tests.browser.provider import CLIENT, SECRET, provider
from tests.test_deploy import NGINX, OPENSSL, configuration

pytestmark = pytest.mark.browser


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture(scope="module")
def oidc():
    with provider() as running:
        yield running


@pytest.fixture(scope="module")
def gated(oidc, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gated")
    secrets = folder / "secrets.toml"
    running = Server(folder, STREAMLIT_SECRETS_FILES=str(secrets))
    secrets.write_text(
        "[auth]\n"
        f'redirect_uri = "{running.url}/oauth2callback"\n'
        'cookie_secret = "a long random text of this test"\n'
        f'client_id = "{CLIENT}"\nclient_secret = "{SECRET}"\n'
        f'server_metadata_url = "{oidc.url}/.well-known/openid-configuration"\n'
    )
    running.start()
    yield running
    running.kill()


def stream_status(url, cookies):
    """How a websocket that brings these cookies is answered."""
    cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
    address = f"{url.replace('http', 'ws')}/_stcore/stream"
    try:
        with websockets.sync.client.connect(
            address, additional_headers={"Cookie": cookie}
        ):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def test_a_login_opens_what_was_closed_and_leads_back(gated, oidc):
    with httpx.Client(
        base_url=gated.url, headers={"accept": "text/html"}, timeout=None
    ) as browser:
        link = "/explore?epsilon=2"
        closed = browser.get(link)
        assert closed.status_code == 401
        assert "script" not in closed.text
        status_code = browser.put(
            "/_stcore/upload_file/x/y", content=b"rows"
        ).status_code
        assert status_code == 401
        assert stream_status(gated.url, browser.cookies) == 401

        button = re.search(r'href="([^"]+)"', closed.text)
        referer = {"referer": gated.url + link}
        opened = browser.get(button[1], headers=referer, follow_redirects=True)

        assert oidc.tokens == 1
        assert opened.status_code == 200
        assert opened.url.raw_path == link.encode()
        assert "script" in opened.text
        assert browser.get("/auth/check").status_code == 204
        assert stream_status(gated.url, browser.cookies) == 101
        browser.get("/auth/logout")
        assert browser.get(link).status_code == 401


@pytest.fixture
def proxied(gated, tmp_path):
    """The address of nginx, with the configuration of deploy/, before the server."""
    if NGINX is None or OPENSSL is None:
        pytest.skip("nginx or openssl is not on this machine")
    port = free_port()
    command = [NGINX, "-c", configuration(tmp_path, port, free_port(), gated.port)]
    # returns when it listens
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    yield f"http://127.0.0.1:{port}"
    subprocess.run([*command, "-s", "stop"], check=True, capture_output=True)


def test_a_proxy_asks_first_and_takes_uploads_whole(gated, proxied, oidc):
    upload = "/_stcore/upload_file/session/file"
    with httpx.Client(base_url=proxied) as stranger:
        assert stranger.put(upload, content=b"rows").status_code == 401
        assert stream_status(proxied, stranger.cookies) == 401
    with httpx.Client(
        base_url=gated.url, follow_redirects=True, timeout=None
    ) as browser:
        browser.get("/auth/begin")
        assert stream_status(proxied, browser.cookies) == 101
        alone = httpx.put(
            proxied + upload, content=b"rows", cookies=browser.cookies, timeout=None
        ).status_code
        with contextlib.ExitStack() as idle:  # they declare 90 MB each and send nothing
            for number in range(7):
                connection = HTTPConnection(proxied.removeprefix("http://"))
                idle.callback(connection.close)
                connection.putrequest("PUT", upload)
                connection.putheader("Content-Length", "90000000")
                names = {**browser.cookies, "_streamlit_xsrf": f"hostile {number}"}
                connection.putheader("Cookie", "; ".join(map("=".join, names.items())))
                connection.endheaders()
            meanwhile = httpx.put(
                proxied + upload, content=b"rows", cookies=browser.cookies, timeout=None
            )
        assert meanwhile.status_code == alone != 429
