"""Every algorithm by its id: those of this package, and those of other installed packages.

A package registers an algorithm through an entry point of the group `dpmf.algorithms`. The name of
the entry point is the algorithm's id:

    [project.entry-points."dpmf.algorithms"]
    toy-offsets = "toy:ToyOffsets"
"""

import importlib
import inspect
import logging
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import Any

from dpmf_core.algorithms.base import Algorithm
from dpmf_core.base.errors import BadInput, closest

GROUP = "dpmf.algorithms"
# how an algorithm describes itself
REQUIRED_FIELDS = (
    "id",
    "title",
    "words",
    "source",
)


class Registry(Mapping[str, type[Algorithm]]):
    """Algorithms by id.

    This package's algorithms are loaded one by one, when first used. Entry points are loaded when
    any other id is used, or all are listed; not earlier, because what they name imports this
    package. An entry point that cannot be used is logged, and `find` refuses it.
    """

    def __init__(self, own: Mapping[str, str]) -> None:
        """Register this package's algorithms.

        Parameters
        ----------
        own : mapping
            Their ids, in order, each with a module and the class in it.
        """
        self._own = own
        self._lock = threading.RLock()
        self._external: dict[str, type[Algorithm]] | None = None
        self._problems: dict[str, str] = {}
        self._added_ids: set[str] = set()  # ids that came by `add`

    def __getitem__(self, name: str) -> type[Algorithm]:
        if name not in self._own:
            return self._from_packages()[name]
        module, _, kind = self._own[name].partition(":")
        algorithm: type[Algorithm] = getattr(
            importlib.import_module(f"dpmf_core.algorithms.{module}"), kind
        )
        return algorithm

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._from_packages()

    def __iter__(self) -> Iterator[str]:
        return iter([*self._own, *self._from_packages()])

    def __len__(self) -> int:
        return len(self._own) + len(self._from_packages())

    @property
    def problems(self) -> Mapping[str, str]:
        """Why each unusable entry point cannot be used, by its name."""
        self._from_packages()
        return MappingProxyType(self._problems)

    def find(self, name: str) -> type[Algorithm]:
        """The algorithm of this id.

        Raises
        ------
        BadInput
            If the id is unknown. The message lists the known ids or names the problem of the
            package.
        """
        if name in self:
            return self[name]
        if name in self.problems:
            raise BadInput(self.problems[name])
        raise BadInput(
            f"There is no algorithm {name!r}.{closest(name, self)} Known: {', '.join(self)}."
        )

    def add(self, kind: type[Algorithm]) -> None:
        """Register an algorithm in this process only, for example from a notebook.

        It replaces an algorithm that was added before under its id. Worker processes do not have
        it, and a stored run is found by id and version, so give data in memory: their runs are not
        stored.

        Raises
        ------
        BadInput
            If the class is not an algorithm, or its id is taken.
        """
        if problem := _problem(kind, getattr(kind, "id", "")):
            raise BadInput(
                f"{kind!r} cannot be registered: {problem}. Correct the class."
            )
        with self._lock:
            external = self._from_packages()
            if kind.id in self._own or (
                kind.id in external and kind.id not in self._added_ids
            ):
                raise BadInput(
                    f"Another algorithm has the id {kind.id!r}. Give yours a different id."
                )
            self._added_ids.add(kind.id)
            self._external = {**external, kind.id: kind}

    def _from_packages(self) -> Mapping[str, type[Algorithm]]:
        with self._lock:
            if self._external is None:
                self._external = {}
                points = list(entry_points(group=GROUP))
                counts = Counter(point.name for point in points)
                for point in points:
                    self._add(self._external, point, counts[point.name])
            return self._external

    def _add(
        self, external: dict[str, type[Algorithm]], point: EntryPoint, count: int
    ) -> None:
        try:
            if point.name in self._own or count > 1:
                raise BadInput("another algorithm already has this id")
            kind = point.load()
            if problem := _problem(kind, point.name):
                raise BadInput(problem)
            external[point.name] = kind
        except Exception as error:  # a third-party package may raise anything
            known = isinstance(error, BadInput)
            if known:
                problem = str(error)
            else:
                problem = f"{type(error).__name__}: {error}"
            package = point.dist.name if point.dist else "?"
            self._problems[point.name] = (
                f"The algorithm {point.name!r} of the package {package} ({point.value}) cannot be"
                f" used: {problem}. Correct or remove that package."
            )
            logging.getLogger(__name__).error("%s", self._problems[point.name])


def _problem(kind: Any, name: str) -> str | None:
    """Why this is not an algorithm with that id; None if it is one."""
    if not (inspect.isclass(kind) and issubclass(kind, Algorithm)):
        return "it is not a subclass of dpmf_core.algorithms.Algorithm"
    missing = [
        field
        for field in REQUIRED_FIELDS
        if not isinstance(getattr(kind, field, None), str)
    ]
    if missing:
        return f"it does not define {missing[0]}"
    if kind.id != name:
        return (
            f"the entry point is called {name!r} and the class has the id {kind.id!r}"
        )
    kind().guarantee()
    return None
