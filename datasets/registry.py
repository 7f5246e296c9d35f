"""Every data set with a name: how it is made, read and downloaded; catalogue.toml has its facts."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import extra
from dpmf_core.data import Data
from dpmf_core.data.catalogue import Entry, SampleEntry
from dpmf_core.data.samples import Samples
from dpmf_datasets import sample_sets
from dpmf_datasets.entries import CATALOGUE, entry_from
from dpmf_datasets.readers.report import Report
from dpmf_datasets.simulated import cinema, faces, low_rank, news

MAKERS: dict[str, Callable[..., Data]] = {
    "cinema": cinema.make,
    "cinema-small": partial(cinema.make, density=0.2),
    "lowrank": low_rank.make_lowrank,
    "rankone": low_rank.make_rankone,
    "news": lambda entry, seed: news.news(seed=seed),
    "faces": lambda entry, seed: faces.faces(seed=seed),
    "digits": lambda entry, seed: sample_sets.digits(),
}
Read = Callable[[Any, Path], tuple[Data, Report]]


def _published(module: str) -> Read:
    """The reader of published ratings, loaded with the readers of tables."""

    def read(entry: Entry, path: Path) -> tuple[Data, Report]:
        with extra("files"):
            reader = importlib.import_module(f"dpmf_datasets.published.{module}")
        ratings: tuple[Data, Report] = reader.read(entry, path)
        return ratings

    return read


READERS: dict[str, Read] = {
    **{name: _published(name) for name in ("movielens", "jester", "netflix")},
    **sample_sets.READERS,
}


@dataclass(frozen=True)
class Source:
    """A data set with a name.

    Parameters
    ----------
    entry : Entry or SampleEntry
    make : callable, optional
        Makes a simulated set from (entry, seed).
    read : callable, optional
        Reads the official files at a path, from (entry, path).
    fetch : callable, optional
        Downloads samples, from the path of a temporary folder.
    url, md5 : str
        The official archive, which `read` reads, and its checksum as its authors publish it.
    """

    entry: Entry | SampleEntry
    make: Callable[..., Data] | None = None
    read: Read | None = None
    fetch: Callable[[str], Samples] | None = None
    url: str = ""
    md5: str = ""


def registry(rows: Mapping[str, list[dict[str, Any]]]) -> dict[str, Source]:
    """The sources of a catalogue by id."""
    sources: dict[str, Source] = {}
    for facts in (*rows["ratings"], *rows["samples"]):
        entry = entry_from(facts, Entry if "n_users" in facts else SampleEntry)
        sources[entry.id] = Source(
            entry,
            make=MAKERS.get(facts.get("make", "")),
            read=READERS.get(facts.get("read", "")),
            fetch=sample_sets.FETCHERS.get(facts.get("fetch", "")),
            url=facts.get("url", ""),
            md5=facts.get("md5", ""),
        )
    return sources


SOURCES = registry(CATALOGUE)
# ratings that are made partition by partition, for commands and Python
LARGE: dict[str, Entry] = {facts["id"]: entry_from(facts) for facts in CATALOGUE["partitioned"]}


def source_of(id: str) -> Source:  # noqa: A002
    """A data set by its name. Raises BadInput."""
    if id not in SOURCES:
        raise BadInput(
            f"There is no data set '{id}'. Choose one of {', '.join(SOURCES)}, or give the path of"
            " a ratings table."
        )
    return SOURCES[id]
