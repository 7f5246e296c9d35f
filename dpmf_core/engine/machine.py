"""What this machine has: memory, and whether that is little."""

from collections.abc import Iterator
from pathlib import Path

import psutil

SMALL = 1500.0  # MB; below, worker processes of their own would leave nothing for the runs


def memory(root: Path = Path("/")) -> float:
    """Memory that this process may use, in MB: the machine's, or what a control group (version
    1 or 2) allows. root: of the file system, for tests.
    """
    whole: int = psutil.virtual_memory().total
    return min([whole, *_limits(root)]) / 1e6


def is_small(root: Path = Path("/")) -> bool:
    return memory(root) < SMALL


def _limits(root: Path) -> Iterator[int]:
    """Bytes that control groups allow: of the process's own group and of those above it, as far
    as they can be seen from here.
    """
    groups = root / "sys/fs/cgroup"
    for version, name in ((groups, "memory.max"), (groups / "memory", "memory.limit_in_bytes")):
        for inner in ("", *_own(root)):
            for folder in (version / inner, *(version / inner).parents):
                if folder != version and version not in folder.parents:
                    break
                if (limit := _number(folder / name)) is not None:
                    yield limit


def _own(root: Path) -> list[str]:
    """Paths of the control groups of this process, relative to where they are mounted."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    return [
        line.split(":", 2)[2].lstrip("/")
        for line in lines
        if line.count(":") >= 2 and ".." not in line
    ]


def _number(path: Path) -> int | None:
    """None where there is no such file, or it says "max"."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
