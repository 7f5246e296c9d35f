"""Tables and numbers in plain text, as a terminal shows them."""

import math
from collections.abc import Sequence
from typing import Any


def number(value: Any, digits: int = 3) -> str:
    """A number with at most `digits` decimals; a dash for a missing one."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:.{digits}f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns as wide as their widest cell, numbers aligned right."""
    columns = []
    for title, *cells in zip(head, *rows, strict=True):
        texts = [str(cell) for cell in cells]
        width = max(map(len, (title, *texts)))
        is_right = texts and all(
            text[:1].isdigit() or text in ("-", "") for text in texts
        )
        lines = [title, "-" * width, *texts]
        columns.append(
            [line.rjust(width) if is_right else line.ljust(width) for line in lines]
        )
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def minute(moment: str) -> str:
    """A moment in ISO format, to the minute."""
    return moment[:16].replace("T", " ")
