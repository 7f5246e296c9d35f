"""Chien et al. 2021, Fig. 2: how ratings bunch on few items, a figure of the data alone."""

import pandas as pd
import streamlit as st

from dpmf_core.data.popularity_skew import shares
from dpmf_core.language import phrase
from dpmf_core.runs.data_access import open_ratings
from dpmf_core.runs.specification import DataSpec
from pages.kit import charts
from pages.kit.choice import Choice
from pages.kit.language import say


def draw(choice: Choice) -> None:
    """On the chosen data set."""
    ratings = open_ratings(DataSpec(id=choice.data, top_items=choice.kept_items))
    table = pd.DataFrame(
        {"kept": say(it.selection), "items": it.items, "observations": it.observations}
        for it in shares(ratings)
    )
    at = {
        str(name): float(line["observations"].iloc[int(line["items"].sub(0.2).abs().argmin())])
        for name, line in table.groupby("kept", sort=False)
    }
    st.title(
        say("A fifth of the items holds {share:.0%} of the ratings", share=at[say("all ratings")]),
        anchor=False,
    )
    rest = "; ".join(
        say(
            "{share:.0%} where each user gives {which}",
            share=share,
            which=phrase(name.replace(" a user,", ",")),
        )
        for name, share in list(at.items())[1:]
    )
    st.write(
        say(
            "On {data}: {rest}. Published for MovieLens 10M: over 85% (Chien et al. 2021, Fig. 2)."
            " Computed on raw data, not released.",
            data=phrase(choice.entry.title),
            rest=rest,
        )
    )
    charts.show(
        charts.shares(table),
        "tradeoff.shares",
        say("Share of observations against share of top items."),
        table,
    )
