"""Columns of text as pyarrow holds them, and the ids of users and items in them.

Ids are text, so "007" and "7" differ. They get numbers when all are known, so the order of the rows
does not matter.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

Flags = npt.NDArray[np.bool_]
LONGEST_WHOLE = 19  # digits; ids that are sorted by size have fewer
MOST_WAITING = 4_000_000  # ids in memory before repeated ones are removed


def stripped(column: pa.Array) -> pa.Array:
    """A column as text without surrounding blanks; an empty cell becomes empty text."""
    text = column.cast(pa.string())
    text = pc.fill_null(text, "") if text.null_count else text
    codes = np.frombuffer(text.buffers()[2] or b"", np.uint8)
    has_blanks = len(codes) and (codes.min() <= ord(" ") or codes.max() > ord("~"))
    return pc.utf8_trim_whitespace(text) if has_blanks else text


def only(column: pa.Array, keep: Flags) -> pa.Array:
    """The cells under a mask (n,)."""
    return column if keep.all() else column.filter(pa.array(keep))


def dictionary_of(ids: pa.Array) -> pa.DictionaryArray:
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
    """The distinct ids of users or items, added batch by batch."""

    def __init__(self) -> None:
        self._arrays: list[pa.Array] = []
        self._waiting = 0

    def add(self, ids: pa.Array) -> None:
        self._arrays.append(ids)
        self._waiting += len(ids)
        if self._waiting > MOST_WAITING:
            self._arrays, self._waiting = [self._distinct()], 0

    def _distinct(self) -> pa.Array:
        """Whole numbers if all are, else text."""
        arrays = [it for it in self._arrays if len(it)] or [pa.array([], pa.string())]
        if len({it.type for it in arrays}) > 1:
            arrays = [it.cast(pa.string()) for it in arrays]
        return pc.unique(pa.concat_arrays(arrays))

    def labels(self) -> pa.Array:
        """All of them: whole numbers by size, others by alphabet."""
        labels = self._distinct()
        texts = labels.cast(pa.string())
        is_short = pc.less(pc.binary_length(texts), LONGEST_WHOLE)
        are_whole = pc.all(pc.and_(pc.ascii_is_decimal(texts), is_short)).as_py()
        columns = {"size": texts.cast(pa.int64())} if are_whole else {}
        table = pa.table({**columns, "text": texts})
        return labels.take(pc.sort_indices(table, [(it, "ascending") for it in table.column_names]))


class Numbers:
    """The place of each id among all."""

    def __init__(self, labels: pa.Array) -> None:
        self._kind = labels.type
        self._index = pd.Index(labels.to_numpy(zero_copy_only=False))

    def of(self, ids: pa.DictionaryArray) -> npt.NDArray[np.int32]:
        """The places of ids (n,)."""
        distinct = ids.dictionary.cast(self._kind).to_numpy(zero_copy_only=False)
        numbers = self._index.get_indexer(distinct).astype(np.int32)
        return np.asarray(numbers[ids.indices.to_numpy(zero_copy_only=False)])


def spelling_notes(labels: pa.Array, what: str) -> list[str]:
    """A note if some ids are one number written in several ways."""
    if pa.types.is_integer(labels.type):
        return []
    texts = pd.Series(labels.to_pylist(), dtype=object)
    texts = texts[texts.str.fullmatch(r"[+-]?\d{1,15}([.,]0*)?")]
    count = int(texts.str.replace(",", ".").astype(float).duplicated().sum())
    if not count:
        return []
    return [
        f"{count:,} {what} are numbers written in several ways, such as 1, 1.0 and 01. Ids are"
        f" text, so these count as different {what}."
    ]
