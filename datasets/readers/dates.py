"""Times of ratings: numbers, ISO dates, dates with the day or month first, names of months.

Only their order is used.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.tseries.api import guess_datetime_format

from dpmf_core.data.report import Order

Times = npt.NDArray[np.int64]
ORDERS: dict[Order, str] = {"dmy": "the day first", "mdy": "the month first"}
FORMAT_IS_PUBLIC = "the format of the dates is public"  # if it is found in private ones
# if the times of a private file make an order, because an unreadable one ends the use of all
READING_IS_PUBLIC = "whether all times in the file can be read is public"
UNREAD = int(np.iinfo(np.int64).min)
LATEST = 9e12  # seconds whose microseconds 64 bits can hold
# units of numbers since 1970, and their plausible ranges
EPOCHS = (
    ("seconds", 1e8, 1e10),
    ("milliseconds", 1e11, 1e13),
    ("microseconds", 1e14, 1e16),
    ("nanoseconds", 1e17, 9.2e18),
)
# two numbers of day and month, then the year: the sign between them, and what follows
NUMERIC = re.compile(
    r"^(?P<first>\d{1,2})(?P<sign>[/.\- ])\s?(?P<second>\d{1,2})(?:[/.\-]\s?|,?\s)"
    r"(?P<year>\d{4}|\d{2})(?!\d)(?P<rest>.*)$"
)
# C's ctime format: Wed Nov 27 13:05:09 +0000 2019
YEAR_LAST = re.compile(r"^(\D*\d{1,2}) (\d{1,2}:\d{2}(?::\d{2})?) ?([+-]\d{4}|UTC|GMT)? (\d{4})$")
CLOCK = re.compile(r"[T ]?\d{1,2}:\d{2}.*")
DATE_PARTS = r"\d+|[A-Za-z]{3,9}"  # a date has three: neither 10:30 nor Mar is one
MONTHS = 12
CENTURY = 69  # two-digit years below it are in this century, as in POSIX


@dataclass(frozen=True)
class Dates:
    """Some dates in microseconds since 1970, UNREAD if a text is none.

    day_first, month_first: (n,) read with the day or the month first; equal if that makes no
    difference. signs: between the numbers of dates for which it makes a difference.
    """

    day_first: Times
    month_first: Times
    signs: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.day_first)

    def read(self, order: Order) -> Times:
        return self.day_first if order == "dmy" else self.month_first

    @property
    def clear_order(self) -> Order | None:
        """The order of day and month, if some date can be read in one way only."""
        day_first, month_first = ((it == UNREAD).sum() for it in (self.day_first, self.month_first))
        if day_first == month_first:
            return None
        return "dmy" if day_first < month_first else "mdy"


Part = Dates | npt.NDArray[Any]  # some cells of a column: dates or numbers


@dataclass(frozen=True)
class ColumnTimes:
    """The times of a column.

    order: (n,) whole numbers that grow with time; None if some cannot be read. unread: (n,). words:
    how they were read. assumptions: what that takes as public; none without a column of times.
    """

    order: Times | None
    unread: npt.NDArray[np.bool_]
    words: str = ""
    assumptions: tuple[str, ...] = (READING_IS_PUBLIC,)


def column_times(parts: Sequence[Part], declared: Order | None = None) -> ColumnTimes:
    """The times of a column in some parts. declared: the order of dates, else all decide it."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return ColumnTimes(None, np.empty(0, np.bool_), assumptions=())
    dates = [part for part in parts if isinstance(part, Dates)]
    numbers = [part for part in parts if not isinstance(part, Dates)]
    if dates and numbers:
        others = [np.full(len(it), type(it) is not type(parts[0])) for it in parts]
        return ColumnTimes(None, np.concatenate(others))
    if not dates:
        return _of_numbers(np.concatenate(numbers))
    day_first, month_first = (
        np.concatenate([it.read(order) for it in dates]) for order in get_args(Order)
    )
    signs = frozenset[str]().union(*(it.signs for it in dates))
    return _of_dates(Dates(day_first, month_first, signs), declared)


def _of_dates(dates: Dates, declared: Order | None) -> ColumnTimes:
    order, why = declared or dates.clear_order, "this was declared"
    if not declared:
        why = f"some {'first' if order == 'dmy' else 'second'} number is above 12"
    if order is None:
        order = "mdy" if "/" in dates.signs else "dmy"
        why = "no date in the column decides it, so this was assumed"
    times = dates.read(order)
    if (unread := times == UNREAD).any():
        return ColumnTimes(None, unread)
    if not dates.signs:
        return ColumnTimes(times, unread, "Dates were read, each in the only way possible.")
    words = f"Dates such as 03/04/2021 were read with {ORDERS[order]}: {why}."
    return ColumnTimes(
        times, unread, words, (READING_IS_PUBLIC, *([] if declared else [FORMAT_IS_PUBLIC]))
    )


def _of_numbers(numbers: npt.NDArray[Any]) -> ColumnTimes:
    """Times that are numbers: since 1970, dates of eight digits, or in an unknown unit."""
    order = _whole(numbers)
    if (unread := order == UNREAD).any():
        return ColumnTimes(None, unread)
    first, last = (
        next((unit for unit, low, high in EPOCHS if low <= value < high), "")
        for value in (numbers.min(), numbers.max())
    )
    if first and last and first != last:
        late = numbers >= next(low for unit, low, _ in EPOCHS if unit == last)
        return ColumnTimes(None, late if 2 * late.sum() < len(late) else ~late)
    if first and last:
        words = f"Times were read as {first} since 1970."
    elif np.array_equal(order, numbers) and 19000101 <= order.min() and order.max() <= 21001231:
        words = "Times were read as dates of eight digits: year, month, day."
    else:
        words = "Times are numbers in an unknown unit; only their order is used."
    return ColumnTimes(order, unread, words)


def _whole(numbers: npt.NDArray[Any]) -> Times:
    """Whole numbers unchanged, others in millionths; UNREAD if they are too large or none."""
    if numbers.dtype == np.int64:
        return numbers
    is_usable = np.isfinite(numbers) & (np.abs(numbers) < LATEST)
    if (np.abs(numbers) < 2.0**62).all() and (numbers == np.floor(numbers)).all():
        return numbers.astype(np.int64)
    return np.where(is_usable, np.where(is_usable, numbers, 0) * 1e6, UNREAD).astype(np.int64)


def stripped(column: pa.Array) -> pa.Array:
    """A column as text without surrounding blanks; an empty cell becomes empty text."""
    text = column.cast(pa.string())
    text = pc.fill_null(text, "") if text.null_count else text
    codes = np.frombuffer(text.buffers()[2] or b"", np.uint8)
    has_blanks = len(codes) and (codes.min() <= ord(" ") or codes.max() > ord("~"))
    return pc.utf8_trim_whitespace(text) if has_blanks else text


def read_times(column: pa.Array) -> Part:
    """Cells as whole numbers, as floats (NaN for a cell that is none), or else as dates."""
    if pa.types.is_temporal(column.type):
        stamps = pd.to_datetime(pd.Series(column.to_pandas()), errors="coerce", utc=True)
        return Dates(_micro(stamps), _micro(stamps))
    text = stripped(column)
    try:
        return np.asarray(text.cast(pa.int64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        distinct = text.dictionary_encode()
    texts, at = distinct.dictionary.to_pylist(), distinct.indices.to_numpy()
    numbers = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").to_numpy(np.float64)
    if np.isfinite(numbers).any():
        return np.asarray(numbers[at])
    dates = parse_dates(texts)
    return replace(dates, day_first=dates.day_first[at], month_first=dates.month_first[at])


def parse_dates(texts: Sequence[str]) -> Dates:
    """Read dates of any format by pandas, which reads ISO dates itself and others by dateutil."""
    values = pd.Series([" ".join(text.split()) for text in texts], dtype=object)
    values = values.str.replace(YEAR_LAST, r"\1 \4 \2 \3", regex=True).str.strip()
    parts = values.str.extract(NUMERIC).fillna("")
    is_numeric = parts["first"] != ""
    is_late = pd.to_numeric(parts["year"]) < CENTURY
    century = pd.Series(np.where(is_late, "20", "19"), dtype=object)
    year = parts["year"].where(parts["year"].str.len() == 4, century + parts["year"])

    def read(day: str, month: str) -> Times:
        iso = year + "-" + parts[month].str.zfill(2) + "-" + parts[day].str.zfill(2)
        iso = (iso + parts["rest"]).where(pd.to_numeric(parts[month]) <= MONTHS, "")
        return _moments(values.where(~is_numeric, iso))

    day_first = read("first", "second")
    month_first = read("second", "first") if is_numeric.any() else day_first
    return Dates(day_first, month_first, frozenset(parts["sign"][is_numeric]))


def _moments(texts: "pd.Series[str]") -> Times:
    """Read all in the format of the first one, which is quick, then the others one by one."""
    is_date = texts.str.replace(CLOCK, "", regex=True).str.count(DATE_PARTS) >= 3
    candidates = texts[is_date]
    form = guess_datetime_format(candidates.iloc[0]) if len(candidates) else None
    stamps = pd.to_datetime(candidates, format=form or "mixed", errors="coerce", utc=True)
    rest = candidates[stamps.isna()] if form else candidates[:0]
    times = pd.Series(UNREAD, texts.index)
    times[candidates.index] = _micro(stamps)
    times[rest.index] = _micro(pd.to_datetime(rest, format="mixed", errors="coerce", utc=True))
    return np.asarray(times, np.int64)


def looks_like_times(values: Sequence[str]) -> bool:
    """Whether some values of a column are almost certainly times.

    These are seconds to nanoseconds since 1970 in whole numbers, or dates.
    """
    texts = [value.strip() for value in values if value.strip()]
    part = read_times(pa.array(texts, pa.string()))
    if isinstance(part, Dates):
        return bool(((part.day_first != UNREAD) | (part.month_first != UNREAD)).all())
    units = [any(low <= number < high for _, low, high in EPOCHS) for number in part.tolist()]
    return bool(units) and all(units)


def _micro(stamps: "pd.Series[pd.Timestamp]") -> Times:
    return np.where(
        stamps.isna(), UNREAD, stamps.astype("datetime64[us, UTC]").astype("int64")
    ).astype(np.int64)
