"""A public table of items next to ratings: one row per item, read from a file of any kind."""

from collections.abc import Sequence
from pathlib import Path

from dpmf_core.base.errors import BadInput
from dpmf_core.data.item_features import EncodedTable, encode
from dpmf_datasets.readers.table import Table, as_texts, file_name, report_damage
from dpmf_datasets.readers.tables import open_table

LARGEST = 500_000_000  # bytes, unpacked: the table is read whole


def read_item_table(path: Path, items: Sequence[str], name: str = "") -> EncodedTable:
    """Read the features of `items`, given by their ids in the ratings, from a table of any kind.

    Raises BadInput if the file is missing, has no header, or is not a table of these items.
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
        rows = _rows(table, len(names), name)[not table.names :]
    return encode(names, rows, items, name, decimal_comma=table.decimal_comma)


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
