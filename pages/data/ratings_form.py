"""The form for a table of ratings: roles of columns, the scale, and the date format.

The person who brings the table declares all of it; a refused table keeps the answers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.data.column_names import REQUIRED_ROLES
from dpmf_core.data.report import Order, Outside, outside_of
from dpmf_datasets import session_files
from dpmf_datasets.readers.dates import ORDERS, parse_dates
from dpmf_datasets.readers.ratings_tables import LABELS, detect_columns
from dpmf_datasets.readers.tables import OwnTable
from pages.data import session_data, uploaded_data
from pages.data.uploaded_data import LONGEST
from pages.kit import safe_text
from pages.server import visitor

ANOTHER = "another"
MOST_VALUES = 3  # of a column
Bounds = tuple[float, float]
SCALES: dict[str, Bounds] = {
    "1 to 5": (1, 5),
    "half stars, 0.5 to 5": (0.5, 5),
    "1 to 10": (1, 10),
    "-10 to 10": (-10, 10),
    "0 to 100": (0, 100),
}
# in the session: a table's name, what was declared of it, and the ratings outside its scale
OUTSIDE = "data.outside"


# what a person declared: (role, column) pairs, the scale, the date format
Answers = tuple[tuple[tuple[str, str], ...], Bounds, Order | None]


def draw(file: Any) -> None:
    """Draw the questions and the button that reads the table; raise BadInput."""
    own, name = session_data.table_of(file), file.name
    columns, roles, rows = own.table.shown_names, detect_columns(own.table), own.rows
    st.subheader(f"{len(set(roles.values()))} of {len(columns)} columns recognised", anchor=False)
    st.caption(f"{safe_text.escape_letters(name)}: {own.table.layout}")
    mapping = _roles(columns, roles, rows, name)
    uploaded_data.draw_unused([it for it in map(str, rows) if it not in mapping.values()])
    left, right = st.columns([5, 4], gap="medium")
    with left:
        bounds = _bounds(name)
    with right:
        order, needs_order = _dates(rows, mapping["time"], name)
    missing = [
        f"the column for {title}"
        for role, title in LABELS.items()
        if role in REQUIRED_ROLES and not mapping[role]
    ]
    missing += ["the scale"] * (bounds is None) + ["how dates are written"] * needs_order
    if missing:
        st.caption(f"To continue, choose {' and '.join(missing)}.")
    pressed = st.button("Check and use", type="primary", key="data.use", disabled=bool(missing))
    if bounds is None:
        st.session_state.pop(OUTSIDE, None)
        return
    answers: Answers = (tuple(mapping.items()), bounds, order)
    if pressed:
        upload = _read(own, answers)
        if (beyond := outside_of(upload.report.problems)) is None:
            session_data.keep(upload, file.file_id)
        st.session_state[OUTSIDE] = (name, answers, beyond)
        session_files.remove(upload.entry)
    if outside := _about_outside(name, answers):
        del st.session_state[OUTSIDE]
        session_data.keep(_read(own, answers, outside), file.file_id)


def _read(table: OwnTable, answers: Answers, outside: Outside = "clamp") -> session_files.Upload:
    """Read the whole table."""
    mapping, bounds, order = answers
    with st.spinner("Reading every row"), session_data.reading():
        owner = visitor.account_owner()
        return session_files.ratings(table, dict(mapping), bounds, order, outside, owner=owner)


def _about_outside(name: str, answers: Answers) -> Outside | None:
    """Ask what to do with ratings outside the scale; return the answer, or None before it."""
    *last, outside = st.session_state.get(OUTSIDE, (None,))
    if last != [name, answers] or outside is None:
        st.session_state.pop(OUTSIDE, None)
        return None
    low, high = answers[1]
    st.warning(
        f"**{outside.count:,} ratings lie outside {low:g} to {high:g}:"
        f" {safe_text.escape_letters(outside.examples)}** ({outside.place})."
        " Nothing is used yet. If the scale is wrong, change it above. If it is right, leave these"
        f" rows out, or set higher ratings to {high:g} and lower ones to {low:g}."
    )
    rows = "this row" if outside.count == 1 else f"these {outside.count:,} rows"
    ways: dict[Outside, str] = {
        "leave-out": f"Leave {rows} out",
        "clamp": f"Set to {low:g} or {high:g}",
    }
    with st.container(horizontal=True):
        choices = [way for way, words in ways.items() if st.button(words, key=f"data.use.{way}")]
    return choices[0] if choices else None


def _roles(
    columns: Sequence[str], roles: Mapping[str, str], rows: pd.DataFrame, name: str
) -> dict[str, str]:
    """Ask for the column of each role ("" for none), with its first values below."""
    mapping: dict[str, str] = {}
    places = st.columns(len(LABELS))
    for place, (column, (role, title)) in enumerate(zip(places, LABELS.items(), strict=True)):
        options = ["", *columns]
        start = options.index(roles[role]) if roles.get(role) in options else 0
        mapping[role] = column.selectbox(
            title,
            options,
            start,
            key=f"data.role.{place}.{name}",
            format_func=lambda it: it or "none",
        )
        column.caption(_values_text(rows, mapping[role]) or "&nbsp;")
    return mapping


def _values_text(rows: pd.DataFrame, column: str) -> str:
    """Return the first distinct values of a column, shortened, as Markdown."""
    values = rows[column].dropna().astype(str).str.strip() if column in rows else ()
    texts = [text[:LONGEST] for text in dict.fromkeys(values) if text]
    return safe_text.escape_letters(", ".join(texts[:MOST_VALUES]))


def _bounds(name: str) -> Bounds | None:
    """Ask for the lowest and highest possible rating; return None until both are given."""
    scale = st.segmented_control(
        "Rating scale", [*SCALES, ANOTHER], key=f"data.scale.{name}", wrap=True
    )
    st.caption("Please declare the scale; inferring it from the ratings would leak information.")
    if scale != ANOTHER:
        return SCALES.get(scale or "")
    left, right, _ = st.columns([1, 1, 2])
    look: dict[str, Any] = {"value": None, "format": "%g"}
    key, label = f"data.low.{name}", "Lowest possible rating"
    low = left.number_input(label, key=key, placeholder="e.g. 0", **look)
    high = right.number_input("Highest", key=f"data.high.{name}", placeholder="e.g. 20", **look)
    return None if low is None or high is None else (low, high)


def _dates(rows: pd.DataFrame, column: str, name: str) -> tuple[Order | None, bool]:
    """Ask for the format of dates of numbers. Return it, and whether the answer is missing."""
    dates = parse_dates([str(value) for value in rows[column]] if column in rows else [])
    if not dates.signs:
        return None, False
    order: Order | None = st.segmented_control(
        "Dates such as 03/04/2021 have",
        list(ORDERS),
        default=dates.clear_order,
        format_func=ORDERS.__getitem__,
        key=f"data.dates.{name}.{column}",
    )
    return order, order is None
