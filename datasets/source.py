"""A data set by name: what is said of it, and how it is made, read or downloaded."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpmf_core.data import Data
from dpmf_core.data.catalogue import Entry, SampleEntry
from dpmf_core.data.samples import Samples
from dpmf_datasets.readers.report import Report

NEEDS = {"simulated": ("make",), "file": ("read",), "download": ("read", "archive or fetch")}


@dataclass(frozen=True)
class Archive:
    """An official archive. url: where it lies; md5: its checksum as its authors publish it."""

    url: str
    md5: str


@dataclass(frozen=True)
class Source:
    """make: a simulated set, from (entry, seed). read: official files at a path.
    archive: is downloaded, then read. fetch: a downloaded set, from (entry, whether the licence
    was accepted).

    Raises ValueError where a part is missing that its kind needs.
    """

    entry: Entry | SampleEntry
    make: Callable[[Any, int], Data] | None = None
    read: Callable[[Any, Path], tuple[Data, Report]] | None = None
    archive: Archive | None = None
    fetch: Callable[[Any, bool], Samples] | None = None

    def __post_init__(self) -> None:
        functions = {"make": self.make, "read": self.read}
        functions["archive or fetch"] = self.archive or self.fetch  # type: ignore[assignment]
        for name in NEEDS[self.entry.kind]:
            if functions[name] is None:
                raise ValueError(
                    f"The data set '{self.entry.id}' of kind '{self.entry.kind}' has no {name}."
                )


def simulated_entry(
    id: str,  # noqa: A002
    title: str,
    counts: tuple[int, int, int],
    bounds: tuple[float, float],
    words: str,
    citation: str,
) -> Entry:
    """The entry of simulated ratings. counts: users, items, ratings (approximately)."""
    users, items, ratings = counts
    return Entry(
        id=id,
        title=title,
        kind="simulated",
        words=words,
        licence="Simulated: free of rights.",
        citation=citation,
        size_mb=0,
        n_users=users,
        n_items=items,
        n_ratings=ratings,
        bounds=bounds,
        home="",
    )
