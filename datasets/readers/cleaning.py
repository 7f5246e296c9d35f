"""Convert rows of a table to arrays of ratings.

Numbers are parsed, ids numbered, and every bad row is counted with its place.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpmf_core.data.ordering import order_of_pairs, repeats
from dpmf_datasets.readers import dates
from dpmf_datasets.readers.cells import (
    Flags,
    Labels,
    dictionary_of,
    letters,
    only,
    spelling_notes,
    stripped,
)
from dpmf_datasets.readers.report import LINES_SHOWN, Kind, Order, Outside, Problem, Tally
from dpmf_datasets.readers.table import Table

NOTHING = ("", "na", "n/a", "null", "none")  # how a missing rating is written
THOUSANDS = r"^[+-]?\d{1,3}\.\d{3}$"  # or a number with three decimals
# if commas separate columns, such a number is in quotation marks; 1,234 may be a thousand
QUOTED_DECIMAL = r"^[+-]?\d+,(\d{1,2}|\d{4,})$"


@dataclass(frozen=True)
class Batch:
    """The usable rows of some of a table (n_rows,).

    users, items: their ids; the dictionaries also hold those of unusable rows. rows: their places
    in the table. times: unparsed; None if no column holds times.
    """

    users: pa.DictionaryArray
    items: pa.DictionaryArray
    values: npt.NDArray[np.float32]
    rows: npt.NDArray[np.int32]
    times: pa.Array | None


class CleanRows:
    """The usable rows of a table, batch by batch; afterwards, what was wrong with the others.

    Parameters
    ----------
    table : Table
    places : mapping
        The column of each role.
    bounds : (float, float)
        Declared lowest and highest rating.
    outside : {"clamp", "leave-out"}
        Whether a rating outside the bounds is set to the nearest one, or its row is left out. The
        decision depends on the rating and the public bounds only. So a person's remaining rows
        follow from their rows alone, neighbouring tables make neighbouring ratings, and no
        sensitivity changes.

    Attributes
    ----------
    read : int
        Rows that are not blank, so far.
    titles : dict
        Of items by their ids, where the table has them.
    """

    def __init__(
        self,
        table: Table,
        places: Mapping[str, int],
        bounds: tuple[float, float],
        outside: Outside = "clamp",
    ) -> None:
        self._table, self._places = table, places
        self._bounds, self._outside = bounds, outside
        self._usable = self._n_commas = self._n_thousands = self._at = 0
        self.tally, self.titles = Tally(), dict[str, str]()

    def __iter__(self) -> Iterator[Batch]:
        for columns in self._table.batches(list(self._places.values())):
            yield self._cleaned(dict(zip(self._places, columns, strict=True)))

    @property
    def read(self) -> int:
        return self._usable + len(self._ragged_lines)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems so far, in the order of a report."""
        problems = self.tally.problems(self._table.line, self._table.unit)
        if ragged := self._ragged_lines:
            lines = tuple(number for number, _ in ragged[:LINES_SHOWN])
            problems.append(
                Problem(Kind.RAGGED_LINE, len(ragged), lines, ragged[0][1], self._table.unit)
            )
        return tuple(sorted(problems, key=lambda problem: list(Kind).index(Kind(problem.kind))))

    @property
    def reading_notes(self) -> tuple[str, ...]:
        """How bytes, points and commas were read, in sentences."""
        sentences = list(self._table.read_as())
        if self._n_commas:
            sentences.append(
                f"{self._n_commas:,} ratings have a comma, which was read as a decimal comma: 3,5"
                " means three and a half."
            )
        if self._n_thousands:
            sentences.append(
                f"{self._n_thousands:,} ratings are written like 1.234. The point was read as a"
                " decimal point: about one, not more than a thousand."
            )
        return tuple(sentences)

    @property
    def _ragged_lines(self) -> list[tuple[int, str]]:
        return [(number, text) for number, text in self._table.ragged_lines if text]

    def _cleaned(self, batch: Mapping[str, pa.Array]) -> Batch:
        user, item = stripped(batch["user"]), stripped(batch["item"])
        values, absent = self._numbers(batch["rating"])
        nameless = [pc.equal(ids, "").to_numpy(zero_copy_only=False) for ids in (user, item)]
        row = np.arange(self._at, self._at + len(values), dtype=np.int32)
        self._at += len(values)
        blank = nameless[0] & nameless[1] & absent
        missing = (nameless[0] | nameless[1] | absent) & ~blank
        infinite, text = np.isinf(values) & ~missing & ~blank, np.isnan(values) & ~missing & ~blank
        self._usable += int((~blank).sum())
        self._note(Kind.MISSING, missing, row, batch)
        self._note(Kind.NOT_A_NUMBER, text, row, batch)
        self._note(Kind.INFINITE, infinite, row, batch)
        has_ids = ~(nameless[0] | nameless[1])
        good = has_ids & np.isfinite(values)
        good &= ~self._outside_rows(good, values, row, batch)
        # Ids are added before bad ratings are removed: a user with only bad ratings is still a user
        keep = good[has_ids]
        users, items = (only(dictionary_of(only(ids, has_ids)), keep) for ids in (user, item))
        if "title" in batch:
            self._take_titles(items, only(batch["title"], good))
        kept = slice(None) if good.all() else good
        times = only(batch["time"], good) if "time" in batch else None
        clean_values = values[kept].clip(*self._bounds).astype(np.float32)
        return Batch(users, items, clean_values, row[kept], times)

    def _outside_rows(
        self,
        good: Flags,
        values: npt.NDArray[np.float64],
        row: npt.NDArray[np.int32],
        batch: Mapping[str, pa.Array],
    ) -> Flags:
        """Count the ratings outside the bounds; return those to leave out."""
        low, high = self._bounds
        beyond = good & ((values < low) | (values > high))
        kind = Kind.CLAMPED_VALUE if self._outside == "clamp" else Kind.OUTSIDE
        self._note(kind, beyond, row, batch)
        self.tally.count_values(kind, values[beyond])
        return beyond & (self._outside != "clamp")

    def _note(
        self, kind: str, where: Flags, row: npt.NDArray[np.int32], batch: Mapping[str, pa.Array]
    ) -> None:
        if not where.any():
            return
        first = int(where.argmax())
        roles = ("user", "item", "rating") if kind == Kind.MISSING else ("rating",)
        cells = [batch[role][first].as_py() for role in roles]
        self.tally.add(kind, row[where], ",".join("" if it is None else str(it) for it in cells))

    def _take_titles(self, items: pa.DictionaryArray, titles: pa.Array) -> None:
        codes, first = np.unique(items.indices.to_numpy(zero_copy_only=False), return_index=True)
        labels = items.dictionary.take(pa.array(codes)).cast(pa.string()).to_pylist()
        for label, title in zip(labels, titles.take(pa.array(first)).to_pylist(), strict=True):
            self.titles.setdefault(label, str(title or "").strip())

    def _numbers(self, column: pa.Array) -> tuple[npt.NDArray[np.float64], Flags]:
        """Values, NaN if there is no number; and which cells are empty."""
        kind = column.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            numbers = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
            is_null = column.is_null().to_numpy(zero_copy_only=False)
            return np.array(numbers), np.asarray(is_null, np.bool_)
        text = self._with_points(stripped(column))
        try:
            numbers = text.cast(pa.float64()).to_numpy(zero_copy_only=False)
            return np.array(numbers), np.zeros(len(text), np.bool_)
        except pa.ArrowInvalid:  # some value is not a number: look at each
            import pandas as pd  # most tables do not need it

            absent = pc.is_in(pc.utf8_lower(text), pa.array(NOTHING))
            cells = pd.Series(text.to_numpy(zero_copy_only=False))
            values = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64)
            return values, absent.to_numpy(zero_copy_only=False)

    def _with_points(self, text: pa.Array) -> pa.Array:
        """Numbers with a point as the decimal sign; it is the last of a comma and a point."""
        has_comma = bool((letters(text) == ord(",")).any())
        if not self._table.decimal_comma:
            if not has_comma:
                return text
            is_decimal = pc.match_substring_regex(text, QUOTED_DECIMAL)
            self._n_commas += pc.sum(is_decimal).as_py() or 0
            return pc.if_else(is_decimal, pc.replace_substring(text, ",", "."), text)
        self._n_thousands += pc.sum(pc.match_substring_regex(text, THOUSANDS)).as_py() or 0
        if not has_comma:
            return text
        self._n_commas += pc.sum(pc.match_substring(text, ",")).as_py()
        has_both = pc.match_substring_regex(text, r"\..*,")
        plain = pc.if_else(has_both, pc.replace_substring(text, ".", ""), text)
        return pc.replace_substring(plain, ",", ".")


# ---- the whole table -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The usable rows of a table (n_rows,), sorted by user, item and place in the table.

    Ids are numbered from 0 in the order of their labels. It also holds what was wrong with the
    other rows.
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
    reading_notes: tuple[str, ...] = ()  # how ambiguous values were read, in sentences
    assumptions: tuple[str, ...] = ()  # what that takes as public
    dates_are_ambiguous: bool = False


def collect(
    table: Table,
    places: Mapping[str, int],
    bounds: tuple[float, float],
    order: Order | None = None,
    outside: Outside = "clamp",
) -> Rows:
    """Read a whole table. Ids are text, so "007" and "7" differ.

    order: the declared order in dates of three numbers. The other parameters are those of
    `CleanRows`. A user who loses every row keeps an empty one.
    """
    rows = CleanRows(table, places, bounds, outside)
    users, items, column = Labels(), Labels(), dates.Column(order)
    values, row_numbers = list[npt.NDArray[np.float32]](), list[npt.NDArray[np.int32]]()
    for batch in rows:
        users.take(batch.users)
        items.take(batch.items)
        values.append(batch.values)
        row_numbers.append(batch.rows)
        if batch.times is not None:
            column.take(batch.times)
    times = column.result()
    user_labels, user_ids = users.numbering()
    item_labels, item_ids = items.numbering()
    all_values, row = _joined(values, np.float32), _joined(row_numbers, np.int32)
    rows.tally.add(Kind.NO_TIME, row[times.unread], times.example)
    by_pair = order_of_pairs(user_ids, item_ids, len(user_labels), len(item_labels))
    order_of_times = times.order
    if by_pair is not None:
        if order_of_times is not None:
            order_of_times = order_of_times[by_pair]
        user_ids, item_ids, all_values = user_ids[by_pair], item_ids[by_pair], all_values[by_pair]
    again = np.flatnonzero(repeats(user_ids, item_ids))
    if len(again):
        again_rows = row[again if by_pair is None else by_pair[again]]
        first = again[again_rows.argmin()]
        example = f"{user_labels[user_ids[first]]},{item_labels[item_ids[first]]}"
        rows.tally.add(Kind.DUPLICATE, np.sort(again_rows), example)
    n_differing = int((all_values[again] != all_values[again - 1]).sum())
    return Rows(
        users=user_ids,
        items=item_ids,
        values=all_values,
        order=order_of_times,
        user_labels=user_labels,
        item_labels=item_labels,
        titles=tuple(rows.titles.get(label) or label for label in item_labels),
        read=rows.read,
        problems=rows.problems,
        reading_notes=(
            *rows.reading_notes,
            *([times.words] if times.words else []),
            *_repeat_notes(n_differing, len(again)),
            *spelling_notes(user_labels, "users"),
            *spelling_notes(item_labels, "items"),
        ),
        assumptions=(*table.assumptions, *(times.assumptions if "time" in places else ())),
        dates_are_ambiguous=times.ambiguous,
    )


def _repeat_notes(n_differing: int, n_repeats: int) -> list[str]:
    """Return how many repeats have another rating than the one before, if there are repeats."""
    if not n_repeats:
        return []
    return [
        f"{n_differing:,} of {n_repeats:,} repeats of a user and an item have another rating than"
        " the one before; the average was taken."
    ]


def _joined(parts: list[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    """All batches of a column (n_rows,). Empties the list to save memory."""
    whole = np.concatenate(parts) if parts else np.empty(0, dtype)
    parts.clear()
    return whole
