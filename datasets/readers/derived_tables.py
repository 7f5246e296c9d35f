"""Tables made from other tables: a wide table as ratings, interactions as ones."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpmf_core.base.errors import BadInput, closest
from dpmf_core.data.column_names import ROLES
from dpmf_datasets.readers.arrow_tables import in_memory
from dpmf_datasets.readers.table import Table

INTERACTION = "interaction"  # the column of ones of a table without ratings


def melted(table: Table, user: str | None, name: str) -> Table:
    """Convert a wide table, one row per user and one column per item, to one row per rating.

    Parameters
    ----------
    table : Table
        Its empty cells are no ratings.
    user : str, optional
        The column of the users' ids; by default the first.
    name : str
        The file's name in messages.

    Raises
    ------
    BadInput
        If it has too few columns, or no such column.
    """
    names = list(table.names or table.first)  # if items are numbers, a header looks like data
    if len(names) < 2:
        raise BadInput(
            f"{name} has {len(names)} columns. A wide table has one row per user and one column per"
            " item, and its first line names the items."
        )
    if user and user not in names:
        raise BadInput(
            f"{name} has no column '{user[:40]}' of users.{closest(user, names)} Its columns:"
            f" {', '.join(names[:12])}."
        )
    place = names.index(user) if user else 0
    others = [j for j in range(len(names)) if j != place]
    above = 0 if table.names else 1  # header rows among the data
    parts: list[pa.Table] = []
    for batch in table.batches([place, *others]):
        users, *ratings = (column.slice(above).cast(pa.string()) for column in batch)
        above = 0
        parts += [
            _ratings_of_item(names[j], users, column)
            for j, column in zip(others, ratings, strict=True)
        ]
    words = f"for {len(others):,} items, a row for each user"
    return in_memory(pa.concat_tables(parts), words, table.assumptions)


def _ratings_of_item(item: str, users: pa.Array, column: pa.Array) -> pa.Table:
    """A column of a wide table as ratings; both columns are texts."""
    is_rated = pc.fill_null(pc.not_equal(pc.utf8_trim_whitespace(column), ""), False)
    raters = users.filter(is_rated)
    ids = pa.array([item] * len(raters), pa.string())
    return pa.table([raters, ids, column.filter(is_rated)], names=list(ROLES[:3]))


def interactions(table: Table) -> Table:
    """A table without ratings, plus a column of ones: each row says that a user has an item.

    Without a header the first two columns are user and item.
    """
    header = table.names or (*ROLES[:2], *table.shown_names[2:])

    def batches(columns: Sequence[int]) -> Iterator[list[pa.Array]]:
        last = len(header)
        for batch in table.batches([j for j in columns if j != last]):
            ones = pa.array(np.ones(len(batch[0])))
            arrays = iter(batch)
            yield [ones if j == last else next(arrays) for j in columns]

    note = "No column holds ratings: each row counts as 1, with bounds 0 to 1."
    return replace(
        table,
        names=(*header, INTERACTION),
        head=[(*row, "1") for row in table.head],
        batches=batches,
        read_as=lambda: (*table.read_as(), note),
    )
