"""Columns of text as pyarrow holds them, and the ids of users and items in them.

A column is one run of bytes, which tells much before any cell is looked at. Ids are text, and get
numbers when all of them are known.
"""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Flags = npt.NDArray[np.bool_]
LONGEST_WHOLE = 19  # digits; ids that are sorted by size have fewer


def letters(text: pa.Array) -> npt.NDArray[np.uint8]:
    """The bytes of all cells, one after the other."""
    ends, content = _buffers(text)
    return content[ends[0] : ends[-1]]


def stripped(column: pa.Array) -> pa.Array:
    """A column as text without surrounding blanks; an empty cell becomes empty text."""
    text = column.cast(pa.string())
    if text.null_count:
        text = pc.fill_null(text, "")
    codes = letters(text)
    if len(codes) and (codes.min() <= ord(" ") or codes.max() > ord("~")):
        return pc.utf8_trim_whitespace(text)
    return text  # it holds no blank


def only(column: pa.Array, keep: Flags) -> pa.Array:
    """The cells under a mask (n,)."""
    return column if keep.all() else column.filter(pa.array(keep))


def whole_numbers(text: pa.Array) -> pa.Array | None:
    """The cells as 64-bit integers, if every cell is written like one.

    None if a cell is not, such as 007, or is too large.
    """
    codes = letters(text)
    if not len(codes) or codes.min() < ord("0") or codes.max() > ord("9"):
        return None
    try:
        numbers = text.cast(pa.int64())
    except pa.ArrowInvalid:  # an empty cell, or a number beyond 64 bits
        return None
    ends, content = _buffers(text)
    zero_first = content[ends[:-1]] == ord("0")
    return None if (zero_first & (np.diff(ends) > 1)).any() else numbers


def _buffers(text: pa.Array) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """The offsets (n + 1,) of the cells (n,) of a column of strings, and its bytes."""
    _, ends, content = text.buffers()
    if not len(text) or content is None:
        return np.zeros(len(text) + 1, np.int32), np.empty(0, np.uint8)
    places = np.frombuffer(ends, np.int32)[text.offset : text.offset + len(text) + 1]
    return places, np.frombuffer(content, np.uint8)


def dictionary_of(ids: pa.Array) -> pa.DictionaryArray:
    """Return ids of text as a dictionary, of whole numbers if all are."""
    numbers = whole_numbers(ids)
    return (ids if numbers is None else numbers).dictionary_encode()


class Labels:
    """The ids of all rows, batch by batch.

    They get numbers when all are known, so the order of the rows does not matter.
    """

    def __init__(self) -> None:
        self._parts: list[pa.DictionaryArray] = []

    def take(self, ids: pa.DictionaryArray) -> None:
        """Add the ids of a batch; its dictionary also holds those of unusable rows."""
        self._parts.append(ids)

    def numbering(self) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
        """The labels, whole numbers by size, others by alphabet; and each used row's place.

        The places are (n_rows,).
        """
        if not self._parts:
            return (), np.empty(0, np.int32)
        if len({part.type for part in self._parts}) > 1:
            self._parts = [_as_text(part) for part in self._parts]
        parts = pa.chunked_array(self._parts).unify_dictionaries().chunks
        self._parts.clear()
        labels = parts[0].dictionary
        order = by_label(labels)
        place = np.empty(len(labels), np.int32)
        place[order] = np.arange(len(labels))
        codes = [place[part.indices.to_numpy(zero_copy_only=False)] for part in parts]
        return tuple(labels.take(order).cast(pa.string()).to_pylist()), np.concatenate(codes)


def _as_text(part: pa.DictionaryArray) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(part.indices, part.dictionary.cast(pa.string()))


def by_label(labels: pa.Array) -> npt.NDArray[np.int64]:
    """The order of distinct labels: whole numbers by size, others by alphabet."""
    if pa.types.is_integer(labels.type) and len(str(pc.max(labels))) < LONGEST_WHOLE:
        return np.argsort(labels.to_numpy())
    texts = labels.cast(pa.string()).to_pylist()
    if all(label.isdecimal() and len(label) < LONGEST_WHOLE for label in texts):
        order = sorted(range(len(texts)), key=lambda at: (int(texts[at]), texts[at]))
    else:
        order = sorted(range(len(texts)), key=texts.__getitem__)
    return np.array(order, np.int64)


def spelling_notes(labels: Sequence[str], what: str) -> list[str]:
    """A note if some ids are one number written in several ways."""
    plain = [
        label for label in labels if label.isdecimal() and (len(label) == 1 or label[0] != "0")
    ]
    if len(plain) == len(labels):
        return []
    by_value: dict[float, str] = {float(label): label for label in plain if len(label) < 16}
    pairs = []
    for label in labels:
        if (
            len(label) < 16
            and re.fullmatch(r"[+-]?\d+([.,]0*)?", label)
            and (first := by_value.setdefault(float(label.replace(",", ".")), label)) != label
        ):
            pairs.append(f"{first} and {label}")
    if not pairs:
        return []
    return [
        (
            f"{len(pairs):,} {what} are numbers written in several ways, such as 1, 1.0 and 01. Ids"
            f" are text, so these count as different {what}."
        )
    ]
