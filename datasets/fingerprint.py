"""The fingerprint of private data's source.

Equal bytes are the same data, however often they are brought and however they are read.
"""

import gzip
import hashlib
from pathlib import Path

GZIP = b"\x1f\x8b"  # the first bytes of such a file


def of_bytes(content: bytes) -> str:
    """sha256 of a file's content."""
    return hashlib.sha256(content).hexdigest()


def of(path: Path) -> str:
    """sha256 of a file's content (unpacked if gzip), or of a folder's file names and contents."""
    if path.is_dir():
        inside = sorted(file for file in path.rglob("*") if file.is_file())
        return of_bytes(
            "\n".join(f"{file.relative_to(path)} {of(file)}" for file in inside).encode()
        )
    with path.open("rb") as file:
        is_gzip = file.read(2) == GZIP
    with gzip.open(path) if is_gzip else path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
