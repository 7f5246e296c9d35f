"""A session's own data: what the columns of a file hold, and what the ratings look like."""

from typing import Any

import pandas as pd
import streamlit as st

from datasets import own
from datasets.dates import ORDERS, Order, declared, has_numbered
from dpmf_core import accounts
from dpmf_core.data import Ratings
from dpmf_core.engine import engine
from dpmf_core.skew import shares
from pages.kit import charts, said, sessions, sidebar

SHOWN, LONGEST = 3, 24  # values of a column, and letters of each


def first_values(rows: pd.DataFrame, column: str) -> str:
    """What a column holds in the first rows, as Markdown."""
    values = dict.fromkeys(str(value).strip() for value in rows[column] if value is not None) if column in rows else {}
    short = [value if len(value) <= LONGEST else value[: LONGEST - 3] + "..." for value in values if value]
    return said.plain(", ".join(short[:SHOWN])) or "&nbsp;"


def dates(rows: pd.DataFrame, column: str, key: str) -> Order | None:
    """Asks how dates are written where they can be read in two ways; None where the whole column shall tell."""
    if column not in rows or not has_numbered([str(value) for value in rows[column]]):
        return None
    choices = {"": "as the whole column tells"} | ORDERS
    return declared(st.selectbox("Dates such as 03/04/2021 have", list(choices), key=key, format_func=choices.__getitem__) or None)


def encoding(place: Any) -> str:
    """Asks in which encoding a text is; "" where it shall be found."""
    return str(place.text_input("Encoding of text (empty: UTF-8, else the likeliest)", key="data.encoding", max_chars=20, placeholder="e.g. koi8-r"))


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


def remove(entry: Any) -> None:
    """A file goes, with what was computed on it and, with the last copy of it, its account."""
    own.remove(entry)
    engine().forget(entry.id)
    accounts.sweep(own.origins())
    sidebar.drop(entry)
    sessions.give_back()
    st.rerun()
