"""A session's own data: what was understood of them, what was released, and where to go on."""

from typing import Any

import streamlit as st

from pages.data import item_table_form, report, session_data
from pages.kit import data_sets, links, odometer, recommendations, safe_text
from pages.kit.page_table import BY_ID

# where a data set of a kind is used: a page, and what the way to it says
NEXT = {
    "ratings": {"choose": "Next: the question", "explore": "Explore it"},
    "documents": {"topics": "Find its topics"},
    "images": {"faces": "Find its parts"},
}


def draw() -> None:
    """What this session has brought, the latest first."""
    for entry in reversed(session_data.own_data_sets()):
        with st.container(border=True):
            _draw_one(entry)


def _draw_one(entry: Any) -> None:
    left, right = st.columns([5, 1], vertical_alignment="center")
    left.subheader(safe_text.escape_letters(entry.title), anchor=False)
    if right.button("Remove", key=f"data.remove.{entry.id}", width="stretch"):
        session_data.remove(entry)
    st.caption(
        "Every page of this session can use it. It is in no link and not in the store, and goes"
        " when the session ends."
    )
    if (file_report := session_data.report_of(entry.id)) is not None:
        report.draw(file_report)
    _next_steps(entry)
    _odometer(entry)
    if data_sets.kind_of(entry) == "ratings":
        item_table_form.draw(entry)


def _odometer(entry: Any) -> None:
    odometer.panel(entry.id, f"data.{entry.id}", data_sets.privacy_units(entry))
    st.caption(
        "This count belongs to the file and goes with it. What was released stays released: if you"
        " bring the file again, add this figure to the new count."
    )


def _next_steps(entry: Any) -> None:
    """Buttons that lead on, with this data set chosen."""
    ways = {page: words for page, words in NEXT[data_sets.kind_of(entry)].items() if page in BY_ID}
    recommendation = recommendations.of(entry.id)
    if recommendation is not None:
        ways["explore"] = f"Explore it with {recommendation.words}"
    with st.container(horizontal=True):
        for place, (page, words) in enumerate(ways.items()):
            if st.button(
                words,
                key=f"data.next.{page}.{entry.id}",
                type="secondary" if place else "primary",
                icon=BY_ID[page].material_icon,
            ):
                recommendations.choose(entry, recommendation)
                links.go(page)
