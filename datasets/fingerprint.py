"""Where private data come from, as a fingerprint: the same bytes are the same data, however
often they are brought and however they are read.
"""

import gzip
import hashlib
from pathlib import Path

GZIP = b"\x1f\x8b"  # how such a file begins


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
            "\n".join(f"{file.relative_to(path)} {of(file)}" for file in inside).encode()
        )
    with path.open("rb") as file:
        is_gzip = file.read(2) == GZIP
    with gzip.open(path) if is_gzip else path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
