"""Wide tables, with one row per user and one column per item, as one row per rating."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from dpmf_core.base.errors import BadInput, listing
from dpmf_core.data.column_names import REQUIRED_ROLES, Advice, by_name
from dpmf_datasets.readers.declared import Declared
from dpmf_datasets.readers.table import PREVIEW, Table, is_number


def as_long(table: Table, declared: Declared, name: str, advice: Advice) -> Table:
    """A table with one row per cell of a wide table. The cells are its ratings.

    Parameters
    ----------
    table : Table
        The wide table.
    declared : Declared
        The person's column, and the columns to leave out.
    name : str
        What messages call the table.
    advice : Advice
        How to declare more, for messages.

    Returns
    -------
    Table
        The long table.

    Raises
    ------
    BadInput
        If the person's column is not declared and not evident, or if a column holds no ratings.
    """
    if len(table.names) < 2 or not table.head:
        raise BadInput(
            f"{name} has {len(table.names)} columns and {len(table.head)} rows. A wide table has"
            " one row per user and one column per item, and its first line names the items."
        )
    leave = [_place(table, column, "leave", advice) for column in declared.leave]
    user = _user_column(table, declared, leave, name, advice)
    places = [place for place in range(len(table.names)) if place not in (user, *leave)]
    _require_ratings(table, places, declared, name, advice)
    items = pa.array([table.names[place] for place in places], pa.string())

    def batches(columns: Sequence[int]) -> Iterator[list[pa.Array]]:
        for users, *cells in table.batches([user, *places]):
            row = np.repeat(np.arange(len(users)), len(items))
            item = np.tile(np.arange(len(items), dtype=np.int32), len(users))
            ratings = pa.concat_arrays([column.cast(pa.string()) for column in cells])
            long = [
                users.take(pa.array(row)),
                pa.DictionaryArray.from_arrays(pa.array(item), items),
                ratings.take(pa.array(item.astype(np.int64) * len(users) + row)),
            ]
            yield [long[column] for column in columns]

    some = table.head[: 1 + PREVIEW // len(places)]
    return replace(
        table,
        names=REQUIRED_ROLES,
        head=[
            (row[user], table.names[place], row[place])
            for row in some
            for place in places
        ],
        batches=batches,
        layout=(
            f"{len(places):,} columns of items, a row for each user, who is named by the column"
            f" '{table.names[user]}'. {table.layout}"
        ),
        n_wide=len(places),
    )


def _place(table: Table, column: str, fact: str, advice: Advice) -> int:
    place = table.place_of(column)
    if place is None:
        raise BadInput(
            f"There is no column '{column[:40]}'. The columns are {listing(table.names)}."
            f" {advice({fact: table.names[0] or 'column 1'})}"
        )
    return place


def _user_column(
    table: Table, declared: Declared, leave: Sequence[int], name: str, advice: Advice
) -> int:
    """The column that names the person: declared, by its name, or the only one of text."""
    if declared.columns.get("user"):
        return _place(table, declared.columns["user"], "user", advice)
    by_its_name = by_name(table.names, loosely=False).get("user")
    if by_its_name is not None:
        return by_its_name
    texts = []
    for place in range(len(table.names)):
        cells = table.sample(place, PREVIEW)
        if place not in leave and any(cells) and not any(map(is_number, cells)):
            texts.append(place)
    if len(texts) == 1:
        return texts[0]
    spare = [
        column
        for place, column in enumerate(table.names)
        if column and place not in leave
    ]
    raise BadInput(
        f"Which column of {name} names the person of each row? Its columns:"
        f" {listing(table.names)}. {advice({'user': (*spare, 'column 1')[0]})} If no column"
        " does, add one with a different id for each person."
    )


def _require_ratings(
    table: Table, places: Sequence[int], declared: Declared, name: str, advice: Advice
) -> None:
    """Raise BadInput if the first cells of a column are not ratings, as in a column of ages."""
    assert declared.bounds is not None
    low, high = declared.bounds
    strange: dict[str, set[float | str]] = {}
    for place in places:
        cells = {
            cell.replace(",", ".") for cell in table.sample(place, PREVIEW) if cell
        }
        values = {float(cell) if is_number(cell) else cell for cell in cells}
        values -= set(declared.missing)
        if values and not any(
            isinstance(value, float) and low <= value <= high for value in values
        ):
            strange[table.names[place]] = values
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
