"""Folders of living processes: nobody takes them away while the process lives, and nothing of
them stays when it has ended, however it ended.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpmf_core import paths
from dpmf_datasets import session_files
from pages.server.housekeeping import Caretaker, round_made
from tests.support.engines import wait_for

ROOT = Path(__file__).parents[1]
TABLE = b"user,item,rating\n" + b"".join(
    b"%d,%d,%d\n" % (k % 9, k % 7, 1 + k % 5) for k in range(63)
)
SERVER = """
import sys
from pathlib import Path
from dpmf_datasets import session_files
from dpmf_core.paths import workplace
from tests.test_paths import TABLE
found = session_files.ratings(TABLE, "mine.csv", {"user": "user", "item": "item", "rating": "rating"}, (1, 5))
(workplace() / "half-written.npz").write_bytes(b"half")
print(found.entry.id.partition("?")[0], workplace() / "half-written.npz", flush=True)
sys.stdin.readline()
"""  # brings a file, leaves a temporary one, and lives until its input closes  # noqa: E501


@pytest.fixture(autouse=True)
def _data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "data"))


def start_server() -> tuple[subprocess.Popen[str], list[Path]]:
    """Another server on the same data folder, and what it holds there."""
    child = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    return child, [Path(path) for path in child.stdout.readline().split()]


@pytest.fixture
def server() -> Iterator[tuple[subprocess.Popen[str], list[Path]]]:
    child, files = start_server()
    yield child, files
    child.kill()
    child.communicate()


def test_what_a_killed_server_left_goes_when_another_starts(
    server: tuple[subprocess.Popen[str], list[Path]],
) -> None:
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


def test_uploads_of_a_layout_without_locks_go(tmp_path: Path) -> None:
    old = tmp_path / "data" / "uploads" / "token-of-an-upload"
    old.mkdir(parents=True)
    (old / "ratings.parquet").write_bytes(b"left by a crash")
    round_made()
    assert not old.exists()


def test_the_folder_is_its_users_alone_and_the_same_each_time() -> None:
    folder = paths.workplace()
    assert (
        folder == paths.workplace()
        and folder.parent.stat().st_mode & 0o077 == folder.stat().st_mode & 0o077 == 0
    )


def test_a_fork_has_a_folder_of_its_own() -> None:
    mine = paths.workplace()
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        os.write(writing, str(paths.workplace()).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        theirs = Path(pipe.read())
    os.waitpid(child, 0)
    assert theirs != mine and theirs.parent == mine.parent


def test_old_uploads_go_by_the_clock_with_no_visitor() -> None:
    upload = session_files.ratings(
        TABLE, "mine.csv", {"user": "user", "item": "item", "rating": "rating"}, (1, 5)
    )
    folder = Path(upload.entry.id.partition("?")[0]).parent
    caretaker = Caretaker(every=0.02)
    caretaker.start()
    try:
        young = session_files.ratings(
            TABLE, "mine.csv", {"user": "user", "item": "item", "rating": "rating"}, (1, 5)
        )
        os.utime(folder, (time.time() - session_files.LIFETIME - 60,) * 2)
        wait_for(lambda: not folder.exists())
        assert Path(young.entry.id.partition("?")[0]).exists()
    finally:
        caretaker.stop()
        caretaker.join(10)
    assert not caretaker.is_alive()


@pytest.mark.slow
def test_a_server_that_nobody_visits_clears_up(tmp_path: Path) -> None:
    from tests.browser.conftest import Server

    child, files = start_server()
    child.kill()
    child.communicate()
    running = Server(tmp_path / "data")
    running.start()
    try:
        wait_for(lambda: not any(file.exists() for file in files))
    finally:
        running.kill()
