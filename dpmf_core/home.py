"""Where downloads, runs and word vectors live."""

import os
from pathlib import Path


def data_folder() -> Path:
    """DPMF_DATA, or the user's cache folder."""
    if chosen := os.environ.get("DPMF_DATA"):
        return Path(chosen).expanduser()
    import pooch

    return Path(pooch.os_cache("dpmf"))
