"""Tables and JSON for commands that list something; loads little."""

import math
from collections.abc import Sequence
from typing import Any

import click

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON value on standard output, nothing else."
)


def number(value: Any, digits: int = 3) -> str:
    """At most `digits` decimals; a dash if there is none."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    return (
        f"{value:.{digits}f}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns as wide as their widest cell, numbers aligned right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [
        max(len(line[column]) for line in [list(head), *cells]) for column in range(len(head))
    ]
    right = [
        bool(cells) and all(row[column][:1].isdigit() or row[column] in ("-", "") for row in cells)
        for column in range(len(head))
    ]

    def line(row: Sequence[str]) -> str:
        return "  ".join(
            cell.rjust(width) if r else cell.ljust(width)
            for cell, width, r in zip(row, widths, right, strict=True)
        ).rstrip()

    return "\n".join([line(head), "  ".join("-" * width for width in widths), *map(line, cells)])
