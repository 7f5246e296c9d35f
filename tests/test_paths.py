"""Folders of users and processes: kept while the process lives, removed afterwards."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from dpmf_core.base import paths
from dpmf_datasets import session_files
from pages.server.lifespan import round_made
from tests.support.engines import WAIT
from tests.support.gaussian import epsilon_of

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
    columns = {"user": "user", "item": "item", "rating": "rating"}
    upload = session_files.ratings(session_files.table(TABLE, "mine.csv"), columns, (1, 5))
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
    assert len(files) == 2 and not any(file.parent.exists() for file in files)


@pytest.mark.slow
def test_what_a_killed_server_left_goes_when_another_starts(server):
    child, files = server
    round_made()
    paths.workplace()
    assert len(files) == 2 and all(file.exists() for file in files)  # it lives
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert all(file.exists() for file in files)
    other, theirs = start_server()
    try:
        assert not any(file.exists() for file in files) and all(file.exists() for file in theirs)
    finally:
        other.communicate("\n")
    assert not any(file.exists() for file in theirs)  # a server that ends takes its own with it


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
    assert theirs != mine and theirs.parent == mine.parent


def test_old_uploads_go_and_young_ones_stay():
    old, young = brought(), brought()
    os.utime(old.parent, (0.0, 0.0))
    round_made()
    assert (old.exists(), young.exists()) == (False, True)


FIT = ("fit", "--algorithm", "private-bias", "--delta", "1e-5", "--json")


@dataclass(frozen=True)
class User:
    """A user whose data and cache folders are those of the system, and a private table."""

    folder: Path

    def started(self, *arguments, **variables):
        folders = {"XDG_DATA_HOME": str(self.folder / "data"), "XDG_CACHE_HOME": str(self.cache)}
        outer = {name: it for name, it in os.environ.items() if not name.startswith("DPMF_")}
        return subprocess.Popen(
            [sys.executable, "-m", "dpmf", *arguments],
            cwd=ROOT,
            env=outer | folders | variables,
            stdout=subprocess.PIPE,
            text=True,
        )

    def says(self, *arguments, **variables):
        process = self.started(*arguments, **variables)
        answer = process.communicate(timeout=WAIT)[0]
        assert process.returncode == 0
        return json.loads(answer)

    def fits(self, epsilon, **variables):
        self.says(*FIT, "--dataset", self.table, "--epsilon", str(epsilon), **variables)

    @property
    def cache(self):
        return self.folder / "cache"

    @property
    def table(self):
        return f"{self.folder / 'mine.csv'}?bounds=1,5"


@pytest.fixture
def user(tmp_path):
    rows = [f"p{u},t{i},{1 + (u * i) % 5}" for u in range(30) for i in range(12)]
    (tmp_path / "mine.csv").write_text("user,item,rating\n" + "\n".join(rows) + "\n")
    return User(tmp_path)


@pytest.mark.slow
def test_removal_of_the_cache_loses_nothing_that_counts(user):
    user.fits(1.0)
    user.says("spent", user.table, "--budget", "3", "--delta", "1e-5", "--json")
    before = user.says("spent", user.table, "--json")
    shutil.rmtree(user.cache, ignore_errors=True)
    assert user.says("spent", user.table, "--json") == before and before["budget"]["epsilon"] == 3.0
    assert len(user.says("runs", "--json")) == 1


@pytest.mark.slow
def test_an_account_in_the_cache_is_moved_once(user):
    """By one of several processes that start at once."""
    in_cache = {"DPMF_DATA": str(user.cache / "dpmf")}  # as earlier versions had it
    user.fits(1.0, **in_cache)
    user.fits(2.0, **in_cache)
    processes = [user.started("spent", user.table, "--json") for _ in range(4)]
    totals = [json.loads(it.communicate(timeout=WAIT)[0])["epsilon"] for it in processes]
    # noise multipliers of epsilon 1 and 2 at delta 1e-5 (Balle & Wang 2018)
    assert totals == pytest.approx([epsilon_of([3.7306, 1.9938], 1e-5)] * 4, abs=1e-3)
    shutil.rmtree(user.cache)
    assert user.says("spent", user.table, "--json")["epsilon"] == totals[0]
