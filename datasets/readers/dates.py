"""Times of ratings: numbers, ISO dates, dates with the day or month first, names of months.

Only their order is used.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.tseries.api import guess_datetime_format

from dpmf_core.base.arrays import Doubles, Flags, Ints
from dpmf_core.data.report import DateOrder
from dpmf_datasets.readers.numbers import NumberFormat, bytes_of

ORDERS: dict[DateOrder, str] = {"dmy": "the day first", "mdy": "the month first"}
UNREAD = int(np.iinfo(np.int64).min)
LARGEST = 9e18  # 64 bits hold it
FRACTIONS = 1_000_000  # of a number with a decimal point
WHOLE = re.compile(r"-?\d{1,19}", re.ASCII)
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
    r"(?P<year>\d{4}|\d{2})(?!\d)(?P<rest>.*)$",
    re.ASCII,
)
# C's ctime format: Wed Nov 27 13:05:09 +0000 2019
YEAR_LAST = re.compile(
    r"^(\D*\d{1,2}) (\d{1,2}:\d{2}(?::\d{2})?) ?([+-]\d{4}|UTC|GMT)? (\d{4})$"
)
CLOCK = re.compile(r"[T ]?\d{1,2}:\d{2}.*")
DATE_PARTS = r"\d+|[A-Za-z]{3,9}"  # a date has three: neither 10:30 nor Mar is one
MONTHS = 12
CENTURY = 69  # two-digit years below it are in this century, as in POSIX


@dataclass(frozen=True)
class Dates:
    """Some dates in microseconds since 1970; UNREAD where a text is not a date.

    Attributes
    ----------
    day_first, month_first : int64 (n,)
        The dates read with the day or the month first. They are equal if the order makes no
        difference.
    signs : frozenset of str
        The signs between the numbers of dates for which the order makes a difference.
    """

    day_first: Ints
    month_first: Ints
    signs: frozenset[str] = frozenset()

    def read(self, order: DateOrder) -> Ints:
        if order == "dmy":
            return self.day_first
        return self.month_first

    @property
    def clear_order(self) -> DateOrder | None:
        """The order of day and month, if some date can be read in only one way."""
        n_more = (self.day_first != UNREAD).sum() - (self.month_first != UNREAD).sum()
        if n_more == 0:
            return None
        if n_more > 0:
            return "dmy"
        return "mdy"

    @property
    def is_read(self) -> Flags:
        """Which texts (n,) can be read in some way."""
        is_read: Flags = (self.day_first != UNREAD) | (self.month_first != UNREAD)
        return is_read


class AmbiguousDates(ValueError):
    """Dates that can be read with the day or the month first."""


def stripped(column: pa.Array) -> pa.Array:
    """A column as text without surrounding blanks; an empty cell becomes empty text."""
    text = column.cast(pa.string())
    if text.null_count:
        text = pc.fill_null(text, "")
    codes = np.frombuffer(bytes_of(text), np.uint8)
    has_blanks = len(codes) and (codes.min() <= ord(" ") or codes.max() > ord("~"))
    if has_blanks:
        return pc.utf8_trim_whitespace(text)
    return text


@dataclass(frozen=True)
class Clock:
    """How a column of times is read: a part of the table's public layout.

    The time of a cell then follows from that cell alone. One that cannot be read counts as 0.

    Attributes
    ----------
    order : {"dmy", "mdy"} or None
        The order of day and month in dates; None for numbers.
    unit : str
        The unit of numbers since 1970; "" if it is unknown.
    has_fractions : bool
        Whether numbers are read in millionths.
    form : str
        The format of dates that is tried first.
    words : str
        How times are read, in a sentence.
    """

    order: DateOrder | None = None
    unit: str = ""
    has_fractions: bool = False
    form: str = ""
    words: str = ""

    @classmethod
    def of(cls, sample: Sequence[str], declared: DateOrder | None) -> "Clock | None":
        """The clock of a column with these first cells.

        Returns None if most of them are not times. Raises AmbiguousDates.
        """
        cells = [cell.strip() for cell in sample if cell.strip()]
        if not cells:
            return cls()
        numbers = pd.to_numeric(
            pd.Series(cells, dtype=object), errors="coerce"
        ).to_numpy(float)
        numbers = numbers[np.isfinite(numbers)]
        if 2 * len(numbers) >= len(cells):
            return cls._of_numbers(numbers)
        return cls._of_dates(cells, declared)

    @classmethod
    def _of_dates(
        cls, cells: Sequence[str], declared: DateOrder | None
    ) -> "Clock | None":
        dates = parse_dates(cells)
        order = declared or dates.clear_order
        if 2 * dates.is_read.sum() < len(cells):
            return None
        if not dates.signs:
            words = "Dates were read, each in the only way possible."
            # the format of the first date, if it has one with a name
            form = next(filter(None, map(guess_datetime_format, cells)), "")
            return cls("dmy", form=form, words=words)
        if order is None:
            raise AmbiguousDates
        why = "this was declared"
        if not declared:
            number = "first" if order == "dmy" else "second"
            why = f"in the first rows some {number} number is above {MONTHS}"
        words = f"Dates such as 03/04/2021 were read with {ORDERS[order]}: {why}."
        return cls(order, form="ISO8601", words=words)

    @classmethod
    def _of_numbers(cls, numbers: Doubles) -> "Clock":
        """Times that are numbers: since 1970, dates of eight digits, or in an unknown unit."""
        has_fractions = bool((numbers != np.floor(numbers)).any())
        for unit, low, high in EPOCHS:
            if ((numbers >= low) & (numbers < high)).all():
                words = f"Times were read as {unit} since 1970."
                return cls(
                    unit=unit,
                    has_fractions=has_fractions,
                    words=words,
                )
        if not has_fractions and ((numbers >= 19000101) & (numbers <= 21001231)).all():
            words = "Times were read as dates of eight digits: year, month, day."
            return cls(words=words)
        words = "Times are numbers in an unknown unit; only their order is used."
        return cls(has_fractions=has_fractions, words=words)

    def order_of(self, column: pa.Array) -> tuple[Ints, Flags]:
        """Whole numbers (n,) that grow with time, and which cells (n,) cannot be read."""
        times = self._times(column)
        is_unread: Flags = times == UNREAD
        return np.where(is_unread, 0, times), is_unread

    def _times(self, column: pa.Array) -> Ints:
        if pa.types.is_temporal(column.type):
            return _of_temporal(column)
        text = stripped(column)
        is_hexadecimal = b"x" in bytes_of(text).lower()  # Arrow would read 0x10
        if self.order is None and not self.has_fractions and not is_hexadecimal:
            try:
                whole = text.cast(pa.int64())
            except pa.ArrowInvalid:
                pass  # some cell is not a whole number, and is found below
            else:
                return self._in_unit(np.asarray(whole))
        distinct = text.dictionary_encode()
        texts = distinct.dictionary
        if self.order is None:
            times = self._in_unit(self._of_numbers_in(texts))
        else:
            times = parse_dates(texts.to_pylist(), self.form).read(self.order)
        return np.asarray(times[distinct.indices])

    def _of_numbers_in(self, texts: pa.Array) -> Ints:
        """The whole part of numbers, in millionths if there are fractions."""
        cells = texts.to_pylist()
        numbers = pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce")
        scaled = np.floor(
            numbers.to_numpy(np.float64) * (FRACTIONS if self.has_fractions else 1)
        )
        is_usable = np.abs(scaled) < LARGEST  # False for NaN
        times = np.where(is_usable, scaled, UNREAD).astype(np.int64)
        if not self.has_fractions:  # more digits than a float has
            for place, cell in enumerate(cells):
                if WHOLE.fullmatch(cell):
                    times[place] = _whole(cell)
        return times

    def _in_unit(self, times: Ints) -> Ints:
        """The times, UNREAD where a number is since 1970 in another unit."""
        if not self.unit:
            return times
        scale = FRACTIONS if self.has_fractions else 1
        times = times.copy()
        for unit, low, high in EPOCHS:
            if unit != self.unit:
                times[(times >= low * scale) & (times < min(high * scale, LARGEST))] = (
                    UNREAD
                )
        return times


def parse_dates(texts: Sequence[str], form: str = "") -> Dates:
    """Read dates of any format by pandas, which reads ISO dates itself and others by dateutil.

    Parameters
    ----------
    texts : sequence of str
        The dates.
    form : str
        The format that is tried first, which is quick.

    Returns
    -------
    Dates
        The dates in both orders of day and month.
    """
    values = pd.Series([" ".join(text.split()) for text in texts], dtype=object)
    values = values.str.replace(YEAR_LAST, r"\1 \4 \2 \3", regex=True).str.strip()
    parts = values.str.extract(NUMERIC).fillna("")
    is_numeric = parts["first"] != ""
    is_late = pd.to_numeric(parts["year"]) < CENTURY
    century = pd.Series(np.where(is_late, "20", "19"), dtype=object)
    year = parts["year"].where(parts["year"].str.len() == 4, century + parts["year"])

    def read(day: str, month: str) -> Ints:
        iso = year + "-" + parts[month].str.zfill(2) + "-" + parts[day].str.zfill(2)
        iso = (iso + parts["rest"]).where(pd.to_numeric(parts[month]) <= MONTHS, "")
        return _moments(values.where(~is_numeric, iso), form)

    day_first = read("first", "second")
    if is_numeric.any():
        month_first = read("second", "first")
    else:
        month_first = day_first
    return Dates(day_first, month_first, frozenset(parts["sign"][is_numeric]))


def _moments(texts: "pd.Series[str]", form: str) -> Ints:
    """Read cells in a format, and the other cells one by one."""
    is_date = texts.str.replace(CLOCK, "", regex=True).str.count(DATE_PARTS) >= 3
    candidates = texts[is_date]
    times = pd.Series(UNREAD, texts.index)
    for way in (form, "mixed"):
        if way:
            stamps = pd.to_datetime(
                candidates,
                format=way,
                errors="coerce",
                utc=True,
            )
            # what is not a date becomes NaT, whose number is UNREAD
            times[candidates.index] = stamps.astype("datetime64[us, UTC]").astype(
                "int64"
            )
            candidates = candidates[stamps.isna()]
    return np.asarray(times, np.int64)


def looks_like_times(values: Sequence[str]) -> bool:
    """Whether some values of a column are almost certainly times.

    These are seconds to nanoseconds since 1970 in whole numbers, or dates.
    """
    texts = [value.strip() for value in values if value.strip()]
    numbers = NumberFormat.of(texts, decimal_comma=True).read(
        pa.array(texts, pa.string())
    )[0]
    if np.isfinite(numbers).any():
        return all(
            any(low <= number < high for _, low, high in EPOCHS) for number in numbers
        )
    return bool(texts) and bool(parse_dates(texts).is_read.all())


def _of_temporal(column: pa.Array) -> Ints:
    """Times of a typed column in microseconds since 1970, or in the unit of times of day."""
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("s"), safe=False)
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", tz=column.type.tz), safe=False)
    return np.asarray(pc.fill_null(column.cast(pa.int64(), safe=False), UNREAD))


def _whole(cell: str) -> int:
    number = int(cell)
    if abs(number) < 2**63:
        return number
    return UNREAD
