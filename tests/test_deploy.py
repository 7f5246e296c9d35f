"""What `deploy/` holds works as written: the unit, the proxy and its limits; the whole of it in
an empty folder.
"""

import http.client
import os
import re
import shutil
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.conftest import ROOT, Server

DEPLOY = ROOT / "deploy"
NAME = "dpmf.example.org"
ANALYZE = shutil.which("systemd-analyze")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
OPENSSL = shutil.which("openssl")


def put_names(text: str, *pairs: tuple[str, str]) -> str:
    """A text with the names of this machine; each must be in it."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


# ---- the unit ------------------------------------------------------------------------------------


@pytest.fixture
def unit() -> Path:
    if ANALYZE is None:
        pytest.skip("systemd-analyze is not on this machine")
    return DEPLOY / "dpmf.service"


def test_the_unit_is_understood_to_the_last_word(unit: Path, tmp_path: Path) -> None:
    python = tmp_path / "opt/dpmf/.venv/bin/python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/bin/true")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/true").touch(0o755)
    units = tmp_path / "etc/systemd/system"
    units.mkdir(parents=True)
    for target in ("multi-user", "sysinit", "basic", "shutdown", "network"):
        (units / f"{target}.target").write_text(f"[Unit]\nDescription={target}\n")
    copy = units / unit.name
    shutil.copy(unit, copy)
    verify = [str(ANALYZE), "verify", "--man=no", f"--root={tmp_path}", str(copy)]
    good = subprocess.run(verify, capture_output=True, text=True, timeout=60, check=False)
    assert (good.returncode, good.stderr) == (0, "")
    copy.write_text(unit.read_text("utf-8").replace("MemoryMax=", "MemoryMost="))
    assert (
        "'MemoryMost'"
        in subprocess.run(verify, capture_output=True, text=True, timeout=60, check=False).stderr
    )


def test_the_unit_gives_the_server_little_to_do_harm_with(unit: Path) -> None:
    """Systemd's own score of exposure, 0 (sealed) to 10; 9.6 for a unit that says nothing."""
    process = subprocess.run(
        [str(ANALYZE), "security", "--offline=true", "--threshold=20", str(unit)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert process.returncode == 0, process.stdout[-400:]
    text = unit.read_text("utf-8").splitlines()
    assert {"User=dpmf", "UMask=0077", "PrivateTmp=yes", "NoNewPrivileges=yes"} <= set(
        text
    ) and any(re.fullmatch(r"MemoryMax=\d+G", line) for line in text)


# ---- the proxy -----------------------------------------------------------------------------------


def certify(folder: Path) -> None:
    """A key and a certificate of it that nobody signed, the files `key` and `pem`."""
    command = f"{OPENSSL} req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={NAME}".split()
    files = ["-keyout", folder / "key", "-out", folder / "pem"]
    subprocess.run([*command, *files], check=True, capture_output=True)


def configuration(folder: Path, outer: int, plain: int, server: int) -> Path:
    """The configuration in deploy/ with these ports, and all that it writes in a folder."""
    site = put_names(
        (DEPLOY / "nginx.conf").read_text("utf-8"),
        ("listen 443 ssl", f"listen 127.0.0.1:{outer}"),
        ("listen 80", f"listen 127.0.0.1:{plain}"),
        ("127.0.0.1:8501", f"127.0.0.1:{server}"),
        ("/etc/ssl/dpmf.pem", str(folder / "pem")),
        ("/etc/ssl/dpmf.key", str(folder / "key")),
    )
    own = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    conf = folder / "nginx.conf"
    conf.write_text(
        f"pid {folder}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log"
        f" off;\n{own}{site}}}\n"
    )
    return conf


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[int]:
    """The port of nginx, configured as in deploy/ but without TLS, before a server."""
    if NGINX is None or OPENSSL is None:
        pytest.skip("nginx or openssl is not on this machine")
    server = Server(tmp_path, DPMF_HOSTS=NAME)
    with socket.socket() as free, socket.socket() as other:
        for one in (free, other):
            one.bind(("127.0.0.1", 0))
        outer, plain = free.getsockname()[1], other.getsockname()[1]
    certify(tmp_path)
    conf = configuration(tmp_path, outer, plain, server.port)
    check = subprocess.run(
        [NGINX, "-t", "-q", "-c", conf], capture_output=True, text=True, check=False
    )
    assert (check.returncode, check.stderr) == (0, "")
    server.start()
    nginx = subprocess.Popen(
        [NGINX, "-c", conf, "-g", "daemon off;"], stderr=(tmp_path / "nginx.log").open("wb")
    )
    try:
        _await(outer)
        yield outer
    finally:
        nginx.terminate()
        nginx.wait()
        server.kill()


def _await(port: int) -> None:
    end = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            assert time.monotonic() < end, "nginx did not start"
            time.sleep(0.05)


def _statuses(port: int, times: int, cookie: str) -> Counter[int]:
    """How often each status was answered to a browser that asks one thing again and again."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    counts: Counter[int] = Counter()
    for _ in range(times):
        connection.request(
            "GET", "/_stcore/health", headers={"Host": NAME, "Cookie": f"_streamlit_xsrf={cookie}"}
        )
        answer = connection.getresponse()
        answer.read()
        counts[answer.status] += 1
    connection.close()
    return counts


@pytest.mark.slow
def test_the_proxy_limits_each_browser_and_no_address(proxy: int) -> None:
    wild = _statuses(proxy, 900, "one")
    assert wild[429] > 100 and wild[200] >= 400 and set(wild) == {200, 429}
    assert _statuses(proxy, 50, "two") == {200: 50}  # from the same address
    connection = http.client.HTTPConnection("127.0.0.1", proxy, timeout=30)
    connection.request("GET", "/", headers={"Host": NAME})
    headers = connection.getresponse().headers
    assert (
        headers["Strict-Transport-Security"]
        and "frame-ancestors" in headers["Content-Security-Policy"]
        and headers["X-Content-Type-Options"] == "nosniff"
    )
    connection.close()


# ---- all of it -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_deploy_works_as_written_in_an_empty_folder() -> None:
    missing = [
        name
        for name in ("debootstrap", "buildah", "systemd-analyze", "curl", "git")
        if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    ]
    if missing or os.getuid() != 0:
        pytest.skip(f"needs root and {', '.join(missing) or 'nothing else'}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.run(
        [DEPLOY / "check", str(port)], capture_output=True, text=True, timeout=3000, check=False
    )
    assert process.returncode == 0 and process.stdout.endswith("== done\n"), (
        f"{process.stdout[-3000:]}\n{process.stderr[-3000:]}"
    )
