"""Folders of users and processes: kept while the process lives, removed afterwards."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from dpmf_core.base import paths
from dpmf_core.privacy.account_files import accounts_file
from dpmf_core.runs.store import FILE, Store
from dpmf_datasets import session_files
from pages.server.lifespan import round_made

ROOT = Path(__file__).parents[1]
TABLE = b"user,item,rating\n" + b"".join(
    b"%d,%d,%d\n" % (k % 9, k % 7, 1 + k % 5) for k in range(63)
)
BRINGS = """
import sys
from dpmf_datasets import session_files
from dpmf_core.base.paths import workplace
from tests.test_paths import brought
(workplace() / "half-written.npz").write_bytes(b"half")
print(brought(), workplace() / "half-written.npz", flush=True)
"""  # brings a file, and leaves a temporary one
SERVER = f"{BRINGS}\nsys.stdin.readline()"  # lives until its input closes
STOPPED = f"""{BRINGS}
import contextlib, uvicorn
from starlette.applications import Starlette
from pages.server.lifespan import lifespan

@contextlib.asynccontextmanager
async def told(app):
    async with lifespan(app):
        print("started", flush=True)
        yield

uvicorn.run(Starlette(lifespan=told), port=0, log_level="critical")
"""  # the same below a web server, which hears signals


def brought():
    """The file of a table that a session brings."""
    upload = session_files.read(TABLE, "mine.csv", {"bounds": "1,5"})
    return Path(upload.entry.id.partition("?")[0])


@pytest.fixture(autouse=True)
def _data(monkeypatch, tmp_path):
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "data"))


def start_server(script=SERVER):
    """Another server on the same data folder, and what it holds there."""
    child = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    return child, [Path(path) for path in child.stdout.readline().split()]


@pytest.fixture
def server():
    child, files = start_server()
    yield child, files
    child.kill()
    child.communicate()


@pytest.mark.slow
def test_sigterm_leaves_no_upload():
    child, files = start_server(STOPPED)
    assert child.stdout.readline() == "started\n"
    assert all(file.exists() for file in files)
    child.terminate()
    child.communicate()
    assert len(files) == 2
    assert not any(file.parent.exists() for file in files)


@pytest.mark.slow
def test_a_copy_of_the_one_file_of_runs_is_whole_after_sigterm(tmp_path, monkeypatch):
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "data"))
    keeps = (
        "from dpmf_core.jobs.engine import engine\n"
        "from tests.runs.test_store import small_run\n"
        "engine().store.put(small_run('a'))\n"
    )
    child, _ = start_server(keeps + STOPPED)
    assert child.stdout.readline() == "started\n"
    child.terminate()
    child.communicate()
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / FILE).write_bytes((tmp_path / "data" / FILE).read_bytes())
    with closing(Store(copy)) as store:
        assert store.run_keys() == ["a"]


@pytest.mark.slow
def test_what_a_killed_server_left_goes_when_another_starts(server):
    child, files = server
    round_made()
    paths.workplace()
    assert len(files) == 2
    for file in files:
        assert file.exists()  # it lives
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert all(file.exists() for file in files)
    other, theirs = start_server()
    try:
        assert not any(file.exists() for file in files)
        assert all(file.exists() for file in theirs)
    finally:
        other.communicate("\n")
    # a server that ends takes its own with it
    assert not any(file.exists() for file in theirs)


def test_the_folder_is_its_users_alone_and_a_fork_has_its_own():
    mine = paths.workplace()
    assert mine == paths.workplace()
    assert mine.parent.stat().st_mode & 0o077 == mine.stat().st_mode & 0o077 == 0
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        os.write(writing, str(paths.workplace()).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        theirs = Path(pipe.read())
    os.waitpid(child, 0)
    assert theirs != mine
    assert theirs.parent == mine.parent


def test_old_uploads_go_and_young_ones_stay():
    old = brought()
    young = brought()
    os.utime(old.parent, (0.0, 0.0))
    round_made()
    assert not old.exists()
    assert young.exists()


def test_empty_folders_of_other_servers_go_after_a_day(tmp_path, monkeypatch):
    """Those of other data folders and of running servers stay, and so do other people's files."""
    monkeypatch.setattr(session_files, "TEMPORARY", str(tmp_path))
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    own_name = session_files.home().name
    user = own_name.rpartition("-")[0]
    kinds = ("ended", "young", "running", "elsewhere")
    roots = {kind: tmp_path / f"{user}-{kind}" for kind in kinds[:3]}
    roots["elsewhere"] = tmp_path / "something-else"
    for root in roots.values():
        root.mkdir()
    (roots["ended"] / "of-an-ended-process").mkdir()
    paths.claim_folder(roots["running"])
    (tmp_path / f"{user}-link").symlink_to(roots["elsewhere"])
    now = time.time()
    for kind in ("ended", "running", "elsewhere"):
        os.utime(roots[kind], (0.0, 0.0))
    session_files.sweep(now)
    assert {kind for kind in kinds if roots[kind].exists()} == {
        "young",
        "running",
        "elsewhere",
    }
    session_files.sweep(now + session_files.LIFETIME + 60)
    assert {kind for kind in kinds if roots[kind].exists()} == {"running", "elsewhere"}


def test_removal_of_the_cache_loses_nothing_that_counts(monkeypatch, tmp_path):
    """Runs and accounts lie in the data folder of the system, compiled kernels in its cache."""
    monkeypatch.delenv("DPMF_DATA")
    for name in ("data", "cache"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / name))
    with closing(Store()) as store:
        for file in (accounts_file(), store.path):
            assert file.is_relative_to(tmp_path / "data")
    assert paths.cache_folder().is_relative_to(tmp_path / "cache")
