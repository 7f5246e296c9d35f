"""Times of ratings: numbers, ISO dates, dates with the day or month first, names of months.

Only their order is used.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpmf_datasets.readers.cells import stripped
from dpmf_datasets.readers.report import Order

if TYPE_CHECKING:  # loaded where it is needed: most tables have no such dates
    import pandas as pd

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
    and what that takes as public. ambiguous: whether all dates can be read with the day first and
    with the month first, and the order was not declared.
    """

    order: Times | None
    unread: npt.NDArray[np.bool_]
    example: str = ""
    words: str = ""
    assumptions: tuple[str, ...] = (READING_IS_PUBLIC,)
    ambiguous: bool = False


@dataclass(frozen=True)
class _Part:
    kind: Literal["number", "fraction", "date"]
    day_first: Times
    month_first: Times


class Column:
    """The times of a table, batch by batch.

    Unless declared, the format of dates is decided when all are known.
    """

    def __init__(self, order: Order | None = None) -> None:
        self._order: Order | None = order
        self._parts: list[_Part] = []
        self._signs: set[str] = set()  # between numbers of which either may be the day
        self._has_names = False
        self._examples: dict[Order, str] = {}

    def take(self, column: pa.Array) -> None:
        part = self._read(column)
        if not len(part.day_first):
            return
        self._parts.append(part)
        readings: tuple[tuple[Order, Times], ...] = (
            ("dmy", part.day_first),
            ("mdy", part.month_first),
        )
        for name, times in readings:
            if name not in self._examples and (times == UNREAD).any():
                self._examples[name] = str(column[int((times == UNREAD).argmax())].as_py())

    def _read(self, column: pa.Array) -> _Part:
        if pa.types.is_temporal(column.type):
            import pandas as pd

            stamps = pd.to_datetime(pd.Series(column.to_pandas()), errors="coerce", utc=True)
            return _Part("date", *[_micro(stamps)] * 2)
        text = stripped(column)
        return _numbers(text) or self._dates(text)

    def _dates(self, text: pa.Array) -> _Part:
        as_dictionary = text.dictionary_encode()
        at = as_dictionary.indices.to_numpy(zero_copy_only=False)
        dates = parse_dates(as_dictionary.dictionary.to_pylist())
        self._signs |= set(dates.signs)
        self._has_names |= dates.have_names
        return _Part("date", dates.day_first[at], dates.month_first[at])

    def result(self) -> ColumnTimes:
        """The times of the whole column."""
        kinds = {part.kind for part in self._parts}
        if not kinds:
            return ColumnTimes(None, np.empty(0, np.bool_))
        if kinds == {"number", "fraction"}:
            self._parts = [_fraction(part) for part in self._parts]
        elif len(kinds) > 1:
            first = self._parts[0].kind
            others = [np.full(len(it.day_first), it.kind != first) for it in self._parts]
            return ColumnTimes(None, np.concatenate(others), "numbers and dates")
        readings: dict[Order, Times] = {
            "dmy": np.concatenate([part.day_first for part in self._parts]),
            "mdy": np.concatenate([part.month_first for part in self._parts]),
        }
        order, why = self._choose_order(readings)
        times = readings[order]
        if (unread := times == UNREAD).any():
            return ColumnTimes(None, unread, self._examples.get(order, ""))
        if "date" not in kinds:
            return _of_numbers(times, self._parts[0].kind == "fraction")
        return self._of_dates(readings, order, why)

    def _of_dates(self, readings: dict[Order, Times], order: Order, why: str) -> ColumnTimes:
        times, unread = readings[order], np.zeros(len(readings[order]), np.bool_)
        if not self._signs:
            how = "with the names of months" if self._has_names else "as year, month, day"
            return ColumnTimes(times, unread, words=f"Dates were read {how}.")
        return ColumnTimes(
            times,
            unread,
            words=f"Dates such as 03/04/2021 were read with {ORDERS[order]}: {why}.",
            assumptions=(READING_IS_PUBLIC, *([] if self._order else [FORMAT_IS_PUBLIC])),
            ambiguous=not self._order and not any((it == UNREAD).any() for it in readings.values()),
        )

    def _choose_order(self, readings: dict[Order, Times]) -> tuple[Order, str]:
        """The order of day and month, and why."""
        if self._order:
            return self._order, "so it was declared"
        bad = {name: int((times == UNREAD).sum()) for name, times in readings.items()}
        if bad["dmy"] != bad["mdy"]:
            order: Order = "dmy" if bad["dmy"] < bad["mdy"] else "mdy"
            return order, f"some {'first' if order == 'dmy' else 'second'} number is above 12"
        usual: Order = "mdy" if "/" in self._signs else "dmy"
        return usual, "no date in the column decides it, so this was assumed"


def _of_numbers(order: Times, are_fractions: bool) -> ColumnTimes:
    """Times that are numbers: since 1970, dates of eight digits, or in an unknown unit."""
    nothing = np.zeros(len(order), np.bool_)
    scale = 1_000_000 if are_fractions else 1
    units = [
        next((unit for unit, low, high in EPOCHS if low <= value < high), "")
        for value in (int(order.min()) // scale, int(order.max()) // scale)
    ]
    if units[0] != units[1] and all(units):
        late = order // scale >= next(low for unit, low, _ in EPOCHS if unit == units[1])
        fewer = late if 2 * late.sum() < len(late) else ~late
        return ColumnTimes(None, fewer, f"{units[0]} and {units[1]} since 1970 in one column")
    if all(units):
        words = f"Times were read as {units[0]} since 1970."
    elif scale == 1 and 19000101 <= order.min() and order.max() <= 21001231:
        words = "Times were read as dates of eight digits: year, month, day."
    else:
        words = "Times are numbers in an unknown unit; only their order is used."
    return ColumnTimes(order, nothing, words=words)


@dataclass(frozen=True)
class Dates:
    """Some dates in microseconds since 1970, UNREAD if a text is none.

    Parameters
    ----------
    day_first, month_first : int64 (n,)
        Read with the day first and with the month first; equal if that makes no difference.
    signs : tuple of str
        The signs between the numbers of dates for which it makes a difference.
    have_names : bool
        Whether some have names of months.
    """

    day_first: Times
    month_first: Times
    signs: tuple[str, ...]
    have_names: bool


def parse_dates(texts: Sequence[str]) -> Dates:
    """Read dates of any format by pandas, which reads ISO dates itself and others by dateutil."""
    import pandas as pd

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
        tuple(parts["sign"][is_numeric]),
        bool(names.str.contains(r"[A-Za-z]{3}").any()),
    )


def _moments(texts: "pd.Series[str]") -> Times:
    """Read all in the format of the first one, which is quick, then the others one by one."""
    import pandas as pd
    from pandas.tseries.api import guess_datetime_format

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


def has_numeric_dates(values: Sequence[str]) -> bool:
    """Whether some date can be read with the day first or with the month first."""
    return bool(parse_dates(values).signs)


def is_order_clear(values: Sequence[str]) -> bool:
    """Whether some date with two numbers before its year can be read in one way only."""
    dates = parse_dates(values)
    return bool(((dates.day_first == UNREAD) != (dates.month_first == UNREAD)).any())


def _micro(stamps: "pd.Series[pd.Timestamp]") -> Times:
    return np.where(
        stamps.isna(), UNREAD, stamps.astype("datetime64[us, UTC]").astype("int64")
    ).astype(np.int64)


def _numbers(text: pa.Array) -> _Part | None:
    """Whole numbers unchanged, fractions in millionths; None if there is no number at all."""
    try:
        times = np.asarray(text.cast(pa.int64()).to_numpy(zero_copy_only=False))
        return _Part("number", times, times)
    except pa.ArrowInvalid:
        import pandas as pd

        cells = pd.Series(text.to_numpy(zero_copy_only=False))
        values = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64)
    if not np.isfinite(values).any():
        return None
    if (np.abs(values) < 2.0**62).all() and (values == np.floor(values)).all():
        times = values.astype(np.int64)
        return _Part("number", times, times)
    fits = np.isfinite(values) & (np.abs(values) < LATEST)
    times = np.where(fits, np.where(fits, values, 0) * 1e6, UNREAD).astype(np.int64)
    return _Part("fraction", times, times)


def _fraction(part: _Part) -> _Part:
    if part.kind == "fraction":
        return part
    fits = (part.day_first != UNREAD) & (np.abs(part.day_first) < LATEST)
    times = np.where(fits, np.where(fits, part.day_first, 0) * 1_000_000, UNREAD)
    return _Part("fraction", times, times)
