"""A table of any kind as a Parquet file within bounds, with a report of its reading."""

import itertools
import json
from collections.abc import Iterator
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
KINDS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_temporal)


def write_bounded(table: Table, name: str, target: Path) -> None:
    """Write a table as Parquet, with columns of numbers, times or texts.

    Raises BadInput if it has more columns, cells or ragged lines than the bounds allow.
    """
    width = len(table.shown_names)
    if width > MOST_COLUMNS:
        raise BadInput(
            f"{name} has {width:,} columns. The limit is {MOST_COLUMNS:,}: leave some out."
        )
    _check_cells(table.n_rows * width, name)
    parts = _parts(table, width, name)
    first = next(parts, pa.table({str(j): pa.array([], pa.string()) for j in range(width)}))
    with pa.parquet.ParquetWriter(target, first.schema, compression="zstd") as writer:
        for part in itertools.chain([first], parts):
            writer.write_table(part, row_group_size=ROWS)
        if len(table.ragged_lines) > MOST_RAGGED:
            raise BadInput(
                f"More than {MOST_RAGGED:,} lines of {name} have a different number of columns. A"
                " table has the same columns in each line."
            )
        facts: dict[str, Any] = {fact: getattr(table, fact) for fact in KEPT_FACTS}
        facts["names"] = [column[:LONGEST_COLUMN_NAME] for column in table.names]
        content = json.dumps({**facts, "read_as": table.read_as()})
        writer.add_key_value_metadata({FACTS: content})


def _parts(table: Table, width: int, name: str) -> Iterator[pa.Table]:
    """The batches, with numbers and times unchanged and anything else as text."""
    rows = 0
    for batch in table.batches(range(width)):
        columns = [
            column if any(is_kind(column.type) for is_kind in KINDS) else column.cast(pa.string())
            for column in batch
        ]
        rows += len(columns[0]) if columns else 0
        _check_cells(rows * width, name)
        yield pa.Table.from_arrays(columns, names=[str(j) for j in range(width)])


def _check_cells(count: int, name: str) -> None:
    if count > MOST_CELLS:
        raise BadInput(
            f"{name} has more than {MOST_CELLS:,} cells. Use a part of it, or use `{program()}` for"
            " large files."
        )


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

    name, fingerprint: of the file. parquet: its cells, within bounds.
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
