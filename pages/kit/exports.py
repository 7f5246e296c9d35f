"""What one run leaves to take home: the record, a script that does it again, a link."""

from urllib.parse import urlencode

import streamlit as st

from dpmf_core.cli import output as words
from dpmf_core.runs.record import Run
from dpmf_core.runs.store import to_json
from pages.kit.language import say


def address() -> str:
    """This page as it stands, for whoever opens it."""
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(dict(st.query_params))}"


def draw(main: Run) -> None:
    """One run's downloads, its script, the share link."""
    st.header(say("Take it away"), anchor="take-it-away")
    again = words.script(main.record.exported())
    left, middle, right = st.columns(3)
    left.download_button(
        say("The run as JSON"),
        to_json(main.export(), indent=1),
        f"{main.name}.json",
        "application/json",
        width="stretch",
    )
    middle.download_button(
        say("The script"), again, f"{main.name}.py", "text/x-python", width="stretch"
    )
    with right.popover(say("Share link"), width="stretch"):
        st.code(address(), language=None, wrap_lines=True)
        st.caption(
            say("Holds data set, algorithm, ε, δ and seed. Whoever opens it sees this result.")
        )
    with st.expander(say("The script")):
        st.code(again, language="python")
