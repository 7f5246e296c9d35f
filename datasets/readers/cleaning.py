"""The usable rows of a table: numbers are parsed, and bad rows are counted with their places."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpmf_datasets.readers.cells import Flags, dictionary_of, only, stripped
from dpmf_datasets.readers.report import LINES_SHOWN, Kind, Outside, Problem, Tally
from dpmf_datasets.readers.table import Table

NOTHING = ("", "na", "n/a", "null", "none")  # how a missing rating is written
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
        self.table, self.places = table, places
        self.bounds, self._outside = bounds, outside
        self._usable = self._n_commas = self._at = 0
        self.tally, self.titles = Tally(), dict[str, str]()

    def __iter__(self) -> Iterator[Batch]:
        for columns in self.table.batches(list(self.places.values())):
            yield self._cleaned(dict(zip(self.places, columns, strict=True)))

    @property
    def read(self) -> int:
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
                cells = [batch[role][int(where.argmax())].as_py() for role in roles]
                example = ",".join("" if it is None else str(it) for it in cells)
                self.tally.add(kind, row[where], example)
        self.tally.count_values(outside, values[beyond])
        if outside == Kind.OUTSIDE:
            good &= ~beyond
        # Ids are added before bad ratings are removed: a user with only bad ratings is still a user
        keep = good[has_ids]
        users, items = (only(dictionary_of(only(ids, has_ids)), keep) for ids in (user, item))
        if "title" in batch:
            self._take_titles(items, only(batch["title"], good))
        kept = slice(None) if good.all() else good
        times = only(batch["time"], good) if "time" in batch else None
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
