"""Rows of a table to arrays of ratings: numbers parsed, ids numbered, and every row that is bad
counted with its place.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpmf_core.data.ordering import order_of_pairs, repeats
from dpmf_datasets.readers import dates
from dpmf_datasets.readers.cells import Flags, Labels, letters, only, spelling_notes, stripped
from dpmf_datasets.readers.report import (
    CLAMPED_VALUE,
    DUPLICATE,
    INFINITE,
    KINDS,
    LINES_SHOWN,
    MISSING,
    NO_TIME,
    NOT_A_NUMBER,
    OUTSIDE,
    RAGGED_LINE,
    Outside,
    Problem,
    Tally,
)
from dpmf_datasets.readers.table import Table

NOTHING = ("", "na", "n/a", "null", "none")  # how a rating that is not there is written
THOUSANDS = r"^[+-]?\d{1,3}\.\d{3}$"  # or a number with three decimals
# in a table with commas between its columns it stands in quotation marks; 1,234 may be a thousand
QUOTED_DECIMAL = r"^[+-]?\d+,(\d{1,2}|\d{4,})$"


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The usable rows of a table (n_rows,), sorted by user, item and place in the table; ids
    numbered from 0 in the order of their labels; and what was wrong with the other rows.
    """

    users: npt.NDArray[np.int32]
    items: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]
    order: npt.NDArray[np.int64] | None
    user_labels: tuple[str, ...]
    item_labels: tuple[str, ...]
    titles: tuple[str, ...]
    read: int
    problems: tuple[Problem, ...]
    reading_notes: tuple[str, ...] = ()  # how what can be read in two ways was read, in sentences
    assumptions: tuple[str, ...] = ()  # what that takes as public
    dates_are_ambiguous: bool = False


@dataclass
class _Collection:
    """What has been read so far."""

    tally: Tally = field(default_factory=Tally)
    users: Labels = field(default_factory=Labels)
    items: Labels = field(default_factory=Labels)
    titles: dict[str, str] = field(default_factory=dict)
    values: list[npt.NDArray[np.float32]] = field(default_factory=list)
    rows: list[npt.NDArray[np.int32]] = field(default_factory=list)
    times: dates.Column | None = None
    commas: int = 0
    thousands: int = 0
    at: int = 0
    read: int = 0


def collect(
    table: Table,
    places: Mapping[str, int],
    bounds: tuple[float, float],
    order: dates.Order | None = None,
    outside: Outside = "clamp",
) -> Rows:
    """Reads a table batch by batch. Ids are text, so that "007" and "7" stay two; values outside
    the declared bounds are set to the nearest bound, or their rows are left out.

    order: whether dates of three numbers have the day or the month first, where it is declared.
    outside: decided for each row by its own value and the declared bounds, which are public. What
    remains of a person's rows follows from her rows alone, so that neighbouring tables make
    neighbouring ratings and no sensitivity changes. Whoever loses every row keeps an empty one.
    """
    got = _Collection(times=dates.Column(order) if "time" in places else None)
    for batch in table.batches(list(places.values())):
        by_role = dict(zip(places, batch, strict=True))
        _take(got, by_role, bounds, outside, decimal_comma=table.decimal_comma)
    return _finish(got, table)


@dataclass(frozen=True)
class Batch:
    """The usable rows of some of a table (n_rows,). users, items: their ids, of which the
    dictionaries hold those of unusable rows too; order: times, None where they are not used.
    """

    users: pa.DictionaryArray
    items: pa.DictionaryArray
    values: npt.NDArray[np.float32]
    order: npt.NDArray[np.int64] | None


class Batches:
    """A table read as by `collect`, some rows at a time, none of which is kept; afterwards, what
    was wrong with the others. Each batch's times are read by themselves, as `words` say.
    """

    def __init__(
        self,
        table: Table,
        places: Mapping[str, int],
        bounds: tuple[float, float],
        order: dates.Order | None = None,
        outside: Outside = "clamp",
    ) -> None:
        self._table, self._places, self._bounds = table, places, bounds
        self._dates, self._outside = order, outside
        self._got = _Collection()
        self.words: set[str] = set()  # how times were read
        self.dates_are_ambiguous = False

    def __iter__(self) -> Iterator[Batch]:
        got = self._got
        for batch in self._table.batches(list(self._places.values())):
            got.times = dates.Column(self._dates) if "time" in self._places else None
            by_role = dict(zip(self._places, batch, strict=True))
            decimal_comma = self._table.decimal_comma
            _take(got, by_role, self._bounds, self._outside, decimal_comma=decimal_comma)
            times = _order(got, got.rows.pop())
            self.words |= {times.words} - {""}
            self.dates_are_ambiguous |= times.ambiguous or bool(times.assumption)
            yield Batch(got.users.pop(), got.items.pop(), got.values.pop(), times.order)

    @property
    def read(self) -> int:
        """Rows that are not blank, so far."""
        return self._got.read + len(self._ragged_lines)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was wrong, so far."""
        return _problems(self._got, self._table, self._ragged_lines)

    @property
    def titles(self) -> dict[str, str]:
        """Of items by their ids, where the table has them."""
        return self._got.titles

    @property
    def reading_notes(self) -> tuple[str, ...]:
        """How what can be read in two ways was read, in sentences."""
        return (*self._table.read_as(), *_signs(self._got), *sorted(self.words))

    @property
    def _ragged_lines(self) -> list[tuple[int, str]]:
        return [(number, text) for number, text in self._table.ragged_lines if text]


def _take(
    got: _Collection,
    batch: Mapping[str, pa.Array],
    bounds: tuple[float, float],
    outside: Outside,
    *,
    decimal_comma: bool,
) -> None:
    user, item = stripped(batch["user"]), stripped(batch["item"])
    values, absent = _numbers(got, batch["rating"], decimal_comma=decimal_comma)
    nameless = [pc.equal(ids, "").to_numpy(zero_copy_only=False) for ids in (user, item)]
    row = np.arange(got.at, got.at + len(values), dtype=np.int32)
    got.at += len(values)
    blank = nameless[0] & nameless[1] & absent
    missing = (nameless[0] | nameless[1] | absent) & ~blank
    infinite, text = np.isinf(values) & ~missing & ~blank, np.isnan(values) & ~missing & ~blank
    got.read += int((~blank).sum())
    for kind, where in ((MISSING, missing), (NOT_A_NUMBER, text), (INFINITE, infinite)):
        _note(got.tally, kind, where, row, batch)
    has_ids = ~(nameless[0] | nameless[1])
    good = has_ids & np.isfinite(values)
    beyond = good & ((values < bounds[0]) | (values > bounds[1]))
    kind = CLAMPED_VALUE if outside == "clamp" else OUTSIDE
    _note(got.tally, kind, beyond, row, batch)
    got.tally.count_values(kind, values[beyond])
    if outside == "leave-out":
        good &= ~beyond
    # Ids are numbered before bad ratings go: a user all of whose ratings are bad is still a user.
    keep = good[has_ids]
    got.users.take(only(user, has_ids), keep)
    items = got.items.take(only(item, has_ids), keep)
    selection = slice(None) if good.all() else good
    got.values.append(values[selection].clip(*bounds).astype(np.float32))
    got.rows.append(row[selection])
    if "title" in batch:
        _titles(got, items, only(batch["title"], good))
    if got.times is not None:
        got.times.take(only(batch["time"], good))


def _note(
    tally: Tally, kind: str, where: Flags, row: npt.NDArray[np.int32], batch: Mapping[str, pa.Array]
) -> None:
    if where.any():
        first = int(where.argmax())
        example = (
            batch["rating"][first].as_py()
            if kind != MISSING
            else ",".join(
                str(batch[role][first].as_py() or "") for role in ("user", "item", "rating")
            )
        )
        tally.add(kind, row[where], example)


def _numbers(
    got: _Collection, column: pa.Array, *, decimal_comma: bool
) -> tuple[npt.NDArray[np.float64], Flags]:
    """Values, NaN where there is no number; and where nothing is written at all.

    Of a comma and a point the last is the decimal sign.
    """
    if (
        pa.types.is_integer(column.type)
        or pa.types.is_floating(column.type)
        or pa.types.is_decimal(column.type)
    ):
        return np.array(column.cast(pa.float64()).to_numpy(zero_copy_only=False)), np.asarray(
            column.is_null().to_numpy(zero_copy_only=False), np.bool_
        )
    text = stripped(column)
    has_comma = bool((letters(text) == ord(",")).any())
    if not decimal_comma and has_comma:
        has_decimal_comma = pc.match_substring_regex(text, QUOTED_DECIMAL)
        if commas := pc.sum(has_decimal_comma).as_py():
            got.commas += commas
            text = pc.if_else(has_decimal_comma, pc.replace_substring(text, ",", "."), text)
    elif decimal_comma:
        got.thousands += pc.sum(pc.match_substring_regex(text, THOUSANDS)).as_py() or 0
        if has_comma:
            got.commas += pc.sum(pc.match_substring(text, ",")).as_py()
            both = pc.match_substring_regex(text, r"\..*,")
            text = pc.replace_substring(
                pc.if_else(both, pc.replace_substring(text, ".", ""), text), ",", "."
            )
    try:
        return np.array(text.cast(pa.float64()).to_numpy(zero_copy_only=False)), np.zeros(
            len(text), np.bool_
        )
    except pa.ArrowInvalid:  # some value is no number: look at each
        import pandas as pd  # which most tables do without

        absent = pc.is_in(pc.utf8_lower(text), pa.array(NOTHING)).to_numpy(zero_copy_only=False)
        values = pd.to_numeric(
            pd.Series(text.to_numpy(zero_copy_only=False)), errors="coerce"
        ).to_numpy(np.float64)
        return values, absent


def _titles(got: _Collection, items: pa.DictionaryArray, titles: pa.Array) -> None:
    codes, first = np.unique(items.indices.to_numpy(zero_copy_only=False), return_index=True)
    labels = items.dictionary.take(pa.array(codes)).cast(pa.string()).to_pylist()
    for label, title in zip(labels, titles.take(pa.array(first)).to_pylist(), strict=True):
        got.titles.setdefault(label, str(title or "").strip())


def _order(got: _Collection, rows: npt.NDArray[np.int32]) -> dates.ColumnTimes:
    """The order of the ratings; one time that cannot be read ends the use of all."""
    if got.times is None:
        return dates.ColumnTimes(None, np.empty(0, np.bool_))
    times = got.times.result()
    got.tally.add(NO_TIME, rows[times.unread], times.example)
    return times


def _time_assumptions(got: _Collection, times: dates.ColumnTimes) -> list[str]:
    if got.times is None:
        return []
    return [dates.READING_IS_PUBLIC, *([times.assumption] if times.assumption else [])]


def _signs(got: _Collection) -> list[str]:
    """What was assumed of points and commas."""
    sentences = (
        [
            f"{got.commas:,} ratings have a comma, which was read as the decimal sign: 3,5 is three"
            " and a half."
        ]
        if got.commas
        else []
    )
    if got.thousands:
        sentences.append(
            f"{got.thousands:,} ratings are written like 1.234. The point was read as the decimal"
            " sign: a little more than one, not more than a thousand."
        )
    return sentences


def _end_to_end(parts: list[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    """All batches of a column (n_rows,). Empties the list, for they take as much memory."""
    whole = np.concatenate(parts) if parts else np.empty(0, dtype)
    parts.clear()
    return whole


def _note_duplicates(
    got: _Collection,
    pairs: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]],
    rows: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.int32]],
    labels: tuple[Sequence[str], Sequence[str]],
) -> None:
    """Counts ratings of an item by a user who has rated it before. pairs: users and items, sorted.
    rows: where those at some positions stand in the table.
    """
    again = np.flatnonzero(repeats(*pairs))
    if not len(again):
        return
    row_numbers = rows(again)
    first = again[row_numbers.argmin()]
    example = ",".join(names[ids[first]] for names, ids in zip(labels, pairs, strict=True))
    got.tally.add(DUPLICATE, np.sort(row_numbers), example)


def _problems(
    got: _Collection, table: Table, ragged_lines: Sequence[tuple[int, str]]
) -> tuple[Problem, ...]:
    """Everything that was counted, in the order of telling. ragged_lines: of another width."""
    problems = got.tally.problems(table.line, table.unit)
    if ragged_lines:
        lines = tuple(number for number, _ in ragged_lines[:LINES_SHOWN])
        problems.append(
            Problem(RAGGED_LINE, len(ragged_lines), lines, ragged_lines[0][1], table.unit)
        )
    return tuple(sorted(problems, key=lambda problem: KINDS.index(problem.kind)))


def _finish(got: _Collection, table: Table) -> Rows:
    user_labels, users = got.users.numbering()
    item_labels, items = got.items.numbering()
    values, rows = _end_to_end(got.values, np.float32), _end_to_end(got.rows, np.int32)
    times = _order(got, rows)
    order = times.order
    by_pair = order_of_pairs(users, items, len(user_labels), len(item_labels))
    if by_pair is not None:
        users, items, values = users[by_pair], items[by_pair], values[by_pair]
        order = None if order is None else order[by_pair]
    _note_duplicates(
        got,
        (users, items),
        lambda at: rows[at if by_pair is None else by_pair[at]],
        (user_labels, item_labels),
    )
    reading_notes = (
        *table.read_as(),
        *_signs(got),
        *([times.words] if times.words else []),
        *spelling_notes(user_labels, "users"),
        *spelling_notes(item_labels, "items"),
    )
    ragged_lines = [(number, text) for number, text in table.ragged_lines if text]
    return Rows(
        users=users,
        items=items,
        values=values,
        order=order,
        user_labels=user_labels,
        item_labels=item_labels,
        titles=tuple(got.titles.get(label) or label for label in item_labels),
        read=got.read + len(ragged_lines),
        problems=_problems(got, table, ragged_lines),
        reading_notes=reading_notes,
        assumptions=(*table.assumptions, *_time_assumptions(got, times)),
        dates_are_ambiguous=times.ambiguous,
    )
