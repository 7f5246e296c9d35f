"""Wide tables, with one row per user and one column per item, as one row per rating."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dpmf_core.base.errors import BadInput, listing
from dpmf_core.data.column_names import by_name
from dpmf_datasets.readers.declared import Declared
from dpmf_datasets.readers.table import PREVIEW, Table, is_number

COLUMNS = ("user", "item", "rating")
Advice = Callable[[Mapping[str, str]], str]


def as_long(table: Table, declared: Declared, name: str, advice: Advice) -> Table:
    """A table with one row per cell of a wide table, which are its ratings.

    Parameters
    ----------
    table
        Its first line names the items, also if they are numbers.
    declared
        The person's column, and columns to leave out.
    name, advice
        Of the file, and how to declare more, for messages.

    Raises
    ------
    BadInput
        If the person's column is not declared and not evident, or if a column holds no ratings.
    """
    names = table.names or table.first
    n_above = 0 if table.names else 1
    head = table.head[n_above:]
    if len(names) < 2 or not head:
        raise BadInput(
            f"{name} has {len(names)} columns and {len(head)} rows. A wide table has one row per"
            " user and one column per item, and its first line names the items."
        )
    leave = [_place(names, column, "leave", advice) for column in declared.leave]
    user = _user_column(names, head, declared, leave, name, advice)
    items = [place for place in range(len(names)) if place != user and place not in leave]
    _require_ratings(names, head, items, declared, name, advice)
    wide = _Wide(table, tuple(names[place] for place in items), user, tuple(items), n_above)
    some = head[: 1 + PREVIEW // len(items)]
    return Table(
        COLUMNS,
        [(row[user], names[place], row[place]) for row in some for place in items],
        wide.batches,
        unit=table.unit,
        decimal_comma=table.decimal_comma,
        above=table.above + n_above,
        layout=(
            f"{len(items):,} columns of items, a row for each user, who is named by the column"
            f" '{names[user]}'. {table.layout}"
        ),
        assumptions=table.assumptions,
        n_wide=len(items),
        ragged_lines=table.ragged_lines,
        read_as=table.read_as,
    )


@dataclass(frozen=True)
class _Wide:
    """The rows of a wide table, cell by cell in the order of its lines.

    items: their names. user, places: the columns of the person and of each item. n_above: rows of
    the table that are its header.
    """

    table: Table
    items: tuple[str, ...]
    user: int
    places: tuple[int, ...]
    n_above: int

    def batches(self, columns: Sequence[int]) -> Iterator[list[pa.Array]]:
        n_above = self.n_above
        names = pa.array(self.items, pa.string())
        for batch in self.table.batches([self.user, *self.places]):
            users, *cells = [column.slice(n_above) for column in batch]
            n_above = max(n_above - len(batch[0]), 0)
            n_rows, n_items = len(users), len(cells)
            of_row = np.repeat(np.arange(n_rows), n_items)
            of_item = np.tile(np.arange(n_items, dtype=np.int32), n_rows)
            texts = pa.concat_arrays([column.cast(pa.string()) for column in cells])
            long = [
                users.take(pa.array(of_row)),
                pa.DictionaryArray.from_arrays(pa.array(of_item), names),
                texts.take(pa.array(of_item.astype(np.int64) * n_rows + of_row)),
            ]
            yield [long[column] for column in columns]


def _place(names: Sequence[str], column: str, fact: str, advice: Advice) -> int:
    """The place of a column by its name, or by its number as in `column 3`."""
    if column in names:
        return list(names).index(column)
    number = column.removeprefix("column ")
    if number.isdecimal() and 1 <= int(number) <= len(names):
        return int(number) - 1
    raise BadInput(
        f"There is no column '{column[:40]}'. The columns are {listing(names)}."
        f" {advice({fact: names[0] or 'column 1'})}"
    )


def _user_column(
    names: Sequence[str],
    head: Sequence[tuple[str, ...]],
    declared: Declared,
    leave: Sequence[int],
    name: str,
    advice: Advice,
) -> int:
    """The column that names the person: declared, by its name, or the only one of text."""
    if declared.columns.get("user"):
        return _place(names, declared.columns["user"], "user", advice)
    by_its_name = by_name(names, loosely=False).get("user")
    if by_its_name is not None:
        return by_its_name
    texts = [
        place
        for place in range(len(names))
        if place not in leave and not any(is_number(row[place]) for row in head)
        if any(row[place] for row in head)
    ]
    if len(texts) == 1:
        return texts[0]
    raise BadInput(
        f"Which column of {name} names the person of each row? Its columns: {listing(names)}."
        f" {advice({'user': names[0] or 'column 1'})} If no column does, add one with a different"
        " id for each person."
    )


def _require_ratings(
    names: Sequence[str],
    head: Sequence[tuple[str, ...]],
    items: Sequence[int],
    declared: Declared,
    name: str,
    advice: Advice,
) -> None:
    """Raise BadInput on columns whose first cells are no ratings, such as an age."""
    assert declared.bounds is not None
    low, high = declared.bounds
    strange: dict[str, set[float | str]] = {}
    for place in items:
        cells = {row[place].replace(",", ".") for row in head if row[place]}
        values = {float(cell) if is_number(cell) else cell for cell in cells}
        values -= set(declared.missing)
        fitting = [value for value in values if isinstance(value, float) and low <= value <= high]
        if values and not fitting:
            strange[names[place]] = values
    if not strange:
        return
    every: set[float | str] = set().union(*strange.values())
    if len(every) == 1 and isinstance(value := every.pop(), float):
        raise BadInput(
            f"Some columns of {name} hold {value:g} alone, which lies outside {low:g} to {high:g}."
            f" Does it mean 'not rated'? {advice({'missing': f'{value:g}'})}"
        )
    raise BadInput(
        f"No cell of {listing(list(strange))} in the first rows of {name} is a number from {low:g}"
        f" to {high:g}, so these columns hold no ratings. {advice({'leave': ','.join(strange)})}"
    )
