"""How the command line is called here."""

import functools
import importlib.metadata


@functools.cache
def program() -> str:
    """Return `dpmf` where the package is installed, else `python -m dpmf_core`, as in a clone."""
    try:
        importlib.metadata.distribution("dpmf")
    except importlib.metadata.PackageNotFoundError:
        return "python -m dpmf_core"
    return "dpmf"
