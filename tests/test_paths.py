"""Folders of living processes: nobody takes them away while the process lives, and nothing of
them stays when it has ended, however it ended.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpmf_core import paths
from dpmf_datasets import session_files
from pages.server.housekeeping import round_made

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


def test_old_uploads_go_and_young_ones_stay() -> None:
    columns = {"user": "user", "item": "item", "rating": "rating"}
    old, young = (
        Path(upload.entry.id.partition("?")[0])
        for upload in (session_files.ratings(TABLE, "mine.csv", columns, (1, 5)) for _ in range(2))
    )
    os.utime(old.parent, (0.0, 0.0))
    round_made()
    assert (old.exists(), young.exists()) == (False, True)
