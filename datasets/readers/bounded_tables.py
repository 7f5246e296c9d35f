"""A table of any kind as a Parquet file within bounds, with what reading it found."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet

from dpmf_core.errors import BadInput
from dpmf_datasets.readers.arrow_tables import ParquetTable
from dpmf_datasets.readers.columns import detect_columns
from dpmf_datasets.readers.table import MOST_COLUMNS, PREVIEW, Table, as_texts

if TYPE_CHECKING:  # where it is needed it is loaded
    import pandas as pd

FACTS = b"dpmf.table"  # in the metadata of the Parquet file
MOST_CELLS = 50_000_000
MOST_RAGGED = 1_000_000
LONGEST_COLUMN_NAME = 200  # characters
ROWS = 1 << 16  # of a group in the file
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
        Where it has more columns, cells or ragged lines than the bounds allow.
    """
    width = len(table.shown_names)
    if width > MOST_COLUMNS:
        raise BadInput(
            f"{name} has {width:,} columns. A table may have {MOST_COLUMNS:,}: leave some out."
        )
    if isinstance(table, ParquetTable):
        _check_cells(table.file.metadata.num_rows * width, name)
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
                f"More than {MOST_RAGGED:,} lines of {name} have another number of columns than"
                " the others. A table has the same columns in each line."
            )
        writer.add_key_value_metadata({FACTS: json.dumps(_facts(table))})
    finally:
        if writer is not None:
            writer.close()


def _check_cells(count: int, name: str) -> None:
    if count > MOST_CELLS:
        raise BadInput(
            f"{name} has more than {MOST_CELLS:,} cells. Take a part of it, or use"
            " `python -m dpmf_core` for large files."
        )


def _plain(column: pa.Array) -> pa.Array:
    """Numbers and times as they are, anything else as text."""
    if any(is_kind(column.type) for is_kind in COLUMN_KINDS):
        return column
    return column.cast(pa.string())


def _facts(table: Table) -> dict[str, Any]:
    def shortened(names: Sequence[str]) -> list[str]:
        return [name[:LONGEST_COLUMN_NAME] for name in names]

    return {
        "names": shortened(table.names),
        "first": shortened(table.first),
        "unit": table.unit,
        "decimal_comma": table.decimal_comma,
        "above": table.above,
        "ragged_lines": table.ragged_lines,
        "assumptions": table.assumptions,
        "layout": table.layout,
        "read_as": table.read_as(),
    }


class BoundedTable(ParquetTable):
    """The rows of a file that `write_bounded` wrote, in this process or in a child."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(stream, "The table")
        facts = json.loads(self.file.metadata.metadata[FACTS])
        self.names, self.first = tuple(facts["names"]), tuple(facts["first"])
        self.unit, self.decimal_comma = facts["unit"], facts["decimal_comma"]
        self.above, self.layout = facts["above"], facts["layout"]
        self.ragged_lines = [(number, text) for number, text in facts["ragged_lines"]]
        self.assumptions = tuple(facts["assumptions"])
        self._read_as = tuple(facts["read_as"])

    def read_as(self) -> tuple[str, ...]:
        return self._read_as


@dataclass(frozen=True)
class OwnTable:
    """A table that was brought, as the child process left it.

    Parameters
    ----------
    name : str
        Of the file.
    parquet : bytes
        Its cells, within bounds.
    fingerprint : str
        Of the file.
    """

    name: str
    parquet: bytes
    fingerprint: str

    @property
    def table(self) -> BoundedTable:
        return BoundedTable(BytesIO(self.parquet))

    @cached_property
    def columns(self) -> tuple[str, ...]:
        return self.table.shown_names

    @cached_property
    def roles(self) -> dict[str, str]:
        """The column of each role, as far as its name tells."""
        return detect_columns(self.table)

    @cached_property
    def layout(self) -> str:
        """How columns and header were found, in a sentence."""
        return self.table.layout

    @cached_property
    def rows(self) -> "pd.DataFrame":
        """The first rows as text."""
        import pandas as pd

        first = next(iter(self.table.batches(range(len(self.columns)))), [])
        texts = {
            column: as_texts(part.slice(0, PREVIEW))
            for column, part in zip(self.columns, first, strict=False)
        }
        return pd.DataFrame(texts)
