"""Every data set that has a name: a new one is a file with `SOURCES`, and a line here."""

from collections.abc import Iterable

from dpmf_core.data.catalogue import Entry
from dpmf_datasets import sample_sets
from dpmf_datasets.published import jester, movielens, netflix
from dpmf_datasets.simulated import cinema, large_cinema, low_rank
from dpmf_datasets.source import Source


def registry(sources: Iterable[Source]) -> dict[str, Source]:
    """Sources by id. Raises ValueError on an id that is listed twice."""
    by_id: dict[str, Source] = {}
    for source in sources:
        if source.entry.id in by_id:
            raise ValueError(f"The data set '{source.entry.id}' is listed twice.")
        by_id[source.entry.id] = source
    return by_id


SOURCES = registry(
    (
        *cinema.SOURCES,
        *low_rank.SOURCES,
        *movielens.SOURCES,
        *jester.SOURCES,
        *netflix.SOURCES,
        *sample_sets.SOURCES,
    )
)
# ratings that are made part by part, for commands and Python
LARGE: dict[str, Entry] = {entry.id: entry for entry in large_cinema.ENTRIES}
