"""Lines of JSON, and lists of JSON objects; each object is read by itself."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO

from dpmf_core.base.errors import BadInput
from dpmf_datasets.readers.arrow_tables import refusals, table_of_rows
from dpmf_datasets.readers.encodings import require_encoding
from dpmf_datasets.readers.table import PREVIEW, RAGGED_SHOWN, RaggedLines, Table

BEGINNING = re.compile(rb"(\xef\xbb\xbf)?\s*(\{|\[\s*\{)")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def looks_like_json(head: bytes) -> bool:
    """Whether a file begins with an object, or with a list of objects."""
    return bool(BEGINNING.match(head))


def json_table(stream: BinaryIO, name: str, head: bytes, encoding: str | None = None) -> Table:
    """Read lines of JSON objects, or one list of objects.

    A line or entry that is no object is left out. The columns are the keys of the first objects.
    head: the first bytes. Raises BadInput.
    """
    encoding = require_encoding(encoding or "utf-8")
    if head.startswith(BYTE_ORDER_MARK):
        stream.seek(len(BYTE_ORDER_MARK))
    ragged_lines: RaggedLines = []
    is_list = b"[" in BEGINNING.match(head)[0]  # type: ignore[index]
    read = _entries if is_list else _lines
    objects = read(stream, name, encoding, ragged_lines)
    first = list(islice(objects, PREVIEW))
    names = _names(first)
    if not names:
        raise BadInput(
            f"{name} cannot be read as lines of JSON. Each line holds one object with the same"
            ' keys, e.g. {"user": 1, "item": 7, "rating": 4.5}.'
        )
    kind = "a list in JSON" if is_list else "lines of JSON"
    return table_of_rows(
        names,
        (list(map(row.get, names)) for row in chain(first, objects)),
        f"of {kind}",
        unit="row" if is_list else "line",
        ragged_lines=ragged_lines,
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | None:
    """The object of its keys and values; None if a key is there twice."""
    values = dict(pairs)
    return values if len(values) == len(pairs) else None


_decoder = json.JSONDecoder(object_pairs_hook=_object, strict=False)


def _lines(
    stream: BinaryIO, _: str, encoding: str, ragged_lines: RaggedLines
) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(stream, 1):
        try:
            text = line.decode(encoding).strip()
            value, end = _decoder.raw_decode(text)
        except (ValueError, RecursionError):
            value, end = None, 0
        if isinstance(value, dict) and end == len(text):
            yield value
        else:
            text = line.decode(encoding, errors="replace").strip()
            ragged_lines.append((number, text[:RAGGED_SHOWN]))


def _entries(
    stream: BinaryIO, name: str, encoding: str, ragged_lines: RaggedLines
) -> Iterator[dict[str, Any]]:
    with refusals(name, "a list in JSON", "Save it again, best as lines of JSON."):
        entries = _decoder.decode(stream.read().decode(encoding))
    for number, value in enumerate(entries, 1):
        if isinstance(value, dict):
            yield value
        else:
            ragged_lines.append((number, str(value)[:RAGGED_SHOWN]))


def _names(objects: Sequence[dict[str, Any]]) -> list[str]:
    """The keys of some objects, except those of nested objects."""
    keys = dict.fromkeys(key for row in objects for key in row)
    return [
        key for key in keys if not all(isinstance(row[key], dict) for row in objects if key in row)
    ]
