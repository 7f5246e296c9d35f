"""Columns of text as pyarrow holds them: one run of bytes, which tells much before any cell is
looked at.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Flags = npt.NDArray[np.bool_]


def letters(text: pa.Array) -> npt.NDArray[np.uint8]:
    """The bytes of all cells, one after the other."""
    ends, content = _buffers(text)
    return content[ends[0] : ends[-1]]


def stripped(column: pa.Array) -> pa.Array:
    """A column as text without blanks around it; an empty one where a cell holds nothing."""
    text = column.cast(pa.string())
    if text.null_count:
        text = pc.fill_null(text, "")
    codes = letters(text)
    if len(codes) and (codes.min() <= ord(" ") or codes.max() > ord("~")):
        return pc.utf8_trim_whitespace(text)
    return text  # no letter of it is a blank


def only(column: pa.Array, keep: Flags) -> pa.Array:
    """The cells under a mask (n,)."""
    return column if keep.all() else column.filter(pa.array(keep))


def whole_numbers(text: pa.Array) -> pa.Array | None:
    """The cells as 64-bit integers where each is written as the integer is: digits alone, no zero
    before others. None where one is not, such as 007, or is larger.
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
    """Where each cell of a column of strings (n,) begins in its bytes, and the last one ends
    (n + 1,); and the bytes.
    """
    _, ends, content = text.buffers()
    if not len(text) or content is None:
        return np.zeros(len(text) + 1, np.int32), np.empty(0, np.uint8)
    places = np.frombuffer(ends, np.int32)[text.offset : text.offset + len(text) + 1]
    return places, np.frombuffer(content, np.uint8)
