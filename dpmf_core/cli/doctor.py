"""`doctor`: whether this machine has what dpmf needs, and how fast it is."""

import importlib.metadata
import os
import platform
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click
import psutil

from dpmf_core.base.errors import BadInput, words_of
from dpmf_core.base.extras import installed
from dpmf_core.base.paths import data_folder, usable
from dpmf_core.base.version import __version__
from dpmf_core.cli.tables import json_option, table
from dpmf_core.data.catalogue import catalogue
from dpmf_core.runs.store import Store, to_json

UNFIT = 1  # exit code if something is wrong
LEAST_DISK, LEAST_MEMORY = 1.0, 1.0  # GB
NEWEST = (3, 14)  # the newest Python that was tested
LIBRARIES = ("numpy", "scipy", "pandas", "scikit-learn", "numba")


@dataclass(frozen=True)
class Finding:
    """What was checked, its state, and advice; '' if all is well."""

    what: str
    state: str
    advice: str = ""

    def export(self) -> dict[str, str]:
        """The finding as JSON."""
        return {"what": self.what, "found": self.state, "advice": self.advice}


@click.command()
@click.option("--quick", is_flag=True, help="Do not measure speed.")
@json_option
@click.pass_context
def doctor(context: click.Context, quick: bool, as_json: bool) -> None:
    """Show versions, data folder, data sets, stored runs and speed of this machine.

    The exit code is 1 if something is wrong.
    """
    looks = LOOKS if quick else (*LOOKS, ("speed", _speed))
    findings = [_finding(what, look) for what, look in looks]
    wrong = [it for it in findings if it.advice]
    if as_json:
        click.echo(to_json([it.export() for it in findings]))
    else:
        rows = [[it.what, it.state] for it in findings]
        ends = [f"{it.what}: {it.advice}" for it in wrong] or ["Nothing is wrong."]
        click.echo("\n".join([table(["looked at", "found"], rows), "", *ends]))
    if wrong:
        context.exit(UNFIT)


def _finding(what: str, look: Callable[[], tuple[str, str]]) -> Finding:
    try:
        return Finding(what, *look())
    except BadInput as error:
        return Finding(what, "not usable", str(error))
    except OSError as error:
        return Finding(what, "not usable", words_of(error))


def _python() -> tuple[str, str]:
    version = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    newer = tuple(map(int, platform.python_version_tuple()[:2])) > NEWEST
    return version, "newer than the versions dpmf was tested on." if newer else ""


def _libraries() -> tuple[str, str]:
    versions = [f"{name} {importlib.metadata.version(name)}" for name in LIBRARIES]
    return ", ".join([f"dpmf {__version__}", *versions]), ""


def _extras() -> tuple[str, str]:
    extras = installed()
    missing = [name for name, is_there in extras.items() if not is_there]
    words = ", ".join(name for name, is_there in extras.items() if is_there) or "none"
    return words + (f"; not installed: {', '.join(missing)}" if missing else ""), ""


def _memory() -> tuple[str, str]:
    from dpmf_core.jobs import machine

    whole = machine.memory() / 1e3  # within a container's limits
    free = min(psutil.virtual_memory().available / 1e9, whole)
    few = f"less than {LEAST_MEMORY:g} GB is free: close other programs."
    return (
        f"{os.cpu_count()} cores, {whole:.1f} GB, of which {free:.1f} GB are free",
        few if free < LEAST_MEMORY else "",
    )


def _folder() -> tuple[str, str]:
    """The data folder. Raises BadInput if it cannot be written."""
    folder = usable(data_folder())
    free = shutil.disk_usage(folder).free / 1e9
    few = f"less than {LEAST_DISK:g} GB is free there. Set DPMF_DATA to another folder."
    return f"{folder}, {free:.1f} GB free", few if free < LEAST_DISK else ""


def _data() -> tuple[str, str]:
    return ", ".join(it.id for it in _present()), ""


def _present() -> list[Any]:
    """Entries of the catalogue whose data are on this machine."""
    return [it for it in catalogue().catalogue() if catalogue().present(it.id)]


def _store() -> tuple[str, str]:
    store = Store()
    try:
        n_unreadable = store.count() - len(store.rows())
        return (
            f"{store.count():,} runs",
            f"{n_unreadable:,} cannot be read: `runs check`." if n_unreadable else "",
        )
    finally:
        store.close()


def _speed() -> tuple[str, str]:
    """A private run on the smallest ratings here, once to compile and once to measure."""
    from dpmf_core.runs.execution import run
    from dpmf_core.runs.specification import RunSpec

    sizes = {it.id: it.n_ratings for it in _present() if hasattr(it, "n_ratings")}
    smallest = min(sizes, key=sizes.__getitem__)
    spec = RunSpec.parse(
        data={"id": smallest},
        algorithm="spectral",
        budget={"epsilon": 1.0, "delta": 5e-5},
    )
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        run(spec)
        seconds.append(time.perf_counter() - start)
    first, second = seconds
    return f"a private run on {smallest} takes {second:.2f} s, the first {first:.1f} s", ""


LOOKS: Sequence[tuple[str, Callable[[], tuple[str, str]]]] = (
    ("Python", _python),
    ("packages", _libraries),
    ("extras", _extras),
    ("machine", _memory),
    ("data folder", _folder),
    ("data sets here", _data),
    ("stored runs", _store),
)
