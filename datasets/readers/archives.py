"""A folder, a zip or tar archive or a single file, read the same way.

Nothing is ever unpacked to disk.
"""

import bz2
import gzip
import hashlib
import io
import lzma
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from dpmf_core.base.errors import BadInput, listing
from dpmf_datasets.readers.table import file_name, report_damage

ZIP = b"PK\x03\x04"  # the first bytes of such a file
# by the first bytes of a packed file: what opens it
PACKED: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
LARGEST = 4 << 30  # bytes: four times the largest member of an official archive
HIDDEN = (".", "__")  # how the names of hidden files begin


@dataclass(frozen=True)
class ArchiveMembers:
    """The files inside something, by their names in it, without hidden ones."""

    names: Sequence[str]
    open: Callable[[str], BinaryIO]

    @property
    def some(self) -> str:
        """The first names, for messages."""
        return listing([file_name(name) for name in self.names]) or "nothing"

    def find(self, name: str) -> str | None:
        """The member called `name` in the highest folder; official archives have a folder."""
        matches = [
            member for member in self.names if PurePosixPath(member).name == name
        ]
        return min(
            matches, key=lambda member: (member.count("/"), member), default=None
        )


@contextmanager
def members_of(path: Path) -> Iterator[ArchiveMembers]:
    """The members of a folder, zip, tar or file.

    Raises BadInput if it is missing, unsafe, damaged or cut short.
    """
    if not path.exists():
        raise BadInput(f"There is no file or folder {file_name(path)}.")
    with report_damage(path):
        if path.is_dir():
            yield _in_folder(path)
        elif looks_zipped(path):
            with zipfile.ZipFile(path) as archive:
                yield _in_zip(archive, path)
        elif tarfile.is_tarfile(path):
            with tarfile.open(path) as archive:
                yield _in_tar(archive, path)
        else:
            yield ArchiveMembers([path.name], lambda _: path.open("rb"))


def _in_folder(path: Path) -> ArchiveMembers:
    names = [
        file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()
    ]
    return _members(names, lambda name: (path / name).open("rb"))


def _in_zip(archive: zipfile.ZipFile, path: Path) -> ArchiveMembers:
    for member in archive.infolist():
        if member.flag_bits & 1:
            raise BadInput(
                f"{file_name(path)} is encrypted, which no official archive is. Unpack it and give"
                " the folder."
            )
        _require_safe(member.filename, member.file_size, path)
    names = [member.filename for member in archive.infolist() if not member.is_dir()]
    return _members(names, archive.open)


def _in_tar(archive: tarfile.TarFile, path: Path) -> ArchiveMembers:
    files = {}
    # the loop unpacks one member after the other, so each size is checked before its content
    for member in archive:
        _require_safe(member.name, member.size, path)
        if member.isfile():
            files[member.name] = member
    return _members(files, lambda name: archive.extractfile(files[name]))


def _members(names: Iterable[str], open_member: Callable[[str], Any]) -> ArchiveMembers:
    """The members that are not hidden."""
    visible = [
        name for name in names if not PurePosixPath(name).name.startswith(HIDDEN)
    ]
    return ArchiveMembers(visible, open_member)


def looks_zipped(path: Path) -> bool:
    """Whether a file is a zip by its first bytes; bytes at its end may be anybody's row."""
    with path.open("rb") as file:
        return path.suffix.lower() == ".zip" or file.read(len(ZIP)) == ZIP


def _require_safe(member: str, size: int, path: Path) -> None:
    """Raise BadInput on a member that points outside the archive or claims an absurd size."""
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


# ---- one packed file -----------------------------------------------------------------------------


class _Unpacked(io.RawIOBase):
    """The bytes of a packed stream; reading more than `LARGEST` raises BadInput."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream: Any = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(self._stream.seek(offset, whence))

    def tell(self) -> int:
        return int(self._stream.tell())

    def readinto(self, buffer: Any) -> int:
        count = int(self._stream.readinto(buffer))
        if self.tell() > LARGEST:
            raise BadInput(
                f"The file unpacks to more than {LARGEST:,} bytes. Use a part of it."
            )
        return count


def unpacked(stream: BinaryIO) -> BinaryIO:
    """The stream, unpacked if it is gzip, bz2 or xz."""
    magic = stream.read(max(map(len, PACKED)))
    stream.seek(0)
    for beginning, open_packed in PACKED.items():
        if magic.startswith(beginning):
            return io.BufferedReader(_Unpacked(open_packed(stream)), 1 << 17)
    return stream


def fingerprint_of(path: Path) -> str:
    """sha256 of a file's content (unpacked if packed), or of a folder's file names and contents.

    Equal bytes are the same data, however often they are brought and however they are read.
    """
    if path.is_dir():
        inside = sorted(file for file in path.rglob("*") if file.is_file())
        return fingerprint_of_all(
            {str(file.relative_to(path)): file for file in inside}
        )
    with report_damage(path), path.open("rb") as file:
        return hashlib.file_digest(unpacked(file), "sha256").hexdigest()  # type: ignore[arg-type]


def fingerprint_of_all(files: Mapping[str, Path]) -> str:
    """sha256 of files' names and contents."""
    lines = [f"{name} {fingerprint_of(file)}" for name, file in files.items()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
