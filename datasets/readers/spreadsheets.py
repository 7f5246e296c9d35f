"""Spreadsheets: the sheet and the row of its header are found, and each cell is read by itself.

They are read in a child process, because a kilobyte may claim a table of terabytes.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.feather

from dpmf_core.base.errors import BadInput, closest, listing, quoted, shortened
from dpmf_core.base.extras import extra
from dpmf_core.data.facts import Facts, value
from dpmf_datasets.readers.arrow_tables import in_memory, table_of_rows
from dpmf_datasets.readers.table import (
    SAMPLE_ROWS,
    Table,
    cell_text,
    has_ratings,
    is_number,
)
from dpmf_datasets.sandbox import in_child

MOST_SHEETS = 50  # that are looked at
# a number of more digits has lost the last ones in most spreadsheet programs
EXACT = 1e15
SheetRow = Sequence[Any]


def spreadsheet(stream: BinaryIO, name: str, facts: Facts) -> Table:
    """Read a sheet of a spreadsheet (.xlsx, .xlsb, .xls, .ods).

    Parameters
    ----------
    stream : binary file
        The spreadsheet.
    name : str
        What messages call it.
    facts : mapping of str to str
        `sheet` is by default the first sheet with a header of ratings, or else the first sheet.
        `header`, the row of the header, is by default the first row with ratings' columns, or else
        the first wide row.

    Returns
    -------
    Table
        The sheet.

    Raises
    ------
    BadInput
        If the sheet cannot be read.
    """
    with in_child(write_sheet, stream, name, dict(facts)) as (read, target):
        table = in_memory(
            pyarrow.feather.read_table(target, memory_map=False), read["layout"]
        )
    return replace(
        table,
        names=tuple(read["names"]),
        above=read["above"],
        ragged_lines=[(row, "") for row in read["blank_rows"]],
        read_as=lambda: tuple(read["notes"]),
    )


def sheet_names(path: str, name: str) -> tuple[str, ...]:
    """The sheets of a spreadsheet, first the one that is read by default. Raises BadInput."""
    with _book(path, name) as book:
        names = _sheets(book)
        first = _chosen_sheet(book, names, {}, name).name
    return (first, *(other for other in names if other != first))


def first_sheet(stream: BinaryIO, name: str) -> list[list[Any]]:
    """All cells of the first sheet. Raises BadInput."""
    with _book(stream, name) as book:
        rows: list[list[Any]] = book.get_sheet_by_index(0).to_python()
        return rows


@contextmanager
def _book(source: str | BinaryIO, name: str) -> Iterator[Any]:
    """An open spreadsheet. On damage the reader may raise something other than an `Exception`."""
    with extra("files"):
        from python_calamine import CalamineWorkbook
    try:
        yield CalamineWorkbook.from_object(source)
    except BadInput:
        raise
    except BaseException as error:
        if (
            not isinstance(error, Exception)
            and type(error).__name__ != "PanicException"
        ):
            raise
        raise BadInput(
            f"{name} cannot be read as a spreadsheet: {shortened(error, 200)}. Export it as CSV."
        ) from None


def _sheets(book: Any) -> list[str]:
    """The sheets with cells, without charts."""
    return [
        sheet.name for sheet in book.sheets_metadata if "WorkSheet" in str(sheet.typ)
    ]


# ---- in the child process ------------------------------------------------------------------------


def write_sheet(
    path: str, name: str, facts: dict[str, str], target: str
) -> dict[str, Any]:
    """Write the cells of a sheet below its header as a Feather file of text.

    Returns how it was read. Raises BadInput.
    """
    blank_rows: list[int] = []
    with _book(path, name) as book:
        every_name = _sheets(book)
        sheet = _chosen_sheet(book, every_name, facts, name)
        header, above = _header(_first_rows(sheet), facts)
        labels: SheetRow = ()
        if header:
            labels = next((row for number, row in _rows(sheet) if number == header), ())
        names = [label or f"column {place}" for place, label in enumerate(labels, 1)]
        rows = table_of_rows(names, _below(sheet, above, blank_rows), "")
        places = range(sheet.width)
        columns = list(map(str, places))
        batches = [pa.record_batch(batch, columns) for batch in rows.batches(places)]
    if not batches or (header and not names):
        raise BadInput(
            f"The sheet {quoted(sheet.name)} of {name} has no row below its header. One row names"
            f" the columns: user, item, rating. Its sheets: {listing(every_name)}."
        )
    pyarrow.feather.write_feather(pa.Table.from_batches(batches), target)
    if header:
        where = f"a header in row {header:,}"
    else:
        where = "no header"
    others = [other for other in every_name if other != sheet.name]
    notes = [
        f"The sheet {quoted(sheet.name)} was read. Other sheets: {listing(others)}."
    ]
    return {
        "names": names,
        "above": above,
        "blank_rows": blank_rows,
        "layout": f"of the sheet {quoted(sheet.name)}, {where}",
        "notes": notes if others else [],
    }


def _chosen_sheet(book: Any, names: Sequence[str], facts: Facts, name: str) -> Any:
    """The declared sheet, else the first one with a header of ratings, else the first."""
    declared = facts.get("sheet")
    if not names or declared not in (None, *names):
        if declared:
            which = f" {quoted(declared)}.{closest(declared, names)}"
        else:
            which = "."
        raise BadInput(
            f"{name} has no sheet{which} Its sheets: {listing(names)}. Name one after the path,"
            f" e.g. sheet={''.join(names[:1])}."
        )
    if declared:
        return book.get_sheet_by_name(declared)
    sheets = (book.get_sheet_by_name(each) for each in names[:MOST_SHEETS])
    for sheet in sheets:
        if any(has_ratings(row, facts) for _, row in _first_rows(sheet)):
            return sheet
    return book.get_sheet_by_name(names[0])


def _rows(sheet: Any) -> Iterator[tuple[int, list[str]]]:
    """The text of the cells of each row, and its number from 1."""
    for number, row in enumerate(sheet.iter_rows(), 1):
        yield number, [cell_text(cell, EXACT) or "" for cell in row]


def _first_rows(sheet: Any) -> list[tuple[int, list[str]]]:
    """The first rows that are not blank."""
    return list(
        islice(((number, row) for number, row in _rows(sheet) if any(row)), SAMPLE_ROWS)
    )


def _header(rows: Sequence[tuple[int, list[str]]], facts: Facts) -> tuple[int, int]:
    """The row of the header, 0 if there is none, and the number of rows above the data."""
    declared = value(facts, "header")
    if declared is not None:
        return declared, declared
    for number, row in rows:
        if has_ratings(row, facts):
            return number, number
    widths = [sum(map(bool, row)) for _, row in rows]
    for (number, row), width in zip(rows, widths, strict=True):
        if 2 * width > max(widths):  # the rows above are titles
            is_header = facts.get("layout") == "wide" or not any(map(is_number, row))
            if is_header:
                return (number, number)
            return (0, number - 1)
    return 0, 0


def _below(sheet: Any, above: int, blank_rows: list[int]) -> Iterator[list[str]]:
    """The rows of data; the numbers of blank ones are added to `blank_rows`."""
    for number, row in _rows(sheet):
        if number > above and any(row):
            yield row
        elif number > above:
            blank_rows.append(number)
