"""Where private data come from, as a fingerprint: the same bytes are the same data, however
often they are brought and however they are read.
"""

import gzip
import hashlib
import shutil
from pathlib import Path
from typing import Any

FILE = "origin"  # beside a file that somebody brought


class _Digest:
    """What `shutil.copyfileobj` writes to."""

    def __init__(self) -> None:
        self.sha256 = hashlib.sha256()

    def write(self, part: Any) -> int:
        self.sha256.update(part)
        return len(part)


def of_bytes(content: bytes) -> str:
    """sha256 of a file's content."""
    return hashlib.sha256(content).hexdigest()


def of(path: Path) -> str:
    """sha256 of what a file holds (a gzip: what is packed in it), or of the names and contents
    of a folder's files.
    """
    if path.is_dir():
        inside = sorted(file for file in path.rglob("*") if file.is_file())
        return of_bytes(
            "\n".join(f"{file.relative_to(path)} {_of_file(file)}" for file in inside).encode()
        )
    return _of_file(path)


def _of_file(path: Path) -> str:
    digest = _Digest()
    with path.open("rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    with gzip.open(path) if is_gzip else path.open("rb") as stream:
        shutil.copyfileobj(stream, digest, 1 << 20)
    return digest.sha256.hexdigest()
