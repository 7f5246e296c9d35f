"""The catalogue of data sets: what is known about each before reading, and where to find it."""

import contextlib
import importlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from dpmf_core.data import AnyData, PartitionedRatings
from dpmf_core.data.ratings import Shape
from dpmf_core.data.samples import SampleShape

SourceKind = Literal["simulated", "download", "file"]


@dataclass(frozen=True, kw_only=True)
class DatasetFacts:
    """The facts about every data set.

    Attributes
    ----------
    public : bool
        Whether it is published or simulated.
    assumptions : tuple of str
        What was read from private data and is taken as public.
    """

    id: str
    title: str
    kind: SourceKind
    words: str
    licence: str
    citation: str = ""
    size_mb: float
    home: str = ""
    public: bool = True
    assumptions: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Entry(DatasetFacts):
    """Ratings, with declared counts and bounds.

    The authors publish these, or the generator sets them. A generator's number of ratings is
    approximate.

    Attributes
    ----------
    item_features : str
        A description of the public item table, such as "decades and genres". Empty without a table.
    """

    holds: ClassVar[Literal["ratings"]] = "ratings"
    n_users: int
    n_items: int
    n_ratings: int
    bounds: tuple[float, float]
    item_features: str = ""

    def shape(self, kept: int | None = None) -> Shape:
        """The public shape, without opening the data, if `kept` items are kept."""
        return Shape(self.n_users, min(kept or self.n_items, self.n_items), self.bounds)


@dataclass(frozen=True, kw_only=True)
class SampleEntry(DatasetFacts):
    """Documents or images: declared counts, and how many components to look for.

    Attributes
    ----------
    image : tuple of int, or None
        (height, width) of images.
    n_components : int
        The number of components to look for.
    n_people : int or None
        The number of people, if each row has a known person. Then the person is the privacy unit.
    each : int or None
        The most rows of one person, if published.
    """

    holds: Literal["documents", "images"]
    n_samples: int
    n_features: int
    image: tuple[int, int] | None = None
    n_components: int = 8
    n_people: int | None = None
    each: int | None = None

    def shape(self, kept: int | None = None) -> SampleShape:
        """The public shape, without opening the data, if `kept` words are kept."""
        n_features = min(kept or self.n_features, self.n_features)
        return SampleShape(self.n_samples, n_features, self.image, self.n_people)

    @property
    def unit(self) -> str:
        """The protected unit: one document or image, or a person with all of theirs."""
        if self.n_people is None:
            return self.holds.removesuffix("s")
        return "person"


def catalogue() -> Any:
    """The module that finds data sets by id: `dpmf_datasets`, or the one in DPMF_CATALOGUE.

    It is above the core, so the core imports it by name.
    """
    return importlib.import_module(os.environ.get("DPMF_CATALOGUE", "dpmf_datasets"))


# the data set inside a `lent` block
_lent: ContextVar[tuple[str, AnyData] | None] = ContextVar("lent", default=None)


@contextlib.contextmanager
def lent(data_id: str, data: AnyData | None) -> Iterator[None]:
    """Use the given data for a data set inside the block, whatever this machine has.

    Without data nothing changes.
    """
    if data is None:
        yield
        return
    before = _lent.set((data_id, data))
    try:
        yield
    finally:
        _lent.reset(before)


def lent_here(data_id: str) -> AnyData | None:
    """The data given by `lent` for this data set; None outside the block."""
    loan = _lent.get()
    if loan is not None and loan[0] == data_id:
        return loan[1]
    return None


def is_in_parts(data_id: str) -> bool:
    """Whether a data set is ratings in partitions; reads nothing."""
    if (data := lent_here(data_id)) is not None:
        return isinstance(data, PartitionedRatings)
    return bool(catalogue().is_in_parts(data_id))


def is_own(data_id: str) -> bool:
    """Whether a data set is an uploaded file."""
    return bool(catalogue().is_own(data_id))


def offered_item_features(data_id: str) -> str:
    """A description of a data set's public item table; empty if it has none."""
    entries = {entry.id: entry for entry in catalogue().catalogue()}
    return getattr(entries.get(data_id), "item_features", "")
