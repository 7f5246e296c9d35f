"""Lines of JSON, and lists of JSON objects; each object is read by itself."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, count, islice
from typing import Any, BinaryIO

from dpmf_core.base.errors import BadInput
from dpmf_datasets.readers.arrow_tables import table_of_rows
from dpmf_datasets.readers.encodings import require_encoding
from dpmf_datasets.readers.table import PREVIEW, RAGGED_SHOWN, RaggedLines, Table

BEGINNING = re.compile(rb"(\xef\xbb\xbf)?\s*(\{|\[\s*\{)")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
BETWEEN_ENTRIES = re.compile(r"[\s,\]]*")
NEXT_ENTRY = re.compile(r"[,\n]\s*(?=\{)")  # below or after one that cannot be read


def looks_like_json(head: bytes) -> bool:
    """Whether a file begins with an object, or with a list of objects."""
    return bool(BEGINNING.match(head))


def json_table(
    stream: BinaryIO,
    name: str,
    head: bytes,
    encoding: str | None = None,
    names: Sequence[str] = (),
) -> Table:
    """Read lines of JSON objects, or one list of objects.

    A line or entry that is not an object is left out. The columns are the keys of the first
    objects.

    Parameters
    ----------
    stream : binary file
        The table.
    name : str
        What messages call it.
    head : bytes
        Its first bytes.
    encoding : str or None
        The declared encoding; by default UTF-8.
    names : sequence of str
        The columns, if this is a later part of a table.

    Returns
    -------
    Table
        The table, with its rows still to be read.

    Raises
    ------
    BadInput
        If these are not objects with the same keys.
    """
    encoding = require_encoding(encoding or "utf-8")
    if head.startswith(BYTE_ORDER_MARK):
        stream.seek(len(BYTE_ORDER_MARK))
    ragged_lines: RaggedLines = []
    is_list = b"[" in BEGINNING.match(head)[0]  # type: ignore[index]
    kind = "a list in JSON" if is_list else "lines of JSON"
    read = _entries if is_list else _lines
    objects = read(stream, encoding, ragged_lines)
    first = list(islice(objects, PREVIEW))
    are_columns = False
    if not names:
        names = _names(first)
        are_columns = len(first) == 1 and all(
            isinstance(first[0][name], list) for name in names
        )
    if are_columns or not names:
        raise BadInput(
            f"{name} cannot be read as {kind}. Each line holds one object with the same"
            ' keys, e.g. {"user": 1, "item": 7, "rating": 4.5}.'
        )
    table = table_of_rows(
        names,
        (list(map(row.get, names)) for row in chain(first, objects)),
        f"of {kind}",
        unit="row" if is_list else "line",
        ragged_lines=ragged_lines,
    )
    table.open_part = partial(
        json_table,
        head=head,
        encoding=encoding,
        names=names,
    )
    return table


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | None:
    """The object of its keys and values; None if a key occurs twice."""
    values = dict(pairs)
    if len(values) == len(pairs):
        return values
    return None


_decoder = json.JSONDecoder(object_pairs_hook=_object, strict=False)


def _lines(
    stream: BinaryIO, encoding: str, ragged_lines: RaggedLines
) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(stream, 1):
        try:
            text = line.decode(encoding).strip()
            value, end = _decoder.raw_decode(text)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and end == len(text):
            yield value
        else:
            text = line.decode(encoding, errors="replace").strip()
            ragged_lines.append((number, text[:RAGGED_SHOWN]))


def _entries(
    stream: BinaryIO, encoding: str, ragged_lines: RaggedLines
) -> Iterator[dict[str, Any]]:
    # JSON has no escape such as \xff, so an entry with a bad byte cannot be read
    text = stream.read().decode(encoding, errors="backslashreplace")
    start = text.index("[") + 1
    for number in count(1):
        start = _end_of(BETWEEN_ENTRIES.match(text, start), text)
        if start == len(text):
            return
        try:
            value, end = _decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            value = None
            end = _end_of(NEXT_ENTRY.search(text, start), text)
        if isinstance(value, dict):
            yield value
        else:
            ragged_lines.append((number, text[start:end][:RAGGED_SHOWN]))
        start = end


def _end_of(match: re.Match[str] | None, text: str) -> int:
    if match:
        return match.end()
    return len(text)


def _names(objects: Sequence[dict[str, Any]]) -> list[str]:
    """The keys of some objects, without the keys of nested objects."""
    keys = dict.fromkeys(key for row in objects for key in row)
    return [
        key
        for key in keys
        if not all(isinstance(row[key], dict) for row in objects if key in row)
    ]
