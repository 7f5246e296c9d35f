"""Whether something that could be documents holds a table of ratings instead."""

import gzip
from pathlib import Path, PurePosixPath

from dpmf_core.base.errors import BadInput
from dpmf_core.data.column_names import REQUIRED_ROLES, by_name
from dpmf_datasets.readers.archives import Members, members_of
from dpmf_datasets.readers.table import HEAD, damage
from dpmf_datasets.readers.tables import open_table

TABLES = (".csv", ".tsv", ".dat", ".data", ".txt")
OFFICIAL = ("ratings.dat", "u.data")  # tables of MovieLens, which have no header
MOST = 50  # files that are checked


def ratings_tables(path: Path) -> tuple[str, ...]:
    """The tables in a folder, archive or file whose header names user, item and rating.

    They are given by their names in it.
    """
    with members_of(path) as members:
        tables = [
            name
            for name in members.names
            if _plain(name).suffix in TABLES
            and not PurePosixPath(name).name.startswith((".", "__"))
        ]
        if len(members.names) > 1:
            tables = [
                name for name in tables if _plain(name).suffix != ".txt" or "rating" in name.lower()
            ]
        return tuple(sorted(name for name in tables[:MOST] if _is_ratings(members, name)))


def _plain(name: str) -> PurePosixPath:
    """A file's name in lower case, without `.gz`."""
    return PurePosixPath(name.lower().removesuffix(".gz"))


def _is_ratings(members: Members, name: str) -> bool:
    if _plain(name).name in OFFICIAL:
        return True
    try:
        with members.open(name) as stream:
            head = (
                gzip.GzipFile(fileobj=stream).read(HEAD - 1)
                if name.lower().endswith(".gz")
                else stream.read(HEAD - 1)
            )
        roles = by_name(open_table(head, name).names, loosely=False)
    except damage(BadInput):
        return False
    return set(REQUIRED_ROLES) <= set(roles)
