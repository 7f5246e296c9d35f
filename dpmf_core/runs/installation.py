"""What is installed where a run is computed: all that decides its bits beside what is asked for."""

import functools
import hashlib
import importlib.metadata
import inspect
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dpmf_core import algorithms
from dpmf_core.version import __version__

LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn")
PACKAGE = Path(__file__).parents[1]


@dataclass(frozen=True)
class Installation:
    """Versions of this package, of Python and of libraries that compute. code: a hash of the
    package's source files.
    """

    dpmf: str
    code: str
    python: str
    libraries: tuple[tuple[str, str], ...]

    def differs_from(self, other: "Installation") -> str:
        """The first thing by which results may differ, in words; '' where there is none."""
        versions, others = {"dpmf": self.dpmf, **dict(self.libraries)}, dict(other.libraries)
        for name, version in versions.items():
            expected = others.get(name, "none") if name != "dpmf" else other.dpmf
            if version != expected:
                return f"it has {name} {version}, and {expected} is wanted"
        if self.code != other.code:
            return f"its code of dpmf {self.dpmf} differs from the code that asks"
        return ""


@functools.lru_cache(1)
def current_installation() -> Installation:
    """Of this process."""
    libraries = tuple((name, importlib.metadata.version(name)) for name in LIBRARIES)
    code = _hash_of(sorted(PACKAGE.rglob("*.py")))
    return Installation(__version__, code, platform.python_version(), libraries)


def source_of(algorithm: str) -> str:
    """A hash of the file that has the algorithm, which may be another package's. Raises
    BadInput.
    """
    return _hash_of([Path(inspect.getfile(algorithms.find(algorithm)))])


def _hash_of(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\0".encode() + file.read_bytes())
    return digest.hexdigest()
