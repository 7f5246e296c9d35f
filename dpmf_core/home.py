"""Where downloads, runs, word vectors and compiled kernels live."""

import os
import tempfile
from pathlib import Path

from dpmf_core.errors import BadInput


def data_folder() -> Path:
    """DPMF_DATA, or the user's cache folder."""
    if chosen := os.environ.get("DPMF_DATA"):
        return Path(chosen).expanduser()
    import pooch

    return Path(pooch.os_cache("dpmf"))


def made(folder: Path) -> Path:
    """A folder in it; what of the path is new can be entered by its user alone."""
    for part in (*reversed(folder.parents), folder):
        if not part.is_dir():
            part.mkdir(mode=0o700, exist_ok=True)
    return folder


def usable(folder: Path) -> Path:
    """A folder in it that takes files. Raises BadInput where it does not."""
    try:
        with tempfile.TemporaryFile(dir=made(folder)):
            return folder
    except OSError as error:
        raise BadInput(f"The data folder {data_folder()} cannot be written ({error.strerror}). Set DPMF_DATA to a folder that can be.") from error
