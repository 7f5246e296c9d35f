"""The dashboard: `python app.py`, with the options of `streamlit run`.

The script that runs for every page lies beside the kit, not here: beside a folder named `pages` a cold server would answer the first deep
link with "Page not found", for it looks for scripts there before any navigation is declared.
"""

import sys

from dpmf_core import interrupts

if __name__ == "__main__":
    interrupts.exit_at_once()  # before anything large is imported
    from pages.kit.serving import serve

    sys.exit(serve(__file__, sys.argv[1:]))

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route

from dpmf_core.errors import BadInput
from dpmf_core.home import data_folder, usable
from dpmf_core.settings import settings

try:
    usable(data_folder())
    settings()
    from pages.kit import uploads
    from pages.kit.entrance import BackToTheLink, Guard, doors, first_page
    from pages.kit.operating import lifespan

    guard = Middleware(Guard, doors=doors())
except BadInput as error:
    print(error, file=sys.stderr)
    sys.exit(2)

app = st.App(
    Path(__file__).parent / "pages/kit/shell.py",
    routes=[Route("/explore", first_page)],
    middleware=[guard, Middleware(BackToTheLink), Middleware(uploads.Guard)],
    lifespan=lifespan,
)
