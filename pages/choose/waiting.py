"""While methods are tried: what has finished so far, and that nobody need wait here."""

import pandas as pd
import streamlit as st

from dpmf_core import algorithms
from dpmf_core.choosing.answer import SoFar
from pages.choose import figures
from pages.kit import charts


def draw(so_far: SoFar) -> None:
    """The figure as it fills; no method is named before all have finished."""
    count, whole = (sum(column) for column in zip(*so_far.progress.values(), strict=True))
    st.title(f"Trying {len(so_far.progress)} methods", anchor=False)
    st.write(
        "Nothing is recommended before all have finished, on the same splits and the same number of"
        " draws. You can open other pages: the work goes on, and the answer stands here when you"
        " come back."
    )
    if not any(so_far.lines.values()):
        st.caption(f"A point appears here once its {so_far.question.draws} draws have finished.")
        return
    charts.show(
        figures.partial_front(so_far),
        "choose.unfinished",
        f"What has finished so far: {count} of {whole} private trainings.",
        table(so_far),
        leaves=True,
    )
    st.caption(
        f"So far: medians where all {so_far.question.draws} draws have finished."
        f" {count} of {whole} private trainings are done."
    )


def table(so_far: SoFar) -> pd.DataFrame:
    """A row for every method at every epsilon that has finished."""
    return pd.DataFrame(
        [
            {"method": algorithms.find(method).title, "ε": epsilon, so_far.question.metric: value}
            for method, points in so_far.lines.items()
            for epsilon, value in points
        ]
    )
