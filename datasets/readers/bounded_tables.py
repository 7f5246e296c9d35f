"""A table of any kind as a Parquet file within bounds, with a report of its reading."""

import json
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from dpmf_core.base.errors import BadInput
from dpmf_core.base.program import program
from dpmf_datasets.readers.arrow_tables import parquet
from dpmf_datasets.readers.table import MOST_COLUMNS, Table

FACTS = b"dpmf.table"  # the key in the metadata of the Parquet file
MOST_CELLS = 50_000_000
MOST_RAGGED = 1_000_000
LONGEST_COLUMN_NAME = 200  # characters
KEPT_FACTS = ("unit", "decimal_comma", "above", "layout", "assumptions", "ragged_lines")
ROWS = 1 << 16  # in a group of the file
COLUMN_KINDS = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_temporal,
)


def write_bounded(table: Table, name: str, target: Path) -> None:
    """Write a table as Parquet, with columns of numbers, times or texts.

    Raises
    ------
    BadInput
        If it has more columns, cells or ragged lines than the bounds allow.
    """
    width = len(table.shown_names)
    if width > MOST_COLUMNS:
        raise BadInput(
            f"{name} has {width:,} columns. The limit is {MOST_COLUMNS:,}: leave some out."
        )
    _check_cells(table.n_rows * width, name)
    rows, writer = 0, None
    try:
        for batch in table.batches(range(width)):
            columns = [_plain(column) for column in batch]
            rows += len(columns[0]) if columns else 0
            _check_cells(rows * width, name)
            if writer is None:
                schema = pa.schema([(str(j), it.type) for j, it in enumerate(columns)])
                writer = pa.parquet.ParquetWriter(target, schema, compression="zstd")
            some = pa.Table.from_arrays(columns, schema=writer.schema)
            writer.write_table(some, row_group_size=ROWS)
        if writer is None:
            schema = pa.schema([(str(j), pa.string()) for j in range(width)])
            writer = pa.parquet.ParquetWriter(target, schema)
        if len(table.ragged_lines) > MOST_RAGGED:
            raise BadInput(
                f"More than {MOST_RAGGED:,} lines of {name} have a different number of columns. A"
                " table has the same columns in each line."
            )
        writer.add_key_value_metadata({FACTS: json.dumps(_facts(table))})
    finally:
        if writer is not None:
            writer.close()


def _check_cells(count: int, name: str) -> None:
    if count > MOST_CELLS:
        raise BadInput(
            f"{name} has more than {MOST_CELLS:,} cells. Use a part of it, or use `{program()}` for"
            " large files."
        )


def _plain(column: pa.Array) -> pa.Array:
    """Numbers and times unchanged, anything else as text."""
    if any(is_kind(column.type) for is_kind in COLUMN_KINDS):
        return column
    return column.cast(pa.string())


def _facts(table: Table) -> dict[str, Any]:
    facts: dict[str, Any] = {name: getattr(table, name) for name in KEPT_FACTS}
    names = [name[:LONGEST_COLUMN_NAME] for name in table.names]
    return {**facts, "names": names, "read_as": table.read_as()}


def read_bounded(stream: BinaryIO) -> Table:
    """Open a file from `write_bounded`, in this process or in a child."""
    table = parquet(stream, "The table")
    facts = json.loads(pa.parquet.read_metadata(stream).metadata[FACTS])
    read_as = tuple(facts.pop("read_as"))
    for name, value in facts.items():
        setattr(table, name, tuple(value) if name in ("names", "assumptions") else value)
    table.ragged_lines = [(number, text) for number, text in table.ragged_lines]
    table.read_as = lambda: read_as
    return table


@dataclass(frozen=True)
class OwnTable:
    """An uploaded table, as the child process left it.

    Parameters
    ----------
    name : str
        The file's name.
    parquet : bytes
        Its cells, within bounds.
    fingerprint : str
        The file's fingerprint.
    """

    name: str
    parquet: bytes
    fingerprint: str

    @cached_property
    def table(self) -> Table:
        return read_bounded(BytesIO(self.parquet))

    @property
    def rows(self) -> pd.DataFrame:
        """The first rows as text."""
        return pd.DataFrame(self.table.head, columns=list(self.table.shown_names))
