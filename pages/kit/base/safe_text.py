"""Other people's text on pages and in files: shown as is, never read as Markdown or a formula."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import cache_folder, data_folder
from dpmf_core.base.requesters import asker
from dpmf_core.runs.spreadsheet_text import harmless
from dpmf_datasets import session_files


def _escapes(letters: str) -> dict[int, str]:
    """A table for `str.translate` that puts a backslash before each letter."""
    return str.maketrans({letter: f"\\{letter}" for letter in letters})


# letters that Markdown reads
READ = _escapes(r"\[]<>!$*_#~|`")  # in running text
ALL = _escapes(r"\`*_{}[]()#+-.!|<>$:~")  # everywhere
# browsers would turn it into a link, escaped or not; bounded, for a search in linear time
ADDRESS = re.compile(
    r"((?:https?://|www\.)[^\s`'\")]*[^\s`'\").,;:!?]|[-.\w+]{1,64}@[-\w]{1,63}(?:\.[-\w]{1,63}){1,9})",
    re.I,
)
MOST_LETTERS = 5_000  # of one text on a page; the rest is left out


def escape(text: str) -> str:
    """Escape Markdown except for code in backticks.

    An image in a link's parameter would otherwise be fetched from its address.
    """
    parts = re.split(r"(`[^`]*`)", re.sub(r"`{2,}", "`", _shortened(text)))
    parts[::2] = [_escape(part, READ) for part in parts[::2]]  # the others are code
    return "".join(parts)


def escape_letters(text: str) -> str:
    """Escape all letters of Markdown, and write addresses as code, so that they are not links."""
    return _escape(_shortened(text), ALL)


def button_label(visible_words: str, spoken_words: str) -> str:
    """The label of a button: words for everyone, and further words for screen readers.

    `look.css` hides an emphasised part of a button's label from sight alone.
    """
    words = escape_letters(" ".join(spoken_words.split()))
    return f"{visible_words} *{words}*".strip()


def _shortened(text: str) -> str:
    if len(text) <= MOST_LETTERS:
        return text
    return f"{text[:MOST_LETTERS]}…"


def _escape(text: str, letters: dict[int, str]) -> str:
    parts = ADDRESS.split(text)  # every second part is an address
    parts[::2] = [part.translate(letters) for part in parts[::2]]
    parts[1::2] = [f"`{part}`" for part in parts[1::2]]
    return "".join(parts)


def count_text(count: int, noun: str, plural: str = "") -> str:
    """A number with its noun, such as "1 run" or "2,400 runs"."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {plural or f'{noun}s'}"


def error(problem: object, note: str = "") -> None:
    st.error(escape(message(problem)))
    if note:
        st.caption(note)


@contextmanager
def kept_problem(key: str) -> Iterator[None]:
    """Keep what is wrong within a callback, for `draw_kept_problem` at the next drawing."""
    try:
        yield
    except BadInput as problem:
        st.session_state[key] = problem


def draw_kept_problem(key: str) -> None:
    problem = st.session_state.pop(key, None)
    if problem is not None:
        error(problem)


def message(problem: object) -> str:
    """A problem's sentence, with names of files but no path on the server.

    One person at their own machine sees paths.
    """
    text = str(problem)
    if isinstance(problem, BadInput) and problem.args:
        text = problem.args[0]
    if asker().alone:
        return text
    for folder in (session_files.home(), data_folder(), cache_folder()):
        text = text.replace(f"{folder}/", "").replace(str(folder), folder.name)
    return text


def to_csv(frame: pd.DataFrame) -> str:
    """A table as CSV, without cells or headings that a spreadsheet would run as formulas."""
    safe = frame.map(harmless).rename(columns=harmless)
    return safe.to_csv(index=False)


def table(rows: Any, columns: Any = None, **options: Any) -> Any:
    """Draw a table without its index, with further arguments of `st.dataframe`.

    Its own menu cannot export (client.disableDataExport); buttons do.

    Parameters
    ----------
    rows
        What `pd.DataFrame` takes.
    columns
        The names of the columns, if the rows do not name them.
    """
    return st.dataframe(pd.DataFrame(rows, columns=columns), hide_index=True, **options)


def words_table(rows: Any, columns: Any = None, is_markdown: bool = False) -> None:
    """Draw a short table of words, wrapped so that all of it is visible at any width.

    Parameters
    ----------
    rows
        What `pd.DataFrame` takes.
    columns
        The names of the columns, if the rows do not name them.
    is_markdown
        Whether cells are Markdown with other people's text escaped.
    """
    frame = pd.DataFrame(rows, columns=columns)
    if not is_markdown:
        frame = frame.map(lambda cell: escape_letters(str(cell)))
    st.table(frame.rename(columns=escape_letters), hide_index=True)
