"""Downloads of a run: the record, a script, a notebook, a link."""

import mimetypes
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dpmf_core.base.documents import to_json
from dpmf_core.runs.record import Run
from dpmf_core.runs.reports import notebook_of_run, script
from pages.kit.base import links

CACHE_SIZE = 100  # runs in memory


def draw_files(files: Mapping[str, tuple[str, Any]], share: str = "") -> None:
    """Draw a button for each file, and for the page's share link.

    Parameters
    ----------
    files
        Label and content by the name of the file.
    share
        What the link contains, in a sentence; '' for no link.
    """
    with st.container(horizontal=True):
        for name, (label, data) in files.items():
            st.download_button(
                label,
                data,
                name,
                mimetypes.guess_type(name)[0],
                on_click="ignore",
            )
        if share:
            with st.popover("Share link"):
                base = (st.context.url or "").split("?")[0]
                links.draw_to_copy(f"{base}?{urlencode(dict(st.query_params))}")
                st.caption(share)


def _files(run: Run) -> tuple[str, str, Any]:
    """A run as JSON, as a script and as a notebook."""
    exported = run.record.exported()
    return to_json(run.export(), indent=1), script(exported), notebook_of_run(exported)


@st.cache_resource(max_entries=CACHE_SIZE, show_spinner=False)
def _cached_files(key: str, _run: Run) -> tuple[str, str, Any]:
    return _files(_run)


def draw(main: Run) -> None:
    # made now: a file made at a click is lost if the page reruns at that moment
    if main.record.public and main.key:
        json, code, notebook = _cached_files(main.key, main)
    else:
        json, code, notebook = _files(main)
    files = {
        f"{main.name}.json": ("The run as JSON", json),
        f"{main.name}.py": ("The script", code),
        f"{main.name}.ipynb": ("A notebook", notebook),
    }
    draw_files(
        files,
        "Contains the data set, method, parameters, ε, δ, seed and the person shown. Anyone who"
        " opens it sees this result.",
    )
    with st.expander("The script"):
        st.code(code, language="python")
