"""Text for tables that are opened in spreadsheets.

A spreadsheet reads a cell that begins with = + - or @ as a formula, which may call out, and it may
split a line at other separators than the table's. So an apostrophe, which marks text, is put before
such a sign wherever a cell could begin. Numbers stay (OWASP, "CSV Injection").
"""

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpmf_core.base.paths import write_whole

_FORMULA = re.compile(
    r"((?:^|[;,|\t\r\n；，])[\s\"\x00\u200b\ufeff]{0,200})(?=[=+\-@＝＋－＠])"
    r"(?![+-](?:[\d.,%\s;:|-]|e[+-]?\d)*$)",
    re.IGNORECASE,
)


def harmless(cell: Any) -> Any:
    """The cell; text gets an apostrophe before what could be a formula."""
    if isinstance(cell, str):
        return _FORMULA.sub(r"\1'", cell)
    return cell


def harmless_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with harmless column names and cells."""
    return {harmless(name): harmless(cell) for name, cell in row.items()}


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write every row to a file, completely or not at all. Raises BadInput."""
    harmless = [harmless_row(row) for row in rows]
    text = io.StringIO()
    writer = csv.DictWriter(
        text, list(dict.fromkeys(name for row in harmless for name in row))
    )
    writer.writeheader()
    writer.writerows(harmless)
    write_whole(path, text.getvalue())
