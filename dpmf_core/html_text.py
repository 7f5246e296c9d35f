"""Text and tables as HTML: what a person named is text, never markup."""

import html
from collections.abc import Iterable, Sequence


def plain(value: object) -> str:
    """A value as text: fractions to four digits."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def text(value: object) -> str:
    """A value as HTML reads it: numbers to four digits, nothing of None."""
    return html.escape("" if value is None else plain(value))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of other people's text, escaped."""
    cells = "".join(
        "<tr>" + "".join(f"<td>{text(value)}</td>" for value in row) + "</tr>" for row in rows
    )
    return (
        "<table><tr>" + "".join(f"<th>{text(name)}</th>" for name in head) + f"</tr>{cells}</table>"
    )
