"""nginx before several processes: what is generated does what it says, before servers that only
say who they are.
"""

import http.client
import http.server
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpmf_core.administration import front
from dpmf_core.administration.front import COOKIE, Front, nginx
from dpmf_core.administration.supervisor import free_port
from dpmf_core.errors import BadInput


def has_nginx() -> bool:
    try:
        return bool(nginx())
    except BadInput:
        return False


class NamedServer(http.server.ThreadingHTTPServer):
    """Answers every request with its port and what it was asked with."""

    daemon_threads = True


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        names = ("Host", "X-Forwarded-For", "X-Forwarded-Proto", "Connection")
        parts = [str(self.server.server_address[1]), *(self.headers.get(it, "") for it in names)]
        self.send_response(200)
        self.end_headers()
        self.wfile.write("\n".join(parts).encode())

    def log_message(self, *_: object) -> None:
        """Nothing."""


class Site:
    """nginx before two servers."""

    def __init__(self, folder: Path) -> None:
        self.servers = [NamedServer(("127.0.0.1", 0), Answer) for _ in range(2)]
        self.inner = [int(it.server_address[1]) for it in self.servers]
        self.port = free_port()
        for server in self.servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        text = Front("127.0.0.1", self.port, self.inner, folder).configuration()
        (folder / "nginx.conf").write_text(text)
        self.process = subprocess.Popen(
            [nginx(), "-e", "stderr", "-c", str(folder / "nginx.conf")],
            stderr=(folder / "log").open("wb"),
        )

    def ask(self, **headers: str) -> tuple[list[str], str]:
        """What the server said, and the cookie that came with it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", "/", headers=fields)
        answer = connection.getresponse()
        return answer.read().decode().split("\n"), answer.getheader("Set-Cookie", "")

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        for server in self.servers:
            server.shutdown()
            server.server_close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    if not has_nginx():
        pytest.skip("nginx is not on this machine")
    new_site = Site(tmp_path)
    try:
        for _ in range(100):
            try:
                new_site.ask()
                break
            except OSError:
                time.sleep(0.1)
        yield new_site
    finally:
        new_site.close()


def test_newcomers_take_turns_and_a_cookie_leads_back(site: Site) -> None:
    answers = [site.ask() for _ in range(20)]
    assert Counter(answer[0] for answer, _ in answers) == {str(port): 10 for port in site.inner}
    for answer, cookie in answers:
        name = str(site.inner.index(int(answer[0])) + 1)
        assert cookie == f"{COOKIE}={name}; Path=/; HttpOnly; SameSite=Lax"
        back, again = site.ask(Cookie=f"{COOKIE}={name}")
        assert (back[0], again) == (answer[0], "")


@pytest.mark.parametrize("odd", ["3", "dpmf_any", "1:1", "../1", ""])
def test_a_cookie_that_names_no_process_is_given_anew(site: Site, odd: str) -> None:
    answer, cookie = site.ask(Cookie=f"{COOKIE}={odd}")
    name = site.inner.index(int(answer[0])) + 1
    assert cookie.startswith(f"{COOKIE}={name};")


def test_what_a_server_must_know_of_a_browser_reaches_it(site: Site) -> None:
    (_, host, address, scheme, connection), cookie = site.ask()
    assert (host, address, scheme) == (f"127.0.0.1:{site.port}", "127.0.0.1", "http")
    assert connection == "close" and "Secure" not in cookie
    (_, _, address, scheme, connection), cookie = site.ask(
        X_Forwarded_For="192.0.2.7", X_Forwarded_Proto="https", Upgrade="websocket"
    )
    assert (address, scheme, connection) == ("192.0.2.7, 127.0.0.1", "https", "upgrade")
    assert cookie.endswith("; Secure")


def test_browsers_of_a_process_that_is_down_move_for_good(site: Site) -> None:
    site.servers[0].shutdown()
    site.servers[0].server_close()
    answer, cookie = site.ask(Cookie=f"{COOKIE}=1")
    assert answer[0] == str(site.inner[1]) and cookie.startswith(f"{COOKIE}=2;")
    assert site.ask(Cookie=f"{COOKIE}=2") == ([str(site.inner[1]), *answer[1:]], "")


def test_without_nginx_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(front.shutil, "which", lambda name, path: None)
    with pytest.raises(BadInput, match="apt-get install nginx-light"):
        nginx()
