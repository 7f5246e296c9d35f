"""Files that a person uploads to a served page.

A child process reads each file, within limits (`sandbox`), and leaves arrays and a report; this
process opens nothing else. The arrays are stored apart from the catalogue, under an unguessable
name, until they are removed or a day old: in a temporary folder of the server's process, which is
removed when the server ends; after a crash, when the next one starts.
"""

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import TypeAdapter

from dpmf_core.base.errors import BadInput
from dpmf_core.base.hashing import OWNED_BY
from dpmf_core.base.paths import claim_folder, clear, data_folder, remove_if_empty
from dpmf_core.data.addresses import join, split
from dpmf_core.data.catalogue import Entry, SampleEntry
from dpmf_core.data.facts import FACTS, ITEM_TABLE, Facts
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.report import Report
from dpmf_core.data.samples import Samples
from dpmf_datasets import npz_folder, sandbox, upload_reading
from dpmf_datasets.npz_folder import UPLOADS, is_own
from dpmf_datasets.sandbox import SandboxLimits

TEMPORARY = tempfile.gettempdir()
LIFETIME = 24 * 3600  # seconds
ENDING = re.compile(r"(\.[a-z0-9]{1,8}){0,2}")
FINGERPRINT = re.compile("[0-9a-f]{64}")
ARRAYS = "data.npz"
# files next to the data: a fingerprint, a command's path
ORIGIN = "origin"
COMMAND = "command"
UPLOAD = SandboxLimits(
    512 << 20,
    60,
    users=1_000_000,
    items=100_000,
    ratings=20_000_000,
)
WatchImport = Callable[[], object]
FEATURES_NAMED = 3  # columns of an item table that the data set's description names


@dataclass(frozen=True)
class Upload:
    """A stored file: its entry and its report.

    Only this session knows the path that is the id of the entry.
    """

    entry: Entry | SampleEntry
    report: Report

    @cached_property
    def data(self) -> Ratings | Samples:
        return load(self.entry.id)


def unwatched() -> None:
    """Let a reading go on."""


def home() -> Path:
    """The folder of uploads for this user and this data folder.

    It is in systemd's runtime directory or the system's temporary one.
    """
    where = hashlib.sha256(str(data_folder().absolute()).encode()).hexdigest()[:12]
    user = getattr(os, "getuid", int)()
    # systemd may name several
    places = os.environ.get("RUNTIME_DIRECTORY", TEMPORARY).split(":")
    return Path(places[0]) / f"{UPLOADS}{user}-{where}"


@contextlib.contextmanager
def _disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(
            f"This server cannot store the file now ({error.strerror or error}). Try again later,"
            " or tell the operator."
        ) from error


def _new_folder() -> Path:
    root = home()
    root.mkdir(
        mode=0o700,
        parents=True,
        exist_ok=True,
    )
    if root.is_symlink() or (
        hasattr(os, "getuid") and root.stat().st_uid != os.getuid()
    ):
        raise BadInput(
            f"{root} belongs to another user: uploads cannot be stored there. "
            "Ask the operator to remove it."
        )
    folder = claim_folder(root) / secrets.token_urlsafe(24)
    folder.mkdir(mode=0o700)
    return folder


@contextlib.contextmanager
def _stored(content: bytes, name: str) -> Iterator[Path]:
    """A file with this content, alone in a folder, which is removed after the block."""
    folder = _new_folder()
    try:
        file = folder / f"upload{_ending(name)}"
        file.write_bytes(content)
        yield file
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _ending(name: str) -> str:
    """The ending of a file's name, by which readers choose; none of strange letters."""
    suffixes = PurePosixPath(name.lower()).suffixes
    endings = ("".join(suffixes[-2:]), "".join(suffixes[-1:]))
    return next((ending for ending in endings if ENDING.fullmatch(ending)), "")


def _in_child(
    task: Callable[..., Any],
    file: Path,
    name: str,
    *arguments: Any,
    limits: SandboxLimits,
    watch: WatchImport,
) -> Any:
    """The result of a task of `upload_reading`, which reads and writes next to the file alone."""
    return sandbox.read(
        task,
        name,
        str(file),
        name,
        *arguments,
        limits=limits,
        folder=file.parent,
        watch=watch,
    )


@_disk_errors()
def look(
    content: bytes,
    name: str,
    facts: Facts,
    *,
    limits: SandboxLimits = UPLOAD,
    watch: WatchImport = unwatched,
) -> upload_reading.Preview:
    """The beginning of the table in a file.

    Parameters
    ----------
    content : bytes
        The content of the file.
    name : str
        The name of the file.
    facts : mapping of str to str
        The declared facts about its layout.
    limits, watch
        See `read`.

    Returns
    -------
    Preview
        The beginning of the table.

    Raises
    ------
    BadInput
        If the file cannot be read.
    """
    with _stored(content, name) as file:
        preview = _in_child(
            upload_reading.look, file, name, dict(facts), limits=limits, watch=watch
        )
    return upload_reading.PREVIEW_AS_JSON.validate_python(preview)


@_disk_errors()
def read(
    content: bytes,
    name: str,
    facts: Facts,
    *,
    owner: str = "",
    limits: SandboxLimits = UPLOAD,
    watch: WatchImport = unwatched,
) -> Upload:
    """Read the ratings, documents or images in a file, and store them.

    Parameters
    ----------
    content : bytes
        The content of the file.
    name : str
        The name of the file.
    facts : mapping of str to str
        The declared facts about the file, as after a path.
    owner : str
        The uploading session or login, which has its own account. If it is "", all who upload the
        same file share an account.
    limits : SandboxLimits
        The limits of reading the file.
    watch : callable
        Called repeatedly while the file is read. An exception that it raises ends the reading.

    Returns
    -------
    Upload
        The entry of the stored data, and the report of the reading.

    Raises
    ------
    BadInput
        If the file cannot be read or stored.
    """
    with _stored(content, name) as file:
        arrays = file.with_name(ARRAYS)
        answer = _in_child(
            upload_reading.write,
            file,
            name,
            dict(facts),
            str(arrays),
            limits=limits,
            watch=watch,
        )
        written = upload_reading.WRITTEN_AS_JSON.validate_python(answer)
        kept_file = keep_file(
            arrays, _origin(written.fingerprint, owner), limits.memory
        )
    in_order = {fact: facts[fact] for fact in FACTS if fact in facts}
    (kept_file.parent / COMMAND).write_text(join(name, in_order), "utf-8")
    return Upload(_entry(kept_file, name, written.shape), written.report)


def _entry(file: Path, name: str, shape: Mapping[str, Any]) -> Entry | SampleEntry:
    """The entry of a stored file in the list of data sets."""
    facts = {
        **shape,
        "id": str(file),
        "title": _title_of(name),
        "size_mb": file.stat().st_size / 1e6,
        "kind": "file",
        "public": False,
        "words": "Yours, in this session only.",
        "licence": "Yours.",
    }
    kind: Any = SampleEntry if "holds" in shape else Entry
    entry: Entry | SampleEntry = TypeAdapter(kind).validate_python(facts)
    return entry


def _origin(fingerprint: str, owner: str) -> str:
    """The key of an account, which other users' work on the same file does not change."""
    if not FINGERPRINT.fullmatch(fingerprint):
        raise BadInput("The file was not read. Upload it again.")
    if owner:
        return f"{fingerprint}{OWNED_BY}{owner}"
    return fingerprint


def keep_file(arrays: Path, origin: str, most: int) -> Path:
    """Move arrays and the fingerprint of their origin to a new folder; returns their new file.

    The arrays may unpack to at most `most` bytes. Raises BadInput if a child that was taken over
    made the file.
    """
    status = arrays.lstat()
    # not a link to another's
    is_own_file = stat.S_ISREG(status.st_mode) and status.st_nlink == 1
    if not is_own_file or npz_folder.unpacked_size(arrays) > most:
        raise BadInput("The file was not read. Upload it again.")
    folder = _new_folder()
    try:
        (folder / ORIGIN).write_text(origin)
        return arrays.rename(folder / ARRAYS)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def load(data_id: str) -> Ratings | Samples:
    """A stored upload. Raises BadInput if it is gone, or its arrays do not fit together."""
    file = Path(data_id)
    data = npz_folder.read_untrusted(file, "your file")
    return replace(data, origin=(file.parent / ORIGIN).read_text())


@_disk_errors()
def with_item_table(
    entry: Entry,
    content: bytes,
    name: str,
    *,
    limits: SandboxLimits = UPLOAD,
    watch: WatchImport = unwatched,
) -> tuple[Entry, tuple[str, ...]]:
    """Add a public table of their items to uploaded ratings, replacing an earlier one.

    Returns the entry, and what of the table is not used, in sentences. Raises BadInput if it is not
    a table of these items; the entry is then unchanged.
    """
    before = Path(entry.id)
    origin = (before.parent / ORIGIN).read_text()
    with _stored(content, name) as file:
        ratings = shutil.copy(before, file.with_name("ratings.npz"))
        arrays = file.with_name(ARRAYS)
        facts = _in_child(
            upload_reading.add_item_table,
            file,
            name,
            str(ratings),
            str(arrays),
            limits=limits,
            watch=watch,
        )
        kept_file = keep_file(arrays, origin, limits.memory)
    own_name, declared = split(command_path(entry.id))
    address = join(own_name, declared | {ITEM_TABLE: name})
    (kept_file.parent / COMMAND).write_text(address, "utf-8")
    remove(entry)
    new_entry = replace(
        entry,
        id=str(kept_file),
        size_mb=kept_file.stat().st_size / 1e6,
        item_features=_features_named([str(column) for column in facts["columns"]]),
    )
    return new_entry, tuple(map(str, facts["sentences"]))


def _features_named(columns: Sequence[str]) -> str:
    """The feature columns of an item table, in plain letters."""
    more = len(columns) - FEATURES_NAMED
    names = ", ".join(map(_plain, columns[:FEATURES_NAMED]))
    return f"features ({names}{f' and {more} more' if more > 0 else ''})"


# ---- what is kept --------------------------------------------------------------------------------


def _title_of(name: str) -> str:
    """A file's name without folder or ending, shortened and safe to show anywhere."""
    return (_plain(Path(name).stem)[:40] or "Your file") + " (yours)"


def _plain(text: str) -> str:
    plain = "".join(
        letter if letter.isalnum() or letter in " -.,()" else " " for letter in text
    )
    return " ".join(plain.split())


def command_path(data_id: str) -> str:
    """The own name of uploaded ratings, with bounds, columns and dates, as a command names them."""
    return (Path(data_id).parent / COMMAND).read_text("utf-8")


def remove(entry: Entry | SampleEntry) -> None:
    """Remove an uploaded file."""
    if is_own(entry.id):
        shutil.rmtree(Path(entry.id).parent, ignore_errors=True)


def size(data_ids: Collection[str] | None = None) -> int:
    """The bytes on disk of these data sets, or of all uploads."""
    folders: Iterable[Path]
    if data_ids is None:
        folders = home().glob("*/*/")
    else:
        folders = [Path(data_id).parent for data_id in data_ids if is_own(data_id)]
    total = 0
    for file in (file for folder in folders for file in folder.glob("*")):
        with contextlib.suppress(FileNotFoundError):  # just removed by its owner
            total += file.stat().st_size
    return total


def origins() -> frozenset[str]:
    """The fingerprints of all uploads."""
    present = set()
    for file in home().glob(f"*/*/{ORIGIN}"):
        with contextlib.suppress(FileNotFoundError):  # just removed by its owner
            present.add(file.read_text("utf-8"))
    return frozenset(present)


def sweep(now: float | None = None) -> None:
    """Remove uploads that are older than a day, and uploads of servers that have ended.

    The folders of servers with other data folders go when they are empty and a day old.
    """
    begin = (now or time.time()) - LIFETIME
    _remove_empty_homes(begin)
    uploads = home()
    if not uploads.is_dir():
        return
    clear(uploads)
    for folder in uploads.glob("*/*/"):
        with contextlib.suppress(FileNotFoundError):  # just removed by its owner
            if folder.stat().st_mtime < begin:
                shutil.rmtree(folder, ignore_errors=True)


def _remove_empty_homes(begin: float) -> None:
    """Remove this user's other folders of uploads that nothing has changed since `begin`."""
    own = home()
    for root in own.parent.glob(f"{own.name.rpartition('-')[0]}-*"):
        with contextlib.suppress(FileNotFoundError):  # another server removes it
            status = root.lstat()
            is_own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
            if root == own or not is_own or not stat.S_ISDIR(status.st_mode):
                continue
            clear(root)
            if status.st_mtime < begin:
                remove_if_empty(root)
