"""What a session's own data look like."""

import pandas as pd
import streamlit as st

from dpmf_core.data import Ratings
from dpmf_core.skew import shares
from pages.kit import charts


def summary(data: Ratings) -> None:
    """Activity, popularity, and how ratings bunch on few items."""
    st.caption("Computed on raw data, not released: for your eyes.")
    left, right = st.columns(2, gap="large")
    counts = pd.DataFrame([{"by": by, "place": share, "ratings": count} for by, line in activity(data).items() for share, count in line])
    with left:
        fig = charts.figure("share of users or items, busiest first", "ratings of each", height=300)
        for by, tint in (("users", "dpals"), ("items", "spectral")):
            line = counts[counts["by"] == by]
            fig.add_scatter(x=line["place"], y=line["ratings"], name=by, mode="lines", line={"color": charts.colour(tint)})
        fig.update_yaxes(type="log")
        charts.show(fig, "data.activity", "Ratings of each user and of each item.", counts, leaves=False)
    with right:
        table = pd.DataFrame([vars(share) for share in shares(data)])
        charts.show(charts.shares(table), "data.shares", "Share of observations against share of top items.", table, leaves=False)


def activity(data: Ratings) -> dict[str, list[tuple[float, int]]]:
    """(share of them up to here, ratings) of users and items, most ratings first, thinned to what a figure shows."""
    frame = pd.DataFrame({"users": data.users, "items": data.items})
    lines = {by: frame[by].value_counts().tolist() for by in ("users", "items")}
    return {by: [(place / len(line), line[place]) for place in range(0, len(line), max(1, len(line) // 300))] for by, line in lines.items()}
