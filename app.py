"""The dashboard: `streamlit run app.py`.

The script that runs for every page lies beside the kit, not here: beside a folder named `pages` a cold server would answer the first deep
link with "Page not found", for it looks for scripts there before any navigation is declared.
"""

from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route


def first_page(request: Request) -> RedirectResponse:
    """Streamlit serves its first page at the root alone; by its name it would not be found."""
    return RedirectResponse(f"./?{request.url.query}")


app = st.App(Path(__file__).parent / "pages/kit/shell.py", routes=[Route("/explore", first_page)])
