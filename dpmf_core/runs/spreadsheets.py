"""Text for tables that are opened in spreadsheets: whichever separator one splits it at, it finds
no formula.

A spreadsheet reads what begins with = + - or @ as a formula, which may call out. It may split at
semicolons, tabs or blanks where the table has commas.
So an apostrophe, which marks text, is put before such a sign wherever a cell could begin. Numbers
and lone signs stay as they are.
"""

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpmf_core.paths import write_whole

# what a spreadsheet may leave out before the first character of a cell
_UNSEEN = r'\s"\x00-\x1f\x7f\u200b-\u200f\u2060\ufeff'
_START = re.compile(
    r"(?:(?:^|[;,|:^~&#；，"
    rf"\x00-\x1f\x85\u2028\u2029])[{_UNSEEN}]{{0,200}}|(?P<blank>\s\"*))(?P<sign>[=+\-@＝＋－＠])",
)
_NUMBERS = re.compile(r"(?:[\d.,%\s;:|-]|e[+-]?\d)*", re.I)
_ENDS = ")]}>?,;:|"  # no formula goes on with these


def harmless(cell: Any) -> Any:
    """The cell; where it is text, with an apostrophe wherever a spreadsheet could find a
    formula.
    """
    if not isinstance(cell, str):
        return cell
    text = _START.sub(_mark, cell)
    return f"'{text}" if text[:1] in ("\t", "\r", "\n") else text


def _mark(match: re.Match[str]) -> str:
    rest, sign = match.string[match.end() :], match["sign"]
    if match["blank"] is not None:
        rest = re.match(r"\S*", rest)[0]  # type: ignore[index]  # it matches nothing at least
    numbers = sign in "+-" and _NUMBERS.fullmatch(rest)
    alone = not rest.strip() and (match["blank"] is not None or sign in "+-")
    harmful = not (alone or numbers or rest[:1] in tuple(_ENDS))
    return f"{match[0].removesuffix(sign)}'{sign}" if harmful else match[0]


def harmless_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row by column, names and cells."""
    return {harmless(name): harmless(cell) for name, cell in row.items()}


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    """A file with every row; it is there in whole or not at all. Raises BadInput."""
    harmless = [harmless_row(row) for row in rows]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in harmless for name in row)))
    writer.writeheader()
    writer.writerows(harmless)
    write_whole(path, text.getvalue())
