"""What `deploy/` holds works as written: the unit and the configuration of the proxy."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.engines import WAIT

DEPLOY = Path(__file__).parents[1] / "deploy"
ANALYZE = shutil.which("systemd-analyze")
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
OPENSSL = shutil.which("openssl")
with_systemd = pytest.mark.skipif(
    ANALYZE is None, reason="systemd-analyze is not on this machine"
)


def run(*command):
    words = list(map(str, command))
    return subprocess.run(
        words, capture_output=True, text=True, timeout=WAIT, check=False
    )


@with_systemd
def test_systemd_understands_the_unit(tmp_path):
    for program in ("opt/dpmf/.venv/bin/python", "bin/true"):
        (tmp_path / program).parent.mkdir(parents=True)
        (tmp_path / program).touch(0o755)
    units = tmp_path / "etc/systemd/system"
    units.mkdir(parents=True)
    for target in ("multi-user", "sysinit", "basic", "shutdown", "network"):
        (units / f"{target}.target").write_text(f"[Unit]\nDescription={target}\n")
    unit = Path(shutil.copy(DEPLOY / "dpmf.service", units))
    verify = (ANALYZE, "verify", "--man=no", f"--root={tmp_path}", unit)
    good = run(*verify)
    assert good.returncode == 0
    assert good.stderr == ""
    unit.write_text(unit.read_text("utf-8").replace("MemoryMax=", "MemoryMost="))
    assert "'MemoryMost'" in run(*verify).stderr


@with_systemd
def test_the_unit_restricts_the_server():
    """Systemd's own score of exposure, 0 (sealed) to 10; 9.6 for a unit that says nothing."""
    unit = DEPLOY / "dpmf.service"
    score = run(ANALYZE, "security", "--offline=true", "--threshold=20", unit)
    assert score.returncode == 0, score.stdout[-400:]
    lines = unit.read_text("utf-8").splitlines()
    assert {"User=dpmf", "UMask=0077", "PrivateTmp=yes", "NoNewPrivileges=yes"} <= set(
        lines
    )
    assert any(re.fullmatch(r"MemoryMax=\d+G", line) for line in lines)


def configuration(folder, outer, plain, server):
    """The configuration of deploy/ with these ports, a self-signed certificate and a folder."""
    key = folder / "key"
    certificate = folder / "pem"
    kind = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=dpmf.example.org"
    made = run(OPENSSL, *kind.split(), "-keyout", key, "-out", certificate)
    assert made.returncode == 0
    site = (DEPLOY / "nginx.conf").read_text("utf-8")
    for theirs, ours in (
        ("listen 443 ssl", f"listen 127.0.0.1:{outer}"),
        ("listen 80", f"listen 127.0.0.1:{plain}"),
        ("127.0.0.1:8501", f"127.0.0.1:{server}"),
        ("/etc/ssl/dpmf.pem", str(certificate)),
        ("/etc/ssl/dpmf.key", str(key)),
    ):
        assert theirs in site
        site = site.replace(theirs, ours)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    own = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    file = folder / "nginx.conf"
    file.write_text(
        f"pid {folder}/pid;\nerror_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{own}{site}}}\n"
    )
    return file


@pytest.mark.skipif(
    None in (NGINX, OPENSSL), reason="nginx or openssl is not on this machine"
)
def test_nginx_takes_the_configuration(tmp_path):
    """As in deploy/, with files of its own. It limits requests by browser."""
    file = configuration(tmp_path, 8443, 8080, 8501)
    check = run(NGINX, "-t", "-q", "-c", file)
    assert check.returncode == 0
    assert check.stderr == ""
    assert "limit_req " in file.read_text("utf-8")
