"""A folder, a zip or tar archive or a single file, read the same way.

Nothing is ever unpacked to disk.
"""

import gzip
import hashlib
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from dpmf_core.base.errors import BadInput
from dpmf_datasets.readers.table import file_name, report_damage

GZIP = b"\x1f\x8b"  # the first bytes of such a file
LARGEST = 4 << 30  # bytes: four times the largest member of an official archive


@dataclass(frozen=True)
class Members:
    """The files inside something, by their names in it, without hidden ones."""

    names: Sequence[str]
    open: Callable[[str], BinaryIO]
    size: int  # bytes of all of them, as claimed; no more are read

    @property
    def some(self) -> str:
        """The first names, for messages."""
        return ", ".join(map(file_name, self.names[:5])) or "nothing"

    def find(self, name: str) -> str | None:
        """The member called `name` in the highest folder; official archives have a folder."""
        matches = [member for member in self.names if PurePosixPath(member).name == name]
        return min(matches, key=lambda member: (member.count("/"), member), default=None)


@contextmanager
def members_of(path: Path) -> Iterator[Members]:
    """The members of a folder, zip or file.

    Raises BadInput if it is missing, unsafe, damaged or cut short.
    """
    if not path.exists():
        raise BadInput(f"There is no file or folder {file_name(path)}.")
    with report_damage(path):
        if path.is_dir():
            sizes = {
                file.relative_to(path).as_posix(): file.stat().st_size
                for file in path.rglob("*")
                if file.is_file()
            }
            yield _members(sizes, lambda name: (path / name).open("rb"))
        elif _looks_zipped(path):
            with zipfile.ZipFile(path) as archive:
                if any(it.flag_bits & 1 for it in archive.infolist()):
                    raise BadInput(
                        f"{file_name(path)} is encrypted, which no official archive is. Unpack it"
                        " and give the folder."
                    )
                sizes = {it.filename: it.file_size for it in archive.infolist()}
                _require_safe(sizes, path)
                files = {name: size for name, size in sizes.items() if not name.endswith("/")}
                yield _members(files, archive.open)
        elif tarfile.is_tarfile(path):
            with tarfile.open(path) as tar:
                inside = {member.name: member for member in tar if member.isfile()}
                sizes = {name: member.size for name, member in inside.items()}
                _require_safe(sizes, path)
                yield _members(sizes, lambda name: tar.extractfile(inside[name]))
        else:
            yield Members([path.name], lambda _: path.open("rb"), path.stat().st_size)


def _members(sizes: Mapping[str, int], open_member: Callable[[str], Any]) -> Members:
    names = [it for it in sizes if not PurePosixPath(it).name.startswith((".", "__"))]
    return Members(names, open_member, sum(sizes.values()))


def _looks_zipped(path: Path) -> bool:
    with path.open("rb") as file:
        return path.suffix.lower() == ".zip" or file.read(4) == b"PK\x03\x04"


def _require_safe(sizes: Mapping[str, int], path: Path) -> None:
    """Raise BadInput on a member that points outside the archive or claims an absurd size."""
    for member, size in sizes.items():
        inside = PurePosixPath(member.replace("\\", "/"))
        if inside.is_absolute() or ".." in inside.parts or re.match("[A-Za-z]:", member):
            raise BadInput(
                f"{file_name(path)} has a member outside its own folder, '{file_name(member)}',"
                " which no official archive has. Nothing was read from it."
            )
        if size > LARGEST:
            raise BadInput(
                f"'{file_name(member)}' in {file_name(path)} claims {size:,} bytes. At most"
                f" {LARGEST:,} are read."
            )


def fingerprint_of(path: Path) -> str:
    """sha256 of a file's content (unpacked if gzip), or of a folder's file names and contents.

    Equal bytes are the same data, however often they are brought and however they are read.
    """
    if path.is_dir():
        inside = sorted(file for file in path.rglob("*") if file.is_file())
        return fingerprint_of_all({str(file.relative_to(path)): file for file in inside})
    with path.open("rb") as file:
        is_gzip = file.read(2) == GZIP
    with gzip.open(path) if is_gzip else path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fingerprint_of_all(files: Mapping[str, Path]) -> str:
    """sha256 of files' names and contents."""
    lines = [f"{name} {fingerprint_of(file)}" for name, file in files.items()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
