"""What `deploy/` holds works as written: the unit, the proxy and its limits; the whole of it in
an empty folder.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.browser.conftest import ROOT

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


def test_nginx_takes_the_configuration(tmp_path: Path) -> None:
    """As in deploy/, with files of its own. It limits requests by browser."""
    if NGINX is None or OPENSSL is None:
        pytest.skip("nginx or openssl is not on this machine")
    certify(tmp_path)
    conf = configuration(tmp_path, 8443, 8080, 8501)
    check = subprocess.run(
        [NGINX, "-t", "-q", "-c", conf], capture_output=True, text=True, check=False
    )
    assert (check.returncode, check.stderr) == (0, "")
    assert "limit_req " in conf.read_text()
