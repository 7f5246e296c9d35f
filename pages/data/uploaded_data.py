"""A session's own data: what was understood of them, what was released, and where to go on."""

from typing import Any

import pandas as pd
import streamlit as st

import dpmf_datasets as datasets
from dpmf_core.data.popularity_skew import shares
from dpmf_core.data.ratings import Ratings
from pages.data import item_table_form, report, session_data
from pages.kit import charts, colours, data_sets, links, odometer, recommendations, safe_text
from pages.kit.page_table import BY_ID

# where a data set of a kind is used: a page, and what the way to it says
NEXT = {
    "ratings": {"choose": "Which method and epsilon? Choose", "explore": "Explore it"},
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
        "A data set on every page of this session: in no link, not in the store, gone when the"
        " session ends. What follows is for your eyes; none of it is stored."
    )
    if (file_report := session_data.report_of(entry.id)) is not None:
        report.draw(file_report)
    _next_steps(entry)
    _odometer(entry)
    data = datasets.load(entry.id)
    if isinstance(data, Ratings):
        item_table_form.draw(entry)
        with st.expander("How ratings spread over users and items"):
            summary(data)


def _odometer(entry: Any) -> None:
    odometer.panel(entry.id, f"data.{entry.id}", data_sets.privacy_units(entry))
    st.caption(
        "This count is the file's: another session that holds the same file shares it, and it"
        " goes when the file goes. What was released stays released: if you bring the same file"
        " again after removing it, add what stands here to what is counted then."
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


def summary(data: Ratings) -> None:
    """Activity, popularity, and how ratings bunch on few items."""
    st.caption("Computed on raw data, not released: for your eyes.")
    left, right = st.columns(2, gap="large")
    counts = pd.DataFrame(
        [
            {"by": by, "place": share, "ratings": count}
            for by, line in activity(data).items()
            for share, count in line
        ]
    )
    with left:
        fig = charts.figure("share of users or items, busiest first", "ratings of each", height=300)
        for by, tint in (("users", "dpals"), ("items", "spectral")):
            line = counts[counts["by"] == by]
            fig.add_scatter(
                x=line["place"],
                y=line["ratings"],
                name=by,
                mode="lines",
                line={"color": colours.of(tint)},
            )
        fig.update_yaxes(type="log")
        charts.show(
            fig, "data.activity", "Ratings of each user and of each item.", counts, leaves=False
        )
    with right:
        table = pd.DataFrame(
            {"kept": it.selection, "items": it.items, "observations": it.observations}
            for it in shares(data)
        )
        charts.show(
            charts.shares(table),
            "data.shares",
            "Share of observations against share of top items.",
            table,
            leaves=False,
        )


def activity(data: Ratings) -> dict[str, list[tuple[float, int]]]:
    """(share of them up to here, ratings) of users and items, most ratings first, thinned to
    what a figure shows.
    """
    frame = pd.DataFrame({"users": data.users, "items": data.items})
    lines = {by: frame[by].value_counts().tolist() for by in ("users", "items")}
    return {
        by: [
            (place / len(line), line[place])
            for place in range(0, len(line), max(1, len(line) // 300))
        ]
        for by, line in lines.items()
    }
