"""Chien et al. 2021, Fig. 2: how ratings bunch on few items, a figure of the data alone."""

import pandas as pd
import streamlit as st

from dpmf_core.data.popularity_skew import shares
from dpmf_core.runs.data_access import open_ratings
from dpmf_core.runs.specification import DataSpec
from pages.kit import charts
from pages.kit.choice import Choice


def draw(choice: Choice) -> None:
    """On the chosen data set."""
    ratings = open_ratings(DataSpec(id=choice.data, top_items=choice.kept_items))
    table = pd.DataFrame(
        {"kept": it.selection, "items": it.items, "observations": it.observations}
        for it in shares(ratings)
    )
    at = {
        str(name): float(line["observations"].iloc[int(line["items"].sub(0.2).abs().argmin())])
        for name, line in table.groupby("kept", sort=False)
    }
    st.title(
        f"A fifth of the items holds {at['all ratings']:.0%} of the ratings",
        anchor=False,
    )
    rest = "; ".join(
        f"{share:.0%} where each user gives {name.replace(' a user,', ',')}"
        for name, share in list(at.items())[1:]
    )
    st.write(
        f"On {choice.entry.title}: {rest}. Published for MovieLens 10M: over 85% (Chien et"
        " al. 2021, Fig. 2). Computed on raw data, not released."
    )
    charts.show(
        charts.shares(table),
        "tradeoff.shares",
        "Share of observations against share of top items.",
        table,
    )
