"""The usable rows of a table: numbers are parsed, and bad rows are counted with their places.

Ids are text, so "007" and "7" differ. They get numbers when all are known, so the order of the rows
does not matter.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpmf_core.data.report import LINES_SHOWN, Kind, Outside, Problem, Tally
from dpmf_datasets.readers.dates import Part, read_times, stripped
from dpmf_datasets.readers.table import Table

Flags = npt.NDArray[np.bool_]
NOTHING = ("", "na", "n/a", "null", "none")  # how a missing rating is written
# if commas separate columns, such a number is in quotation marks; 1,234 may be a thousand
QUOTED_DECIMAL = r"^[+-]?\d+,(\d{1,2}|\d{4,})$"
LONGEST_WHOLE = 19  # digits; ids that are sorted by size have fewer
MOST_WAITING = 4_000_000  # ids in memory before repeated ones are removed


def _only(column: pa.Array, keep: Flags) -> pa.Array:
    """The cells under a mask (n,)."""
    return column if keep.all() else column.filter(pa.array(keep))


def _dictionary_of(ids: pa.Array) -> pa.DictionaryArray:
    """Return ids of text as a dictionary, of 64-bit integers if all are written like some."""
    texts = ids.dictionary_encode()
    try:
        numbers = texts.dictionary.cast(pa.int64())
    except pa.ArrowInvalid:
        return texts
    if not numbers.cast(pa.string()).equals(texts.dictionary):  # such as 007
        return texts
    return pa.DictionaryArray.from_arrays(texts.indices, numbers)


class Ids:
    """The distinct ids of users or items, added batch by batch and then numbered."""

    def __init__(self) -> None:
        self._arrays: list[pa.Array] = []
        self._waiting = 0

    def add(self, ids: pa.DictionaryArray) -> None:
        self._arrays.append(ids.dictionary)
        self._waiting += len(ids.dictionary)
        if self._waiting > MOST_WAITING:
            self._arrays, self._waiting = [self._distinct()], 0

    def _distinct(self) -> pa.Array:
        """Whole numbers if all are, else text."""
        arrays = [it for it in self._arrays if len(it)] or [pa.array([], pa.string())]
        if len({it.type for it in arrays}) > 1:
            arrays = [it.cast(pa.string()) for it in arrays]
        return pc.unique(pa.concat_arrays(arrays))

    @cached_property
    def labels(self) -> pa.Array:
        """All of them: whole numbers by size, others by alphabet."""
        labels = self._distinct()
        texts = labels.cast(pa.string())
        is_short = pc.less(pc.binary_length(texts), LONGEST_WHOLE)
        are_whole = pc.all(pc.and_(pc.ascii_is_decimal(texts), is_short)).as_py()
        columns = {"size": texts.cast(pa.int64())} if are_whole else {}
        table = pa.table({**columns, "text": texts})
        return labels.take(pc.sort_indices(table, [(it, "ascending") for it in table.column_names]))

    @cached_property
    def _index(self) -> "pd.Index[Any]":
        index: pd.Index[Any] = pd.Index(self.labels.to_numpy(zero_copy_only=False))
        return index

    def numbers(self, ids: pa.DictionaryArray) -> npt.NDArray[np.int32]:
        """The places of ids (n,) among the labels."""
        distinct = ids.dictionary.cast(self.labels.type).to_numpy(zero_copy_only=False)
        numbers = self._index.get_indexer(distinct).astype(np.int32)
        return np.asarray(numbers[ids.indices.to_numpy(zero_copy_only=False)])

    def spelling_notes(self, what: str) -> list[str]:
        """A note if some ids are one number written in several ways."""
        if pa.types.is_integer(self.labels.type):
            return []
        texts = pd.Series(self.labels.to_pylist(), dtype=object)
        texts = texts[texts.str.fullmatch(r"[+-]?\d{1,15}([.,]0*)?")]
        count = int(texts.str.replace(",", ".").astype(float).duplicated().sum())
        if not count:
            return []
        return [
            f"{count:,} {what} are numbers written in several ways, such as 1, 1.0 and 01. Ids are"
            f" text, so these count as different {what}."
        ]


def numbered(parts: Sequence[pa.DictionaryArray]) -> tuple[Ids, npt.NDArray[np.int32]]:
    """The distinct ids in all batches, and the number of each row's (n_rows,)."""
    ids = Ids()
    for part in parts:
        ids.add(part)
    return ids, np.concatenate([ids.numbers(part) for part in parts])


@dataclass(frozen=True)
class Batch:
    """The usable rows of some of a table (n_rows,).

    users, items: their ids; the dictionaries also hold those of unusable rows. rows: their places
    in the table. times: None if no column holds times.
    """

    users: pa.DictionaryArray
    items: pa.DictionaryArray
    values: npt.NDArray[np.float32]
    rows: npt.NDArray[np.int32]
    times: Part | None


class CleanRows:
    """The usable rows of a table, batch by batch; afterwards, what was wrong with the others.

    places: the column of each role. outside: whether a rating outside the bounds is set to the
    nearest one, or its row is left out. The decision depends on the rating and the public bounds
    only. So a person's remaining rows follow from their rows alone, neighbouring tables make
    neighbouring ratings, and no sensitivity changes. titles: of items by their ids.
    """

    def __init__(
        self,
        table: Table,
        places: Mapping[str, int],
        bounds: tuple[float, float],
        outside: Outside,
    ) -> None:
        self.table, self.places = table, places
        self.bounds, self._outside = bounds, outside
        self._usable = self._n_commas = self._at = 0
        self.tally, self.titles = Tally(), dict[str, str]()

    def __iter__(self) -> Iterator[Batch]:
        for columns in self.table.batches(list(self.places.values())):
            yield self._cleaned(dict(zip(self.places, columns, strict=True)))

    @property
    def read(self) -> int:
        """Rows that are not blank, so far."""
        return self._usable + len(self._ragged_lines)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems so far, in the order of a report."""
        problems = self.tally.problems(self.table.line, self.table.unit)
        if ragged := self._ragged_lines:
            lines = tuple(number for number, _ in ragged[:LINES_SHOWN])
            problems.append(
                Problem(Kind.RAGGED_LINE, len(ragged), lines, ragged[0][1], self.table.unit)
            )
        return tuple(sorted(problems, key=lambda problem: list(Kind).index(Kind(problem.kind))))

    @property
    def reading_notes(self) -> tuple[str, ...]:
        """How bytes, points and commas were read, in sentences."""
        sentences = list(self.table.read_as())
        if "rating" not in self.places:
            sentences.append("No column holds ratings: each row counts as 1, with bounds 0 to 1.")
        if self._n_commas:
            sentences.append(
                f"{self._n_commas:,} ratings have a comma, which was read as a decimal comma: 3,5"
                " means three and a half."
            )
        return tuple(sentences)

    @property
    def _ragged_lines(self) -> list[tuple[int, str]]:
        return [(number, text) for number, text in self.table.ragged_lines if text]

    def _cleaned(self, batch: Mapping[str, pa.Array]) -> Batch:
        user, item = stripped(batch["user"]), stripped(batch["item"])
        values, absent = np.ones(len(user)), np.zeros(len(user), np.bool_)
        if "rating" in batch:
            values, absent = self._numbers(batch["rating"])
        no_user, no_item = (
            pc.equal(ids, "").to_numpy(zero_copy_only=False) for ids in (user, item)
        )
        row = np.arange(self._at, self._at + len(values), dtype=np.int32)
        self._at += len(values)
        is_used, has_ids = ~(no_user & no_item & absent), ~(no_user | no_item)
        is_whole = has_ids & ~absent
        self._usable += int(is_used.sum())
        good = has_ids & np.isfinite(values)
        beyond = good & ((values < self.bounds[0]) | (values > self.bounds[1]))
        outside = Kind.CLAMPED_VALUE if self._outside == "clamp" else Kind.OUTSIDE
        for kind, where in (
            (Kind.MISSING, is_used & ~is_whole),
            (Kind.NOT_A_NUMBER, is_whole & np.isnan(values)),
            (Kind.INFINITE, is_whole & np.isinf(values)),
            (outside, beyond),
        ):
            if where.any():
                roles = ("user", "item", "rating") if kind == Kind.MISSING else ("rating",)
                first = int(where.argmax())
                cells = [batch[role][first].as_py() for role in roles if role in batch]
                example = ",".join("" if it is None else str(it) for it in cells)
                named_values = values[where].tolist() if kind == outside else ()
                self.tally.add(kind, row[where], example, named_values)
        if outside == Kind.OUTSIDE:
            good &= ~beyond
        # Ids are added before bad ratings are removed: a user with only bad ratings is still a user
        keep = good[has_ids]
        users, items = (_only(_dictionary_of(_only(ids, has_ids)), keep) for ids in (user, item))
        if "title" in batch:
            self._take_titles(items, _only(batch["title"], good))
        kept = slice(None) if good.all() else good
        times = read_times(_only(batch["time"], good)) if "time" in batch else None
        clean_values = values[kept].clip(*self.bounds).astype(np.float32)
        return Batch(users, items, clean_values, row[kept], times)

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
        text = stripped(column)
        values = None if self.table.decimal_comma else _floats(text)
        if values is None:
            text = self._with_points(text)
            values = _floats(text)
        if values is not None:
            return values, np.zeros(len(text), np.bool_)
        absent = pc.is_in(pc.utf8_lower(text), pa.array(NOTHING))
        cells = pd.Series(text.to_numpy(zero_copy_only=False))
        values = pd.to_numeric(cells, errors="coerce").to_numpy(np.float64)
        return values, absent.to_numpy(zero_copy_only=False)

    def _with_points(self, text: pa.Array) -> pa.Array:
        """Numbers with a point as the decimal sign; it is the last of a comma and a point."""
        if not self.table.decimal_comma:
            is_decimal = pc.match_substring_regex(text, QUOTED_DECIMAL)
            self._n_commas += pc.sum(is_decimal).as_py() or 0
            return pc.if_else(is_decimal, pc.replace_substring(text, ",", "."), text)
        self._n_commas += pc.sum(pc.match_substring(text, ",")).as_py() or 0
        has_both = pc.match_substring_regex(text, r"\..*,")
        plain = pc.if_else(has_both, pc.replace_substring(text, ".", ""), text)
        return pc.replace_substring(plain, ",", ".")


def _floats(text: pa.Array) -> npt.NDArray[np.float64] | None:
    """The cells as numbers, if all are."""
    try:
        return np.array(text.cast(pa.float64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        return None
