"""While methods are tried: what has finished so far, and that nobody need wait here."""

import pandas as pd
import streamlit as st

from dpmf_core import algorithms
from dpmf_core.choosing.answer import SoFar
from pages.choose import figures
from pages.kit import charts


def draw(found: SoFar) -> None:
    """The figure as it fills; no method is named before all have finished."""
    done, whole = (sum(column) for column in zip(*found.trained.values(), strict=True))
    st.title(f"Trying {len(found.trained)} methods", anchor=False)
    st.write(
        "Nothing is recommended before all have finished, on the same splits and the same number of"
        " draws. You can open other pages: the work goes on, and the answer stands here when you"
        " come back."
    )
    if not any(found.lines.values()):
        st.caption(f"A point appears here once its {found.question.draws} draws have finished.")
        return
    charts.show(
        figures.unfinished(found),
        "choose.unfinished",
        f"What has finished so far: {done} of {whole} private trainings.",
        table(found),
        leaves=True,
    )
    st.caption(
        f"So far: medians where all {found.question.draws} draws have finished."
        f" {done} of {whole} private trainings are done."
    )


def table(found: SoFar) -> pd.DataFrame:
    """A row for every method at every epsilon that has finished."""
    return pd.DataFrame(
        [
            {"method": algorithms.find(method).title, "ε": epsilon, found.question.metric: value}
            for method, points in found.lines.items()
            for epsilon, value in points
        ]
    )
