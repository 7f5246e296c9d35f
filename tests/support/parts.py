"""Ratings in memory, kept in parts on disk."""

from collections.abc import Sequence
from pathlib import Path

from dpmf_core.data.partitioned import LazyParts, Members, Part, PartitionedRatings
from dpmf_core.data.ratings import Ratings
from dpmf_datasets.partitions import (
    MANIFEST,
    Manifest,
    file_of,
    of_folder,
    write_partition,
)


class CountedParts(LazyParts):
    """Parts that note in `read` which of them were read."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self.read = list[int]()

    def __len__(self) -> int:
        return len(self.parts)

    def place_of(self, user: int) -> int:
        return self.parts.place_of(user)

    def part(self, place: int) -> Part:
        self.read.append(place)
        return self.parts[place]


def in_files(ratings: Ratings, n_parts: int, folder: Path) -> PartitionedRatings:
    """The same ratings in Parquet files of a folder."""
    part_of = Members(ratings.n_users, n_parts).part_of[ratings.users]
    hashes = []
    for part in range(n_parts):
        rows = ratings.only(part_of == part)
        hashes.append(write_partition(file_of(folder, part), rows.users, rows))
    features = ratings.item_features
    manifest = Manifest(
        name=ratings.name,
        n_users=ratings.n_users,
        n_items=ratings.n_items,
        n_ratings=len(ratings),
        bounds=ratings.bounds,
        public=ratings.public,
        assumptions=ratings.assumptions,
        origin="" if ratings.public else ratings.account,
        titles=ratings.titles,
        labels=ratings.labels,
        parts=tuple(hashes),
        feature_names=None if features is None else features.names,
        features=None
        if features is None
        else tuple(map(tuple, features.values.tolist())),
    )
    (folder / MANIFEST).write_text(manifest.text, "utf-8")
    return of_folder(folder, manifest)
