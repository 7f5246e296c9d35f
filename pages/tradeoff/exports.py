"""What a sweep leaves to take home: tables, a notebook that runs it again, a link."""

from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.runs.reports import notebook_of_sweep
from dpmf_core.runs.store import to_json
from dpmf_core.runs.sweep import rows
from pages.kit import links, safe_text
from pages.kit.exports import address
from pages.kit.sweep_frames import Runs
from pages.tradeoff.controls import Question


def notebook(question: Question) -> str:
    """A notebook that makes every run again, with a table and a chart."""
    fields = question.sweep.model_dump(mode="json")
    return notebook_of_sweep("A trade-off", fields, "", question.metric)


def draw(question: Question, runs: Runs) -> None:
    """Downloads, the notebook, the share link."""
    st.header("Take it away", anchor=False)
    first, second, third, fourth = st.columns(4)
    finished = [point for point in question.points if point.key in runs]
    private = any(not runs[it.key].record.public for it in finished)

    def csv() -> str:
        return safe_text.to_csv(pd.DataFrame(rows(finished, runs)))

    def json() -> str:
        return to_json([runs[key].export() for key in dict.fromkeys(it.key for it in finished)])

    wide: dict[str, Any] = {"width": "stretch"}
    first.download_button(
        "Runs as CSV", csv, "trade-off.csv", "text/csv", key="tradeoff.csv", **wide
    )
    second.download_button(
        "Runs as JSON", json, "trade-off.json", "application/json", key="tradeoff.json", **wide
    )
    if private:
        st.caption(
            "Your data are private: the files hold settings and ledgers, and no errors, which are"
            " computed on raw data. The command `dpmf sweep --noisy-errors` releases them with"
            " noise."
        )
    third.download_button(
        "Notebook",
        notebook(question),
        "trade-off.ipynb",
        "application/x-ipynb+json",
        key="tradeoff.notebook",
        **wide,
    )
    with fourth.popover("Share link", **wide):
        links.draw_to_copy(address())
        st.caption("Holds the data set, δ, the seed and everything that is compared.")
