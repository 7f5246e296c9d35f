"""Some values of a column: a person's own view of her own file, kept nowhere."""

from collections.abc import Sequence

import pandas as pd

from pages.kit import safe_text

MOST_VALUES, LONGEST = 3, 24  # values of a column, and letters of each
MOST_NAMED = 12  # columns in a sentence


def first_values(rows: pd.DataFrame, column: str) -> list[str]:
    """What a column holds in the first rows: different values, shortened."""
    if column not in rows:
        return []
    texts = (str(value).strip() for value in rows[column] if value is not None)
    different = [text for text in dict.fromkeys(texts) if text]
    return [
        text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
        for text in different[:MOST_VALUES]
    ]


def values_text(values: Sequence[str]) -> str:
    """Values as Markdown."""
    return safe_text.escape_letters(", ".join(values))


def columns_text(rows: pd.DataFrame, columns: Sequence[str]) -> str:
    """Columns with their first values, as Markdown."""
    texts = [
        f"**{safe_text.escape_letters(column) or 'no name'}**"
        f" ({values_text(first_values(rows, column)) or 'empty'})"
        for column in columns[:MOST_NAMED]
    ]
    more = f" and {len(columns) - MOST_NAMED:,} more" if len(columns) > MOST_NAMED else ""
    return ", ".join(texts) + more
