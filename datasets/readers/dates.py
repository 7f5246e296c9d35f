"""Times of ratings: numbers, ISO dates, dates with the day or month first, names of months.

Only their order is used.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from pandas.tseries.api import guess_datetime_format

from dpmf_datasets.readers.cells import stripped
from dpmf_datasets.readers.report import Order

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
class ColumnTimes:
    """The times of a column.

    They are whole numbers that grow with time, None if some cannot be read; with how they were read
    and what that takes as public. unread: (n,).
    """

    order: Times | None
    unread: npt.NDArray[np.bool_]
    example: str = ""
    words: str = ""
    assumptions: tuple[str, ...] = (READING_IS_PUBLIC,)  # none without a column of times


class Column:
    """The times of a table, batch by batch.

    Unless declared, the format of dates is decided when all are known.
    """

    def __init__(self, order: Order | None = None) -> None:
        self._order: Order | None = order
        self._parts: list[Dates | npt.NDArray[Any]] = []  # or numbers
        self._examples: dict[Order, str] = {}

    def take(self, column: pa.Array) -> None:
        if not len(column):
            return
        part = _read(column)
        self._parts.append(part)
        for name in ORDERS:
            unread = (part.read(name) if isinstance(part, Dates) else _whole(part)) == UNREAD
            if name not in self._examples and unread.any():
                self._examples[name] = str(column[int(unread.argmax())].as_py())

    def result(self) -> ColumnTimes:
        """The times of the whole column."""
        if not self._parts:
            return ColumnTimes(None, np.empty(0, np.bool_), assumptions=())
        dates = [part for part in self._parts if isinstance(part, Dates)]
        numbers = [part for part in self._parts if not isinstance(part, Dates)]
        if dates and numbers:
            kind = type(self._parts[0])
            others = [np.full(len(it), type(it) is not kind) for it in self._parts]
            return ColumnTimes(None, np.concatenate(others), "numbers and dates")
        if not dates:
            return _of_numbers(np.concatenate(numbers), self._examples.get("dmy", ""))
        return self._of_dates(
            Dates(
                np.concatenate([it.day_first for it in dates]),
                np.concatenate([it.month_first for it in dates]),
                frozenset().union(*(it.signs for it in dates)),
                any(it.have_names for it in dates),
            )
        )

    def _of_dates(self, dates: "Dates") -> ColumnTimes:
        order, why = self._order, "this was declared"
        if order is None:
            order = dates.clear_order
            why = f"some {'first' if order == 'dmy' else 'second'} number is above 12"
        if order is None:
            order = "mdy" if "/" in dates.signs else "dmy"
            why = "no date in the column decides it, so this was assumed"
        times = dates.read(order)
        if (unread := times == UNREAD).any():
            return ColumnTimes(None, unread, self._examples.get(order, ""))
        if not dates.signs:
            how = "with the names of months" if dates.have_names else "as year, month, day"
            return ColumnTimes(times, unread, words=f"Dates were read {how}.")
        return ColumnTimes(
            times,
            unread,
            words=f"Dates such as 03/04/2021 were read with {ORDERS[order]}: {why}.",
            assumptions=(READING_IS_PUBLIC, *([] if self._order else [FORMAT_IS_PUBLIC])),
        )


def _of_numbers(numbers: npt.NDArray[Any], example: str) -> ColumnTimes:
    """Times that are numbers: since 1970, dates of eight digits, or in an unknown unit."""
    order = _whole(numbers)
    if (unread := order == UNREAD).any():
        return ColumnTimes(None, unread, example)
    units = [
        next((unit for unit, low, high in EPOCHS if low <= value < high), "")
        for value in (numbers.min(), numbers.max())
    ]
    if units[0] != units[1] and all(units):
        late = numbers >= next(low for unit, low, _ in EPOCHS if unit == units[1])
        fewer = late if 2 * late.sum() < len(late) else ~late
        return ColumnTimes(None, fewer, f"{units[0]} and {units[1]} since 1970 in one column")
    if all(units):
        words = f"Times were read as {units[0]} since 1970."
    elif np.array_equal(order, numbers) and 19000101 <= order.min() and order.max() <= 21001231:
        words = "Times were read as dates of eight digits: year, month, day."
    else:
        words = "Times are numbers in an unknown unit; only their order is used."
    return ColumnTimes(order, unread, words=words)


def _whole(numbers: npt.NDArray[Any]) -> Times:
    """Whole numbers unchanged, others in millionths; UNREAD if they are too large or none."""
    if numbers.dtype == np.int64:
        return numbers
    is_usable = np.isfinite(numbers) & (np.abs(numbers) < LATEST)
    if (np.abs(numbers) < 2.0**62).all() and (numbers == np.floor(numbers)).all():
        return numbers.astype(np.int64)
    return np.where(is_usable, np.where(is_usable, numbers, 0) * 1e6, UNREAD).astype(np.int64)


@dataclass(frozen=True)
class Dates:
    """Some dates in microseconds since 1970, UNREAD if a text is none.

    Parameters
    ----------
    day_first, month_first : int64 (n,)
        Read with the day first and with the month first; equal if that makes no difference.
    signs : set of str
        The signs between the numbers of dates for which it makes a difference.
    have_names : bool
        Whether some have names of months.
    """

    day_first: Times
    month_first: Times
    signs: frozenset[str] = frozenset()
    have_names: bool = False

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


def _read(column: pa.Array) -> Dates | npt.NDArray[Any]:
    """A column as whole numbers, as floats (NaN for a cell that is none), or else as dates."""
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

    names = values[~is_numeric].str.replace(CLOCK, "", regex=True)
    day_first = read("first", "second")
    return Dates(
        day_first,
        read("second", "first") if is_numeric.any() else day_first,
        frozenset(parts["sign"][is_numeric]),
        bool(names.str.contains(r"[A-Za-z]{3}").any()),
    )


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
    if not texts:
        return False
    numbers = [float(text) for text in texts if re.fullmatch(r"\d{9,19}(\.\d+)?", text)]
    if len(numbers) == len(texts):
        return all(any(low <= number < high for _, low, high in EPOCHS) for number in numbers)
    dates = parse_dates(texts)
    return bool(((dates.day_first != UNREAD) | (dates.month_first != UNREAD)).all())


def _micro(stamps: "pd.Series[pd.Timestamp]") -> Times:
    return np.where(
        stamps.isna(), UNREAD, stamps.astype("datetime64[us, UTC]").astype("int64")
    ).astype(np.int64)
