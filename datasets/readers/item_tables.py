"""A public table of items, brought beside ratings: a row for each item, its id in the first column
or in one called so.
"""

import csv
import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow.parquet

from dpmf_core.data.item_tables import SEVERAL, EncodedTable, encode, plain_id
from dpmf_core.errors import BadInput
from dpmf_datasets.readers import encodings
from dpmf_datasets.readers.tables import MOST_COLUMNS, file_name, report_damage
from dpmf_datasets.readers.text_layout import is_number

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


def read_item_table(path: Path, items: Sequence[str]) -> EncodedTable:
    """The features of `items`, given by their ids in the ratings, from a CSV, TSV or Parquet file
    (also .gz). Raises BadInput.
    """
    name = file_name(path)
    if not path.is_file():
        raise BadInput(
            f"There is no file {name} for item_table. Give the path of a table (CSV, TSV or"
            " Parquet) with a row for each item, e.g. item_table=films.csv."
        )
    with path.open("rb") as stream:
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
    """All that stands in a table. Raises BadInput."""
    with report_damage(name):
        return _cells(file, name)


def _cells(file: BinaryIO, name: str) -> ItemCells:
    is_gzip = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    content = (gzip.GzipFile(fileobj=file) if is_gzip else file).read(LARGEST + 1)
    if len(content) > LARGEST:
        raise BadInput(f"{name} has more than {LARGEST / 1e6:.0f} MB. Leave out columns or rows.")
    if content[:4] == b"PAR1":
        return _of_parquet(content)
    if content[:4] == b"PK\x03\x04":
        raise BadInput(f"{name} is a zip or spreadsheet file. Save its sheet as CSV.")
    return _of_text(content, name)


def _of_parquet(content: bytes) -> ItemCells:
    table = pyarrow.parquet.read_table(BytesIO(content))
    columns = [[_text(value) for value in column.to_pylist()] for column in table.columns]
    return ItemCells(tuple(table.column_names), list(zip(*columns, strict=True)))


def _text(value: Any) -> str:
    if isinstance(value, list):
        return SEVERAL.join(map(_text, value))
    return "" if value is None else str(value)


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
