"""The dashboard: `streamlit run app.py`.

The script that runs for every page lies beside the kit, not here: beside a folder named `pages` a cold server would answer the first deep
link with "Page not found", for it looks for scripts there before any navigation is declared.
"""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from dpmf_core.errors import BadInput
from dpmf_core.settings import settings
from pages.kit.entrance import BackToTheLink, first_page
from pages.kit.operating import lifespan
from pages.kit.uploads import Guard

try:
    settings()
except BadInput as error:
    raise SystemExit(str(error)) from None

app = st.App(
    Path(__file__).parent / "pages/kit/shell.py",
    routes=[Route("/explore", first_page)],
    middleware=[Middleware(BackToTheLink), Middleware(Guard)],
    lifespan=lifespan,
)
