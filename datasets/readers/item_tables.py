"""A public table of items next to ratings: one row per item.

The item's id is in the first column, or in one with a name for ids.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from dpmf_core.base.errors import BadInput
from dpmf_core.data.item_features import EncodedTable, encode, plain_id
from dpmf_datasets.readers.table import (
    MOST_COLUMNS,
    Table,
    as_texts,
    file_name,
    is_number,
    report_damage,
)
from dpmf_datasets.readers.tables import open_table

IDS = ("item", "itemid", "iid", "id")
LARGEST = 500_000_000  # bytes, unpacked: the table is read whole


def read_item_table(path: Path, items: Sequence[str], name: str = "") -> EncodedTable:
    """Read the features of `items`, given by their ids in the ratings, from a table of any kind.

    Raises
    ------
    BadInput
        If the file is missing, has no header, or is not a table of these items.
    """
    name = name or file_name(path)
    if not path.is_file():
        raise BadInput(
            f"There is no file {name} for item_table. Give the path of a table (CSV, TSV or"
            " Parquet) with one row per item, e.g. item_table=films.csv."
        )
    with path.open("rb") as stream, report_damage(name):
        table = open_table(stream, name)
        names = table.names or table.first  # the first row, even if it looks like numbers
        _check_header(names, name)
        rows = _rows(table, len(names), name)[not table.names :]
    place = _id_column(names, rows, items)
    if is_number(names[place]):
        raise BadInput(
            f"{name} has no header: its first line begins with '{names[place][:40]}'. Add a first"
            " line with column names, e.g. id,year,genre."
        )
    cells = {column: [row[j] for row in rows] for j, column in enumerate(names) if j != place}
    ids = [row[place] for row in rows]
    return encode(ids, cells, items, name, decimal_comma=table.decimal_comma)


def _rows(table: Table, width: int, name: str) -> list[tuple[str, ...]]:
    """All cells as text, without blank rows. Raises BadInput."""
    rows: list[tuple[str, ...]] = []
    size = 0
    for batch in table.batches(range(width)):
        size += sum(column.nbytes for column in batch)
        if size > LARGEST:
            raise BadInput(
                f"{name} is larger than {LARGEST / 1e6:.0f} MB. Leave out columns or rows."
            )
        rows += filter(any, zip(*map(as_texts, batch), strict=True))
    if ragged := [line for line, text in table.ragged_lines if text]:
        raise BadInput(
            f"{table.unit.capitalize()} {ragged[0]:,} of {name} does not have the {width} columns"
            " of the header. Quote each cell that contains the separator."
        )
    return rows


def _check_header(names: Sequence[str], name: str) -> None:
    twice = [column for column in names if names.count(column) > 1]
    if twice or not 2 <= len(names) <= MOST_COLUMNS:
        got = f"'{twice[0][:40]}' twice" if twice else f"{len(names):,}"
        raise BadInput(
            f"{name} needs 2 to {MOST_COLUMNS:,} columns with different names (the item ids and"
            f" their features), separated by tabs, semicolons or commas. Got {got}."
        )


def _id_column(names: Sequence[str], rows: Sequence[Sequence[str]], items: Sequence[str]) -> int:
    """The place of the items' ids.

    It is a column with such a name, else the first; if that has none of the ids, the one with most.
    """
    plain = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in names]
    named_place = next((place for place, name in enumerate(plain) if name in IDS), 0)
    item_ids = set(map(plain_id, items))
    shared = [
        len(item_ids.intersection(plain_id(row[place]) for row in rows))
        for place in range(len(plain))
    ]
    return named_place if shared[named_place] else shared.index(max(shared))
