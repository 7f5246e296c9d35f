"""Downloads of a run: the record, a script, a notebook, a link."""

from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.runs.record import Run
from dpmf_core.runs.reports import notebook_of_run, script
from dpmf_core.runs.store import to_json
from pages.kit import links

CACHE_SIZE = 100  # runs in memory


def address() -> str:
    """Return the page's current address."""
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(dict(st.query_params))}"


def _files(main: Run) -> tuple[str, str, Any]:
    """Return a run as JSON, as a script and as a notebook."""
    exported = main.record.exported()
    return to_json(main.export(), indent=1), script(exported), notebook_of_run(exported)


@st.cache_resource(max_entries=CACHE_SIZE, show_spinner=False)
def _cached_files(key: str, _main: Run) -> tuple[str, str, Any]:
    return _files(_main)


def downloads(main: Run) -> DeltaGenerator:
    """Draw downloads of a run; return the column next to them."""
    # made now: a file made at a click is lost if the page reruns at that moment
    is_public = main.record.public and main.key
    files = _cached_files(main.key, main) if is_public else _files(main)
    kinds = (
        ("The run as JSON", "json", "application/json"),
        ("The script", "py", "text/x-python"),
        ("A notebook", "ipynb", "application/x-ipynb+json"),
    )
    *columns, last = st.columns(4)
    for column, (label, ending, mime), file in zip(columns, kinds, files, strict=True):
        column.download_button(label, file, f"{main.name}.{ending}", mime, width="stretch")
    with st.expander("The script"):
        st.code(files[1], language="python")
    return last


def draw(main: Run) -> None:
    """Draw a run's downloads and the share link of its page."""
    with downloads(main).popover("Share link", width="stretch"):
        links.draw_to_copy(address())
        st.caption(
            "Contains the data set, method, parameters, ε, δ, seed and the person shown. Anyone who"
            " opens it sees this result."
        )
