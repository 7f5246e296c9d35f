"""How the command line is called here."""

import functools
import importlib.metadata
import shutil
import sys
from pathlib import Path


@functools.cache
def program() -> str:
    """Return `dpmf` where the package is installed, else `python -m dpmf_core`, as in a clone."""
    try:
        importlib.metadata.distribution("dpmf")
    except importlib.metadata.PackageNotFoundError:
        return "python -m dpmf_core"
    return "dpmf"


def start() -> tuple[str, ...]:
    """Return what starts the command line here from any folder: `dpmf` where it is on the path."""
    script = shutil.which("dpmf")
    if script and Path(script).parent == Path(sys.executable).parent:
        return ("dpmf",)
    return (sys.executable, str(Path(__file__).parents[2] / "dpmf.py"))
