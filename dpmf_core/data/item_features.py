"""A public table of item features, known without any ratings.

A person's own table of items holds numbers, categories, or several words in a cell. Kinds and
scales of columns come from the table alone, never from ratings.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpmf_core.base.arrays import Doubles, Flags, Floats, Ints
from dpmf_core.base.errors import BadInput, quoted
from dpmf_core.base.hashing import digest_of
from dpmf_core.data.column_names import ROLE_NAMES, UNCLEAR_TITLES

MISSING = {"", "na", "n/a", "nan", "none", "null", "<na>", "\\n"}
SEVERAL = "|"  # between the words of a cell
MOST_WORDS = 200  # different ones in a column
# names of the column of items' names
TITLES = {
    *ROLE_NAMES["title"].split(),
    *UNCLEAR_TITLES,
}
IDS = ("item", "itemid", "iid", "id")  # names of the column of ids
MOST_COLUMNS = 2000
MOST_FEATURES = 400  # the size of each user's own regression
LARGEST = 1e100  # number, so that its square is finite
DEVIATION = 0.5  # of a number, as for a category that half of the items have
LONGEST_NAME = 60  # of a column, on the model card
MOST_REASONS = 200  # letters of a message on columns that were left out
SEPARATOR = ": "  # between a table's column and the word of a feature


@dataclass(frozen=True, eq=False)
class ItemFeatures:
    """Features of items.

    Attributes
    ----------
    names : tuple of str
        The names of the columns, (n_features,).
    values : float32 (n_items, n_features)
        Finite. A category is a column of 0 and 1.

    Raises
    ------
    ValueError
        If names and values do not fit each other, or a value is not finite.
    """

    names: tuple[str, ...]
    values: Floats

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape[1] != len(self.names):
            raise ValueError(
                f"A table of {len(self.names)} item features must have that many columns. Got the"
                f" shape {self.values.shape}."
            )
        if not np.isfinite(self.values).all():
            raise ValueError(
                "Item features must be finite numbers. Remove NaN and infinity."
            )

    def keeping(self, item_ids: Ints) -> "ItemFeatures":
        """The rows of the items under an index, in its order, with the columns that differ in them.

        Nothing of other items is left.
        """
        values = self.values[item_ids]
        columns = np.flatnonzero((values != values[:1]).any(axis=0))
        return ItemFeatures(tuple(self.names[j] for j in columns), values[:, columns])

    @property
    def columns(self) -> tuple[str, ...]:
        """The table's own columns that the features come from."""
        return tuple(dict.fromkeys(name.partition(SEPARATOR)[0] for name in self.names))

    @cached_property
    def is_category(self) -> Flags:
        """Which columns hold only 0 and 1 (n_features,)."""
        return np.asarray(((self.values == 0) | (self.values == 1)).all(axis=0))

    @property
    def categories(self) -> Doubles:
        """The columns of 0 and 1."""
        return self.values[:, self.is_category].astype(np.float64)

    @property
    def numbers(self) -> Doubles:
        """The other columns."""
        return self.values[:, ~self.is_category].astype(np.float64)

    @property
    def fingerprint(self) -> str:
        """A hash of names and values."""
        return digest_of(self.values) + repr(self.names)


# ---- from tables ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class EncodedTable:
    """The features of items from a table, and what was left out of it.

    Attributes
    ----------
    features : ItemFeatures
        The features of the given items.
    left_out : tuple of str
        A sentence for each unusable column.
    missing : int
        How many of the items have no row.
    has_header : bool
        Whether the table names its columns.
    titles : tuple of str
        The items' names; "" for an item without one. Empty if no column holds names.
    """

    features: ItemFeatures
    left_out: tuple[str, ...]
    missing: int
    has_header: bool = True
    titles: tuple[str, ...] = ()

    def titles_over(
        self, titles: Sequence[str], labels: Sequence[str]
    ) -> tuple[str, ...]:
        """The items' names in the ratings (by default their ids), or else those of this table."""
        return tuple(
            title if title != label else (own or label)
            for title, label, own in zip(
                titles, labels, self.titles or labels, strict=True
            )
        )

    def sentences(self, name: str) -> tuple[str, ...]:
        """Notes for the provider of the table."""
        sentences = list(self.left_out)
        if not self.has_header:
            sentences.insert(
                0,
                f"{name} has no header: its first column was taken as the item ids, and the others"
                " are called 'column 2' and so on.",
            )
        if self.titles:
            sentences.append(
                f"Items without a name in the ratings are named as in {name}."
            )
        if self.missing:
            sentences.append(
                f"{self.missing:,} of {len(self.features.values):,} rated items have no row in"
                f" {name}: their features are means or 0."
            )
        return tuple(sentences)


def has_header(first: Sequence[str], items: Sequence[str], *, is_text: bool) -> bool:
    """Whether the first row of a table names its columns.

    It does if the first cell is a usual name of the item column. It also does if no cell is a
    number and the first cell is not an item's id.

    Parameters
    ----------
    first : sequence of str
        The cells of the first row.
    items : sequence of str
        The ids of the items.
    is_text : bool
        Whether no cell is a number.
    """
    if _plain_name(first[0]) in ROLE_NAMES["item"].split():
        return True
    return is_text and not set(_ids_of(first[:1])) & set(_ids_of(items))


def encode(
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    items: Sequence[str],
    name: str,
    *,
    decimal_comma: bool = False,
) -> EncodedTable:
    """The features of `items`, by their ids, from a table of them.

    A column of numbers is centred and scaled to deviation 0.5. A column of words becomes a column
    of 0 and 1 for each word. A missing number becomes the mean, and so does every number of an item
    without a row.

    Parameters
    ----------
    names : sequence of str
        The names of the columns; none without a header. The first column then holds the ids.
    rows : sequence of sequence of str
        The cells as text.
    items : sequence of str
        The ids of the items.
    name : str
        The name of the table in messages.
    decimal_comma : bool
        Whether numbers are written with a decimal comma.

    Raises
    ------
    BadInput
        If the columns are too few or have no names of their own, two rows have one id, no item has
        a row, or no column is usable. Also if the columns make too many features.
    """
    columns = _columns(names, rows, name)
    items = _ids_of(items)
    if names:
        id_column = _id_column(columns, items)
    else:
        id_column = next(iter(columns))
    ids = _ids_of(columns.pop(id_column))
    row_of = {id_: row for row, id_ in enumerate(ids)}
    _check_ids(ids, row_of, items, name)
    titles = _titles_by_name(columns) if names else ()
    feature_columns: list[tuple[str, Doubles]] = []
    left_out: list[str] = []
    for title, cells in columns.items():
        column = " ".join(title.split())[:LONGEST_NAME]
        try:
            feature_columns += _encode_column(column, cells, decimal_comma)
        except _LeftOut as reason:
            if not names and not titles and isinstance(reason, _NoCategory):
                titles = cells
            if cells is titles:
                continue
            left_out.append(f"The column '{column}' of {name} was left out: {reason}.")
        if len(feature_columns) > MOST_FEATURES:
            raise BadInput(
                f"The columns of {name} make more than {MOST_FEATURES} features, which is too many"
                " for each user's own regression. Leave out columns with many words."
            )
    places = np.array([row_of.get(item, -1) for item in items])
    values = np.zeros((len(items), len(feature_columns)), np.float32)  # 0 without a row
    has_row = places >= 0
    for j, (_, numbers) in enumerate(feature_columns):
        values[has_row, j] = numbers[places[has_row]]
    features = ItemFeatures(tuple(feature for feature, _ in feature_columns), values)
    features = features.keeping(np.arange(len(items)))
    if not features.names:
        raise BadInput(
            f"No column of {name} distinguishes the rated items. A table of items needs a column"
            f" besides the id with numbers, categories, or words separated by '{SEVERAL}'."
            f" {' '.join(left_out)[:MOST_REASONS]}".rstrip()
        )
    return EncodedTable(
        features,
        tuple(left_out),
        missing=int((~has_row).sum()),
        has_header=bool(names),
        titles=tuple("" if at < 0 else titles[at].strip() for at in places)
        if titles
        else (),
    )


def _columns(
    names: Sequence[str], rows: Sequence[Sequence[str]], name: str
) -> dict[str, Sequence[str]]:
    """The cells of each column by its name, or by `column 1` and so on. Raises BadInput."""
    width = len(rows[0]) if rows else 0
    names = names or [f"column {place + 1}" for place in range(width)]
    twice = [column for column in names if names.count(column) > 1]
    if twice or not 2 <= len(names) <= MOST_COLUMNS:
        if twice:
            got = f"{quoted(twice[0], 40)} twice"
        else:
            got = f"{len(names):,}"
        raise BadInput(
            f"{name} needs 2 to {MOST_COLUMNS:,} columns with different names (the item ids and"
            f" their features), separated by tabs, semicolons or commas. Got {got}."
        )
    if not rows:
        return dict.fromkeys(names, ())
    return dict(zip(names, zip(*rows, strict=True), strict=True))


def _ids_of(cells: Sequence[str]) -> list[str]:
    # with pandas, needed for own tables only
    from dpmf_core.data.ids import (
        canonical_text,
    )

    return [canonical_text(cell.strip()) for cell in cells]


def _titles_by_name(columns: Mapping[str, Sequence[str]]) -> Sequence[str]:
    for column, cells in columns.items():
        if _plain_name(column) in TITLES:
            return cells
    return ()


def _plain_name(column: str) -> str:
    return re.sub(r"[^a-z0-9]", "", column.lower())


def _id_column(columns: Mapping[str, Sequence[str]], items: Sequence[str]) -> str:
    """The column of the items' ids.

    It is one with such a name, else the first; if that has none of the ids, the one with most.
    """
    by_plain_name = {_plain_name(column): column for column in reversed(list(columns))}
    usual_names = [name for name in IDS if name in by_plain_name]
    if usual_names:
        usual = by_plain_name[usual_names[0]]
    else:
        usual = next(iter(columns))
    item_ids = set(items)
    shared = {
        column: len(item_ids & set(_ids_of(cells))) for column, cells in columns.items()
    }
    if shared[usual]:
        return usual
    return max(columns, key=shared.__getitem__)


class _LeftOut(Exception):
    """Why a column is not a feature."""


class _NoCategory(_LeftOut):
    """Why a column of words is not a feature: it may hold the items' names."""


def _encode_column(
    column: str, cells: Sequence[str], decimal_comma: bool
) -> Iterator[tuple[str, Doubles]]:
    """Names and values (n_rows,) of a column's features. Raises _LeftOut."""
    texts = ["" if cell.strip().lower() in MISSING else cell.strip() for cell in cells]
    if not any(texts):
        raise _LeftOut("it is empty")
    numbers = [_number(text, decimal_comma) for text in texts]
    if None in numbers:
        yield from _words(column, texts)
    else:
        yield column, _scaled(np.array(numbers, np.float64))


def _number(text: str, decimal_comma: bool) -> float | None:
    """NaN for an empty cell, None for one that is no number. Raises _LeftOut."""
    if not text:
        return math.nan
    try:
        number = float(text.replace(",", ".") if decimal_comma else text)
    except ValueError:
        return None
    if not abs(number) <= LARGEST:
        raise _LeftOut(f"'{text[:20]}' is not a number within {LARGEST:g} of 0")
    return number


def _scaled(numbers: Doubles) -> Doubles:
    """Scale to mean 0 and deviation 0.5, missing ones 0; columns of 0 and 1 stay: a category."""
    if np.isin(numbers, (0, 1)).all():
        return numbers
    is_known = ~np.isnan(numbers)
    from_mean = np.where(is_known, numbers - numbers[is_known].mean(), 0.0)
    deviation = math.sqrt(np.mean(from_mean[is_known] ** 2))
    if deviation <= 1e-12 * np.abs(numbers[is_known]).max():
        raise _LeftOut("all its numbers are the same")
    return from_mean * (DEVIATION / deviation)


def _words(column: str, texts: Sequence[str]) -> Iterator[tuple[str, Doubles]]:
    rows = [{word.strip() for word in text.split(SEVERAL)} - {""} for text in texts]
    times = Counter(word for words in rows for word in words)
    if len(times) > MOST_WORDS:
        raise _NoCategory(
            f"it holds {len(times):,} different words, more than {MOST_WORDS}, and is not numeric"
        )
    if max(times.values(), default=0) < 2:
        raise _NoCategory("no two items share a word")
    for word in sorted(times):
        yield (
            f"{column}{SEPARATOR}{' '.join(word.split())}",
            np.array([float(word in words) for words in rows]),
        )


def _check_ids(
    ids: Sequence[str], row_of: Mapping[str, int], items: Sequence[str], name: str
) -> None:
    if len(row_of) < len(ids):
        row = next(row for row, id_ in enumerate(ids) if row_of[id_] != row)
        raise BadInput(
            f"{name} must have one row per item. {quoted(ids[row], 40)} is in row {row + 1:,} and"
            f" in row {row_of[ids[row]] + 1:,}: keep one of them."
        )
    if not any(item in row_of for item in items):
        if ids:
            example = f" Got ids such as {quoted(ids[0], 40)}."
        else:
            example = " It has no rows."
        raise BadInput(
            f"No rated item has a row in {name}. Its first column, or one called item, itemId or"
            f" id, must hold the item ids used in the ratings.{example}"
        )
