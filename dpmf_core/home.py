"""Where downloads, runs and word vectors live."""

import os
from pathlib import Path


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
