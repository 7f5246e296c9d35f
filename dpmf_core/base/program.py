"""How the command line is called here."""

import functools
import shutil
import sys
from pathlib import Path


@functools.cache
def program() -> str:
    """`dpmf` if it is installed, else `python -m dpmf`, as in a clone."""
    if _is_installed():
        return "dpmf"
    return "python -m dpmf"


def start() -> tuple[str, ...]:
    """The words that start the command line from any folder."""
    if _is_installed():
        return ("dpmf",)
    return (sys.executable, str(Path(__file__).parents[2] / "dpmf.py"))


def _is_installed() -> bool:
    """Whether this is the installed command, or one lies next to this interpreter on the path."""
    if Path(sys.argv[0]).stem == "dpmf" and not sys.argv[0].endswith(".py"):
        return True
    script = shutil.which("dpmf")
    return script is not None and Path(script).parent == Path(sys.executable).parent
