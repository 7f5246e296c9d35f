"""The folders of a user's data and of the cache, and those of a running process."""

import atexit
import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from dpmf_core.base.errors import BadInput

# a lock file in each claimed folder, held while its process lives; and one next to the folders,
# held while folders are made or removed
LOCK = ".lock"
_claims: dict[Path, tuple[int, Path]] = {}  # by root: the process and its folder


def data_folder() -> Path:
    """The folder of what a person made: accounts, runs, imported data sets, keys.

    It is DPMF_DATA, or else the user's data folder.
    """
    if folder := os.environ.get("DPMF_DATA"):
        return Path(folder).expanduser()
    import platformdirs  # not needed if DPMF_DATA is set

    return platformdirs.user_data_path("dpmf")


def cache_folder() -> Path:
    """The folder of what can be made again: downloads and compiled kernels.

    It is in DPMF_DATA, or else the user's cache folder.
    """
    if folder := os.environ.get("DPMF_DATA"):
        return Path(folder).expanduser()
    import platformdirs

    return platformdirs.user_cache_path("dpmf")


def create_folder(folder: Path) -> Path:
    """Create a folder if it is missing; only its user can enter new parts of the path."""
    for part in (*reversed(folder.parents), folder):
        if not part.is_dir():
            part.mkdir(mode=0o700, exist_ok=True)
    return folder


def usable(folder: Path) -> Path:
    """Create a folder if it is missing.

    Raises
    ------
    BadInput
        If the folder cannot be written.
    """
    try:
        with tempfile.TemporaryFile(dir=create_folder(folder)):
            return folder
    except OSError as error:
        raise BadInput(
            f"The folder {folder} cannot be written ({error.strerror}). Set DPMF_DATA to a folder"
            " that you can write to."
        ) from error


def workplace(folder: Path | None = None) -> Path:
    """This process's folder for temporary files, on the file system of `folder`.

    By default it is the file system of the data folder.
    """
    return claim_folder((folder or data_folder()).absolute() / "working")


def claim_folder(root: Path) -> Path:
    """This process's own folder in `root`, which only its user can read.

    It is removed when the process ends; after a crash, when the next process claims one. Raises
    OSError if it cannot be made.
    """
    pid, folder = _claims.get(root, (0, root))
    if pid == os.getpid() and folder.is_dir():
        return folder
    clear(create_folder(root))
    with held_alone(root / LOCK):
        folder = root / secrets.token_urlsafe(24)
        folder.mkdir(mode=0o700)
        _lock(folder / LOCK)
    _claims[root] = (os.getpid(), folder)
    atexit.register(_remove_own, os.getpid(), folder)
    return folder


def give_up_claims() -> None:
    """Remove this process's own folders now, because a signal may end it without cleaning up."""
    for root, (pid, folder) in list(_claims.items()):
        _remove_own(pid, folder)
        del _claims[root]


def clear(root: Path) -> None:
    """Remove the folders in `root` of processes that have ended.

    Those of running processes stay, also on a shared disk.
    """
    with held_alone(root / LOCK):
        for folder in root.iterdir():
            if not folder.is_dir():
                continue
            lock = _lock(folder / LOCK, wait=False)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


def remove_if_empty(root: Path) -> None:
    """Remove a folder in which no process has claimed a folder."""
    with held_alone(root / LOCK):
        if [*root.iterdir()] == [root / LOCK]:
            shutil.rmtree(root)


def _lock(path: Path, wait: bool = True) -> int | None:
    """Lock a file until it is closed or the process ends, and return its descriptor.

    None if another process has the lock and `wait` is false.
    """
    try:
        import fcntl
    except ImportError:
        raise BadInput(
            "This system has no POSIX file locks, which uploads, imports and worker processes need."
            " Fits and sweeps from Python work here; run the server on Linux or macOS."
        ) from None
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


@contextlib.contextmanager
def held_alone(path: Path, what: str = "") -> Iterator[None]:
    """Keep other processes out of the block for the same file.

    Parameters
    ----------
    path : Path
    what : str
        What is done in the block. Without it, the call waits for another process.

    Raises
    ------
    BadInput
        If `what` is given and another process is in the block.
    """
    handle = _lock(path, wait=not what)
    if handle is None:
        raise BadInput(f"Another process is at {what}. Wait until it has finished.")
    try:
        yield
    finally:
        os.close(handle)


def _remove_own(pid: int, folder: Path) -> None:
    if pid == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)


def require_parent(path: Path, option: str) -> None:
    """Raise BadInput if an output file has no folder, before its content is computed.

    The message names the `option` of the command line.
    """
    if not path.parent.is_dir():
        raise BadInput(f"{option}: there is no folder {path.parent}. Create it first.")


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file completely or not at all.

    Raises
    ------
    BadInput
        If the file cannot be written.
    """
    # short, however long the name is
    aside = path.with_name(f".dpmf.{secrets.token_hex(8)}")
    try:
        aside.write_bytes(content.encode() if isinstance(content, str) else content)
        aside.replace(path)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written ({error.strerror}). Name another file or free some space."
        ) from error
    finally:
        aside.unlink(missing_ok=True)
