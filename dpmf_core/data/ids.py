"""Ids of users and items: their canonical text, their order, and the keys of random draws.

A file holds the id 1 as text, and a data frame as a whole number, or as the float 1.0 after a join.
Each of these is the same id, because all entry points convert ids to the same text. The text of an
id follows from that id alone, never from the type that the other ids of its column have.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpmf_core.base.arrays import Flags, Hashes, Ints, Numbers
from dpmf_core.base.hashing import keys_of_texts

TextArray = npt.NDArray[np.object_]
WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*)")
WHOLE_AS_DECIMAL = re.compile(rf"({WHOLE.pattern})\.0+")
NUMBER = re.compile(r"[+-]?\d{1,15}([.,]0*)?")
# characters of a whole number that is sorted by size, which fits 64 bits
LONGEST_WHOLE = 18
LONGEST_DECIMAL = 4000  # digits of a decimal number that becomes a whole one
# soft hyphen, zero-width characters and the byte-order mark
INVISIBLE = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
# equal objects of these kinds have equal texts; True equals 1, but has another text
PLAIN_OBJECTS = ("string", "integer", "floating", "mixed-integer-float")


def canonical_text(value: Any) -> str:
    """Convert an id of any type to its text.

    A whole number of any type, and text such as `1`, `-3` or `1.00`, become the plain whole number.
    Other text stays as written, such as `007`, `1e3` and `.5`. A bool is not a number: `True`.

    Examples
    --------
    >>> [canonical_text(value) for value in (1, 1.0, "1.00", "007", True)]
    ['1', '1', '1', '007', 'True']
    """
    if isinstance(value, str):
        return _plain(value)
    if isinstance(value, bytes):
        return _plain(value.decode(errors="backslashreplace"))
    if isinstance(value, bool | np.bool_):
        return str(value)
    if isinstance(value, np.number):
        value = value.item()  # in single precision 0.1 would have another text
    if isinstance(value, int):
        return str(Decimal(value))  # Python writes no int of thousands of digits
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if (
        isinstance(value, Decimal)
        and value.is_finite()
        and value.adjusted() < LONGEST_DECIMAL
    ):
        whole = int(value)
        if whole == value:
            return str(whole)
    return _plain(str(value))


def _plain(text: str) -> str:
    """The text, or the plain whole number that it writes."""
    if not text.isascii():  # half a character, such as a cut emoji, is not text
        text = text.encode(errors="backslashreplace").decode()
    if "." in text:
        whole = WHOLE_AS_DECIMAL.fullmatch(text)
        if whole is None:
            return text
        text = whole[1]
    if text == "-0":
        return "0"
    return text


def canonical_texts(column: Any) -> TextArray:
    """The canonical texts (n,) of a column: an array, a series, an index or a list."""
    ids = Coded.of(column)
    return ids.texts[ids.codes]


def canonical_arrow(column: Any) -> Any:
    """Convert a `pyarrow.Array` of ids of any type to one of canonical texts; nulls stay null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_integer(kind):
        return column.cast(pa.string())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        texts = column.cast(pa.string())
        if len(texts) and pc.any(pc.match_substring(texts, ".")).as_py():
            texts = pc.replace_substring_regex(
                texts, pattern=rf"\A{WHOLE_AS_DECIMAL.pattern}\z", replacement=r"\1"
            )
        return pc.if_else(pc.equal(texts, "-0"), "0", texts)
    distinct = column.dictionary_encode()
    values = distinct.dictionary.to_pylist()
    return pa.array(list(map(canonical_text, values)), pa.string()).take(
        distinct.indices
    )


def keys_of_ids(column: Any) -> Hashes:
    """A number (n,) for each id of a column, from its canonical text alone."""
    return keys_of_texts(canonical_texts(column))


def numbering_order(texts: TextArray) -> Ints:
    """The places (n,) that sort distinct canonical texts for their numbering.

    Whole numbers of at most 18 characters come first, by size; all others follow by alphabet. So
    the order depends on the texts alone, and a further id only moves those after it.
    """
    is_whole = np.fromiter(map(_is_short_whole, texts), np.bool_, len(texts))
    whole_numbers = np.flatnonzero(is_whole)
    others = np.flatnonzero(~is_whole)
    by_size = np.argsort(texts[whole_numbers].astype(np.int64))
    by_alphabet = np.argsort(texts[others])
    return np.concatenate([whole_numbers[by_size], others[by_alphabet]])


def arrow_numbering_order(texts: Any) -> Any:
    """The order of `numbering_order` for a `pyarrow.Array` of distinct canonical texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_short = pc.less_equal(pc.binary_length(texts), LONGEST_WHOLE)
    is_whole = pc.and_(
        pc.match_substring_regex(texts, rf"\A{WHOLE.pattern}\z"), is_short
    )
    whole_numbers = pc.indices_nonzero(is_whole)
    others = pc.indices_nonzero(pc.invert(is_whole))
    by_size = pc.sort_indices(texts.take(whole_numbers).cast(pa.int64()))
    by_alphabet = pc.sort_indices(texts.take(others))
    return pa.concat_arrays([whole_numbers.take(by_size), others.take(by_alphabet)])


@dataclass(frozen=True)
class Coded:
    """The ids of a column before they are numbered.

    Attributes
    ----------
    codes : (n,)
        The place of each cell's text in `texts`.
    texts : (n_texts,)
        Canonical texts, some of them perhaps twice.
    """

    codes: Ints
    texts: TextArray

    @classmethod
    def of(cls, column: Any) -> Self:
        """The ids of an array, a series, an index or a list."""
        codes, distinct = pd.factorize(_series(column), use_na_sentinel=False)
        values = np.asarray(distinct)
        to_text: Callable[[Any], str] = canonical_text
        if values.dtype.kind in "iu":
            to_text = str
        texts = np.empty(len(values), object)
        texts[:] = list(map(to_text, values.tolist()))
        return cls(codes, texts)

    @property
    def is_blank(self) -> Flags:
        """The cells (n,) that hold nothing but blanks."""
        are_blank = [not text or text.isspace() for text in self.texts]
        return np.array(are_blank, np.bool_)[self.codes]

    def numbered(self, keep: Flags | None = None) -> tuple[Numbers, TextArray]:
        """Number the ids of the cells to keep (n,), by default of all.

        Returns
        -------
        numbers : int32 (n_kept,)
            The number of each of these cells.
        texts : (n_ids,)
            The canonical texts of their ids, each once, in the order of their numbers; see
            `numbering_order`.
        """
        codes = self.codes if keep is None else self.codes[keep]
        used = np.flatnonzero(np.bincount(codes, minlength=len(self.texts)))
        same, distinct = pd.factorize(self.texts[used])
        order = numbering_order(distinct)
        numbers = np.empty(len(order), np.int32)
        numbers[order] = np.arange(len(order), dtype=np.int32)
        number_of = np.empty(len(self.texts), np.int32)
        number_of[used] = numbers[same]
        return number_of[codes], distinct[order]


def _is_short_whole(text: str) -> bool:
    return len(text) <= LONGEST_WHOLE and WHOLE.fullmatch(text) is not None


def _series(column: Any) -> "pd.Series[Any]":
    """The cells of a column, as a series in which equal cells have equal texts."""
    if isinstance(column, list | tuple):
        column = pd.Series(column, dtype=object)  # numpy would make one type of all
    if not isinstance(column, pd.Series | pd.Index):
        column = np.asarray(column)
    cells = pd.Series(column)
    if cells.dtype == np.float16:
        # pandas cannot find distinct numbers of half precision
        return cells.astype(np.float64)
    if cells.dtype == object and pd.api.types.infer_dtype(cells) not in PLAIN_OBJECTS:
        return pd.Series(list(map(canonical_text, cells)), dtype=object)
    return cells


def spelling_note(ids: Iterable[str], what: str) -> str:
    """A note on distinct ids that may be one id written in several ways; "" without any."""
    ids = list(ids)
    if all(map(_is_short_whole, ids)):
        return ""
    count = len(ids) - len(set(map(_simplest, ids)))
    if not count:
        return ""
    subject = f"{count:,} {what} may be others"
    if count == 1:
        subject = f"1 {what.removesuffix('s')} may be another"
    return (
        f"{subject} written differently: in upper or lower case, as 01 and 1,"
        " in composed or decomposed letters, or with invisible characters. Ids are text, so these"
        f" count as different {what}."
    )


def _simplest(text: str) -> str:
    """An id without what people do not see or write differently."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(INVISIBLE))
    plain = text.strip().casefold()
    if NUMBER.fullmatch(plain):
        return str(int(plain.replace(",", ".").partition(".")[0]))
    return plain
