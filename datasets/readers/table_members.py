"""Which members of a folder or archive are tables, and the parts of one table as a whole."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from dpmf_core.base.errors import BadInput, listing, quoted, shortened
from dpmf_datasets.readers.archives import ArchiveMembers
from dpmf_datasets.readers.table import RaggedLines, Table, file_name

TABLE = re.compile(
    r"\.(csv|tsv|dat|data|txt|inter|jsonl|ndjson|json|parquet|feather|xlsx|xlsb|xls|ods|npz|npy|mat"
    r"|mtx)(\.(gz|bz2|xz))?$",
    re.I,
)
PART = re.compile(r"(.*/)?part-[^/]*$")  # a part of a table that Spark wrote
MOST_TABLES = 50  # that are checked


def chosen_members(
    members: ArchiveMembers,
    name: str,
    declared: str | None,
    is_ratings: Callable[[str], bool],
) -> list[str]:
    """The declared table, the only one, all parts of one, or the only one of ratings.

    Parameters
    ----------
    members : ArchiveMembers
        The members of the folder or archive.
    name : str
        The name of the folder or archive in messages.
    declared : str or None
        The declared member.
    is_ratings : callable
        Whether a member is a table of ratings.

    Returns
    -------
    list of str
        The chosen members.

    Raises
    ------
    BadInput
        If the choice is not clear.
    """
    tables = tables_in(members)
    if declared and declared in members.names:
        tables = [declared]
    elif declared:
        tables = [table for table in members.names if _is_called(table, declared)]
    is_in_parts = are_parts(tables)
    if is_in_parts:
        tables = [table for table in tables if members.open(table).read(1)]
    elif len(tables) > 1:
        tables = [
            table for table in tables[:MOST_TABLES] if is_ratings(table)
        ] or tables
    if len(tables) == 1 or (tables and is_in_parts):
        return tables
    if not members.names or not (tables or declared):
        raise BadInput(f"{name} holds no table. Its files: {members.some}.")
    if declared:
        which = f"no single table {quoted(declared)}"
    else:
        which = f"{len(tables):,} tables"
    files = tables or members.names
    raise BadInput(
        f"{name} holds {which}. Its files: {listing(files)}. Name a table after the path, e.g."
        f" member={shortened(files[0])}."
    )


def joined(
    first: Table, names: Sequence[str], open_part: Callable[[str], Table]
) -> Table:
    """The tables of several parts, one below another. Raises BadInput if their columns differ."""
    ragged_lines: RaggedLines = []

    def read(columns: Sequence[int]) -> Iterator[list[Any]]:
        above = 0
        for name in names:
            part = first if name == names[0] else open_part(name)
            if sorted(part.names) != sorted(first.names):
                raise BadInput(
                    f"The part {file_name(name)} has other columns than {file_name(names[0])}:"
                    f" {listing(part.shown_names)}. Name one part with member=."
                )
            places = columns
            if part.names:
                places = [part.names.index(first.names[column]) for column in columns]
            n_rows = 0
            for batch in part.batches(places):
                n_rows += len(batch[0])
                yield batch
            ragged_lines.extend(
                (above + line - part.above, text) for line, text in part.ragged_lines
            )
            above += n_rows + len(part.ragged_lines)

    return replace(
        first,
        batches=read,
        unit="row",
        above=0,
        layout=f"{first.layout} It is in {len(names):,} parts.",
        ragged_lines=ragged_lines,
    )


def tables_in(members: ArchiveMembers) -> list[str]:
    """The members that may be tables; of several files, no text without `rating` in its name."""
    names = [
        name
        for name in sorted(members.names)
        if TABLE.search(name) or PART.match(name)
        if not any(part.startswith(("_", ".")) for part in PurePosixPath(name).parts)
    ]
    if len(members.names) == 1:
        return names
    return [
        name
        for name in names
        if plain_name(name).suffix != ".txt" or "rating" in name.lower()
    ]


def are_parts(tables: Sequence[str]) -> bool:
    """Whether all are parts of one table."""
    folders = {PurePosixPath(table).parent for table in tables}
    return len(folders) == 1 and all(PART.match(table) for table in tables)


def _is_called(name: str, declared: str) -> bool:
    """Whether a member, or a folder with it, has the declared name."""
    parts = PurePosixPath(name).parts
    return declared in parts and not parts[-1].startswith("_")


def plain_name(name: str) -> PurePosixPath:
    """A file's name in lower case, without the ending of a packed file."""
    return PurePosixPath(re.sub(r"\.(gz|bz2|xz)$", "", name.lower()))
