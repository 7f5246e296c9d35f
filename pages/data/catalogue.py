"""The catalogue: available data sets, their licences, and downloads."""

import pandas as pd
import streamlit as st

import dpmf_datasets as datasets
from dpmf_core.base import limits
from dpmf_core.base.settings import WHOSE, settings
from dpmf_core.runs import permissions
from pages.kit import data_sets, safe_text
from pages.server import visitor


def draw() -> None:
    st.header("The catalogue", anchor=False)
    _draw_table()
    st.caption(
        "For ratings that do not fit in memory, `dpmf datasets import NAME 'BIG.csv?bounds=1,5'"
        f" --partitioned` adds up to about {data_sets.LARGEST_IN_PARTS:,} ratings to this list."
    )
    missing = {
        it.id: it
        for it in datasets.catalogue()
        if it.kind == "download" and not datasets.present(it.id)
    }
    if not missing:
        return
    if settings().downloads == "operator" and not visitor.asker().operator:
        st.caption(f"Only the operator of this server may download. {WHOSE}")
        return
    data_id = st.selectbox(
        "Download",
        list(missing),
        index=None,
        format_func=lambda it: f"{missing[it].title}, {missing[it].size_mb:g} MB",
        key="data.download",
    )
    if data_id:
        _offer(missing[data_id])


def _draw_table() -> None:
    ids = {it.id for it in datasets.catalogue()}
    rows = [
        {"id": it.id, "data": it.title, "here": datasets.present(it.id)}
        | {"what": it.words, "licence": it.licence}
        for it in (*datasets.catalogue(), *data_sets.in_parts())
        if it.id in ids or limits.allowed_here(it.id)
    ]
    widths = {"id": 120, "data": 200, "what": 400, "licence": 330}
    texts = {name: st.column_config.TextColumn(width=width) for name, width in widths.items()}
    safe_text.table(
        pd.DataFrame(rows),
        column_config={**texts, "here": st.column_config.CheckboxColumn(width=50)},
        row_height=56,  # pixels of two lines
    )


def _offer(entry: datasets.DatasetFacts) -> None:
    """Draw a data set's licence; download the set once the licence is accepted."""
    st.write(f"{entry.licence} {entry.citation}")
    accepted = st.checkbox("I have read the licence and accept it", key=f"data.licence.{entry.id}")
    if not accepted:
        st.caption("Please accept the licence to download.")
    if st.button("Download", disabled=not accepted, key="data.fetch"):
        bar = st.progress(0.0, "Asking the publisher")

        def show_progress(bytes_read: int, total: int) -> None:
            bar.progress(min(bytes_read / max(total, 1), 1.0), f"{bytes_read / 1e6:.1f} MB")

        with visitor.here():
            permissions.download(entry.id, show_progress)
        st.rerun()
