"""Downloads of a comparison: tables, a notebook that repeats it, a link."""

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
    """Return a notebook that repeats every run, with a table and a chart."""
    fields = question.sweep.model_dump(mode="json")
    return notebook_of_sweep("A trade-off", fields, "", question.metric)


def draw(question: Question, runs: Runs) -> None:
    """Draw the downloads and the share link."""
    first, second, third, fourth = st.columns(4)
    finished = [point for point in question.points if point.key in runs]
    private = any(not runs[it.key].record.public for it in finished)

    def csv() -> str:
        return safe_text.to_csv(pd.DataFrame(rows(finished, runs)))

    def json() -> str:
        return to_json([runs[key].export() for key in dict.fromkeys(it.key for it in finished)])

    kinds: tuple[tuple[str, Any, str, str], ...] = (
        ("Runs as CSV", csv, "csv", "text/csv"),
        ("Runs as JSON", json, "json", "application/json"),
        ("Notebook", notebook(question), "ipynb", "application/x-ipynb+json"),
    )
    for column, (label, data, ending, mime) in zip((first, second, third), kinds, strict=True):
        look: dict[str, Any] = {"key": f"tradeoff.{ending}", "width": "stretch"}
        column.download_button(label, data, f"trade-off.{ending}", mime, **look)
    if private:
        st.caption(
            "Your data are private, so the files contain settings and ledgers but no errors, which"
            " are computed on raw data. `dpmf sweep --noisy-errors` releases them with noise."
        )
    with fourth.popover("Share link", width="stretch"):
        links.draw_to_copy(address())
        st.caption("Contains the data set, δ, the seed and the whole comparison.")
