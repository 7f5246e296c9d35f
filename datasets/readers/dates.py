"""Times of ratings as files write them: numbers, ISO dates, dates with the day or the month
first, names of months. Only their order is used.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dpmf_core.errors import BadInput
from dpmf_datasets.readers.cells import stripped

if TYPE_CHECKING:  # where it is needed it is loaded: most tables have none of the dates it reads
    import pandas as pd

Order = Literal["dmy", "mdy"]
Times = npt.NDArray[np.int64]
ORDERS: dict[str, str] = {"dmy": "the day first", "mdy": "the month first"}
FORMAT_IS_PUBLIC = "the format of the dates is public"  # where it is found in private ones
# where the times of a private file make an order: one that cannot be read ends the use of all
READING_IS_PUBLIC = "whether all times in the file can be read is public"
UNREAD = int(np.iinfo(np.int64).min)
LATEST = 9e12  # seconds whose microseconds 64 bits can hold
# since 1970, and when they are
EPOCHS = (
    ("seconds", 1e8, 1e10),
    ("milliseconds", 1e11, 1e13),
    ("microseconds", 1e14, 1e16),
    ("nanoseconds", 1e17, 9.2e18),
)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH_NAME = "name"  # what stands in a date beside its numbers
CLOCK = (
    r"(?:[T ,]+(?P<hour>\d{1,2}):(?P<minute>\d{2})"
    r"(?::(?P<second>\d{2})(?:[.,](?P<part>\d{1,6})\d*)?)?"
    r"\s*(?P<half>[AaPp])?(?(half)\.?[Mm]\.?))?"
    r"\s*(?:UTC|GMT|Z)?(?P<away>[+-]\d{2}:?\d{2})?$"
)
WEEKDAY = r"^(?:[A-Za-z]{3,9}\.?,?\s+)?"
NUMERIC = re.compile(
    r"^(?P<first>\d{1,2})[/.\- ]\s?(?P<second_>\d{1,2})"
    r"(?:[/.\-]\s?|,?\s)(?P<year>\d{4}|\d{2})(?!\d)" + CLOCK
)
YEAR_FIRST = re.compile(
    r"^(?P<year>\d{4})[/. \-](?P<month>\d{1,2})[/. \-](?P<day>\d{1,2})(?!\d)" + CLOCK
)
DAY_NAMED = re.compile(
    WEEKDAY + r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?[\s\-/]*(?P<name>[A-Za-z]{3,9})"
    r"\.?,?[\s\-/]*(?P<year>\d{4}|\d{2})(?!\d)" + CLOCK
)
NAME_FIRST = re.compile(
    WEEKDAY + r"(?P<name>[A-Za-z]{3,9})\.?[\s\-]+(?P<day>\d{1,2})(?:st|nd|rd|th)?"
    r",?[\s\-]+(?P<year>\d{4})(?!\d)" + CLOCK
)
# as C's ctime writes it
YEAR_LAST = re.compile(
    r"^(\D*\d{1,2})\s+(\d{1,2}:\d{2}(?::\d{2})?)\s*([+-]\d{4}|UTC|GMT)?\s+(\d{4})$"
)


@dataclass(frozen=True)
class ColumnTimes:
    """What a column's times are: whole numbers that grow with time, None where some cannot be
    read; how they were read, and what that rests on.

    ambiguous: whether all dates can be read with the day first and with the month first, and
    nobody said which.
    """

    order: Times | None
    unread: npt.NDArray[np.bool_]
    example: str = ""
    words: str = ""
    assumption: str = ""
    ambiguous: bool = False

    def assumptions(self, *, has_times: bool) -> tuple[str, ...]:
        """Return what reading the times takes as public."""
        if not has_times:
            return ()
        return (READING_IS_PUBLIC, *([self.assumption] if self.assumption else []))


@dataclass(frozen=True)
class _Part:
    kind: str
    day_first: Times
    month_first: Times


class Column:
    """The times of a table, batch by batch; how dates are written is decided when all are
    known, unless it is declared.
    """

    def __init__(self, order: Order | None = None) -> None:
        self._order: Order | None = order
        self._parts: list[_Part] = []
        self._signs: set[str] = set()
        self._examples: dict[str, str] = {}

    def take(self, column: pa.Array) -> None:
        part = self._read(column)
        self._parts.append(part)
        for name, times in (("dmy", part.day_first), ("mdy", part.month_first)):
            if name not in self._examples and (times == UNREAD).any():
                self._examples[name] = str(column[int((times == UNREAD).argmax())].as_py())

    def _read(self, column: pa.Array) -> _Part:
        if pa.types.is_temporal(column.type):
            import pandas as pd

            stamps = pd.to_datetime(pd.Series(column.to_pandas()), errors="coerce", utc=True)
            return _same("date", _micro(stamps))
        text = stripped(column)
        return _numbers(text) or self._dates(text)

    def _dates(self, text: pa.Array) -> _Part:
        import pandas as pd

        as_dictionary = text.dictionary_encode()
        distinct = as_dictionary.dictionary.to_pylist()
        at = as_dictionary.indices.to_numpy(zero_copy_only=False)
        day_first = _micro(
            pd.to_datetime(
                pd.Series(distinct, dtype="str"), errors="coerce", utc=True, format="ISO8601"
            )
        )
        month_first = day_first.copy()
        for place in np.flatnonzero(day_first == UNREAD):
            day_first[place], month_first[place], sign = parse_date(distinct[place])
            self._signs.add(sign)
        return (
            _Part("date", day_first[at], month_first[at])
            if len(distinct)
            else _same("date", np.empty(0, np.int64))
        )

    def result(self) -> ColumnTimes:
        """What the whole column says."""
        kinds = {part.kind for part in self._parts if len(part.day_first)}
        if not kinds:
            return ColumnTimes(None, np.empty(0, np.bool_))
        if kinds == {"number", "fraction"}:
            self._parts = [_fraction(part) for part in self._parts]
        elif len(kinds) > 1:
            return ColumnTimes(
                None,
                np.concatenate(
                    [
                        np.full(len(part.day_first), part.kind != self._parts[0].kind)
                        for part in self._parts
                    ]
                ),
                "numbers and dates",
            )
        return self._from_dates() if "date" in kinds else self._from_numbers()

    def _from_numbers(self) -> ColumnTimes:
        order = np.concatenate([part.day_first for part in self._parts])
        unread = order == UNREAD
        if unread.any():
            return ColumnTimes(None, unread, self._examples.get("dmy", ""))
        scale = 1_000_000 if self._parts[0].kind == "fraction" else 1
        units = [
            next((unit for unit, low, high in EPOCHS if low <= value < high), "")
            for value in (int(order.min()) // scale, int(order.max()) // scale)
        ]
        if units[0] != units[1] and all(units):
            late = order // scale >= next(low for unit, low, _ in EPOCHS if unit == units[1])
            return ColumnTimes(
                None,
                late if 2 * late.sum() < len(late) else ~late,
                f"{units[0]} and {units[1]} since 1970 in one column",
            )
        if all(units):
            return ColumnTimes(order, unread, words=f"Times were read as {units[0]} since 1970.")
        if scale == 1 and 19000101 <= order.min() and order.max() <= 21001231:
            return ColumnTimes(
                order, unread, words="Times were read as dates of eight digits: year, month, day."
            )
        return ColumnTimes(
            order, unread, words="Times are numbers of no known unit; only their order is used."
        )

    def _from_dates(self) -> ColumnTimes:
        read: dict[str, Times] = {
            "dmy": np.concatenate([part.day_first for part in self._parts]),
            "mdy": np.concatenate([part.month_first for part in self._parts]),
        }
        signs = self._signs & set("/.- ")
        bad = {name: int((times == UNREAD).sum()) for name, times in read.items()}
        order, why = self._choose_order(bad, signs)
        unread = read[order] == UNREAD
        if unread.any():
            return ColumnTimes(None, unread, self._examples.get(order, ""))
        if not signs:
            return ColumnTimes(
                read[order],
                unread,
                words=(
                    "Dates with the names of months were read."
                    if MONTH_NAME in self._signs
                    else "Dates were read as year, month, day."
                ),
            )
        words = f"Dates such as 03/04/2021 were read with {ORDERS[order]}: {why}."
        return ColumnTimes(
            read[order],
            unread,
            words=words,
            assumption="" if self._order else FORMAT_IS_PUBLIC,
            ambiguous=not self._order and bad["dmy"] == bad["mdy"],
        )

    def _choose_order(self, bad: dict[str, int], signs: set[str]) -> tuple[Order, str]:
        """Which of both readings, and why."""
        if self._order:
            return self._order, "so it was declared"
        if bad["dmy"] != bad["mdy"]:
            order: Order = "dmy" if bad["dmy"] < bad["mdy"] else "mdy"
            return order, f"some {'first' if order == 'dmy' else 'second'} number is above 12"
        usual: Order = "mdy" if "/" in signs else "dmy"
        return usual, "no date of the column tells, so this was assumed"


def require_order(text: str | None) -> Order | None:
    """What is said of dates of three numbers. Raises BadInput."""
    if text is None or text == "dmy" or text == "mdy":
        return text  # type: ignore[return-value]  # one of both, or nothing
    raise BadInput(
        "dates is how dates such as 03/04/2021 are written: dmy (the day first) or mdy (the month"
        f" first). Got '{text[:20]}'."
    )


def parse_date(text: str) -> tuple[int, int, str]:
    """A date that is not ISO's, in microseconds since 1970 with the day first and with the month
    first, and what stands between its numbers.

    UNREAD where it is none.
    """
    text = YEAR_LAST.sub(r"\1 \4 \2\3", " ".join(text.split()))
    if match := NUMERIC.match(text):
        first, second = int(match["first"]), int(match["second_"])
        return (
            _moment(match, first, second),
            _moment(match, second, first),
            text[match.end("first")],
        )
    if match := YEAR_FIRST.match(text):
        return (*(_moment(match, int(match["day"]), int(match["month"])),) * 2, "")
    if (match := DAY_NAMED.match(text) or NAME_FIRST.match(text)) and (
        name := match["name"][:3].lower()
    ) in MONTHS:
        return (*(_moment(match, int(match["day"]), 1 + MONTHS.index(name)),) * 2, MONTH_NAME)
    return UNREAD, UNREAD, ""


def looks_like_times(values: Sequence[str]) -> bool:
    """Whether some values of a column can hardly be anything else: seconds to nanoseconds since
    1970 in whole numbers, or dates.
    """
    texts = [value.strip() for value in values if value.strip()]
    if not texts:
        return False
    numbers = [float(text) for text in texts if re.fullmatch(r"\d{9,19}(\.\d+)?", text)]
    if len(numbers) == len(texts):
        return all(any(low <= number < high for _, low, high in EPOCHS) for number in numbers)
    iso = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")
    return all(iso.fullmatch(text) or parse_date(text)[:2] != (UNREAD, UNREAD) for text in texts)


def has_numeric_dates(values: Sequence[str]) -> bool:
    """Whether some date can be read with the day first or with the month first."""
    return any(parse_date(value.strip())[2] in tuple("/.- ") for value in values)


def is_order_clear(values: Sequence[str]) -> bool:
    """Whether some date with two numbers before its year can be read in one way only."""
    read = (parse_date(value.strip()) for value in values)
    return any(
        sign in tuple("/.- ") and (day_first == UNREAD) != (month_first == UNREAD)
        for day_first, month_first, sign in read
    )


def _moment(match: re.Match[str], day: int, month: int) -> int:
    year = int(match["year"])
    if len(match["year"]) == 2:
        year += 2000 if year < 69 else 1900  # as POSIX has it
    hour = int(match["hour"] or 0)
    if match["half"]:
        hour = hour % 12 + 12 * (match["half"] in "Pp")
    away = match["away"]
    zone = (
        timezone(
            timedelta(hours=int(away[1:3]), minutes=int(away[-2:])) * (-1 if away[0] == "-" else 1)
        )
        if away
        else UTC
    )
    try:
        when = datetime(
            year,
            month,
            day,
            hour,
            int(match["minute"] or 0),
            int(match["second"] or 0),
            int((match["part"] or "").ljust(6, "0")),
            tzinfo=zone,
        )
        return (when - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    except (ValueError, OverflowError):
        return UNREAD


def _micro(stamps: "pd.Series[pd.Timestamp]") -> Times:
    return np.where(
        stamps.isna(), UNREAD, stamps.astype("datetime64[us, UTC]").astype("int64")
    ).astype(np.int64)


def _same(kind: str, times: Times) -> _Part:
    return _Part(kind, times, times)


def _numbers(text: pa.Array) -> _Part | None:
    """Whole numbers as they are, fractions in millionths; None where there is no number at all."""
    try:
        return _same("number", np.asarray(text.cast(pa.int64()).to_numpy(zero_copy_only=False)))
    except pa.ArrowInvalid:
        import pandas as pd

        values = pd.to_numeric(
            pd.Series(text.to_numpy(zero_copy_only=False)), errors="coerce"
        ).to_numpy(np.float64)
    if not np.isfinite(values).any():
        return None
    if (np.abs(values) < 2.0**62).all() and (values == np.floor(values)).all():
        return _same("number", values.astype(np.int64))
    fits = np.isfinite(values) & (np.abs(values) < LATEST)
    return _same(
        "fraction", np.where(fits, np.where(fits, values, 0) * 1e6, UNREAD).astype(np.int64)
    )


def _fraction(part: _Part) -> _Part:
    if part.kind == "fraction":
        return part
    fits = (part.day_first != UNREAD) & (np.abs(part.day_first) < LATEST)
    return _same("fraction", np.where(fits, np.where(fits, part.day_first, 0) * 1_000_000, UNREAD))
