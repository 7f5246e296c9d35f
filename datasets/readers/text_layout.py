"""How the lines of a table of text are cut into cells: separator, header, what stands above."""

import csv
from collections import Counter
from collections.abc import Sequence

from dpmf_core.errors import BadInput

SEPARATORS = ("::", "\t", ",", ";", "|", " ")
SEPARATOR_NAMES = {
    "::": "two colons",
    "\t": "tabs",
    ",": "commas",
    ";": "semicolons",
    "|": "vertical bars",
    " ": "blanks",
}
HEAD = 1 << 16  # bytes looked at to recognise a file
SAMPLE_ROWS = 30  # rows from which a column is judged


def whole_lines(head: bytes) -> bytes:
    """The head without its last line, which may end in the middle of a letter."""
    return head[: head.rfind(b"\n") + 1 or None] if len(head) == HEAD else head


def complete_lines(head: bytes, encoding: str) -> list[str]:
    """The complete lines of the head."""
    lines = head.decode(encoding, errors="ignore").removeprefix("\ufeff").splitlines()
    return lines[:-1] if len(head) == HEAD and len(lines) > 1 else lines


def fields_of(line: str, separator: str) -> tuple[str, ...]:
    fields = (
        line.split(separator)
        if len(separator) > 1
        else next(csv.reader([line], delimiter=separator))
    )
    return tuple(field.strip() for field in fields)


def rows_of(lines: Sequence[str], separator: str) -> list[tuple[str, ...]]:
    """The cells of some lines; one in quotation marks may reach over several."""
    if len(separator) > 1:
        return [fields_of(line, separator) for line in lines]
    text = (f"{line}\n" for line in lines)
    return [tuple(map(str.strip, row)) for row in csv.reader(text, delimiter=separator)]


def check_widths(rows: Sequence[tuple[str, ...]], name: str) -> None:
    """Refuses a header that names fewer columns than its rows have: every name would stand above
    the wrong one. A separator at the end of each row makes no column.
    """
    columns, more = len(rows[0]), [row for row in rows[1:] if len(row) > len(rows[0])]
    if 2 * len(more) > len(rows) - 1 and any("".join(row[columns:]) for row in more):
        raise BadInput(
            f"The header of {name} names {columns} columns, and its rows have {len(more[0])}. Name"
            " the missing one in the header: often it is the first, with the rows' numbers."
        )


def table_lines(lines: list[str], separator: str) -> list[str]:
    """The lines from the first one with several columns: what stands above, a title or
    `sep=;`, is no part of the table.
    """
    columns = [len(fields_of(line, separator)) for line in lines[:SAMPLE_ROWS]]
    first = next((place for place, count in enumerate(columns) if count > 2), 0)
    above = [lines[place] for place in range(first)]
    is_above = all(len(fields_of(line, separator)) == 1 or _says_separator(line) for line in above)
    return lines[first:] if is_above else lines


def _says_separator(line: str) -> bool:
    """Whether a line is there for a spreadsheet program."""
    return line.strip().strip('"').lower()[:-1] == "sep="


def separator_of(lines: Sequence[str]) -> str:
    """The separator under which most of the first lines have one same number of columns, three
    at least.
    """

    def agreement(separator: str) -> int:
        columns, times = Counter(
            len(fields_of(line, separator)) for line in lines[:30]
        ).most_common(1)[0]
        return times if columns >= 3 else 0

    return max(SEPARATORS, key=agreement) if any(map(agreement, SEPARATORS)) else ","


def is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
