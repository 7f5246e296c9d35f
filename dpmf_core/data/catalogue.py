"""The catalogue of data sets: what is known of each before anything is read, and where the core
finds it.
"""

import contextlib
import importlib
import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, cast, get_args

from dpmf_core.data import AnyData, PartitionedRatings

Kind = Literal["simulated", "download", "file"]


@dataclass(frozen=True, kw_only=True)
class DatasetFacts:
    """The facts about every data set. public: published or simulated. assumptions: what was read
    off private data, and is taken as public.
    """

    id: str
    title: str
    kind: Kind
    words: str
    licence: str
    citation: str
    size_mb: float
    home: str
    public: bool = True
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(
                f"The kind of the data set '{self.id}' must be one of {', '.join(get_args(Kind))}."
                f" Got '{self.kind}'."
            )


@dataclass(frozen=True, kw_only=True)
class Entry(DatasetFacts):
    """Ratings. Counts and bounds are declared: published by its authors, or chosen by the
    generator (its number of ratings is then approximate).

    item_features: what its public item table says, in words such as "decades and genres"; empty
    where it has none.
    """

    n_users: int
    n_items: int
    n_ratings: int
    bounds: tuple[float, float]
    item_features: str = ""


@dataclass(frozen=True, kw_only=True)
class SampleEntry(DatasetFacts):
    """Documents or images: declared counts, (height, width) of images, and how many parts its
    papers look for.

    n_people: if each row has a known person, who is the privacy unit. each: rows of one person at
    most, as far as is published.
    """

    holds: Literal["documents", "images"]
    n_samples: int
    n_features: int
    image: tuple[int, int] | None = None
    n_components: int = 8
    n_people: int | None = None
    each: int | None = None

    @property
    def unit(self) -> str:
        """The protected unit: one document or image, or a person with all of theirs."""
        return self.holds.removesuffix("s") if self.n_people is None else "person"


Progress = Callable[[int, int], None] | bool


class Repairs(Protocol):
    """The rows of a file that were read, repaired and refused. facts: the part that may leave the
    machine.
    """

    @property
    def facts(self) -> Mapping[str, Any]: ...
    @property
    def on_screen(self) -> str: ...


class Catalogue(Protocol):
    """All data sets, by id. A path with facts stands for an id where a file is loaded."""

    def catalogue(self) -> tuple[DatasetFacts, ...]:
        """Every entry that fits in one memory, in the order in which they are shown."""

    def in_parts(self) -> tuple[Entry, ...]:
        """Every entry of ratings in partitions."""

    def is_in_parts(self, id_or_path: str) -> bool:
        """Whether it is a set of ratings in partitions; reads nothing."""

    def ratings(self) -> tuple[Entry, ...]:
        """The entries that hold ratings."""

    def load(self, id_or_path: str) -> AnyData:
        """The data. Raises BadInput where they are not there or cannot be read."""

    def stand_in_id(
        self, n_users: int, n_items: int, density: float, bounds: tuple[float, float]
    ) -> str:
        """The id of simulated ratings of this shape, for which private ones need not be opened."""

    def stamp(self, id_or_path: str) -> Hashable:
        """Another number whenever the file of the data has changed."""

    def present(self, id: str) -> bool:  # noqa: A002
        """Whether the data are on this machine."""

    def fetch(self, id: str, *, accept_licence: bool, progress: Progress) -> object:  # noqa: A002
        """Download the data. progress: a bar on the terminal, or a function of (bytes done, bytes
        in all). Raises BadInput.
        """

    def import_(self, id: str, path: str | Path, *, replace: bool) -> Repairs:  # noqa: A002
        """Take a file or folder as the data. Raises BadInput."""

    def import_partitions(
        self,
        name: str,
        path_and_facts: str,
        *,
        n_partitions: int | None,
        replace: bool,
        progress: Callable[[str, int, int], None],
    ) -> Repairs:
        """Keep tables of ratings in partitions under a new name.

        progress: of (stage, done, in all). Raises BadInput.
        """

    def is_own(self, id_or_path: str) -> bool:
        """Whether the data are an uploaded file."""


def catalogue() -> Catalogue:
    """The module that knows data sets by id: `dpmf_datasets`, or the one that DPMF_CATALOGUE
    names.

    It stands above the core, so the core reaches it by its name only.
    """
    return cast(
        Catalogue, importlib.import_module(os.environ.get("DPMF_CATALOGUE", "dpmf_datasets"))
    )


# a data set that came with the work, within `lent`
_lent: ContextVar[tuple[str, AnyData] | None] = ContextVar("lent", default=None)


@contextlib.contextmanager
def lent(data_id: str, data: AnyData) -> Iterator[None]:
    """Within this, a data set is the one that is given, whatever this machine has."""
    before = _lent.set((data_id, data))
    try:
        yield
    finally:
        _lent.reset(before)


def lent_here(data_id: str) -> AnyData | None:
    """The data that this data set is within `lent`; None outside."""
    loan = _lent.get()
    return loan[1] if loan is not None and loan[0] == data_id else None


def is_in_parts(data_id: str) -> bool:
    """Whether a data set is ratings in partitions. Nothing is read."""
    if (data := lent_here(data_id)) is not None:
        return isinstance(data, PartitionedRatings)
    return catalogue().is_in_parts(data_id)


def is_own(data_id: str) -> bool:
    """Whether a data set is an uploaded file."""
    return catalogue().is_own(data_id)


def offered_item_features(data_id: str) -> str:
    """A description of a data set's public item table; empty if it has none."""
    entries = catalogue().ratings()
    return next((entry.item_features for entry in entries if entry.id == data_id), "")
