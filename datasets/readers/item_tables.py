"""A public table of items, brought beside ratings: a row for each item, its id in the first column
or in one called so.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import BinaryIO

from dpmf_core.data.item_tables import EncodedTable, encode, plain_id
from dpmf_core.errors import BadInput
from dpmf_datasets.readers import encodings
from dpmf_datasets.readers.table import (
    MOST_COLUMNS,
    as_texts,
    file_name,
    is_number,
    report_damage,
)
from dpmf_datasets.readers.tables import is_text, open_table, unpacked

ITEM_TABLE = "item_table"  # names the table after a path
SEPARATORS = ("\t", ";", ",", "|")  # the first that stands in the header
IDS = ("item", "itemid", "iid", "id")
LARGEST = 500_000_000  # bytes, unpacked: the table is read at once


@dataclass(frozen=True)
class ItemCells:
    """names: of the columns. rows: cells as text, as many in each."""

    names: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    decimal_comma: bool = False


def read_item_table(path: Path, items: Sequence[str], name: str = "") -> EncodedTable:
    """Read the features of `items`, given by their ids in the ratings, from a table of any kind.

    Raises
    ------
    BadInput
    """
    name = name or file_name(path)
    if not path.is_file():
        raise BadInput(
            f"There is no file {name} for item_table. Give the path of a table (CSV, TSV or"
            " Parquet) with a row for each item, e.g. item_table=films.csv."
        )
    with path.open("rb") as stream, report_damage(name):
        table = cells_of(stream, name)
    _check_header(table, name)
    place = _id_column(table, items)
    if is_number(table.names[place]):
        raise BadInput(
            f"{name} has no header: its first line begins with '{table.names[place][:40]}'. Write"
            " what each column is called above, e.g. id,year,genre."
        )
    columns = {
        column: [row[j] for row in table.rows] for j, column in enumerate(table.names) if j != place
    }
    ids = [row[place] for row in table.rows]
    return encode(ids, columns, items, name, decimal_comma=table.decimal_comma)


def cells_of(file: BinaryIO, name: str) -> ItemCells:
    """Return all that stands in a table. Raises BadInput, or what `report_damage` knows."""
    stream, magic = unpacked(file)
    if is_text(magic):
        content = stream.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise BadInput(
                f"{name} has more than {LARGEST / 1e6:.0f} MB. Leave out columns or rows."
            )
        return _of_text(content, name)
    table = open_table(stream, name)
    rows: list[tuple[str, ...]] = []
    for batch in table.batches(range(len(table.names))):
        rows += zip(*map(as_texts, batch), strict=True)
    return ItemCells(table.names, rows)


def _of_text(content: bytes, name: str) -> ItemCells:
    encoding, _ = encodings.detect_encoding(content[: encodings.LOOKED_AT])
    text = content.decode(encoding, errors="replace").removeprefix("\ufeff")
    header = text.lstrip().partition("\n")[0]
    separator = next((one for one in SEPARATORS if one in header), ",")
    lines = [row for row in csv.reader(StringIO(text, newline=""), delimiter=separator) if any(row)]
    if not lines:
        raise BadInput(f"{name} is empty. A table of items has a header and a row for each item.")
    names, rows = tuple(cell.strip() for cell in lines[0]), lines[1:]
    for row, cells in enumerate(rows, 1):
        if len(cells) != len(names):
            raise BadInput(
                f"Row {row:,} of {name} has {len(cells)} columns, and its header {len(names)}. Put"
                " a cell that holds the separator in quotation marks."
            )
    return ItemCells(names, rows, decimal_comma=separator != ",")


def _check_header(table: ItemCells, name: str) -> None:
    twice = [column for column in table.names if table.names.count(column) > 1]
    if twice or not 2 <= len(table.names) <= MOST_COLUMNS:
        got = f"'{twice[0][:40]}' twice" if twice else f"{len(table.names):,}"
        raise BadInput(
            f"{name} needs 2 to {MOST_COLUMNS:,} columns of different names, the items' ids and"
            f" what is known of them, with tabs, semicolons or commas between. Got {got}."
        )


def _id_column(table: ItemCells, items: Sequence[str]) -> int:
    """Where the items' ids stand: in a column called so, else in the first; in the one with most
    of the ids where that has none of them.
    """
    plain = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in table.names]
    named_place = next((place for place, name in enumerate(plain) if name in IDS), 0)
    item_ids = set(map(plain_id, items))
    shared = [
        len(item_ids.intersection(plain_id(row[place]) for row in table.rows))
        for place in range(len(plain))
    ]
    return named_place if shared[named_place] else shared.index(max(shared))
