"""The usable rows of a table: numbers are parsed, and bad rows are counted with their places.

Each row is read by itself, with the public layout and the declared facts. Users and items
come from usable rows alone. They get numbers when all are known, so the order of the rows does not
matter.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpmf_core.base.arrays import Doubles, Flags, Floats, Ints, Numbers
from dpmf_core.data.ids import arrow_numbering_order, canonical_arrow
from dpmf_core.data.report import Kind, Problem, Tally, place_in_report
from dpmf_core.data.row_rules import ReadRows, RowRules
from dpmf_datasets.readers.dates import Clock, stripped
from dpmf_datasets.readers.numbers import NumberFormat, bytes_of
from dpmf_datasets.readers.table import Table, cell_text

# a long number as a spreadsheet shows it, which may stand for many ids
ROUNDED = r"^\d([.,]\d+)?[eE]\+?(1[1-9]|[2-9]\d)$"
LONGEST_EXAMPLE = 40  # characters of a cell
MOST_WAITING = 4_000_000  # ids in memory before repeated ones are removed
NUMBER_TYPES = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
)


def ids_of(column: pa.Array) -> pa.DictionaryArray:
    """The canonical texts of a column of ids; "" for an empty cell."""
    cells = column.dictionary_encode()
    values = cells.dictionary
    if pa.types.is_floating(values.type):  # a large one may have lost its last digits
        values = pa.array(list(map(cell_text, values.to_pylist())), pa.string())
    elif pa.types.is_temporal(values.type):  # Python's calendar ends in the year 9999
        values = values.cast(pa.string())
    elif pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        values = stripped(values)
    texts = canonical_arrow(values)
    indices = cells.indices
    if indices.null_count or texts.null_count:
        texts = pa.concat_arrays([pc.fill_null(texts, ""), pa.array([""])])
        indices = pc.fill_null(indices, len(texts) - 1)
    return pa.DictionaryArray.from_arrays(indices.cast(pa.int32()), texts)


def _has(ids: pa.DictionaryArray, flags: pa.Array) -> Flags:
    """Which cells (n,) have a flagged id, from a flag for each dictionary entry."""
    return np.asarray(np.asarray(flags)[ids.indices])


def _is_rounded(ids: pa.DictionaryArray) -> Flags | None:
    """Which cells (n,) have an id that a spreadsheet rounded; None if it is clear that none has."""
    if b"e" not in bytes_of(ids.dictionary).lower():
        return None
    return _has(ids, pc.match_substring_regex(ids.dictionary, ROUNDED))


def _example(batch: Mapping[str, pa.Array], row: int, roles: Sequence[str]) -> str:
    """The cells of a row in these roles."""
    cells = [batch[role][row].as_py() for role in roles if role in batch]
    return ",".join(
        "" if cell is None else str(cell)[:LONGEST_EXAMPLE] for cell in cells
    )


class Ids:
    """The distinct ids of users or items, added batch by batch and then numbered."""

    def __init__(self) -> None:
        self._arrays: list[pa.Array] = []
        self._waiting = 0

    def add(self, ids: pa.DictionaryArray) -> None:
        """Add the ids of a batch; all of its dictionary is in use."""
        compact = _dictionary_as_numbers(ids.dictionary)
        self._arrays.append(compact)
        self._waiting += len(compact)
        if self._waiting > MOST_WAITING:
            self._arrays = [self._distinct()]
            self._waiting = 0

    def _distinct(self) -> pa.Array:
        """Whole numbers if all are, else text."""
        arrays = [array for array in self._arrays if len(array)] or [
            pa.array([], pa.string())
        ]
        if len({array.type for array in arrays}) > 1:
            arrays = [array.cast(pa.string()) for array in arrays]
        return pc.unique(pa.concat_arrays(arrays))

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def labels(self) -> pa.Array:
        """All of them in the order of their numbers, as 64-bit integers or text."""
        distinct = self._distinct()
        if pa.types.is_integer(distinct.type):
            return distinct.take(pc.sort_indices(distinct))
        return distinct.take(arrow_numbering_order(distinct))

    @cached_property
    def _index(self) -> "pd.Index[Any]":
        index: pd.Index[Any] = pd.Index(np.asarray(self.labels))
        return index

    def numbers(self, ids: pa.DictionaryArray) -> Numbers:
        """The places of ids (n,) among the labels."""
        distinct = ids.dictionary.cast(self.labels.type).to_numpy(zero_copy_only=False)
        numbers = self._index.get_indexer(distinct).astype(np.int32)
        return np.asarray(numbers[ids.indices])


def _dictionary_as_numbers(texts: pa.Array) -> pa.Array:
    """The same ids as 64-bit integers, which take less memory, if all are written like some."""
    try:
        numbers = texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return texts
    if numbers.cast(pa.string()).equals(texts):
        return numbers
    return texts


def numbered(parts: Sequence[pa.DictionaryArray]) -> tuple[Ids, Numbers]:
    """The distinct ids in all batches, and the number of each row's (n_rows,)."""
    ids = Ids()
    for part in parts:
        ids.add(part)
    return ids, np.concatenate([ids.numbers(part) for part in parts])


@dataclass(frozen=True)
class Batch:
    """The usable rows of a part of a table.

    Attributes
    ----------
    users, items : dictionary arrays (n_rows,)
        Their ids.
    values : float32 (n_rows,)
        The ratings.
    rows : int32 (n_rows,)
        The places of the rows in the table.
    order : int64 (n_rows,) or None
        The times; None if no column holds times.
    """

    users: pa.DictionaryArray
    items: pa.DictionaryArray
    values: Floats
    rows: Numbers
    order: Ints | None


@dataclass
class CleanRows:
    """The usable rows of a table, batch by batch; afterwards, what was wrong with the others.

    Attributes
    ----------
    table : Table
        The table, which is read once.
    places : mapping of str to int
        The column of each role.
    rules : RowRules
        The declared facts that decide about a row.
    clock : Clock or None
        How the column of times is read; None without such a column.
    """

    table: Table
    places: Mapping[str, int]
    rules: RowRules
    clock: Clock | None
    tally: Tally = field(default_factory=Tally)
    titles: dict[str, str] = field(default_factory=dict)
    _n_read: int = 0
    _n_commas: int = 0
    _at: int = 0

    @cached_property
    def number_format(self) -> NumberFormat:
        if "rating" in self.places:
            sample = self.table.sample(self.places["rating"])
        else:
            sample = ()
        return NumberFormat.of(sample, self.table.decimal_comma)

    def __iter__(self) -> Iterator[Batch]:
        for columns in self.table.batches(list(self.places.values())):
            yield self._cleaned(dict(zip(self.places, columns, strict=True)))

    @property
    def read(self) -> int:
        """Rows that are not blank, so far."""
        return self._n_read + sum(problem.count for problem in self.table.problems)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems so far, in the order of a report."""
        problems = self.tally.problems(self.table.unit, self.table.line)
        return tuple(sorted([*problems, *self.table.problems], key=place_in_report))

    @property
    def reading_notes(self) -> tuple[str, ...]:
        """How bytes, points and commas were read, in sentences."""
        sentences = list(self.table.read_as())
        if "rating" not in self.places:
            sentences.append(
                "No column holds ratings: each row counts as 1, with bounds 0 to 1."
            )
        if self._n_commas:
            sentences.append(
                f"{self._n_commas:,} ratings have a comma, which was read as a decimal comma: 3,5"
                " means three and a half."
            )
        if "time" in self.places and self.clock is None:
            sentences.append(
                "The column of times holds none that can be read: it is not used."
            )
        if self.number_format.thousands:
            sign = self.number_format.thousands
            sentences.append(
                f"'{sign}' in ratings was read as the sign between thousands."
            )
        if self.clock is not None:
            sentences.append(self.clock.words)
        return tuple(sentences)

    def _cleaned(self, batch: Mapping[str, pa.Array]) -> Batch:
        users = ids_of(batch["user"])
        items = ids_of(batch["item"])
        values, no_rating = self._ratings(batch, len(users))
        row = np.arange(self._at, self._at + len(values), dtype=np.int32)
        rows = ReadRows(
            values,
            no_user=_has(users, pc.equal(users.dictionary, "")),
            no_item=_has(items, pc.equal(items.dictionary, "")),
            no_rating=no_rating,
            example=partial(_example, batch),
            are_rounded=(_is_rounded(users), _is_rounded(items)),
            first=self._at,
            is_wide=self.table.n_wide > 0,
        )
        keep = rows.kept_by(self.rules, self.tally)
        self._at += len(values)
        self._n_read += int(rows.are_read.sum())
        order = None
        if self.clock is not None:
            order, is_unread = self.clock.order_of(_only(batch["time"], keep))
            self.tally.add(Kind.NO_TIME, row[keep][is_unread])
        kept_items = _used(_only(items, keep))
        if "title" in batch:
            self._take_titles(kept_items, _only(batch["title"], keep))
        kept_values = values[keep].clip(*self.rules.bounds).astype(np.float32)
        return Batch(
            _used(_only(users, keep)), kept_items, kept_values, row[keep], order
        )

    def _ratings(
        self, batch: Mapping[str, pa.Array], n_rows: int
    ) -> tuple[Doubles, Flags]:
        """Values, NaN if there is no number; and which cells are empty."""
        if "rating" not in batch:
            return np.ones(n_rows), np.zeros(n_rows, np.bool_)
        column = batch["rating"]
        if any(is_type(column.type) for is_type in NUMBER_TYPES):
            numbers = np.array(column.cast(pa.float64(), safe=False))
            return numbers, np.asarray(column.is_null())
        values, is_empty, n_commas = self.number_format.read(stripped(column))
        self._n_commas += n_commas
        return values, is_empty

    def _take_titles(self, items: pa.DictionaryArray, titles: pa.Array) -> None:
        """Note the title in the first row of each item."""
        codes, first = np.unique(np.asarray(items.indices), return_index=True)
        labels = items.dictionary.take(pa.array(codes)).to_pylist()
        firsts = titles.take(pa.array(first)).to_pylist()
        for label, title in zip(labels, firsts, strict=True):
            self.titles.setdefault(label, str(title or "").strip())


def _only(column: pa.Array, keep: Flags) -> pa.Array:
    """The cells under a mask (n,)."""
    if keep.all():
        return column
    return column.filter(pa.array(keep))


def _used(ids: pa.DictionaryArray) -> pa.DictionaryArray:
    """The same ids with a dictionary of those alone that occur."""
    indices = np.asarray(ids.indices)
    is_used = np.zeros(len(ids.dictionary), np.bool_)
    is_used[indices] = True
    if is_used.all():
        return ids
    places = (np.cumsum(is_used) - 1).astype(np.int32)
    used = ids.dictionary.filter(pa.array(is_used))
    return pa.DictionaryArray.from_arrays(pa.array(places[indices]), used)
